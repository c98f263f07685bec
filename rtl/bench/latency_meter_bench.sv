// The latency meter between two streams that are played: into a switch and out of it. The switch is the test.
//
// Stimuli `entry` and `exit` (DATA_BITS + DATA_BITS/8 + 8 bits): unused (6), user (1), last (1), keep, data.
// Stimulus `settings` (320 bits): clear (8), enable (8), use_ptp (8), shift (8), ptp_step (32); ptp_start (64);
// match_value (64); match_mask (64); match_offset (28), unused (4), sequence_offset (7), unused (1), stall (8; the
// probability in 256 that a stream stalls), unused (16).
// Stimulus `reads` (16 bits): address of the histogram; waits for the end of both streams.
// Answers `entries` and `exits` (64 bits): the clock of the first beat of a frame, recorded at its last beat.
// Answers `counts` (384 bits): minimum, maximum, sum, stamped, matched, unmatched, outstanding, truncated, data.
module latency_meter_bench #(
    parameter int DATA_BITS = 64
) (
    input  logic clk,
    output logic done
);
  localparam int BYTES = DATA_BITS / 8;

  logic rst, valid;
  logic [63:0] now;
  logic [319:0] payload;
  logic settings_done;
  player #(.BITS(320), .FILE("settings=%s")) settings (
      .clk, .ready(1'b1), .rst, .now, .valid, .payload, .done(settings_done)
  );
  logic enable, clear, use_ptp;
  logic [4:0] shift;
  logic [31:0] ptp_step;
  logic [63:0] ptp_start, match_value, match_mask;
  logic [27:0] match_offset;
  logic [6:0] sequence_offset;
  logic [7:0] stall;
  always @(posedge clk) begin
    clear <= valid && payload[312];
    if (rst) {enable, stall} <= 9'd0;
    else if (valid) begin
      {enable, use_ptp, shift} <= {payload[304], payload[296], payload[292:288]};
      ptp_step <= payload[287:256];
      {ptp_start, match_value, match_mask} <= payload[255:64];
      {match_offset, sequence_offset, stall} <= {payload[63:36], payload[31:25], payload[23:16]};
    end
  end

  logic [31:0] noise;
  always @(posedge clk) noise <= rst ? 32'd1 : {noise[30:0], noise[31] ^ noise[21] ^ noise[1] ^ noise[0]};

  logic [1:0] s_valid, s_ready, s_done;
  logic [1:0][DATA_BITS+BYTES+7:0] beat;
  logic [1:0] s_rst;
  logic [1:0][63:0] s_now;
  assign s_ready[0] = {noise[28], noise[3], noise[17], noise[9], noise[24], noise[6], noise[13], noise[20]} >= stall;
  assign s_ready[1] = {noise[8], noise[13], noise[27], noise[19], noise[4], noise[16], noise[3], noise[30]} >= stall;
  player #(.BITS(DATA_BITS + BYTES + 8), .FILE("entry=%s")) into (
      .clk, .ready(s_ready[0]), .rst(s_rst[0]), .now(s_now[0]), .valid(s_valid[0]), .payload(beat[0]),
      .done(s_done[0])
  );
  player #(.BITS(DATA_BITS + BYTES + 8), .FILE("exit=%s")) out (
      .clk, .ready(s_ready[1]), .rst(s_rst[1]), .now(s_now[1]), .valid(s_valid[1]), .payload(beat[1]),
      .done(s_done[1])
  );
  frame_clocks #(.FILE("entries=%s")) entries (
      .clk, .rst, .now, .beat(s_valid[0] && s_ready[0]), .last(beat[0][DATA_BITS+BYTES])
  );
  frame_clocks #(.FILE("exits=%s")) exits (
      .clk, .rst, .now, .beat(s_valid[1] && s_ready[1]), .last(beat[1][DATA_BITS+BYTES])
  );

  logic [15:0] address;
  logic [31:0] data, stamped, matched, unmatched, outstanding, truncated;
  logic [63:0] minimum, maximum, sum;
  logic busy, read_rst, read_valid, asked, answered;
  logic [63:0] read_now;
  logic [5:0] quiet;
  always @(posedge clk) begin
    quiet <= (&s_done && settings_done) ? quiet + 6'(quiet != 6'd63) : 6'd0;
    asked <= read_valid && quiet == 6'd63;
    answered <= asked;
  end
  player #(.BITS(16), .FILE("reads=%s")) reads (
      .clk, .ready(quiet == 6'd63), .rst(read_rst), .now(read_now), .valid(read_valid), .payload(address), .done
  );
  latency_meter #(.DATA_BITS(DATA_BITS)) dut (
      .clk, .rst, .enable, .clear, .busy, .use_ptp,
      .ptp_now(ptp_start + now * 64'(ptp_step)),
      .match_offset, .match_value, .match_mask, .sequence_offset, .shift,
      .entry_tdata(beat[0][DATA_BITS-1:0]), .entry_tkeep(beat[0][DATA_BITS+:BYTES]),
      .entry_tvalid(s_valid[0]), .entry_tready(s_ready[0]),
      .entry_tlast(beat[0][DATA_BITS+BYTES]), .entry_tuser(beat[0][DATA_BITS+BYTES+1]),
      .exit_tdata(beat[1][DATA_BITS-1:0]), .exit_tkeep(beat[1][DATA_BITS+:BYTES]),
      .exit_tvalid(s_valid[1]), .exit_tready(s_ready[1]),
      .exit_tlast(beat[1][DATA_BITS+BYTES]), .exit_tuser(beat[1][DATA_BITS+BYTES+1]),
      .address(address[9:0]), .data,
      .stamped, .matched, .unmatched, .outstanding, .truncated, .minimum, .maximum, .sum
  );
  recorder #(.BITS(384), .FILE("counts=%s")) counts (
      .clk, .now, .valid(answered),
      .payload({minimum, maximum, sum, stamped, matched, unmatched, outstanding, truncated, data})
  );
endmodule

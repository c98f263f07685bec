// The datapath of a switch port between a player of beats and recorders, with a receiver that stalls.
//
// Stimulus (DATA_BITS + DATA_BITS/8 + 8 bits): unused (6), user (1), last (1), keep, data.
// Settings (256 bits) from the file `settings`: flags (8: phantom enable, count_arriving, marker enable,
// count_arriving, count_in_service), overhead (8), tick (16), drain (32), byte (32), threshold (32), K (32), limit (32),
// unused (64).
// Answers `out` (next multiple of 64 bits): last, keep, data of each beat that leaves.
// Answers `arrivals` (64 bits): kind (8: 1 taken, 2 full, 4 runt, 8 oversized, 16 bad), bytes (16), beats free (16), queue (24).
// Answers `departures` (64 bits): length with overhead (64). Answers `ends` (64): queue freed at the frame's end.
// Answers `reports` (64 bits): above_phantom, above_threshold, marked, not_capable,
// truncated.
module port_datapath_bench #(
    parameter int DATA_BITS = 64,
    parameter int BEATS = 2048,
    parameter int FRAMES = 64,
    parameter int MIN_BYTES = 20,
    parameter int MAX_BYTES = 180
) (
    input  logic clk,
    output logic done
);
  localparam int BYTES = DATA_BITS / 8;
  localparam int ANSWER = (DATA_BITS + BYTES + 1 + 63) / 64 * 64;

  logic rst, valid;
  logic [63:0] now;
  logic [DATA_BITS+BYTES+7:0] stimulus;
  player #(.BITS(DATA_BITS + BYTES + 8)) player (
      .clk, .ready(1'b1), .rst, .now, .valid, .payload(stimulus), .done
  );
  logic m_tready;
  stalls stalls (.clk, .ready(m_tready));

  logic set_rst, set_valid, set_done;
  logic [63:0] set_now;
  logic [255:0] set;
  player #(.BITS(256), .FILE("settings=%s")) setter (
      .clk, .ready(1'b0), .rst(set_rst), .now(set_now), .valid(set_valid), .payload(set), .done(set_done)
  );

  logic [DATA_BITS-1:0] m_tdata;
  logic [BYTES-1:0] m_tkeep;
  logic m_tvalid, m_tlast;
  logic [19:0] queue_bytes;
  logic [51:0] backlog_units;
  logic frame_in, frame_out, dropped_full, runt, oversized, bad, truncated, departs;
  logic above_phantom, above_threshold, marked, not_capable;
  port_datapath #(
      .DATA_BITS(DATA_BITS), .BEATS(BEATS), .FRAMES(FRAMES), .MIN_BYTES(MIN_BYTES), .MAX_BYTES(MAX_BYTES)
  ) dut (
      .clk, .rst,
      .s_tdata(stimulus[DATA_BITS-1:0]), .s_tkeep(stimulus[DATA_BITS+:BYTES]), .s_tvalid(valid),
      .s_tlast(stimulus[DATA_BITS+BYTES]), .s_tuser(stimulus[DATA_BITS+BYTES+1]),
      .m_tdata, .m_tkeep, .m_tvalid, .m_tlast, .m_tready,
      .phantom_enable(set_valid && set[248]), .phantom_count_arriving(set[249]),
      .drain_units(set[223:192]), .byte_units(set[191:160]), .threshold_bytes(set[147:128]),
      .tick_clocks(set[239:224]), .overhead_bytes(set[245:240]),
      .marker_enable(set[250]), .marker_count_arriving(set[251]), .marker_threshold_bytes(set[115:96]),
      .limit_bytes(set[83:64]), .count_in_service(set[252]),
      .queue_bytes, .backlog_units,
      .frame_in, .frame_out, .dropped_full, .runt, .oversized, .bad, .truncated, .departs,
      .above_phantom, .above_threshold, .marked, .not_capable
  );

  recorder #(.BITS(ANSWER), .FILE("out=%s")) out (
      .clk, .now, .valid(m_tvalid && m_tready && !rst), .payload(ANSWER'({m_tlast, m_tkeep, m_tdata}))
  );
  recorder #(.BITS(64), .FILE("arrivals=%s")) arrivals (
      .clk, .now, .valid(frame_in && !rst),
      .payload({3'd0, bad, oversized, runt, dropped_full, dut.taken, 2'd0, dut.offer_bytes, 16'(dut.unused_free), 4'd0, queue_bytes})
  );
  recorder #(.BITS(64), .FILE("departures=%s")) departures (
      .clk, .now, .valid(departs && !rst), .payload(64'(dut.counted_bytes))
  );
  recorder #(.BITS(64), .FILE("reports=%s")) reports (
      .clk, .now, .valid((above_phantom || above_threshold || marked || not_capable || truncated) && !rst),
      .payload({59'd0, above_phantom, above_threshold, marked, not_capable, truncated})
  );
endmodule

// The way of a frame out of a host between a player of beats, a player of ACKs and recorders, with a link that
// stalls.
//
// Stimulus (DATA_BITS + DATA_BITS/8 + 8 bits): unused (6), user (1), last (1), keep, data.
// Stimulus `acks` (32 bits): the flow of an ACK with ECN-Echo.
// Settings (576 bits) from the file `settings`, held from the reset on: words of 64 bits, the most significant
// first: flags (when_full, evict, enable), max rate, min rate, initial rate, bucket and FIFO (32 each), T_r and
// tick, eta and rate step, gain; beta and probability are in the two halves of the last word.
// Answers `out` (next multiple of 64 bits): last, keep, data of each beat that leaves.
// Answers `fates` (64): kind (8: 1 taken, 2 full, 4 runt, 8 oversized, 16 bad), bytes.
// Answers `lookups` (64): asked (1), unused (31), flow (32) at the look-up, answers (64) in the file `answered`.
// Answers `offers` (64): paced (1), bytes of each packet that the pacer takes; `admissions` (64): its answers.
// Answers `heads` (64): 1 a head appears, 2 the line becomes free, 4 the head is released.
// Answers `wrong` (64): the pacer's FIFO lost a frame.
module nic_datapath_bench #(
    parameter int DATA_BITS = 64,
    parameter int CLOCK_PS = 8000,
    parameter int STAGED_BEATS = 512,
    parameter int FIFO_BEATS = 2048,
    parameter int MIN_BYTES = 20,
    parameter int MAX_BYTES = 180
) (
    input  logic clk,
    output logic done
);
  localparam int BYTES = DATA_BITS / 8;
  localparam int ANSWER = (DATA_BITS + BYTES + 1 + 63) / 64 * 64;

  logic rst, valid, s_tready;
  logic [63:0] now;
  logic [DATA_BITS+BYTES+7:0] stimulus;
  player #(.BITS(DATA_BITS + BYTES + 8)) player (
      .clk, .ready(s_tready), .rst, .now, .valid, .payload(stimulus), .done
  );
  logic a_rst, a_done, ece_valid;
  logic [63:0] a_now;
  logic [31:0] ece_flow;
  player #(.BITS(32), .FILE("acks=%s")) acks (
      .clk, .ready(1'b1), .rst(a_rst), .now(a_now), .valid(ece_valid), .payload(ece_flow), .done(a_done)
  );
  logic set_rst, set_valid, set_done;
  logic [63:0] set_now;
  logic [639:0] set;
  player #(.BITS(640), .FILE("settings=%s")) setter (
      .clk, .ready(1'b0), .rst(set_rst), .now(set_now), .valid(set_valid), .payload(set), .done(set_done)
  );
  logic m_tready;
  stalls stalls (.clk, .ready(m_tready));

  logic [DATA_BITS-1:0] m_tdata;
  logic [BYTES-1:0] m_tkeep;
  logic m_tvalid, m_tlast, frame_in, frame_out, full, runt, oversized, truncated, bad;
  logic [39:0] rate_bps;
  logic [23:0] backlog_bytes, max_backlog_bytes;
  logic [31:0] passed, queued, dropped, bypassed, associations, refreshed, expired, ignored, evicted, missed;
  logic [6:0] live;
  nic_datapath #(
      .DATA_BITS(DATA_BITS), .CLOCK_PS(CLOCK_PS), .STAGED_BEATS(STAGED_BEATS), .FIFO_BEATS(FIFO_BEATS),
      .FIFO_FRAMES(512), .MIN_BYTES(MIN_BYTES), .MAX_BYTES(MAX_BYTES)
  ) dut (
      .clk, .rst,
      .s_tdata(stimulus[DATA_BITS-1:0]), .s_tkeep(stimulus[DATA_BITS+:BYTES]), .s_tvalid(valid), .s_tready,
      .s_tlast(stimulus[DATA_BITS+BYTES]), .s_tuser(stimulus[DATA_BITS+BYTES+1]),
      .m_tdata, .m_tkeep, .m_tvalid, .m_tlast, .m_tready,
      .pacer_enable(set_valid && set[576]), .evict_when_full(set[577]), .when_full(set[579:578]),
      .max_rate_bps(set[551:512]), .min_rate_bps(set[487:448]), .initial_rate_bps(set[423:384]),
      .bucket_bytes(set[371:352]), .fifo_bytes(set[343:320]), .update_interval(set[311:288]),
      .token_tick(set[279:256]), .eta(set[240:224]), .rate_step_bps(set[223:192]), .gain(set[183:128]),
      .beta(set[127:96]), .probability(set[95:64]), .timeout_clocks(set[63:32]),
      .seed_valid(now == 64'd5), .seed(set[31:0]), .ece_valid, .ece_flow,
      .rate_bps, .backlog_bytes, .max_backlog_bytes, .passed_count(passed), .queued_count(queued),
      .dropped_count(dropped), .bypassed_count(bypassed), .live, .associations, .refreshed, .expired, .ignored,
      .evicted, .missed, .frame_in, .frame_out, .full, .runt, .oversized, .truncated, .bad
  );

  recorder #(.BITS(ANSWER), .FILE("out=%s")) out (
      .clk, .now, .valid(m_tvalid && m_tready && !rst), .payload(ANSWER'({m_tlast, m_tkeep, m_tdata}))
  );
  recorder #(.BITS(64), .FILE("fates=%s")) fates (
      .clk, .now, .valid(frame_in && !rst),
      .payload({3'd0, bad, oversized, runt, full, dut.taken, 42'd0, dut.offer_bytes})
  );
  recorder #(.BITS(64), .FILE("lookups=%s")) lookups (
      .clk, .now, .valid((dut.header_valid || ece_valid) && !rst),
      .payload({dut.header_valid, dut.header_ok, 30'd0, dut.flow})
  );
  recorder #(.BITS(64), .FILE("answered=%s")) answered (
      .clk, .now, .valid(dut.lookup_answer_valid && !rst), .payload(64'(dut.lookup_associated))
  );
  recorder #(.BITS(64), .FILE("offers=%s")) offers (
      .clk, .now, .valid(dut.asks && !rst), .payload({dut.next_paced, 49'd0, dut.next_bytes})
  );
  recorder #(.BITS(64), .FILE("admissions=%s")) admissions (
      .clk, .now, .valid(dut.admission_valid && !rst), .payload(64'(dut.admission))
  );
  logic head_before, free_before;
  always @(posedge clk) begin
    head_before <= dut.head_valid && !dut.releases && !rst;
    free_before <= dut.line_free && !rst;
  end
  logic head_comes, line_comes;
  assign head_comes = dut.head_valid && !head_before;
  assign line_comes = dut.line_free && !free_before;
  recorder #(.BITS(64), .FILE("heads=%s")) heads (
      .clk, .now, .valid((head_comes || line_comes || dut.releases) && !rst),
      .payload({61'd0, dut.releases, line_comes, head_comes})
  );
  recorder #(.BITS(64), .FILE("wrong=%s")) wrong (
      .clk, .now,
      .valid((dut.unused_overflow || dut.unused_f_runt || dut.unused_f_long || dut.unused_f_bad || full) && !rst),
      .payload(64'd1)
  );
endmodule

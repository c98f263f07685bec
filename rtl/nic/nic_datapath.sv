// The transmit path of a NIC: parser, association, pacer, and the two paths to the link, directly or through the
// pacer's FIFO.
//
// Source: paper 4.2 and 5.1 (thesis 4.3.2, 4.4.1): packets of associated flows are paced, all others pass.
// Units: bytes of the frame without FCS, clocks.
//
// The staging memory stores whole frames until they are decided. When it is full it holds back the host
// (`s_tready`). It drops and counts runts, oversized and bad frames. Decisions keep the order of the frames: the
// flow is looked up once the header is parsed, and the pacer decides once the frame is complete. A passing frame
// goes to the link. A queued frame goes into the FIFO until the pacer releases it. Released frames have priority
// over passing frames; neither interrupts a frame in progress.
//
// If the FIFO is full, the pacer applies its policy: drop, bypass or hold. With hold the frame is offered again
// until there is room, and the host waits. The memory of the FIFO never overflows, for any lengths of the
// frames: while it has room for fewer than five frames of maximum size, nothing is offered to the pacer, and the
// host waits.
module nic_datapath #(
    parameter int DATA_BITS    = 64,
    parameter int CLOCK_PS     = 8000,
    parameter int STAGED_BEATS = 4096,   // memory before the decision, in beats; two of the longest frames at least
    parameter int FIFO_BEATS   = 16384,  // memory of the pacer's FIFO, in beats; a power of two
    parameter int FIFO_FRAMES  = 4096,   // most frames in it; a power of two
    parameter int ENTRIES      = 64,     // of the association table
    parameter int MIN_BYTES    = 60,
    parameter int MAX_BYTES    = 1522,   // longest frame; 9022 for jumbo frames
    localparam int KEEP        = DATA_BITS / 8
) (
    input logic clk,
    input logic rst,

    // Frames from the host.
    input logic [DATA_BITS-1:0] s_tdata,
    input logic [KEEP-1:0] s_tkeep,
    input logic s_tvalid,
    output logic s_tready,
    input logic s_tlast,
    input logic s_tuser,

    // Frames to the link.
    output logic [DATA_BITS-1:0] m_tdata,
    output logic [KEEP-1:0] m_tkeep,
    output logic m_tvalid,
    output logic m_tlast,
    input logic m_tready,

    // Settings of the pacer (pacer.sv).
    input logic pacer_enable,
    input logic [39:0] max_rate_bps,
    input logic [39:0] min_rate_bps,
    input logic [39:0] initial_rate_bps,
    input logic [19:0] bucket_bytes,
    input logic [23:0] fifo_bytes,
    input logic [23:0] update_interval,
    input logic [16:0] eta,
    input logic [55:0] gain,
    input logic [31:0] beta,
    input logic [31:0] rate_step_bps,
    input logic [23:0] token_tick,
    input logic [1:0] when_full,

    // Settings of the association (flow_association.sv), and the ACKs with ECN-Echo.
    input logic [31:0] probability,
    input logic [31:0] timeout_clocks,
    input logic evict_when_full,
    input logic seed_valid,
    input logic [31:0] seed,
    input logic ece_valid,
    input logic [31:0] ece_flow,

    // What can be read.
    output logic [39:0] rate_bps,
    output logic [23:0] backlog_bytes,
    output logic [23:0] max_backlog_bytes,
    output logic [31:0] passed_count,
    output logic [31:0] queued_count,
    output logic [31:0] dropped_count,
    output logic [31:0] bypassed_count,
    output logic [$clog2(ENTRIES+1)-1:0] live,
    output logic [31:0] associations,
    output logic [31:0] refreshed,
    output logic [31:0] expired,
    output logic [31:0] ignored,
    output logic [31:0] evicted,
    output logic [31:0] missed,

    // Events, one clock each.
    output logic frame_in,   // last beat received (accepted or dropped)
    output logic frame_out,
    output logic full,       // without room in the staging memory: never, the host is held before
    output logic runt,
    output logic oversized,
    output logic truncated,  // ended within its headers: passes unpaced
    output logic bad
);
  localparam int LongestBeats = (MAX_BYTES + KEEP - 1) / KEEP;
  // What becomes of a frame (2: it is dropped).
  localparam logic [1:0] Pass = 2'd0, Queued = 2'd1, Held = 2'd3;

  // ---- Staging: frames wait for their decision. ----
  logic accepted, taken, s_departs, s_release, unused_staged_valid, unused_offer, unused_info;
  logic [13:0] unused_next, offer_bytes, unused_staged;
  logic [$clog2(STAGED_BEATS):0] staged_free;
  logic [DATA_BITS-1:0] g_tdata;
  logic [KEEP-1:0] g_tkeep;
  logic g_tvalid, g_tlast, g_tready;
  logic fates_room;
  assign accepted = s_tvalid && s_tready;
  frame_fifo #(
      .DATA_BITS(DATA_BITS), .BEATS(STAGED_BEATS), .FRAMES(256), .INFO_BITS(1),
      .MIN_BYTES(MIN_BYTES), .MAX_BYTES(MAX_BYTES)
  ) staged (
      .clk, .rst, .s_tdata, .s_tkeep, .s_tvalid(accepted), .s_tlast, .s_tuser,
      .next_bytes(unused_next), .offer_valid(unused_offer), .offer_bytes, .offer_take(1'b1), .offer_info(1'b0),
      .beats_free(staged_free), .taken, .full, .runt, .oversized, .bad,
      .head_valid(unused_staged_valid), .head_bytes(unused_staged), .head_info(unused_info),
      .release_head(s_release), .departs(s_departs),
      .m_tdata(g_tdata), .m_tkeep(g_tkeep), .m_tvalid(g_tvalid), .m_tlast(g_tlast), .m_tready(g_tready)
  );
  assign frame_in = taken || full || runt || oversized || bad;
  // Beats and frames under way in the first clocks of the FIFO and of the parser have room as well.
  always_ff @(posedge clk) s_tready <= !rst && staged_free > 16 && fates_room;

  // ---- The flow of each frame, and whether it is associated. ----
  logic header_valid, header_ok, header_truncated;
  logic [31:0] flow;
  logic [31:0] unused_reverse;
  logic [3:0] unused_version;
  logic [4:0] unused_offset;
  logic [1:0] unused_ecn;
  logic unused_tcp, unused_cwr, unused_ece, unused_ack, unused_rst, unused_syn, unused_fin;
  header_parser #(.DATA_BITS(DATA_BITS)) parser (
      .clk, .rst, .s_tdata, .s_tkeep, .s_tvalid, .s_tready, .s_tlast,
      .header_valid, .ok(header_ok), .truncated(header_truncated), .ip_version(unused_version),
      .ip_offset(unused_offset), .ecn(unused_ecn), .is_tcp(unused_tcp), .tcp_cwr(unused_cwr),
      .tcp_ece(unused_ece), .tcp_ack(unused_ack), .tcp_rst(unused_rst), .tcp_syn(unused_syn),
      .tcp_fin(unused_fin), .flow, .flow_reverse(unused_reverse)
  );
  assign truncated = header_valid && header_truncated;

  logic lookup_answer_valid, lookup_associated, unused_answer, unused_associated;
  logic [31:0] unused_random;
  flow_association #(.ENTRIES(ENTRIES)) association (
      .clk, .rst, .probability, .timeout_clocks, .evict_when_full, .seed_valid, .seed,
      .random_bits(unused_random), .ece_valid, .ece_flow,
      .ece_answer_valid(unused_answer), .ece_associated(unused_associated),
      .lookup_valid(header_valid), .lookup_flow(flow), .lookup_answer_valid, .lookup_associated,
      .live, .associations, .refreshed, .expired, .ignored, .evicted, .missed
  );
  logic [7:0] oks;  // beside the look-ups under way
  always_ff @(posedge clk) oks <= {oks[6:0], header_ok};

  // One word for each frame, in order: whether it is paced; whether it was taken, and its length.
  logic paced_valid, paced, fate_valid, fate_taken, both;
  logic [13:0] fate_bytes;
  logic [6:0] paced_room, fate_room;
  small_fifo #(.BITS(1), .DEPTH(64)) looked_up (
      .clk, .rst, .push(lookup_answer_valid), .in(lookup_associated && oks[7]),
      .valid(paced_valid), .out(paced), .pop(both), .room(paced_room)
  );
  small_fifo #(.BITS(15), .DEPTH(64)) fates (
      .clk, .rst, .push(frame_in), .in({taken, offer_bytes}),
      .valid(fate_valid), .out({fate_taken, fate_bytes}), .pop(both), .room(fate_room)
  );
  assign fates_room = paced_room > 32 && fate_room > 32;

  // The frames that were taken, in order.
  logic next_valid, next_paced, next_pop;
  logic [13:0] next_bytes;
  logic [5:0] next_room;
  assign both = fate_valid && paced_valid && next_room != 0;
  small_fifo #(.BITS(15), .DEPTH(32)) to_offer (
      .clk, .rst, .push(both && fate_taken), .in({paced, fate_bytes}),
      .valid(next_valid), .out({next_paced, next_bytes}), .pop(next_pop), .room(next_room)
  );

  // ---- The pacer. ----
  // At most four frames are between the question to the pacer and their end in the staging memory, so that queued
  // frames have room. With `hold` each question waits for the previous answer; a held frame stays first and is
  // offered again. A new policy takes effect when all questions are answered.
  localparam int MostUnderWay = 4;
  localparam int Margin = (MostUnderWay + 1) * LongestBeats + 16;
  logic packet_valid, packet_ready, asks, admission_valid, answered;
  logic [1:0] admission;
  logic [2:0] unanswered, under_way;
  logic hold_asked, may_ask, fifo_wide, staged_end;
  logic [1:0] policy;
  logic [$clog2(FIFO_BEATS):0] fifo_free;
  assign may_ask = fifo_wide && under_way != 3'(MostUnderWay) && !hold_asked && policy == when_full;
  assign packet_valid = next_valid && may_ask;
  assign asks = packet_valid && packet_ready;
  assign answered = admission_valid && admission != Held;
  assign next_pop = hold_asked ? answered : asks && policy != 2'd2;
  always_ff @(posedge clk) begin
    fifo_wide <= fifo_free >= ($clog2(FIFO_BEATS) + 1)'(Margin);
    unanswered <= unanswered + 3'(asks) - 3'(admission_valid);
    under_way <= under_way + 3'(asks) - 3'(admission_valid && !answered) - 3'(staged_end);
    if (unanswered == 0) policy <= when_full;
    if (asks && policy == 2'd2) hold_asked <= 1'b1;
    else if (admission_valid) hold_asked <= 1'b0;
    if (rst) begin
      unanswered <= '0;
      under_way <= '0;
      hold_asked <= 1'b0;
    end
  end

  logic head_valid, line_free, releases, unused_active, unused_negative;
  logic [13:0] head_bytes;
  pacer #(.CLOCK_PS(CLOCK_PS)) bucket (
      .clk, .rst, .enable(pacer_enable), .max_rate_bps, .min_rate_bps, .initial_rate_bps, .bucket_bytes,
      .fifo_bytes, .update_interval, .eta, .gain, .beta, .rate_step_bps, .token_tick, .when_full(policy),
      .packet_valid, .packet_ready, .packet_bytes(next_bytes), .packet_paced(next_paced),
      .admission_valid, .admission, .head_valid, .head_bytes, .line_free, .release_head(releases),
      .active(unused_active), .rate_bps, .backlog_bytes, .max_backlog_bytes, .tokens_negative(unused_negative),
      .passed_count, .queued_count, .dropped_count, .bypassed_count
  );

  // ---- Out of the staging memory, each frame its way. ----
  logic decision_valid, route_valid;
  logic [1:0] decision, route;
  logic [3:0] unused_decisions, route_room;
  assign s_release = decision_valid && route_room != 0;
  small_fifo #(.BITS(2), .DEPTH(8)) decisions (
      .clk, .rst, .push(answered), .in(admission),
      .valid(decision_valid), .out(decision), .pop(s_departs), .room(unused_decisions)
  );
  small_fifo #(.BITS(2), .DEPTH(8)) routes (
      .clk, .rst, .push(s_departs), .in(decision),
      .valid(route_valid), .out(route), .pop(staged_end), .room(route_room)
  );
  logic passes, queues;
  assign passes = g_tvalid && route_valid && route == Pass;
  assign queues = g_tvalid && route_valid && route == Queued;
  assign staged_end = g_tvalid && g_tready && g_tlast;

  // ---- The pacer's FIFO. ----
  logic [DATA_BITS-1:0] f_tdata;
  logic [KEEP-1:0] f_tkeep;
  logic f_tvalid, f_tlast, f_tready, f_departs;
  logic unused_f_offer, unused_f_info, unused_f_taken, unused_overflow, unused_f_runt, unused_f_long, unused_f_bad;
  logic [13:0] unused_f_next, unused_f_bytes;
  frame_fifo #(
      .DATA_BITS(DATA_BITS), .BEATS(FIFO_BEATS), .FRAMES(FIFO_FRAMES), .INFO_BITS(1),
      .MIN_BYTES(MIN_BYTES), .MAX_BYTES(MAX_BYTES)
  ) waiting (
      .clk, .rst, .s_tdata(g_tdata), .s_tkeep(g_tkeep), .s_tvalid(queues), .s_tlast(g_tlast), .s_tuser(1'b0),
      .next_bytes(unused_f_next), .offer_valid(unused_f_offer), .offer_bytes(unused_f_bytes),
      .offer_take(1'b1), .offer_info(1'b0), .beats_free(fifo_free), .taken(unused_f_taken),
      .full(unused_overflow), .runt(unused_f_runt), .oversized(unused_f_long), .bad(unused_f_bad),
      .head_valid, .head_bytes, .head_info(unused_f_info), .release_head(releases), .departs(f_departs),
      .m_tdata(f_tdata), .m_tkeep(f_tkeep), .m_tvalid(f_tvalid), .m_tlast(f_tlast), .m_tready(f_tready)
  );
  // One released frame at a time.
  logic leaving;
  assign line_free = !leaving;
  always_ff @(posedge clk) begin
    if (f_departs) leaving <= 1'b1;
    else if (f_tvalid && f_tready && f_tlast) leaving <= 1'b0;
    if (rst) leaving <= 1'b0;
  end

  // ---- Onto the link: a released frame first, frame by frame. ----
  logic locked, from_fifo, owner;
  assign from_fifo = locked ? owner : f_tvalid;
  assign m_tdata  = from_fifo ? f_tdata : g_tdata;
  assign m_tkeep  = from_fifo ? f_tkeep : g_tkeep;
  assign m_tlast  = from_fifo ? f_tlast : g_tlast;
  assign m_tvalid = from_fifo ? f_tvalid : passes;
  assign f_tready = from_fifo && m_tready;
  assign g_tready = route_valid && (route == Pass ? !from_fifo && m_tready : 1'b1);
  assign frame_out = m_tvalid && m_tready && m_tlast;
  always_ff @(posedge clk) begin
    if (m_tvalid) begin
      locked <= !(m_tready && m_tlast);
      owner  <= from_fifo;
    end
    if (rst) locked <= 1'b0;
  end
endmodule

// The path of a frame through a switch port: a queue of whole frames, the threshold marker on arrival (DCTCP), the
// phantom queue on departure (HULL), and the mark in the header.
//
// Source: paper 2.1, 5.1 (the phantom queue is in series with the port); thesis 2.2.1 (K, on arrival). Units:
// bytes, clocks.
//
// Counting. The queue counts the bytes of frames on the stream, without FCS. The phantom queue adds
// `overhead_bytes` to each frame (24: FCS, preamble and interframe gap). With `count_in_service` a frame is in the
// queue until its last beat has left, otherwise until its first beat leaves.
//
// The phantom queue decides when a frame leaves the queue. Its answer comes while the beats are on their way to the
// marker, so no clock is lost. The first beat of a frame that finds the port empty comes out
// 21, 19, 17 or 16 clocks (64, 128, 256, 512 bits) after its last beat came in.
module port_datapath #(
    parameter int DATA_BITS = 64,
    parameter int BEATS     = 2048,  // memory of the queue, in beats; a power of two
    parameter int FRAMES    = 256,   // most frames in the queue; a power of two
    parameter int MIN_BYTES = 60,    // shortest frame
    parameter int MAX_BYTES = 9022,  // longest frame
    localparam int KEEP     = DATA_BITS / 8
) (
    input logic clk,
    input logic rst,

    // Frames in: always taken, or dropped and counted.
    input logic [DATA_BITS-1:0] s_tdata,
    input logic [KEEP-1:0] s_tkeep,
    input logic s_tvalid,
    input logic s_tlast,
    input logic s_tuser,

    // Frames out.
    output logic [DATA_BITS-1:0] m_tdata,
    output logic [KEEP-1:0] m_tkeep,
    output logic m_tvalid,
    output logic m_tlast,
    input logic m_tready,

    // Settings of the phantom queue (phantom_queue.sv).
    input logic phantom_enable,
    input logic phantom_count_arriving,
    input logic [31:0] drain_units,
    input logic [31:0] byte_units,
    input logic [19:0] threshold_bytes,
    input logic [15:0] tick_clocks,
    input logic [5:0] overhead_bytes,

    // Settings of the queue and of the threshold marker.
    input logic marker_enable,
    input logic marker_count_arriving,
    input logic [19:0] marker_threshold_bytes,  // K
    input logic [19:0] limit_bytes,             // a frame that would make the queue longer is dropped
    input logic count_in_service,               // a frame being sent is part of the queue; a change waits for it

    // What can be read.
    output logic [19:0] queue_bytes,
    output logic [51:0] backlog_units,

    // Events, one clock each.
    output logic frame_in,       // last beat received (accepted or dropped)
    output logic frame_out,
    output logic dropped_full,
    output logic runt,
    output logic oversized,
    output logic bad,
    output logic truncated,      // left with its IP header cut short, unmarked
    output logic departs,            // the phantom queue counts a frame
    output logic above_phantom,      // one was above the phantom queue's threshold
    output logic above_threshold,    // a frame that was taken found more than K
    output logic marked,             // a frame left with CE set here
    output logic not_capable         // one was to be marked and is not ECN-capable
);
  logic [13:0] next_bytes, offer_bytes, head_bytes;
  logic take, taken, leaves;
  logic unused_valid, unused_head, unused_user, unused_ce;
  logic [$clog2(BEATS):0] unused_free;
  logic threshold_mark, head_mark;
  logic [DATA_BITS-1:0] f_tdata;
  logic [KEEP-1:0] f_tkeep;
  logic f_tvalid, f_tlast, f_tready;
  logic started_room;
  frame_fifo #(
      .DATA_BITS(DATA_BITS), .BEATS(BEATS), .FRAMES(FRAMES), .INFO_BITS(1),
      .MIN_BYTES(MIN_BYTES), .MAX_BYTES(MAX_BYTES)
  ) queue (
      .clk, .rst, .s_tdata, .s_tkeep, .s_tvalid, .s_tlast, .s_tuser,
      .next_bytes, .offer_valid(unused_valid), .offer_bytes, .offer_take(take), .offer_info(threshold_mark),
      .beats_free(unused_free), .taken, .full(dropped_full), .runt, .oversized, .bad,
      .head_valid(unused_head), .head_bytes, .head_info(head_mark), .release_head(started_room), .departs(leaves),
      .m_tdata(f_tdata), .m_tkeep(f_tkeep), .m_tvalid(f_tvalid), .m_tlast(f_tlast), .m_tready(f_tready)
  );
  assign above_threshold = taken && threshold_mark;
  assign frame_in = taken || dropped_full || runt || oversized || bad;

  // The queue in bytes: what was counted in, less what left in the last clock. So the length of a frame that
  // leaves, which comes late out of a memory, ends in a register.
  logic [19:0] counted_in;
  logic [13:0] left;
  assign queue_bytes = counted_in - {6'd0, left};

  // Sums of several numbers: each bit's sum and carry, so that only one carry chain follows. The lowest carry is
  // the 1 that makes the complement of a number its negative.
  function automatic [21:0] carries(input [20:0] a, input [20:0] b, input [20:0] c);
    carries = {(a & b) | (c & (a | b)), 1'b1};
  endfunction
  // The queue after this clock, but for what leaves in it.
  logic [19:0] not_left_3, offer_3, grown;
  assign not_left_3 = ~{6'd0, left};
  assign offer_3 = {6'd0, offer_bytes};
  assign grown = (counted_in ^ not_left_3 ^ offer_3)
      + {(counted_in[18:0] & not_left_3[18:0]) | (offer_3[18:0] & (counted_in[18:0] | not_left_3[18:0])), 1'b1};

  // Limit and threshold are compared one clock before the frame is offered, with the queue that the frame will
  // find: of what left, all until the clock before the comparison is subtracted.
  // A frame of one beat may be offered in the clock after another one was taken; longer ones are not.
  localparam bit OneBeat = KEEP >= MIN_BYTES;
  logic [21:0] limit_4, not_next_4, not_counted_4, left_4, not_offer_5;
  logic [21:0] sum_3, carry_3, sum_4, carry_4, carry_5, room;
  logic [19:0] limit;  // a register, because the registers' block compares the limit with the memory
  assign limit_4 = {2'b00, limit};
  assign not_next_4 = ~{8'd0, next_bytes};
  assign not_counted_4 = ~{2'b00, counted_in};
  assign left_4 = {8'd0, left};
  assign not_offer_5 = ~{8'd0, offer_bytes};
  assign sum_3 = limit_4 ^ not_next_4 ^ not_counted_4;
  assign carry_3 = carries(limit_4[20:0], not_next_4[20:0], not_counted_4[20:0]);
  assign sum_4 = sum_3 ^ carry_3 ^ left_4;
  assign carry_4 = carries(sum_3[20:0], carry_3[20:0], left_4[20:0]);
  assign carry_5 = carries(sum_4[20:0], carry_4[20:0], not_offer_5[20:0]);
  assign room = OneBeat && taken ? (sum_4 ^ carry_4 ^ not_offer_5) + carry_5 : sum_4 + carry_4;
  logic above;
  threshold_marker marker (
      .enable(marker_enable), .count_arriving(marker_count_arriving),
      .threshold_bytes(marker_threshold_bytes), .queue_bytes(OneBeat && taken ? grown : queue_bytes),
      .packet_bytes(next_bytes), .mark(above)
  );
  always_ff @(posedge clk) begin
    limit <= limit_bytes;
    take <= !room[21];
    threshold_mark <= above;
  end

  // Frames between the queue and the end of their last beat: their lengths, and their marks.
  localparam int Started = 32;
  logic [13:0] lengths[Started];
  logic [5:0] length_in, length_out;  // one bit more than a place has
  logic [4:0] mark_in, mark_out;
  logic marks[Started];
  logic ends_out;
  // A frame counts by one rule: another one is in force when no frame is on its way, and the next waits for it.
  logic in_service;
  // The comparison with the most frames, as a register: the next departure waits for it.
  logic all_started;
  logic [5:0] not_ended;
  assign not_ended = length_in - length_out;
  assign started_room = !all_started && in_service == count_in_service;
  logic freed;
  logic [13:0] freed_bytes;
  assign freed = in_service ? ends_out : leaves;
  assign freed_bytes = in_service ? lengths[length_out[4:0]] : head_bytes;
  always_ff @(posedge clk) begin
    counted_in <= taken ? grown : queue_bytes;
    left <= freed ? freed_bytes : 14'd0;
    if (leaves) lengths[length_in[4:0]] <= head_bytes;
    if (leaves) length_in <= length_in + 6'd1;
    if (ends_out) length_out <= length_out + 6'd1;
    all_started <= !ends_out && (all_started || (leaves && not_ended == 6'(Started - 1)));
    if (length_in == length_out && !leaves) in_service <= count_in_service;
    if (rst) begin
      counted_in <= '0;
      left <= '0;
      length_in <= '0;
      length_out <= '0;
      all_started <= 1'b0;
      in_service <= 1'b0;
    end
  end

  logic unused_room;
  assign unused_room = &{1'b0, room[20:0]};

  // The phantom queue: asked one clock after the departure, when the overhead has been added.
  logic counts;
  logic [13:0] counted_bytes;
  logic [4:0] threshold_marks;  // of the departures under way in the phantom queue
  logic answer_valid, mark;
  always_ff @(posedge clk) begin
    counts <= leaves && !rst;
    counted_bytes <= head_bytes + {8'd0, overhead_bytes};
    threshold_marks <= {threshold_marks[3:0], head_mark};
  end
  assign departs = counts;
  phantom_queue phantom (
      .clk, .rst, .enable(phantom_enable), .count_arriving(phantom_count_arriving),
      .drain_units, .byte_units, .threshold_bytes, .tick_clocks,
      .packet_valid(counts), .packet_bytes(counted_bytes), .packet_ect(1'b1),
      .answer_valid, .mark, .above(above_phantom), .backlog_units
  );

  // A frame's first beat waits for its mark; in a stream without gaps the mark is there before.
  logic mark_here;
  assign mark_here = mark_in != mark_out;
  always_ff @(posedge clk) begin
    if (answer_valid) begin
      marks[mark_in] <= mark || threshold_marks[4];
      mark_in <= mark_in + 5'd1;
    end
    if (f_tvalid && f_tready && f_tlast) mark_out <= mark_out + 5'd1;
    if (rst) begin
      mark_in  <= '0;
      mark_out <= '0;
    end
  end

  // A spare for the beat that was on its way when the marker stopped, with its frame's mark. While it is empty, beats
  // pass by it without a clock of delay. So the queue is stopped by a register, not by logic across the marker.
  logic [DATA_BITS-1:0] spare_tdata;
  logic [KEEP-1:0] spare_tkeep;
  logic spare_valid, spare_tlast, spare_mark, g_tvalid, g_tready;
  assign f_tready = !spare_valid && mark_here;
  assign g_tvalid = spare_valid || (f_tvalid && mark_here);
  always_ff @(posedge clk) begin
    if (!spare_valid) begin
      spare_tdata <= f_tdata;
      spare_tkeep <= f_tkeep;
      spare_tlast <= f_tlast;
      spare_mark  <= marks[mark_out];
    end
    spare_valid <= g_tvalid && !g_tready && !rst;
  end

  logic frame_done, frame_ect, frame_marked, frame_truncated;
  ecn_marker #(.DATA_BITS(DATA_BITS)) header (
      .clk, .rst,
      .s_tdata(spare_valid ? spare_tdata : f_tdata), .s_tkeep(spare_valid ? spare_tkeep : f_tkeep),
      .s_tvalid(g_tvalid), .s_tlast(spare_valid ? spare_tlast : f_tlast), .s_tready(g_tready), .s_tuser(1'b0),
      .mark(spare_valid ? spare_mark : marks[mark_out]),
      .m_tdata, .m_tkeep, .m_tvalid, .m_tlast, .m_tuser(unused_user), .m_tready,
      .frame_done, .frame_ect, .frame_ce(unused_ce), .frame_marked, .frame_truncated
  );

  logic wanted_out;  // the frame that the marker reports was to be marked
  logic wanted[8];
  logic [2:0] wanted_in, wanted_next;
  assign wanted_out = wanted[wanted_next];
  always_ff @(posedge clk) begin
    wanted[wanted_in] <= marks[mark_out];
    if (f_tvalid && f_tready && f_tlast) wanted_in <= wanted_in + 3'd1;
    if (frame_done) wanted_next <= wanted_next + 3'd1;
    if (rst) begin
      wanted_in   <= '0;
      wanted_next <= '0;
    end
  end
  assign marked = frame_done && frame_marked;
  assign not_capable = frame_done && wanted_out && !frame_ect && !frame_truncated;
  assign truncated = frame_done && frame_truncated;
  assign ends_out = m_tvalid && m_tready && m_tlast;
  assign frame_out = ends_out;
endmodule

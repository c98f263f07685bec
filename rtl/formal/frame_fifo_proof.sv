// Proof of frame_fifo: frames leave whole, in order and once, for any source, owner and receiver;
// a frame is dropped for the stated reasons and for no other.
//
// The memory is small, so that it fills and wraps around in few clocks. Beats, settings of the owner and
// back-pressure are free at every clock. One beat and one frame are watched, each at a free place
// in the stream; what is proved for them is proved for all. tkeep is free: a frame that breaks its rule is bad. Of a
// beat's data one bit is free: the module moves data without looking at it, so that one bit stands for each.
module frame_fifo_proof #(
    parameter int DATA_BITS = 16,
    parameter int BEATS     = 4,
    parameter int FRAMES    = 2,
    parameter int MIN_BYTES = 2,
    parameter int MAX_BYTES = 5,
    // Only full beats of good frames without gaps, all of them wanted, and a receiver that takes nothing in the
    // first 18 clocks: memory and output are full then.
    parameter bit PRESSURE = 0,
    localparam int KEEP     = DATA_BITS / 8,
    localparam int POINTER  = $clog2(BEATS)
) (
    input logic clk,
    input logic rst,
    input logic [DATA_BITS-1:0] s_tdata,
    input logic [KEEP-1:0] s_tkeep,
    input logic s_tvalid,
    input logic s_tlast,
    input logic s_tuser,
    input logic offer_take,
    input logic offer_info,
    input logic release_head,
    input logic m_tready
);
  logic [13:0] next_bytes, offer_bytes, head_bytes;
  logic offer_valid, taken, full, runt, oversized, bad, head_valid, head_info, departs;
  logic [POINTER:0] beats_free;
  logic [DATA_BITS-1:0] m_tdata;
  logic [KEEP-1:0] m_tkeep;
  logic m_tvalid, m_tlast;
  frame_fifo #(
      .DATA_BITS(DATA_BITS), .BEATS(BEATS), .FRAMES(FRAMES), .INFO_BITS(1),
      .MIN_BYTES(MIN_BYTES), .MAX_BYTES(MAX_BYTES)
  ) dut (
      .clk, .rst, .s_tdata, .s_tkeep, .s_tvalid, .s_tlast, .s_tuser, .next_bytes, .offer_valid, .offer_bytes,
      .offer_take, .offer_info, .beats_free, .taken, .full, .runt, .oversized, .bad, .head_valid, .head_bytes,
      .head_info, .release_head, .departs, .m_tdata, .m_tkeep, .m_tvalid, .m_tlast, .m_tready
  );

  // A reset in the first clock, and none after it.
  logic started = 1'b0;
  logic [4:0] age = 5'd0;
  always_ff @(posedge clk) begin
    started <= 1'b1;
    if (age != 5'd31) age <= age + 5'd1;
  end
  always_comb begin
    assume (rst == !started);
    assume (s_tdata[DATA_BITS-1:1] == '0);
    if (PRESSURE) begin
      assume (s_tvalid && !s_tuser && (&s_tkeep) && offer_take && release_head);
      assume (!m_tready || age >= 5'd18);
    end
  end

  // The source, two clocks later: the module decides then.
  localparam int Count = 5;  // more beats and frames than any trace has
  logic [DATA_BITS-1:0] data_1, data_2;
  logic [KEEP-1:0] keep_1, keep_2;
  logic valid_1, valid_2, last_1, last_2, user_1, user_2;
  always_ff @(posedge clk) begin
    {data_1, keep_1, last_1, user_1} <= {s_tdata, s_tkeep, s_tlast, s_tuser};
    {data_2, keep_2, last_2, user_2} <= {data_1, keep_1, last_1, user_1};
    valid_1 <= s_tvalid && !rst;
    valid_2 <= valid_1 && !rst;
  end

  // What the frame has with this beat.
  logic [9:0] bytes_before, bytes_now;
  logic [Count-1:0] beats_before;
  logic broken_before, broken, refused_before, refused, ends;
  logic [4:0] in_beat;
  always_comb begin
    in_beat = '0;
    for (int i = 0; i < KEEP; i++) in_beat = in_beat + 5'(keep_2[i]);
    if (!last_2) in_beat = 5'(KEEP);
    bytes_now = bytes_before + 10'(in_beat);
    // Whole beats, but for the end of the last one.
    broken = broken_before || keep_2 == '0 || (keep_2 & (keep_2 + 1'b1)) != '0 || (!last_2 && keep_2 != '1);
    refused = refused_before || beats_free == '0;
    ends = valid_2 && last_2;
  end

  // Everything that was taken and everything that left.
  logic [Count-1:0] beats_taken, beats_left, frames_taken, frames_left;
  logic leaves;
  assign leaves = m_tvalid && m_tready;
  always_ff @(posedge clk) begin
    if (valid_2) begin
      bytes_before <= last_2 ? '0 : bytes_now;
      beats_before <= last_2 ? '0 : beats_before + 1'b1;
      broken_before <= last_2 ? 1'b0 : broken;
      refused_before <= last_2 ? 1'b0 : refused;
    end
    if (taken) begin
      beats_taken  <= beats_taken + beats_before + 1'b1;
      frames_taken <= frames_taken + 1'b1;
    end
    beats_left  <= beats_left + Count'(leaves);
    frames_left <= frames_left + Count'(departs);
    if (rst) begin
      bytes_before <= '0;
      beats_before <= '0;
      broken_before <= 1'b0;
      refused_before <= 1'b0;
      beats_taken <= '0;
      beats_left <= '0;
      frames_taken <= '0;
      frames_left <= '0;
    end
  end

  // A free beat of all that are taken, and a free frame.
  (* anyconst *) logic [Count-1:0] watched_beat;
  (* anyconst *) logic [Count-1:0] watched_frame;
  logic [DATA_BITS-1:0] beat_data;
  logic [KEEP-1:0] beat_keep;
  logic beat_last;
  logic [13:0] frame_bytes;
  logic frame_info;
  always_ff @(posedge clk) begin
    if (valid_2 && beats_taken + beats_before == watched_beat) begin
      beat_data <= data_2;
      beat_keep <= last_2 ? keep_2 : '1;
      beat_last <= last_2;
    end
    if (taken && frames_taken == watched_frame) begin
      frame_bytes <= 14'(bytes_now);
      frame_info  <= offer_info;
    end
  end

  // How long something has waited while the receiver and the owner let everything go.
  logic [3:0] willing;
  always_ff @(posedge clk)
    willing <= rst || !m_tready || !release_head || m_tvalid || beats_left == beats_taken
        ? 4'd0 : willing + 4'(willing != 4'd15);

  logic whole, held;
  assign whole = ends && !user_2 && !broken && bytes_now >= 10'(MIN_BYTES) && bytes_now <= 10'(MAX_BYTES);
  assign held  = frames_taken - frames_left == Count'(FRAMES);
  logic [Count-1:0] stored, used;
  assign stored = beats_taken - beats_left;
  assign used   = Count'(BEATS) - Count'(beats_free);

  always_ff @(posedge clk) begin
    if (started) begin
      // Each frame has one fate, and each fate its reason.
      assert (bad == (ends && (user_2 || broken)));
      assert (oversized == (ends && !user_2 && !broken && bytes_now > 10'(MAX_BYTES)));
      assert (runt == (ends && !user_2 && !broken && bytes_now < 10'(MIN_BYTES)));
      assert (taken == (whole && offer_take && !refused && !held));
      assert (full == (whole && !taken));
      if (taken) assert (offer_bytes == 14'(bytes_now));

      // Nothing leaves that was not taken; a beat leaves as it came, at its place.
      assert (beats_left <= beats_taken);
      assert (frames_left <= frames_taken);
      if (m_tvalid) assert (beats_left != beats_taken);
      if (m_tvalid && beats_left == watched_beat) begin
        assert (m_tdata == beat_data);
        assert (m_tkeep == beat_keep);
        assert (m_tlast == beat_last);
      end
      if (departs) assert (frames_left != frames_taken);
      if (departs && frames_left == watched_frame) begin
        assert (head_bytes == frame_bytes);
        assert (head_info == frame_info);
      end

      // The memory: what is taken is in it or in the 8 places of the output.
      assert (beats_free <= (POINTER + 1)'(BEATS));
      assert (stored <= Count'(BEATS + 8));
      assert (used + Count'(8) >= stored);
      assert (used <= stored + beats_before);

      // Nothing is stuck: what waits comes out at most 6 clocks after everybody is willing.
      if (willing == 4'd6) assert (m_tvalid);
    end
  end
endmodule

// Store-and-forward FIFO of whole frames in block RAM: it accepts or drops a frame when the last beat has arrived,
// and sends each frame without gaps. A switch port uses it as its queue, the NIC as the pacer's FIFO.
//
// Source: the NetFPGA's reference switch stores frames in the same way. A full FIFO drops the tail (paper 5.1: 128 KB
// for the pacer). Units: bytes of the frame without FCS; beats of DATA_BITS.
//
// Bad input is dropped and counted: a frame shorter than MIN_BYTES (`runt`), longer than MAX_BYTES (`oversized`;
// beats beyond it are not stored), flagged by its source at the last beat or with a `tkeep` that breaks the rule of
// keep_check.sv (`bad`), or without room (`full`). A frame whose end never arrives keeps the memory of the beats
// already written. Frames behind it in the same stream wait for its end; queued frames still leave.
//
// Input: every beat is accepted. There is no `s_tready`, because a link cannot be stalled; a source that can be
// stalled checks `beats_free`. In the clock of `offer_valid`, when the last beat has arrived, the surrounding module
// accepts or refuses the frame of `offer_bytes` (`offer_take`) and supplies the data stored with it (`offer_info`).
//
// Output: `head_valid`, `head_bytes` and `head_info` describe the oldest frame. It leaves when `release_head` is high
// (`departs` in that clock). Frames follow each other without a gap; the first beat leaves three clocks later.
module frame_fifo #(
    parameter int DATA_BITS  = 64,
    parameter int BEATS      = 2048,  // memory, in beats; a power of two
    parameter int FRAMES     = 256,   // maximum number of frames; a power of two
    parameter int INFO_BITS  = 1,     // width of the data stored with a frame
    parameter int MIN_BYTES  = 60,    // shortest frame; at least 1
    parameter int MAX_BYTES  = 9022,  // longest frame; at most 16,383
    localparam int KEEP      = DATA_BITS / 8,
    localparam int POINTER   = $clog2(BEATS)
) (
    input logic clk,
    input logic rst,

    // Frames in: at most one beat a clock; every beat is accepted.
    input logic [DATA_BITS-1:0] s_tdata,
    input logic [KEEP-1:0] s_tkeep,
    input logic s_tvalid,
    input logic s_tlast,
    input logic s_tuser,  // with tlast: the frame is bad

    // A complete frame. Its length is known one clock earlier, for a surrounding module that needs it.
    output logic [13:0] next_bytes,
    output logic offer_valid,
    output logic [13:0] offer_bytes,
    input logic offer_take,
    input logic [INFO_BITS-1:0] offer_info,
    output logic [POINTER:0] beats_free,

    // Fate of the frame: a pulse of one clock.
    output logic taken,
    output logic full,
    output logic runt,
    output logic oversized,
    output logic bad,

    // The oldest frame.
    output logic head_valid,
    output logic [13:0] head_bytes,
    output logic [INFO_BITS-1:0] head_info,
    input logic release_head,
    output logic departs,

    // Frames out.
    output logic [DATA_BITS-1:0] m_tdata,
    output logic [KEEP-1:0] m_tkeep,
    output logic m_tvalid,
    output logic m_tlast,
    input logic m_tready
);
  localparam int Slot = $clog2(FRAMES);
  localparam int CountBits = $clog2(KEEP) + 1;

  // Clock 1: the beat, and the bytes of the frame up to and including it. Beats that are not stored count too;
  // the count stops beyond the longest frame.
  logic [DATA_BITS-1:0] data_1, data_2;
  logic valid_1, valid_2, last_1, last_2, user_1, bad_2;
  logic keep_broken;  // with last_1
  logic [14:0] total_1;
  logic [13:0] total_2;
  logic short, long, one_beat;  // with total_2
  logic [14:0] bytes_before;  // bytes of the frame before this beat
  logic [CountBits-1:0] kept;
  keep_check #(.DATA_BITS(DATA_BITS)) rule (
      .clk, .rst, .keep(s_tkeep), .accepted(s_tvalid), .last(s_tlast), .broken(keep_broken)
  );
  always_comb begin
    kept = '0;
    for (int i = 0; i < KEEP; i++) kept = kept + CountBits'(s_tkeep[i]);
    // Only the last beat may be partial.
    if (!s_tlast) kept = CountBits'(KEEP);
  end
  always_ff @(posedge clk) begin
    data_1  <= s_tdata;
    last_1  <= s_tlast;
    user_1  <= s_tuser;
    valid_1 <= s_tvalid;
    total_1 <= bytes_before + 15'(kept);
    if (s_tvalid) begin
      if (s_tlast) bytes_before <= '0;
      else if (bytes_before <= 15'(MAX_BYTES)) bytes_before <= bytes_before + 15'(KEEP);
    end
    // Clock 2: the same, so that the surrounding module can prepare its decision.
    data_2  <= data_1;
    last_2  <= last_1;
    bad_2   <= user_1 || keep_broken;
    valid_2 <= valid_1;
    total_2 <= total_1[13:0];
    short   <= total_1 < 15'(MIN_BYTES);
    long    <= total_1 > 15'(MAX_BYTES);
    one_beat <= (total_1 <= 15'(KEEP));
    if (rst) begin
      bytes_before  <= '0;
      valid_1 <= 1'b0;
      valid_2 <= 1'b0;
    end
  end
  assign next_bytes = total_1[13:0];

  // Clock 3: write the beat; decide at the last one.
  // No place is read in the clock in which it is written, so synthesis needs no logic for that case (the same is true
  // of `descriptors`).
  (* no_rw_check *) logic [DATA_BITS-1:0] memory[BEATS];
  logic [POINTER:0] written, committed, read;  // one bit wider than an address
  logic no_room;                               // an earlier beat of the frame did not fit
  logic beat_fits;                             // beats_free is not 0; a register, as the comparison is slow
  logic ends, whole;
  logic reading;                               // a beat is read, which frees its place
  // Free space is counted, not calculated from the pointers: a subtraction would lengthen the critical path.
  logic [POINTER:0] whole_free;                // not counting the frame being written as used
  assign ends  = valid_2 && last_2;

  logic [Slot:0] slots_used;
  assign whole = ends && !bad_2 && !short && !long;
  assign offer_valid = whole && !no_room && beat_fits && !slots_used[Slot];
  assign offer_bytes = total_2;
  assign taken = offer_valid && offer_take;
  assign full = whole && !taken;
  assign bad = ends && bad_2;
  assign oversized = ends && !bad_2 && long;
  assign runt = ends && !bad_2 && short;

  logic write;
  assign write = valid_2 && beat_fits && !no_room && !long;
  always_ff @(posedge clk) begin
    if (write) memory[written[POINTER-1:0]] <= data_2;
    if (valid_2) no_room <= !last_2 && (no_room || !beat_fits);
    if (taken) begin
      written   <= written + 1'b1;
      committed <= written + 1'b1;
      whole_free <= beats_free - (POINTER + 1)'(!reading);
    end else begin
      if (ends) written <= committed;
      else if (write) written <= written + 1'b1;
      whole_free <= whole_free + (POINTER + 1)'(reading);
    end
    if (ends && !taken) begin
      beats_free <= whole_free + (POINTER + 1)'(reading);
      beat_fits <= whole_free != 0 || reading;
    end else if (write && !reading) begin
      beats_free <= beats_free - 1'b1;
      beat_fits <= beats_free != 1;
    end else if (!write && reading) begin
      beats_free <= beats_free + 1'b1;
      beat_fits <= 1'b1;
    end
    if (rst) begin
      written <= '0;
      committed <= '0;
      no_room <= 1'b0;
      beats_free <= (POINTER + 1)'(BEATS);
      beat_fits <= 1'b1;
      whole_free <= (POINTER + 1)'(BEATS);
    end
  end

  // Descriptor of each frame: its length, whether it is a single beat, and the data stored with it. The oldest ones
  // are read ahead into a few places beside the logic, so that no departure waits for the way to the memory.
  localparam int AheadBits = 2;
  localparam int Ahead = 1 << AheadBits;  // places; a departure is replaced three clocks later
  (* no_rw_check *) logic [14+INFO_BITS:0] descriptors[FRAMES];
  logic [14+INFO_BITS:0] ahead[Ahead];
  logic [Slot-1:0] free_slot, fetch_slot;
  logic [Slot:0] unread;                  // frames whose descriptors are in the memory only
  logic [AheadBits:0] claimed, here;      // places of `ahead` in use, also by a descriptor on its way; and filled
  logic [AheadBits-1:0] ahead_in, ahead_out;
  logic fetch, fetched_valid;
  logic [14+INFO_BITS:0] fetched, head;
  logic head_here;                        // `here` is not 0; a register
  assign fetch = unread != 0 && claimed != (AheadBits + 1)'(Ahead);
  assign head = ahead[ahead_out];
  assign head_bytes = head[13:0];
  assign head_info  = head[14+INFO_BITS:15];
  assign head_valid = head_here;
  always_ff @(posedge clk) begin
    if (taken) begin
      descriptors[free_slot] <= {offer_info, one_beat, offer_bytes};
      free_slot <= free_slot + 1'b1;
    end
    slots_used <= slots_used + (Slot + 1)'(taken) - (Slot + 1)'(departs);
    unread <= unread + (Slot + 1)'(taken) - (Slot + 1)'(fetch);
    fetched <= descriptors[fetch_slot];
    fetched_valid <= fetch;
    if (fetch) fetch_slot <= fetch_slot + 1'b1;
    claimed <= claimed + (AheadBits + 1)'(fetch) - (AheadBits + 1)'(departs);
    here <= here + (AheadBits + 1)'(fetched_valid) - (AheadBits + 1)'(departs);
    head_here <= fetched_valid || (departs ? here > 1 : head_here);
    if (fetched_valid) begin
      ahead[ahead_in] <= fetched;
      ahead_in <= ahead_in + 1'b1;
    end
    if (departs) ahead_out <= ahead_out + 1'b1;
    if (rst) begin
      free_slot  <= '0;
      fetch_slot <= '0;
      slots_used <= '0;
      unread <= '0;
      fetched_valid <= 1'b0;
      claimed <= '0;
      here <= '0;
      head_here <= 1'b0;
      ahead_in  <= '0;
      ahead_out <= '0;
    end
  end

  // Reading: beats of the departing frame, as long as `out` has room for all beats already read.
  localparam int OutBits = 3;
  localparam int OutBeats = 1 << OutBits;
  // Rest of the departing frame, including this clock's beat: full beats, then perhaps a partial one. The length
  // is split without an adder, because it arrives late in its clock from block RAM. `last_left` is a register: the
  // next frame waits for it, and a comparison of the rest would lengthen the critical path.
  logic [14-CountBits:0] full_left;
  logic partial_left;
  logic [CountBits-2:0] tail;                 // bytes of its last beat; 0: all
  logic any_left, last_left, idle;
  logic [OutBits:0] promised;                 // beats in `out` or on the way to it
  logic promise;                              // room for one more; a register, as is `last_left`
  logic out_take;
  assign idle = !any_left || (promise && last_left);
  assign departs = head_valid && release_head && idle;
  assign reading = any_left && promise;

  logic read_1, last_read_1;
  logic [CountBits-2:0] tail_1;
  logic [DATA_BITS-1:0] read_data_1;
  always_ff @(posedge clk) begin
    if (reading) begin
      read <= read + 1'b1;
      if (full_left != 0) full_left <= full_left - 1'b1;
      else partial_left <= 1'b0;
      any_left <= !last_left;
      last_left <= full_left == (partial_left ? 1 : 2);
    end
    if (departs) begin
      any_left <= 1'b1;
      last_left <= head[14];
      full_left <= head_bytes[13:CountBits-1];
      partial_left <= head_bytes[CountBits-2:0] != 0;
      tail <= head_bytes[CountBits-2:0];
    end
    read_data_1 <= memory[read[POINTER-1:0]];
    read_1 <= reading;
    last_read_1 <= last_left;
    tail_1 <= tail;
    promised <= promised + (OutBits + 1)'(reading) - (OutBits + 1)'(out_take);
    promise <= out_take || !(promised[OutBits] || (reading && &promised[OutBits-1:0]));
    if (rst) begin
      read <= '0;
      any_left <= 1'b0;
      read_1 <= 1'b0;
      promised <= '0;
      promise <= 1'b1;
    end
  end

  // Output buffer: hides the read latency of the memory.
  logic [DATA_BITS-1:0] out_data[OutBeats];
  logic [CountBits-1:0] out_tail[OutBeats];  // last, bytes of the last beat
  logic [OutBits:0] out_in, out_next;
  logic [KEEP-1:0] last_keep;
  logic [CountBits-2:0] tail_out;
  assign m_tvalid = out_in != out_next;
  assign m_tdata = out_data[out_next[OutBits-1:0]];
  assign {m_tlast, tail_out} = out_tail[out_next[OutBits-1:0]];
  assign last_keep = tail_out == 0 ? '1 : ~(({KEEP{1'b1}}) << tail_out);
  assign m_tkeep = m_tlast ? last_keep : '1;
  assign out_take = m_tvalid && m_tready;
  always_ff @(posedge clk) begin
    if (read_1) begin
      out_data[out_in[OutBits-1:0]] <= read_data_1;
      out_tail[out_in[OutBits-1:0]] <= {last_read_1, tail_1};
      out_in <= out_in + 1'b1;
    end
    if (out_take) out_next <= out_next + 1'b1;
    if (rst) begin
      out_in   <= '0;
      out_next <= '0;
    end
  end

`ifdef FORMAL
  // What no_rw_check states: a place that is written is not read for use in the same clock.
  always_ff @(posedge clk) if (!rst) begin
    if (write && reading) assert (written[POINTER-1:0] != read[POINTER-1:0]);
    if (taken && fetch) assert (free_slot != fetch_slot);
  end
`endif
endmodule

// Flow association table of a NIC: the flows that its pacer paces. An ACK with ECN-Echo associates its flow
// with a probability; the association ends T_i after the last successful draw.
//
// Source: paper 4.2 "Which flows need pacing?" and 5.1, thesis 4.3.2 and 4.4.1. Reference: hull-core,
// hardware/flow_association.rs, to the bit.
//
// Units: times in clocks, the probability scaled by 2^32. An association made at clock t is live at t' while
// t' < t + timeout_clocks.
//
// NetFPGA: 64 entries too. The paper states neither what a full table does nor its random source. Here a full table
// ignores the new flow or evicts the flow with the oldest association, and an LFSR draws.
//
// The entries form a shift register in the order of their last association, the latest on top. A draw closes the
// gap at the flow's old entry (or at a free entry, or overwrites the oldest) and inserts the flow on top. Each entry
// has its own comparators, so the table accepts a look-up in every clock. Expiry clears `valid` and moves nothing.
//
// An operation takes effect in its own clock, an ACK before a look-up of the same clock; the answers come
// eight clocks later. One draw takes four clocks: a successful draw within three clocks of another is missed and
// counted. TCP over IPv4 without overhead needs seven clocks per packet at 64 bits, four at 128.
module flow_association #(
    // Entries of the table, at least 2.
    parameter int ENTRIES = 64
) (
    input logic clk,
    input logic rst,

    // Settings; may change at any clock.
    input logic [31:0] probability,     // p_a; all ones: always. 1/8 is 2^29
    input logic [31:0] timeout_clocks,  // T_i of the draws to come; below 8 counts as 8
    input logic evict_when_full,        // 1: a new flow replaces the oldest association; 0: it is ignored

    // Random numbers. The reset loads the seed as well.
    input logic seed_valid,           // loads the seed
    input logic [31:0] seed,          // 0 fails one draw unless p_a is "always", and goes on from 1
    output logic [31:0] random_bits,  // what the next ACK with ECN-Echo draws: the inverted state of the LFSR

    // An ACK with ECN-Echo: the flow of its data.
    input logic ece_valid,
    input logic [31:0] ece_flow,
    // Eight clocks later.
    output logic ece_answer_valid,
    output logic ece_associated,    // it associated the flow or restarted its timer

    // A packet of a flow: is it to be paced?
    input logic lookup_valid,
    input logic [31:0] lookup_flow,
    // Eight clocks later.
    output logic lookup_answer_valid,
    output logic lookup_associated,

    // State of eight clocks before.
    output logic [$clog2(ENTRIES+1)-1:0] live,  // flows associated
    // Counts since the reset; they stop at all ones.
    output logic [31:0] associations,  // flows that entered the table
    output logic [31:0] refreshed,     // draws that restarted a timer
    output logic [31:0] expired,       // associations that ended T_i after the last draw
    output logic [31:0] ignored,       // draws for a new flow that found the table full
    output logic [31:0] evicted,       // flows that a new one replaced
    output logic [31:0] missed         // successful draws less than four clocks after another
);
  localparam int LiveBits = $clog2(ENTRIES + 1);
  localparam int Groups = (ENTRIES + 7) / 8;
  localparam int Padded = 8 * Groups;
  localparam int Copies = (ENTRIES + 15) / 16;

  // x^32 + x^22 + x^2 + x + 1, 32 bits a draw.
  logic [31:0] lfsr, lfsr_next;
  always_comb begin
    lfsr_next = lfsr;
    for (int i = 0; i < 32; i = i + 1)
      lfsr_next = {lfsr_next[30:0], lfsr_next[9] ^ lfsr_next[29] ^ lfsr_next[30] ^ lfsr_next[31]};
    if (lfsr == 32'd0) lfsr_next = 32'd1;
  end
  assign random_bits = ~lfsr;
  always_ff @(posedge clk) begin
    if (rst || seed_valid) lfsr <= seed;
    else if (ece_valid) lfsr <= lfsr_next;
  end

  // What all entries are compared with has a copy for each 16 of them, so that wires are short. A tool merges
  // registers that are equal, so four copies differ in each bit: in the value of the reset, and two of them are
  // stored inverted.
  logic [Copies-1:0][31:0] inverted, in_reset;
  always_comb
    for (int c = 0; c < Copies; c = c + 1) begin
      in_reset[c] = {32{c[0]}};
      inverted[c] = {32{c[1]}};
    end

  // Time of the next clock, and the end of an association of this one.
  logic [31:0] ahead, timeout, ends;
  logic [Copies-1:0][31:0] now;
  always_ff @(posedge clk) begin
    timeout <= (timeout_clocks[31:3] == 29'd0) ? 32'd8 : timeout_clocks;
    ahead <= ahead + 32'd1;
    ends <= ahead + timeout;
    for (int c = 0; c < Copies; c = c + 1) now[c] <= rst ? in_reset[c] : ahead ^ inverted[c];
    if (rst) ahead <= 32'd0;
  end

  // The table. Entry ENTRIES - 1 is the last associated. An entry that ends is first hidden from the draws
  // of later clocks (`open`), and four clocks later, when the draws before its end are done, it is gone
  // (`valid`). `ending` holds the clocks between.
  logic [ENTRIES-1:0][31:0] flows, deadlines;
  logic [ENTRIES-1:0] open, ending_1, ending_2, ending_3, ending_4, valid;

  // Clock 1 of an ACK: the draw.
  logic valid_1;
  logic [31:0] flow_1, ends_1, random_1;
  logic success_1, busy_1;
  // Clock 2: the flow's entry, by halves of the key.
  logic valid_2;
  logic [31:0] flow_2, ends_2;
  logic [Copies-1:0][31:0] key_2;
  // Clock 3: which entries of its group of 8 are not below it; the same for the lowest free entry.
  logic valid_3;
  logic [31:0] flow_3, ends_3;
  logic [ENTRIES-1:0] low_3, high_3, open_3, hit_3, closed_3;
  logic [Padded-1:0] match_3, free_3, match_from_3, free_from_3;
  // Clock 4: from the groups, which entries move.
  logic valid_4, any_4, full_4, room_4;
  logic [31:0] flow_4, ends_4;
  logic [Padded-1:0] match_from_4, free_from_4;
  logic [Groups-1:0] match_in_4, free_in_4;        // the group has one
  logic [Groups-1:0] match_below_4, free_below_4;  // a group below has one
  // Clock 5: they move: whole groups, and of one group the entries from the flow's or the free one on.
  logic push_5, refresh_5, evict_5, ignore_5;
  logic [31:0] flow_5, ends_5;
  logic [Groups-1:0] whole_5, part_5;
  logic [ENTRIES-1:0] from_5, shift_5;

  function automatic logic [1:0] halves_equal(input logic [31:0] left, input logic [31:0] right);
    halves_equal = {left[31:16] == right[31:16], left[15:0] == right[15:0]};
  endfunction
  assign success_1 = random_1 < probability || probability == '1;
  assign busy_1    = valid_2 || valid_3 || valid_4;
  always_comb begin
    hit_3 = open_3 & low_3 & high_3;
    closed_3 = ~open_3;
    match_3 = Padded'(hit_3);
    free_3 = Padded'(closed_3);
    for (int g = 0; g < Groups; g = g + 1)
      for (int i = 0; i < 8; i = i + 1) begin
        match_from_3[8*g+i] = (match_3[8*g+:8] & (8'hff >> (7 - i))) != 8'd0;
        free_from_3[8*g+i]  = (free_3[8*g+:8] & (8'hff >> (7 - i))) != 8'd0;
      end
    for (int g = 0; g < Groups; g = g + 1) begin
      match_in_4[g] = match_from_4[8*g+7];
      free_in_4[g]  = free_from_4[8*g+7];
    end
    any_4  = match_in_4 != '0;
    full_4 = free_in_4 == '0;
    room_4 = any_4 || !full_4 || evict_when_full;
    for (int g = 0; g < Groups; g = g + 1) begin
      match_below_4[g] = (match_in_4 & ~({Groups{1'b1}} << g)) != '0;
      free_below_4[g]  = (free_in_4 & ~({Groups{1'b1}} << g)) != '0;
    end
    for (int i = 0; i < ENTRIES; i = i + 1) shift_5[i] = whole_5[i/8] || (part_5[i/8] && from_5[i]);
  end

  always_ff @(posedge clk) begin
    valid_1 <= ece_valid;
    flow_1 <= ece_flow;
    ends_1 <= ends;
    random_1 <= random_bits;

    valid_2 <= valid_1 && success_1 && !busy_1;
    flow_2 <= flow_1;
    for (int c = 0; c < Copies; c = c + 1) key_2[c] <= rst ? in_reset[c] : flow_1 ^ inverted[c];
    ends_2 <= ends_1;

    valid_3 <= valid_2;
    flow_3 <= flow_2;
    ends_3 <= ends_2;
    open_3 <= open;
    for (int i = 0; i < ENTRIES; i = i + 1) begin
      {high_3[i], low_3[i]} <= halves_equal(flows[i], key_2[i/16] ^ inverted[i/16]);
    end

    valid_4 <= valid_3;
    flow_4 <= flow_3;
    ends_4 <= ends_3;
    match_from_4 <= match_from_3;
    free_from_4 <= free_from_3;

    push_5 <= valid_4 && room_4;
    refresh_5 <= valid_4 && any_4;
    evict_5 <= valid_4 && !any_4 && full_4 && evict_when_full;
    ignore_5 <= valid_4 && !room_4;
    flow_5 <= flow_4;
    ends_5 <= ends_4;
    for (int g = 0; g < Groups; g = g + 1) begin
      whole_5[g] <= valid_4 && (any_4 ? match_below_4[g] : free_below_4[g] || (full_4 && evict_when_full));
      part_5[g]  <= valid_4 && (match_in_4[g] || !any_4);
    end
    for (int i = 0; i < ENTRIES; i = i + 1)
      from_5[i] <= match_in_4[i/8] ? match_from_4[i] : free_from_4[i];
    if (rst) begin
      valid_1 <= 1'b0;
      valid_2 <= 1'b0;
      valid_3 <= 1'b0;
      valid_4 <= 1'b0;
      push_5 <= 1'b0;
      refresh_5 <= 1'b0;
      evict_5 <= 1'b0;
      ignore_5 <= 1'b0;
      whole_5 <= '0;
      part_5 <= '0;
    end
  end

  // Entries: what expiry makes of them, then the move. An end is found by quarters.
  logic [3:0][ENTRIES-1:0] quarter, quarter_left;
  logic [ENTRIES-1:0] ends_now, open_left, ending_left, valid_left;
  logic [ENTRIES-1:0][31:0] now_of;  // an entry's copy
  always_comb begin
    for (int i = 0; i < ENTRIES; i = i + 1) now_of[i] = now[i/16] ^ inverted[i/16];
    for (int q = 0; q < 4; q = q + 1)
      for (int i = 0; i < ENTRIES; i = i + 1)
        quarter_left[q][i] = deadlines[i][8*q+:8] == now_of[i][8*q+:8];
    ends_now    = quarter[0] & quarter[1] & quarter[2] & quarter[3];
    open_left   = open & ~ends_now;
    ending_left = open & ends_now;
    valid_left  = valid & ~ending_4;
  end
  for (genvar i = 0; i < ENTRIES; i = i + 1) begin : g_entry
    logic [31:0] flow_above, deadline_above;
    if (i == ENTRIES - 1) begin : g_top
      assign flow_above = flow_5;
      assign deadline_above = ends_5;
    end else begin : g_below
      assign flow_above = flows[i+1];
      assign deadline_above = deadlines[i+1];
    end
    always_ff @(posedge clk)
      if (shift_5[i]) begin
        flows[i] <= flow_above;
        deadlines[i] <= deadline_above;
      end
  end
  always_ff @(posedge clk) begin
    for (int q = 0; q < 4; q = q + 1)
      quarter[q] <= (~shift_5 & quarter_left[q]) | (shift_5 & {1'b0, quarter_left[q][ENTRIES-1:1]});
    open     <= (~shift_5 & open_left) | (shift_5 & {1'b1, open_left[ENTRIES-1:1]});
    valid    <= (~shift_5 & valid_left) | (shift_5 & {1'b1, valid_left[ENTRIES-1:1]});
    ending_1 <= (~shift_5 & ending_left) | (shift_5 & {1'b0, ending_left[ENTRIES-1:1]});
    ending_2 <= (~shift_5 & ending_1) | (shift_5 & {1'b0, ending_1[ENTRIES-1:1]});
    ending_3 <= (~shift_5 & ending_2) | (shift_5 & {1'b0, ending_2[ENTRIES-1:1]});
    ending_4 <= (~shift_5 & ending_3) | (shift_5 & {1'b0, ending_3[ENTRIES-1:1]});
    if (rst) begin
      open <= '0;
      valid <= '0;
      ending_1 <= '0;
      ending_2 <= '0;
      ending_3 <= '0;
      ending_4 <= '0;
    end
  end

  // A look-up waits until the draws of its clock and before are done (six clocks), and is compared by halves.
  logic [5:0] waiting;
  logic [4:0][31:0] waiting_flow;
  logic [Copies-1:0][31:0] waiting_key;
  logic [ENTRIES-1:0] found_open, found_low, found_high;
  logic found_valid;
  always_ff @(posedge clk) begin
    waiting <= {waiting[4:0], lookup_valid};
    waiting_flow <= {waiting_flow[3:0], lookup_flow};
    for (int c = 0; c < Copies; c = c + 1) waiting_key[c] <= rst ? in_reset[c] : waiting_flow[4] ^ inverted[c];
    found_valid <= waiting[5];
    found_open <= valid;
    for (int i = 0; i < ENTRIES; i = i + 1) begin
      {found_high[i], found_low[i]} <= halves_equal(flows[i], waiting_key[i/16] ^ inverted[i/16]);
    end
    lookup_answer_valid <= found_valid;
    lookup_associated <= found_valid && |(found_open & found_low & found_high);
    if (rst) begin
      waiting <= '0;
      found_valid <= 1'b0;
      lookup_answer_valid <= 1'b0;
      lookup_associated <= 1'b0;
    end
  end

  // The answer of a draw keeps step with the look-ups.
  logic [6:0] asked;
  logic push_6, push_7;
  always_ff @(posedge clk) begin
    asked <= {asked[5:0], ece_valid};
    push_6 <= push_5;
    push_7 <= push_6;
    ece_answer_valid <= asked[6];
    ece_associated <= push_7;
    if (rst) begin
      asked <= '0;
      push_6 <= 1'b0;
      push_7 <= 1'b0;
      ece_answer_valid <= 1'b0;
      ece_associated <= 1'b0;
    end
  end

  // Number of entries that end, over two clocks; the other events keep step with it.
  logic [Padded-1:0] ended;
  logic [Groups-1:0][3:0] ended_6, ended_group;
  logic [LiveBits-1:0] ended_7, ended_sum;
  logic entered_6, refresh_6, evict_6, ignore_6;
  logic entered_7, refresh_7, evict_7, ignore_7;
  logic [7:2] missed_at;
  assign ended = Padded'(ending_4);
  always_comb begin
    ended_sum = '0;
    for (int g = 0; g < Groups; g = g + 1) begin
      ended_group[g] = 4'd0;
      for (int i = 0; i < 8; i = i + 1) ended_group[g] = ended_group[g] + 4'(ended[8*g+i]);
      ended_sum = ended_sum + LiveBits'(ended_6[g]);
    end
  end
  logic [32:0] expired_next;
  assign expired_next = {1'b0, expired} + 33'(ended_7);
  always_ff @(posedge clk) begin
    ended_6 <= ended_group;
    entered_6 <= push_5 && !refresh_5;
    refresh_6 <= refresh_5;
    evict_6 <= evict_5;
    ignore_6 <= ignore_5;
    ended_7 <= ended_sum;
    entered_7 <= entered_6;
    refresh_7 <= refresh_6;
    evict_7 <= evict_6;
    ignore_7 <= ignore_6;
    missed_at <= {missed_at[6:2], valid_1 && success_1 && busy_1};

    live <= live + LiveBits'(entered_7) - LiveBits'(evict_7) - ended_7;
    if (entered_7 && associations != '1) associations <= associations + 32'd1;
    if (refresh_7 && refreshed != '1) refreshed <= refreshed + 32'd1;
    if (ignore_7 && ignored != '1) ignored <= ignored + 32'd1;
    if (evict_7 && evicted != '1) evicted <= evicted + 32'd1;
    if (missed_at[7] && missed != '1) missed <= missed + 32'd1;
    expired <= expired_next[32] ? '1 : expired_next[31:0];
    if (rst) begin
      ended_6 <= '0;
      ended_7 <= '0;
      {entered_6, refresh_6, evict_6, ignore_6} <= '0;
      {entered_7, refresh_7, evict_7, ignore_7} <= '0;
      missed_at <= '0;
      live <= '0;
      associations <= '0;
      refreshed <= '0;
      expired <= '0;
      ignored <= '0;
      evicted <= '0;
      missed <= '0;
    end
  end

`ifdef FORMAL
`include "flow_association_proof.sv"
`endif
endmodule

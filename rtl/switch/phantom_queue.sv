// Phantom queue of one port: a counter of the bytes that would wait at a slower link. It holds no packet;
// a packet that leaves while the counter is above the threshold is to be marked CE.
//
// Source: paper 2.1 and 5.1, thesis 4.1.1 and 4.4.1. Reference: hull-core, hardware/phantom_queue.rs,
// to the bit.
//
// Units: one byte adds `byte_units`, one clock drains `drain_units`. The drain is the fraction
// drain_units / byte_units bytes a clock; nothing is rounded, so that no error grows. 950 Mbps at 125 MHz
// is 19/20. With the clock and the time of a byte in 2^-16 ps it is bit for bit the simulator's queue.
//
// NetFPGA: set tick_clocks = 100 (800 ns at 125 MHz) and count_arriving = 0, the comparison with the
// header before the body is counted. Whether its counter had fractions of a byte the paper does not say.
//
// A packet may come each clock. Its clock is the one at which `packet_valid` is seen; the answer comes four
// clocks later. Carry chains that depend on the counter run beside each other, not behind each other: what
// they compare with is prepared one clock before.
module phantom_queue #(
    // Width of the counter. It stops at its end; 52 is a threshold of 20 bits times a byte of 32.
    parameter int COUNTER_BITS = 52,
    // Width of a packet's length in bytes.
    parameter int LENGTH_BITS = 14
) (
    input logic clk,
    input logic rst,

    // Settings; may change at any clock. The guard of the registers keeps zeros away.
    input logic enable,                   // 0: the counter stays empty and nothing is marked
    input logic count_arriving,           // 1: a packet is added before the comparison
    input logic [31:0] drain_units,       // what one clock drains, above 0
    input logic [31:0] byte_units,        // what one byte adds, above 0
    input logic [19:0] threshold_bytes,   // strictly above this marks; in force some 40 clocks later
    input logic [15:0] tick_clocks,       // drain in steps, one each tick_clocks; 0: each clock, from the next one on

    // A packet leaves the port.
    input logic packet_valid,
    input logic [LENGTH_BITS-1:0] packet_bytes,  // framing included, if it is to count
    input logic packet_ect,                      // ECN-capable: ECT(0), ECT(1) or CE

    // Four clocks later.
    output logic answer_valid,
    output logic mark,   // above the threshold, and ECN-capable
    output logic above,  // above the threshold

    // The counter, in units.
    output logic [COUNTER_BITS-1:0] backlog_units
);
  localparam int AddedBits = LENGTH_BITS + 32;

  // Threshold in units: one bit of the threshold a clock, again and again, so that a new setting is in
  // force after two rounds at most.
  logic [COUNTER_BITS-1:0] threshold_units;
  logic [COUNTER_BITS-1:0] product;
  logic [COUNTER_BITS-1:0] multiplicand;
  logic [19:0] multiplier;
  logic [4:0] bits_left;
  always_ff @(posedge clk) begin
    if (bits_left == 0) begin
      threshold_units <= product;
      product <= '0;
      multiplicand <= COUNTER_BITS'(byte_units);
      multiplier <= threshold_bytes;
      bits_left <= 5'd20;
    end else begin
      if (multiplier[0]) product <= product + multiplicand;
      multiplicand <= multiplicand << 1;
      multiplier <= multiplier >> 1;
      bits_left <= bits_left - 5'd1;
    end
    if (rst) begin
      threshold_units <= '1;
      product <= '0;
      bits_left <= 5'd0;
    end
  end

  // Drain of the next clock. With ticks it is what the clocks since the last tick gave.
  // Their grid begins in the first clock in which the queue is enabled. Both comparisons are registers, because
  // the drain is subtracted in the same clock.
  logic off, off_delayed;
  assign off = rst || !enable;
  logic [15:0] phase;
  logic [47:0] pending;
  logic tick;                                    // phase is 0
  logic each_clock;                              // tick_clocks was 0 one clock ago
  logic last_phase;
  logic [47:0] drain;
  assign last_phase = phase + 16'd1 >= tick_clocks;
  always_comb begin
    if (each_clock) drain = 48'(drain_units);
    else if (tick) drain = pending;
    else drain = 48'd0;
  end
  always_ff @(posedge clk) begin
    off_delayed <= off;
    each_clock <= tick_clocks == 16'd0;
    tick    <= last_phase;
    phase   <= last_phase ? 16'd0 : phase + 16'd1;
    pending <= tick ? 48'(drain_units) : pending + 48'(drain_units);
    if (off || off_delayed) begin
      tick    <= 1'b1;
      phase   <= 16'd0;
      pending <= 48'd0;
    end
  end

  // Clock 1: length times units, in two halves.
  logic valid_1, ect_1;
  logic [LENGTH_BITS+15:0] low_1, high_1;
  // Clock 2: what the packet adds.
  logic valid_2, ect_2;
  logic [AddedBits-1:0] added_2;
  // Clock 3: what the counter is compared with, and what changes it.
  logic valid_3, ect_3;
  logic never_empty_3;                           // the packet alone is above the threshold
  logic [COUNTER_BITS-1:0] limit_3;              // the counter above this: mark
  logic [COUNTER_BITS-1:0] room_3;               // the counter above this: it stops at its end
  logic [COUNTER_BITS-1:0] full_3;               // its end, less the drain
  logic signed [COUNTER_BITS+1:0] change_3;      // added less drained
  logic [COUNTER_BITS:0] below_2;                // threshold less the packet
  logic [COUNTER_BITS-1:0] counted_2;
  assign counted_2 = valid_2 ? COUNTER_BITS'(added_2) : '0;
  assign below_2   = {1'b0, threshold_units} - {1'b0, counted_2};

  always_ff @(posedge clk) begin
    valid_1 <= packet_valid;
    ect_1 <= packet_ect;
    low_1 <= packet_bytes * byte_units[15:0];
    high_1 <= packet_bytes * byte_units[31:16];

    valid_2 <= valid_1;
    ect_2 <= ect_1;
    added_2 <= AddedBits'(low_1) + {high_1, 16'd0};

    valid_3 <= valid_2;
    ect_3 <= ect_2;
    never_empty_3 <= count_arriving && below_2[COUNTER_BITS];
    limit_3 <= count_arriving ? below_2[COUNTER_BITS-1:0] : threshold_units;
    room_3 <= ~counted_2;
    full_3 <= ~(COUNTER_BITS'(drain));  // Yosys reads ~WIDTH'(x) as (~WIDTH)'(x)
    change_3 <= $signed({2'b00, counted_2}) - $signed({2'b00, COUNTER_BITS'(drain)});
    if (rst) begin
      valid_1 <= 1'b0;
      valid_2 <= 1'b0;
      valid_3 <= 1'b0;
    end
  end

  // Clock 4: compare, add, drain.
  logic signed [COUNTER_BITS+1:0] changed;
  logic above_now;
  assign changed   = $signed({2'b00, backlog_units}) + change_3;
  assign above_now = never_empty_3 || backlog_units > limit_3;
  always_ff @(posedge clk) begin
    answer_valid <= valid_3;
    above <= valid_3 && enable && above_now;
    mark <= valid_3 && enable && above_now && ect_3;
    if (backlog_units > room_3) backlog_units <= full_3;
    else if (changed[COUNTER_BITS+1]) backlog_units <= '0;
    else backlog_units <= changed[COUNTER_BITS-1:0];
    if (off) backlog_units <= '0;
    if (rst) begin
      answer_valid <= 1'b0;
      above <= 1'b0;
      mark <= 1'b0;
    end
  end

  logic unused;
  assign unused = &{1'b0, changed[COUNTER_BITS]};
endmodule

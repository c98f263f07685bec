// Proof of phantom_queue: its counter is the exact counter of the specification, held between empty and full,
// and it marks if and only if it is above the threshold and the packet is ECN-capable.
//
// All inputs are free at every clock, settings included; only the first clock is a reset. The model is written
// from the specification, with numbers wide enough that nothing wraps. The signals `seen_...` are connected
// to those inside the module (phantom_queue.sby).
//
// Two proofs. `counter`, at the widths of the hardware: the products of length and units are free, so the rest
// holds for any values. `product`: what a packet adds is its length times byte_units; solvers are slow at comparing
// multiplications, so lengths have few bits there.
module phantom_queue_proof #(
    parameter int COUNTER_BITS = 52,
    parameter int LENGTH_BITS  = 14,
    parameter bit PRODUCT = 0
) (
    input logic clk,
    input logic rst,
    input logic enable,
    input logic count_arriving,
    input logic [31:0] drain_units,
    input logic [31:0] byte_units,
    input logic [19:0] threshold_bytes,
    input logic [15:0] tick_clocks,
    input logic packet_valid,
    input logic [LENGTH_BITS-1:0] packet_bytes,
    input logic packet_ect
);
  logic answer_valid, mark, above;
  logic [COUNTER_BITS-1:0] backlog_units;
  phantom_queue #(.COUNTER_BITS(COUNTER_BITS), .LENGTH_BITS(LENGTH_BITS)) dut (
      .clk, .rst, .enable, .count_arriving, .drain_units, .byte_units, .threshold_bytes, .tick_clocks,
      .packet_valid, .packet_bytes, .packet_ect, .answer_valid, .mark, .above, .backlog_units
  );
  logic [COUNTER_BITS-1:0] seen_threshold;
  logic [LENGTH_BITS+31:0] seen_added;
  logic [47:0] seen_drain, seen_pending;
  logic [15:0] seen_phase;

  logic [1:0] clocks = 2'd0;  // since the start, stops at 3
  always_ff @(posedge clk) if (clocks != 2'd3) clocks <= clocks + 2'd1;
  always_comb if (clocks == 2'd0) assume (rst);

  // What a packet adds, three clocks later; two bits wider than the counter.
  localparam int Wide = COUNTER_BITS + 2;
  localparam logic [Wide-1:0] Most = {2'b00, {COUNTER_BITS{1'b1}}};
  logic valid_1, valid_2, valid_3, ect_1, ect_2, ect_3, arriving_3;
  logic [Wide-1:0] added_3, drain_3, threshold_3;
  always_ff @(posedge clk) begin
    valid_1 <= packet_valid && !rst;
    valid_2 <= valid_1 && !rst;
    valid_3 <= valid_2 && !rst;
    ect_1 <= packet_ect;
    ect_2 <= ect_1;
    ect_3 <= ect_2;
    added_3 <= valid_2 ? Wide'(seen_added) : '0;
    arriving_3 <= count_arriving;
    threshold_3 <= Wide'(seen_threshold);
    drain_3 <= Wide'(seen_drain);
  end

  // The counter: add, stop at the end, drain, stop at empty. Reset or disabled: empty.
  logic [Wide-1:0] grown, held, left;
  logic is_above;
  always_comb begin
    grown = Wide'(backlog_units) + added_3;
    held = grown > Most ? Most : grown;
    left = held < drain_3 ? '0 : held - drain_3;
    is_above = valid_3 && enable && (arriving_3 ? grown : Wide'(backlog_units)) > threshold_3;
  end
  logic [Wide-1:0] expected;
  logic expected_above, expected_mark, expected_valid;
  logic [3:0] running;  // bit n: no reset in the last n + 1 clocks
  always_ff @(posedge clk) begin
    running <= rst ? 4'd0 : {running[2:0], 1'b1};
    expected <= rst || !enable ? '0 : left;
    expected_valid <= valid_3 && !rst;
    expected_above <= is_above && !rst;
    expected_mark <= is_above && ect_3 && !rst;
    if (clocks == 2'd3 && !PRODUCT) begin
      // Registers of the pipeline have no reset; they are compared once they are filled.
      if (running[3]) begin
        assert (Wide'(backlog_units) == expected);
        assert (above == expected_above);
        assert (mark == expected_mark);
      end
      assert (answer_valid == expected_valid);
      assert (!mark || above);
      assert (!above || answer_valid);
    end
  end

  // The drain. Each clock its part, or with ticks all of it at the tick: what the clocks since the start gave,
  // less what was drained, is what is pending.
  logic [63:0] due;
  logic [15:0] since;  // clocks since the last tick
  logic off_before, each_clock;
  always_ff @(posedge clk) begin
    each_clock <= tick_clocks == 16'd0;
    off_before <= rst || !enable;
    due <= seen_phase == 16'd0 ? 64'(drain_units) : due + 64'(drain_units);
    since <= seen_phase == 16'd0 ? 16'd1 : since + 16'd1;
    if (rst || !enable || off_before) begin
      due <= '0;
      since <= '0;
    end
    if (clocks == 2'd3 && !PRODUCT) begin
      if (each_clock) assert (seen_drain == 48'(drain_units));
      else assert (seen_drain == (seen_phase == 16'd0 ? seen_pending : 48'd0));
      assert (64'(seen_pending) == due);  // no bit is lost
      assert (due <= {16'd0, since, 32'd0});
      assert (since == seen_phase || seen_phase == 16'd0);
    end
  end

  // What a packet adds, two clocks later.
  logic [LENGTH_BITS+31:0] product_1, product_2;
  always_ff @(posedge clk) begin
    product_1 <= (LENGTH_BITS + 32)'(packet_bytes) * (LENGTH_BITS + 32)'(byte_units);
    product_2 <= product_1;
    if (clocks == 2'd3 && PRODUCT) assert (seen_added == product_2);
  end
endmodule

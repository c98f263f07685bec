// The phantom queue between a player and a recorder.
//
// Stimulus (128 bits). High word: kind (8; 0 packet, 1 settings), enable (1), count_arriving (1), unused (2),
// threshold_bytes (20), tick_clocks (16), unused (16). Low word of settings: byte_units (32), drain_units (32); of
// a packet: ECN-capable (bit 16), bytes (16).
// Answer (64 bits): mark, above, unused (10), the counter one clock after the packet (52).
module phantom_queue_bench (
    input  logic clk,
    output logic done
);
  logic rst, valid;
  logic [63:0] now;
  logic [127:0] stimulus;
  player #(.BITS(128)) player (
      .clk, .ready(1'b1), .rst, .now, .valid, .payload(stimulus), .done
  );

  logic enable, count_arriving;
  logic [15:0] tick_clocks;
  logic [19:0] threshold_bytes;
  logic [31:0] byte_units, drain_units;
  logic packet, sets;
  assign packet = valid && stimulus[127:120] == 8'd0;
  assign sets   = valid && stimulus[127:120] == 8'd1;
  always @(posedge clk) if (sets) begin
    {enable, count_arriving} <= stimulus[119:118];
    threshold_bytes <= stimulus[115:96];
    tick_clocks <= stimulus[95:80];
    {byte_units, drain_units} <= stimulus[63:0];
  end

  logic answer_valid, mark, above;
  logic [51:0] backlog_units;
  phantom_queue dut (
      .clk, .rst, .enable, .count_arriving, .drain_units, .byte_units, .threshold_bytes, .tick_clocks,
      .packet_valid(packet),
      .packet_bytes(stimulus[13:0]),
      .packet_ect(stimulus[16]),
      .answer_valid, .mark, .above, .backlog_units
  );
  recorder #(.BITS(64)) recorder (
      .clk, .now, .valid(answer_valid), .payload({mark, above, 10'd0, backlog_units})
  );
endmodule

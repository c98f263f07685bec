// The flow association table between a player and a recorder.
//
// Stimulus (128 bits). High word: kind (8), evict_when_full (1), unused (23), seed (32). Low word: flow of an
// ACK (32), flow of a packet (32); with settings probability (32), timeout_clocks (32). Bits of the kind: 0 an
// ACK with ECN-Echo, 1 a packet, 2 settings, 3 the seed is loaded.
// Answer (320 bits), for each clock with an ACK or a packet: random bits of the ACK (32), live flows and flags
// (32: live 16, unused 12, ACK, associated, packet, to be paced), associations, refreshed, expired, ignored,
// evicted, missed (32 each), unused (64).
module flow_association_bench #(
    parameter int ENTRIES = 64
) (
    input  logic clk,
    output logic done
);
  localparam int Latency = 8;
  logic rst, valid;
  logic [63:0] now;
  logic [127:0] stimulus;
  player #(.BITS(128)) player (
      .clk, .ready(1'b1), .rst, .now, .valid, .payload(stimulus), .done
  );

  logic [3:0] kind;
  assign kind = valid ? stimulus[123:120] : 4'd0;
  logic evict_when_full;
  logic [31:0] probability, timeout_clocks;
  always @(posedge clk) if (kind[2]) begin
    evict_when_full <= stimulus[119];
    {probability, timeout_clocks} <= stimulus[63:0];
  end

  logic [31:0] random_bits, associations, refreshed, expired, ignored, evicted, missed;
  logic ece_answer_valid, ece_associated, lookup_answer_valid, lookup_associated;
  logic [$clog2(ENTRIES+1)-1:0] live;
  flow_association #(.ENTRIES(ENTRIES)) dut (
      .clk, .rst, .probability, .timeout_clocks, .evict_when_full,
      .seed_valid(kind[3]), .seed(stimulus[95:64]), .random_bits,
      .ece_valid(kind[0]), .ece_flow(stimulus[63:32]), .ece_answer_valid, .ece_associated,
      .lookup_valid(kind[1]), .lookup_flow(stimulus[31:0]), .lookup_answer_valid, .lookup_associated,
      .live, .associations, .refreshed, .expired, .ignored, .evicted, .missed
  );

  logic [Latency-1:0][31:0] drawn;
  always @(posedge clk) drawn <= {drawn[Latency-2:0], kind[0] ? random_bits : 32'd0};
  recorder #(.BITS(320)) recorder (
      .clk, .now, .valid(ece_answer_valid || lookup_answer_valid),
      .payload({
        drawn[Latency-1], 16'(live), 12'd0,
        ece_answer_valid, ece_associated, lookup_answer_valid, lookup_associated,
        associations, refreshed, expired, ignored, evicted, missed, 64'd0
      })
  );
endmodule

// Checks the `tkeep` of a frame: ones in every beat but the last; there, ones from the first byte on, at least one.
// So no beat is empty, and only the last one is partial. A frame that breaks the rule has no length that its reader
// could rely on. It watches the accepted beats of a stream and neither stalls nor changes it.
module keep_check #(
    parameter int DATA_BITS = 64
) (
    input logic clk,
    input logic rst,

    // The stream that is watched.
    input logic [DATA_BITS/8-1:0] keep,
    input logic accepted,  // a beat is transferred
    input logic last,

    output logic broken  // one clock after a last beat: its frame breaks the rule
);
  localparam int Bytes = DATA_BITS / 8;
  logic wrong, wrong_before, accepted_1, last_1;
  assign broken = wrong || wrong_before;
  always_ff @(posedge clk) begin
    // No byte behind a missing one.
    wrong <= !keep[0] || (~keep[Bytes-2:0] & keep[Bytes-1:1]) != '0 || (!last && !keep[Bytes-1]);
    accepted_1 <= accepted;
    last_1 <= last;
    if (accepted_1) wrong_before <= broken && !last_1;
    if (rst) begin
      accepted_1 <= 1'b0;
      wrong_before <= 1'b0;
    end
  end
endmodule

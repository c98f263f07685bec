// A FIFO of a few words in registers, for information about frames in flight. The writer must check `room`, the
// number of free places. A word can be read in the clock after it was written.
module small_fifo #(
    parameter int BITS  = 1,
    parameter int DEPTH = 16,  // a power of two
    localparam int PLACE = $clog2(DEPTH)
) (
    input logic clk,
    input logic rst,
    input logic push,
    input logic [BITS-1:0] in,
    output logic valid,        // there is a word
    output logic [BITS-1:0] out,
    input logic pop,           // only with `valid`
    output logic [PLACE:0] room
);
  logic [BITS-1:0] words[DEPTH];
  logic [PLACE:0] first, free;
  assign valid = first != free;
  assign out   = words[first[PLACE-1:0]];
  assign room  = (PLACE + 1)'(DEPTH) - (free - first);
  always_ff @(posedge clk) begin
    if (push) begin
      words[free[PLACE-1:0]] <= in;
      free <= free + 1'b1;
    end
    if (pop) first <= first + 1'b1;
    if (rst) begin
      first <= '0;
      free  <= '0;
    end
  end
endmodule

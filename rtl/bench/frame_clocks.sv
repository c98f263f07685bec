// Writes the clock of each frame's first beat to a file for a test, recorded at the clock of its last beat. Not
// synthesised.
//
// Answers (64 bits): the clock of the first beat.
module frame_clocks #(
    // Plusarg that names the file.
    parameter string FILE = "frames=%s"
) (
    input logic clk,
    input logic rst,
    input logic [63:0] now,
    input logic beat,  // a beat is transferred
    input logic last   // it is the last one of its frame
);
  logic in_frame;
  logic [63:0] first;
  always @(posedge clk) begin
    if (rst) in_frame <= 1'b0;
    else if (beat) begin
      in_frame <= !last;
      if (!in_frame) first <= now;
    end
  end
  recorder #(.BITS(64), .FILE(FILE)) ends (.clk, .now, .valid(beat && last), .payload(in_frame ? first : now));
endmodule

// Writes what a module answers to a file for a test: record by record, each with its clock. Not synthesised.
//
// The file (plusarg `+answers=NAME`) gets 32-bit words of this machine's order, the least significant first:
// two words of the clock, then BITS / 32 words of the payload. BITS is a multiple of 32.
module recorder #(
    // Width of the payload.
    parameter int BITS = 32,
    // Plusarg that names the file.
    parameter string FILE = "answers=%s"
) (
    input logic clk,
    input logic [63:0] now,
    input logic valid,
    input logic [BITS-1:0] payload
);
  integer file;
  string name;
  initial begin
    if ($value$plusargs(FILE, name) == 0) $fatal(1, "no file for the answers is named");
    file = $fopen(name, "wb");
    if (file == 0) $fatal(1, "the file for the answers does not open");
  end
  always @(posedge clk) if (valid) $fwrite(file, "%u", {payload, now});
  final $fclose(file);
endmodule

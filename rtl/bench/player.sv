// Plays a file of operations for a test: record by record, each at the clock that it names or, where
// `ready` held the one before back, as soon as it is free. Makes the reset as well. Not synthesised.
//
// The file (plusarg `+stimulus=NAME`) holds records of 64 + BITS bits, most significant byte first: the
// clock, counted from the end of the reset, then the payload. BITS is a multiple of 8. Clocks rise strictly.
module player #(
    // Width of the payload.
    parameter int BITS = 64,
    // Plusarg that names the file.
    parameter string FILE = "stimulus=%s",
    // Clocks that an operation is held back at most, or the simulation fails; 0: any number.
    parameter int PATIENCE = 0
) (
    input  logic clk,
    input  logic ready,               // the payload is taken; 1 where nothing holds it back
    output logic rst,                 // high for the first 4 clocks
    output logic [63:0] now,          // clocks since the reset; the first clock is 0
    output logic valid,               // the payload is offered in this clock
    output logic [BITS-1:0] payload,
    output logic done                 // all records have been taken
);
  integer file;
  string name;
  logic [63+BITS:0] record;
  logic more;
  integer held;

  initial begin
    if ($value$plusargs(FILE, name) == 0) $fatal(1, "no stimulus file is named");
    file = $fopen(name, "rb");
    if (file == 0) $fatal(1, "the stimulus file does not open");
    more = $fread(record, file) == 8 + BITS / 8;
    rst = 1'b1;
    now = -64'd4;
    valid = 1'b0;
    payload = '0;
    done = 1'b0;
    held = 0;
  end

  always @(posedge clk) begin
    now <= now + 64'd1;
    rst <= $signed(now + 64'd1) < 0;
    held <= valid && !ready ? held + 1 : 0;
    if (PATIENCE != 0 && held == PATIENCE) $fatal(1, "an operation was held back for %0d clocks", held);
    if (!valid || ready) begin
      valid <= 1'b0;
      done  <= !more;
      if (more && $signed(now + 64'd1) >= $signed(record[63+BITS:BITS])) begin
        valid <= 1'b1;
        payload <= record[BITS-1:0];
        more = $fread(record, file) == 8 + BITS / 8;
      end
    end
  end
endmodule

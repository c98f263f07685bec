// A receiver that stalls at random for a test: at each clock with a probability in 256 that a file sets. Not
// synthesised.
//
// The file (plusarg `+stalls=NAME`) holds records as player.sv reads them, with a payload of 8 bits: from that
// clock the receiver stalls with this probability; 0 never, 255 nearly always.
module stalls #(
    parameter string FILE = "stalls=%s"
) (
    input  logic clk,
    output logic ready
);
  logic rst, valid, unused_done;
  logic [63:0] unused_now;
  logic [7:0] payload, probability;
  player #(.BITS(8), .FILE(FILE)) player (
      .clk, .ready(1'b1), .rst, .now(unused_now), .valid, .payload, .done(unused_done)
  );
  logic [31:0] noise;
  always @(posedge clk) begin
    noise <= rst ? 32'd1 : {noise[30:0], noise[31] ^ noise[21] ^ noise[1] ^ noise[0]};
    if (rst) probability <= 8'd0;
    else if (valid) probability <= payload;
  end
  assign ready = {noise[28], noise[3], noise[17], noise[9], noise[24], noise[6], noise[13], noise[20]} >= probability;
endmodule

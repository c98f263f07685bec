// Plays accesses to a block of registers over AXI4-Lite for a test, one at a time, and writes the answers to a
// file. Not synthesised.
//
// The file (plusarg `+accesses=NAME`) holds records as player.sv reads them, with a payload of 64 bits: write (8:
// 1, a read: 0), strobes (8), address (16), value (32). An access begins at its clock, or when the one before it
// has been answered.
// Answers `responses` (64 bits): unused (22), write (8), response (2), value read (32), each at the
// clock of its answer.
module register_player (
    input  logic clk,
    output logic done,
    output logic [11:0] awaddr,
    output logic awvalid,
    input  logic awready,
    output logic [31:0] wdata,
    output logic [3:0] wstrb,
    output logic wvalid,
    input  logic wready,
    input  logic [1:0] bresp,
    input  logic bvalid,
    output logic bready,
    output logic [11:0] araddr,
    output logic arvalid,
    input  logic arready,
    input  logic [31:0] rdata,
    input  logic [1:0] rresp,
    input  logic rvalid,
    output logic rready
);
  logic rst, valid, answered, write;
  logic [63:0] now, payload;
  player #(.BITS(64), .FILE("accesses=%s")) player (
      .clk, .ready(answered), .rst, .now, .valid, .payload, .done
  );
  // Which of the channels have taken what is theirs.
  logic aw_sent, w_sent, ar_sent;
  assign write = payload[56];
  assign awaddr = payload[43:32];
  assign araddr = payload[43:32];
  assign wdata = payload[31:0];
  assign wstrb = payload[51:48];
  assign awvalid = valid && write && !aw_sent;
  assign wvalid = valid && write && !w_sent;
  assign arvalid = valid && !write && !ar_sent;
  assign bready = 1'b1;
  assign rready = 1'b1;
  assign answered = bvalid || rvalid;
  always @(posedge clk) begin
    aw_sent <= !rst && !answered && (aw_sent || (awvalid && awready));
    w_sent <= !rst && !answered && (w_sent || (wvalid && wready));
    ar_sent <= !rst && !answered && (ar_sent || (arvalid && arready));
  end
  recorder #(.BITS(64), .FILE("responses=%s")) responses (
      .clk, .now, .valid(answered && !rst),
      .payload({22'd0, 7'd0, write, write ? bresp : rresp, rdata})
  );
endmodule

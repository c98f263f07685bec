// The latency meter with its registers between two streams that are played, into a switch and out of it, a player of
// register accesses and recorders. The switch is the test.
//
// Stimuli `entry` and `exit` (DATA_BITS + DATA_BITS/8 + 8 bits): unused (6), user (1), last (1), keep, data.
// Stimuli `entry_stalls`, `exit_stalls`: stalls.sv. Stimulus `accesses`, answers `responses`: register_player.sv.
// Stimulus `ptp` (128 bits): start (64), step (64); from the next clock on the PTP clock is start + clock * step.
// Answers `entries`, `exits`: frame_clocks.sv.
// Answers `settings` (256 bits), each change of what the registers give to the meter: clear (8), enable (8), use_ptp
// (8), shift (8), address (16), sequence_offset (16); match_value (64); match_mask (64); match_offset (64).
module hull_latency_meter_bench #(
    parameter int DATA_BITS = 64
) (
    input  logic clk,
    output logic done
);
  localparam int BYTES = DATA_BITS / 8;
  localparam int BITS = DATA_BITS + BYTES + 8;

  logic rst, e_valid, e_ready, e_done, x_rst, x_valid, x_ready, x_done, accessed;
  logic [63:0] now, x_now;
  logic [BITS-1:0] entry, leave;
  player #(.BITS(BITS), .FILE("entry=%s")) into (
      .clk, .ready(e_ready), .rst, .now, .valid(e_valid), .payload(entry), .done(e_done)
  );
  player #(.BITS(BITS), .FILE("exit=%s")) out (
      .clk, .ready(x_ready), .rst(x_rst), .now(x_now), .valid(x_valid), .payload(leave), .done(x_done)
  );
  assign done = e_done && x_done && accessed;
  stalls #(.FILE("entry_stalls=%s")) entry_stalls (.clk, .ready(e_ready));
  stalls #(.FILE("exit_stalls=%s")) exit_stalls (.clk, .ready(x_ready));

  logic ptp_rst, ptp_valid, ptp_done;
  logic [63:0] ptp_clock;
  logic [127:0] ptp, ptp_set;
  player #(.BITS(128), .FILE("ptp=%s")) times (
      .clk, .ready(1'b1), .rst(ptp_rst), .now(ptp_clock), .valid(ptp_valid), .payload(ptp_set), .done(ptp_done)
  );
  always @(posedge clk) if (ptp_valid) ptp <= ptp_set;

  logic [11:0] awaddr, araddr;
  logic [31:0] wdata, rdata;
  logic [3:0] wstrb;
  logic [1:0] bresp, rresp;
  logic awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  register_player accesses (
      .clk, .done(accessed), .awaddr, .awvalid, .awready, .wdata, .wstrb, .wvalid, .wready, .bresp, .bvalid,
      .bready, .araddr, .arvalid, .arready, .rdata, .rresp, .rvalid, .rready
  );

  hull_latency_meter #(.DATA_BITS(DATA_BITS)) dut (
      .clk, .rst, .ptp_now(ptp[127:64] + now * ptp[63:0]),
      .entry_tdata(entry[DATA_BITS-1:0]), .entry_tkeep(entry[DATA_BITS+:BYTES]), .entry_tvalid(e_valid),
      .entry_tready(e_ready), .entry_tlast(entry[DATA_BITS+BYTES]), .entry_tuser(entry[DATA_BITS+BYTES+1]),
      .exit_tdata(leave[DATA_BITS-1:0]), .exit_tkeep(leave[DATA_BITS+:BYTES]), .exit_tvalid(x_valid),
      .exit_tready(x_ready), .exit_tlast(leave[DATA_BITS+BYTES]), .exit_tuser(leave[DATA_BITS+BYTES+1]),
      .s_axil_awaddr(awaddr), .s_axil_awprot(3'd0), .s_axil_awvalid(awvalid), .s_axil_awready(awready),
      .s_axil_wdata(wdata), .s_axil_wstrb(wstrb), .s_axil_wvalid(wvalid), .s_axil_wready(wready),
      .s_axil_bresp(bresp), .s_axil_bvalid(bvalid), .s_axil_bready(bready),
      .s_axil_araddr(araddr), .s_axil_arprot(3'd0), .s_axil_arvalid(arvalid), .s_axil_arready(arready),
      .s_axil_rdata(rdata), .s_axil_rresp(rresp), .s_axil_rvalid(rvalid), .s_axil_rready(rready)
  );

  frame_clocks #(.FILE("entries=%s")) entries (
      .clk, .rst, .now, .beat(e_valid && e_ready), .last(entry[DATA_BITS+BYTES])
  );
  frame_clocks #(.FILE("exits=%s")) exits (
      .clk, .rst, .now, .beat(x_valid && x_ready), .last(leave[DATA_BITS+BYTES])
  );
  logic [255:0] set, set_before;
  assign set = {
    7'd0, dut.clear, 7'd0, dut.enable, 7'd0, dut.use_ptp, 3'd0, dut.shift, dut.address, 9'd0, dut.sequence_offset,
    dut.match_value, dut.match_mask, 36'd0, dut.words
  };
  always @(posedge clk) set_before <= rst ? '1 : set;
  recorder #(.BITS(256), .FILE("settings=%s")) settings (
      .clk, .now, .valid(set != set_before && !rst), .payload(set)
  );
endmodule

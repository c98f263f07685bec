// The switch of four ports between four players of beats and four recorders. Outputs take a beat each PACE
// clocks, as a link that is slower than the bus. The registers keep their reset values.
//
// Stimulus pP (DATA_BITS + DATA_BITS/8 + 8 bits): unused (6), user (1), last (1), keep, data.
// Answers oP (next multiple of 64 bits): last, keep, data of each beat that leaves port P.
// Answers `lost` (64 bits): the ports that lost a frame.
module hull_switch_bench #(
    parameter int DATA_BITS = 64,
    parameter int PACE = 8
) (
    input  logic clk,
    output logic done
);
  localparam int BYTES = DATA_BITS / 8;
  localparam int ANSWER = (DATA_BITS + BYTES + 1 + 63) / 64 * 64;

  logic [3:0] rsts, dones, tvalid, tlast, tuser, m_tvalid, m_tlast, lost, unused_ready;
  logic [3:0] m_tready;
  logic [3:0][63:0] nows;
  logic [3:0][DATA_BITS-1:0] tdata, m_tdata;
  logic [3:0][BYTES-1:0] tkeep, m_tkeep;
  logic rst;
  assign rst  = rsts[0];
  assign done = &dones;
  logic [7:0] phase;
  always @(posedge clk) phase <= (rst || phase == 8'(PACE - 1)) ? 8'd0 : phase + 8'd1;
  assign m_tready = {4{phase == 8'd0}};

  for (genvar p = 0; p < 4; p++) begin : g_port
    localparam string FROM = p == 0 ? "p0=%s" : p == 1 ? "p1=%s" : p == 2 ? "p2=%s" : "p3=%s";
    localparam string TO = p == 0 ? "o0=%s" : p == 1 ? "o1=%s" : p == 2 ? "o2=%s" : "o3=%s";
    logic [DATA_BITS+BYTES+7:0] stimulus;
    player #(.BITS(DATA_BITS + BYTES + 8), .FILE(FROM)) player (
        .clk, .ready(1'b1), .rst(rsts[p]), .now(nows[p]), .valid(tvalid[p]), .payload(stimulus), .done(dones[p])
    );
    assign tdata[p] = stimulus[DATA_BITS-1:0];
    assign tkeep[p] = stimulus[DATA_BITS+:BYTES];
    assign tlast[p] = stimulus[DATA_BITS+BYTES];
    assign tuser[p] = stimulus[DATA_BITS+BYTES+1];
    recorder #(.BITS(ANSWER), .FILE(TO)) recorder (
        .clk, .now(nows[0]), .valid(m_tvalid[p] && m_tready[p] && !rst),
        .payload(ANSWER'({m_tlast[p], m_tkeep[p], m_tdata[p]}))
    );
  end
  recorder #(.BITS(64), .FILE("lost=%s")) losses (
      .clk, .now(nows[0]), .valid(lost != 0 && !rst), .payload({60'd0, lost})
  );

  hull_switch #(.DATA_BITS(DATA_BITS), .MAX_BYTES(1522), .MIN_BYTES(20)) dut (
      .clk, .rst,
      .s_axis_tdata(tdata), .s_axis_tkeep(tkeep), .s_axis_tvalid(tvalid), .s_axis_tready(unused_ready),
      .s_axis_tlast(tlast), .s_axis_tuser(tuser),
      .m_axis_tdata(m_tdata), .m_axis_tkeep(m_tkeep), .m_axis_tvalid(m_tvalid), .m_axis_tready(m_tready),
      .m_axis_tlast(m_tlast), .lost,
      .s_axil_awaddr('0), .s_axil_awprot('0), .s_axil_awvalid('0), .s_axil_awready(),
      .s_axil_wdata('0), .s_axil_wstrb('0), .s_axil_wvalid('0), .s_axil_wready(),
      .s_axil_bresp(), .s_axil_bvalid(), .s_axil_bready('1),
      .s_axil_araddr('0), .s_axil_arprot('0), .s_axil_arvalid('0), .s_axil_arready(),
      .s_axil_rdata(), .s_axil_rresp(), .s_axil_rvalid(), .s_axil_rready('1)
  );
endmodule

// A switch port between a player of beats, a player of register accesses and recorders, with a receiver that
// stalls.
//
// Stimulus (DATA_BITS + DATA_BITS/8 + 8 bits): unused (6), user (1), last (1), keep, data.
// Stimulus `accesses`, answers `responses`: register_player.sv.
// Answers `settings` (256 bits), each change of what the registers give to the datapath: flags (8: phantom enable,
// count_arriving, marker enable, count_arriving, count_in_service), overhead (8), tick (16), drain (32), byte (32),
// threshold (32), K (32), limit (32), unused (64).
// Answers `out` (next multiple of 64 bits): last, keep, data of each beat that leaves.
// Answers `arrivals` (64 bits): kind (8: 1 taken, 2 full, 4 runt, 8 oversized, 16 bad), bytes (16), beats free (16),
// queue (24).
// Answers `departures` (64 bits): length with overhead.
// Answers `reports` (64 bits): above_phantom, above_threshold, marked, not_capable, truncated.
module hull_switch_port_bench #(
    parameter int DATA_BITS = 64,
    parameter int BEATS = 2048,
    parameter int FRAMES = 64,
    parameter int MIN_BYTES = 20,
    parameter int MAX_BYTES = 180
) (
    input  logic clk,
    output logic done
);
  localparam int BYTES = DATA_BITS / 8;
  localparam int ANSWER = (DATA_BITS + BYTES + 1 + 63) / 64 * 64;

  logic rst, valid, s_tready, played, accessed;
  logic [63:0] now;
  logic [DATA_BITS+BYTES+7:0] stimulus;
  player #(.BITS(DATA_BITS + BYTES + 8)) player (
      .clk, .ready(s_tready), .rst, .now, .valid, .payload(stimulus), .done(played)
  );
  assign done = played && accessed;
  logic m_tready;
  stalls stalls (.clk, .ready(m_tready));

  logic [11:0] awaddr, araddr;
  logic [31:0] wdata, rdata;
  logic [3:0] wstrb;
  logic [1:0] bresp, rresp;
  logic awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  register_player accesses (
      .clk, .done(accessed), .awaddr, .awvalid, .awready, .wdata, .wstrb, .wvalid, .wready, .bresp, .bvalid,
      .bready, .araddr, .arvalid, .arready, .rdata, .rresp, .rvalid, .rready
  );

  logic [DATA_BITS-1:0] m_tdata;
  logic [BYTES-1:0] m_tkeep;
  logic m_tvalid, m_tlast;
  hull_switch_port #(
      .DATA_BITS(DATA_BITS), .BEATS(BEATS), .FRAMES(FRAMES), .MIN_BYTES(MIN_BYTES), .MAX_BYTES(MAX_BYTES)
  ) dut (
      .clk, .rst,
      .s_axis_tdata(stimulus[DATA_BITS-1:0]), .s_axis_tkeep(stimulus[DATA_BITS+:BYTES]), .s_axis_tvalid(valid),
      .s_axis_tready(s_tready), .s_axis_tlast(stimulus[DATA_BITS+BYTES]),
      .s_axis_tuser(stimulus[DATA_BITS+BYTES+1]),
      .m_axis_tdata(m_tdata), .m_axis_tkeep(m_tkeep), .m_axis_tvalid(m_tvalid), .m_axis_tlast(m_tlast),
      .m_axis_tready(m_tready),
      .s_axil_awaddr(awaddr), .s_axil_awprot(3'd0), .s_axil_awvalid(awvalid), .s_axil_awready(awready),
      .s_axil_wdata(wdata), .s_axil_wstrb(wstrb), .s_axil_wvalid(wvalid), .s_axil_wready(wready),
      .s_axil_bresp(bresp), .s_axil_bvalid(bvalid), .s_axil_bready(bready),
      .s_axil_araddr(araddr), .s_axil_arprot(3'd0), .s_axil_arvalid(arvalid), .s_axil_arready(arready),
      .s_axil_rdata(rdata), .s_axil_rresp(rresp), .s_axil_rvalid(rvalid), .s_axil_rready(rready)
  );

  recorder #(.BITS(ANSWER), .FILE("out=%s")) out (
      .clk, .now, .valid(m_tvalid && m_tready && !rst), .payload(ANSWER'({m_tlast, m_tkeep, m_tdata}))
  );
  recorder #(.BITS(64), .FILE("arrivals=%s")) arrivals (
      .clk, .now, .valid(dut.frame_in && !rst),
      .payload({
        3'd0, dut.bad, dut.oversized, dut.runt, dut.dropped_full, dut.datapath.taken,
        2'd0, dut.datapath.offer_bytes, 16'(dut.datapath.unused_free), 4'd0, dut.queue_bytes
      })
  );
  recorder #(.BITS(64), .FILE("departures=%s")) departures (
      .clk, .now, .valid(dut.departs && !rst), .payload(64'(dut.datapath.counted_bytes))
  );
  recorder #(.BITS(64), .FILE("reports=%s")) reports (
      .clk, .now,
      .valid((dut.above_phantom || dut.above_threshold || dut.marked || dut.not_capable || dut.truncated) && !rst),
      .payload({59'd0, dut.above_phantom, dut.above_threshold, dut.marked, dut.not_capable, dut.truncated})
  );
  logic [255:0] set, set_before;
  assign set = {
    3'd0, dut.count_in_service, dut.marker_count_arriving, dut.marker_enable, dut.phantom_count_arriving,
    dut.phantom_enable, 2'd0, dut.overhead_bytes, dut.tick_clocks, dut.drain_units, dut.byte_units,
    12'd0, dut.threshold_bytes, 12'd0, dut.marker_threshold_bytes, 12'd0, dut.limit_bytes, 64'd0
  };
  always @(posedge clk) set_before <= rst ? '1 : set;
  recorder #(.BITS(256), .FILE("settings=%s")) settings (
      .clk, .now, .valid(set != set_before && !rst), .payload(set)
  );
endmodule

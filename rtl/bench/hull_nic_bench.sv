// A NIC between a player of the host's beats, a player of beats from the network, a player of register accesses
// and recorders, with a link and a host that stall. Checks that what comes from the network passes unchanged.
//
// Stimulus, and stimulus `network` (DATA_BITS + DATA_BITS/8 + 8 bits): unused (6), user (1), last (1), keep, data.
// Stimulus `accesses`, answers `responses`: register_player.sv.
// Answers `settings` (640 bits), each change of what the registers give to the datapath: unused (27), evict, when_full
// (2), enable and rate step (32 each), max rate, min rate, initial rate, gain (64 each), bucket, FIFO, T_r, tick, eta,
// beta, probability, T_i (32 each), seed (32), seed written (32).
// Answers `out` (next multiple of 64 bits): last, keep, data of each beat that leaves.
// Answers `fates` (64): kind (8: 1 taken, 2 full, 4 runt, 8 oversized, 16 bad), bytes.
// Answers `lookups` (64): asked (1), parsed (1), truncated (1), unused (29), flow (32) at a look-up or an ACK with
// ECN-Echo; `answered` (64): its answer; `eces` (64): the flow of such an ACK.
// Answers `offers` (64): paced (1), bytes of each packet that the pacer takes; `admissions` (64): its answers.
// Answers `heads` (64): 1 a head appears, 2 the line becomes free, 4 the head is released.
// Answers `network_ends` (64): tuser of each frame from the network, at its last beat.
// Answers `rates` (64): each new rate that makes tokens.
// Answers `wrong` (64): the pacer's FIFO lost a frame, or the staging memory was full.
module hull_nic_bench #(
    parameter int DATA_BITS = 64,
    parameter int CLOCK_PS = 8000,
    parameter int STAGED_BEATS = 512,
    parameter int FIFO_BEATS = 2048,
    parameter int MIN_BYTES = 20,
    parameter int MAX_BYTES = 180
) (
    input  logic clk,
    output logic done
);
  localparam int BYTES = DATA_BITS / 8;
  localparam int ANSWER = (DATA_BITS + BYTES + 1 + 63) / 64 * 64;

  logic rst, valid, s_tready, played, accessed, n_rst, n_valid, n_ready, n_played;
  logic [63:0] now, n_now;
  logic [DATA_BITS+BYTES+7:0] stimulus, network;
  player #(.BITS(DATA_BITS + BYTES + 8), .PATIENCE(1_000_000)) player (
      .clk, .ready(s_tready), .rst, .now, .valid, .payload(stimulus), .done(played)
  );
  player #(.BITS(DATA_BITS + BYTES + 8), .FILE("network=%s")) from_network (
      .clk, .ready(n_ready), .rst(n_rst), .now(n_now), .valid(n_valid), .payload(network), .done(n_played)
  );
  assign done = played && accessed && n_played;
  logic m_tready, h_tready;
  stalls stalls (.clk, .ready(m_tready));
  stalls #(.FILE("host_stalls=%s")) host_stalls (.clk, .ready(h_tready));

  logic [11:0] awaddr, araddr;
  logic [31:0] wdata, rdata;
  logic [3:0] wstrb;
  logic [1:0] bresp, rresp;
  logic awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  register_player accesses (
      .clk, .done(accessed), .awaddr, .awvalid, .awready, .wdata, .wstrb, .wvalid, .wready, .bresp, .bvalid,
      .bready, .araddr, .arvalid, .arready, .rdata, .rresp, .rvalid, .rready
  );

  logic [DATA_BITS-1:0] m_tdata, h_tdata;
  logic [BYTES-1:0] m_tkeep, h_tkeep;
  logic m_tvalid, m_tlast, h_tvalid, h_tlast, h_tuser;
  hull_nic #(
      .DATA_BITS(DATA_BITS), .CLOCK_PS(CLOCK_PS), .STAGED_BEATS(STAGED_BEATS), .FIFO_BEATS(FIFO_BEATS),
      .FIFO_FRAMES(512), .MIN_BYTES(MIN_BYTES), .MAX_BYTES(MAX_BYTES)
  ) dut (
      .clk, .rst,
      .s_host_tdata(stimulus[DATA_BITS-1:0]), .s_host_tkeep(stimulus[DATA_BITS+:BYTES]), .s_host_tvalid(valid),
      .s_host_tready(s_tready), .s_host_tlast(stimulus[DATA_BITS+BYTES]),
      .s_host_tuser(stimulus[DATA_BITS+BYTES+1]),
      .m_mac_tdata(m_tdata), .m_mac_tkeep(m_tkeep), .m_mac_tvalid(m_tvalid), .m_mac_tready(m_tready),
      .m_mac_tlast(m_tlast),
      .s_mac_tdata(network[DATA_BITS-1:0]), .s_mac_tkeep(network[DATA_BITS+:BYTES]), .s_mac_tvalid(n_valid),
      .s_mac_tready(n_ready), .s_mac_tlast(network[DATA_BITS+BYTES]), .s_mac_tuser(network[DATA_BITS+BYTES+1]),
      .m_host_tdata(h_tdata), .m_host_tkeep(h_tkeep), .m_host_tvalid(h_tvalid), .m_host_tready(h_tready),
      .m_host_tlast(h_tlast), .m_host_tuser(h_tuser),
      .s_axil_awaddr(awaddr), .s_axil_awprot(3'd0), .s_axil_awvalid(awvalid), .s_axil_awready(awready),
      .s_axil_wdata(wdata), .s_axil_wstrb(wstrb), .s_axil_wvalid(wvalid), .s_axil_wready(wready),
      .s_axil_bresp(bresp), .s_axil_bvalid(bvalid), .s_axil_bready(bready),
      .s_axil_araddr(araddr), .s_axil_arprot(3'd0), .s_axil_arvalid(arvalid), .s_axil_arready(arready),
      .s_axil_rdata(rdata), .s_axil_rresp(rresp), .s_axil_rvalid(rvalid), .s_axil_rready(rready)
  );
  always @(posedge clk)
    if ({h_tuser, h_tlast, h_tkeep, h_tdata, h_tvalid, n_ready} != {network[DATA_BITS+BYTES+1:0], n_valid, h_tready})
      $fatal(1, "what comes from the network does not pass unchanged");

  recorder #(.BITS(ANSWER), .FILE("out=%s")) out (
      .clk, .now, .valid(m_tvalid && m_tready && !rst), .payload(ANSWER'({m_tlast, m_tkeep, m_tdata}))
  );
  recorder #(.BITS(64), .FILE("fates=%s")) fates (
      .clk, .now, .valid(dut.frame_in && !rst),
      .payload({3'd0, dut.bad, dut.oversized, dut.runt, dut.full, dut.datapath.taken, 42'd0, dut.datapath.offer_bytes})
  );
  recorder #(.BITS(64), .FILE("lookups=%s")) lookups (
      .clk, .now, .valid(dut.datapath.header_valid && !rst),
      .payload({1'b1, dut.datapath.header_ok, dut.truncated, 29'd0, dut.datapath.flow})
  );
  recorder #(.BITS(64), .FILE("answered=%s")) answered (
      .clk, .now, .valid(dut.datapath.lookup_answer_valid && !rst), .payload(64'(dut.datapath.lookup_associated))
  );
  recorder #(.BITS(64), .FILE("eces=%s")) eces (
      .clk, .now, .valid(dut.ece_valid && !rst), .payload(64'(dut.ece_flow))
  );
  recorder #(.BITS(64), .FILE("offers=%s")) offers (
      .clk, .now, .valid(dut.datapath.asks && !rst),
      .payload({dut.datapath.next_paced, 49'd0, dut.datapath.next_bytes})
  );
  recorder #(.BITS(64), .FILE("admissions=%s")) admissions (
      .clk, .now, .valid(dut.datapath.admission_valid && !rst), .payload(64'(dut.datapath.admission))
  );
  logic head_before, free_before, head_comes, line_comes;
  always @(posedge clk) begin
    head_before <= dut.datapath.head_valid && !dut.datapath.releases && !rst;
    free_before <= dut.datapath.line_free && !rst;
  end
  assign head_comes = dut.datapath.head_valid && !head_before;
  assign line_comes = dut.datapath.line_free && !free_before;
  recorder #(.BITS(64), .FILE("heads=%s")) heads (
      .clk, .now, .valid((head_comes || line_comes || dut.datapath.releases) && !rst),
      .payload({61'd0, dut.datapath.releases, line_comes, head_comes})
  );
  recorder #(.BITS(64), .FILE("network_ends=%s")) network_ends (
      .clk, .now, .valid(h_tvalid && h_tready && h_tlast && !rst), .payload(64'(h_tuser))
  );
  recorder #(.BITS(64), .FILE("wrong=%s")) wrong (
      .clk, .now,
      .valid((dut.datapath.unused_overflow || dut.datapath.unused_f_runt || dut.datapath.unused_f_long
          || dut.datapath.unused_f_bad || dut.full) && !rst),
      .payload(64'd1)
  );
  logic [39:0] rate_before;
  always @(posedge clk) rate_before <= rst ? '1 : dut.rate_bps;
  recorder #(.BITS(64), .FILE("rates=%s")) rates (
      .clk, .now, .valid(dut.rate_bps != rate_before && !rst), .payload(64'(dut.rate_bps))
  );
  logic [639:0] set, set_before;
  assign set = {
    28'd0, dut.evict_when_full, dut.when_full, dut.enable, dut.rate_step_bps,
    24'd0, dut.max_rate_bps, 24'd0, dut.min_rate_bps, 24'd0, dut.initial_rate_bps, 8'd0, dut.gain,
    12'd0, dut.bucket_bytes, 8'd0, dut.fifo_bytes, 8'd0, dut.update_interval, 8'd0, dut.token_tick,
    15'd0, dut.eta, 4'd0, dut.beta, dut.probability, dut.timeout_clocks,
    dut.seed, 31'd0, dut.seed_written
  };
  always @(posedge clk) set_before <= rst ? '1 : set;
  recorder #(.BITS(640), .FILE("settings=%s")) settings (
      .clk, .now, .valid(set != set_before && !rst), .payload(set)
  );
endmodule

// The HULL part of a NIC, to be instantiated between the host's DMA and a MAC: the pacer with its flow association
// in the transmit direction (nic_datapath.sv), the ECE snooper in the receive direction, and their registers on
// AXI4-Lite (docs/hardware/registers.md).
//
// Source: paper 4.2 and 5.1. Frames on AXI4-Stream start with the destination MAC and have no FCS. Frames to the
// host pass unchanged and without delay. The reset values are the NetFPGA's settings, for 1 Gbps at 125 MHz.
module hull_nic #(
    parameter int DATA_BITS    = 64,     // 64, 128, 256 or 512
    parameter int CLOCK_PS     = 8000,   // period of clk: 8000 at 125 MHz, 6400 at 156.25 MHz
    parameter int STAGED_BEATS = 1024,   // memory before the pacer's decision, in beats
    parameter int FIFO_BEATS   = 16384,  // memory of the pacer's FIFO, in beats; a power of two; below 1 MiB in all
    parameter int FIFO_FRAMES  = 4096,   // most frames in it; a power of two
    parameter int ENTRIES      = 64,     // of the association table
    parameter int MIN_BYTES    = 60,     // shortest frame
    parameter int MAX_BYTES    = 1522,   // longest frame; 9022 for jumbo frames, with four times the STAGED_BEATS
    localparam int KEEP        = DATA_BITS / 8
) (
    input logic clk,
    input logic rst,  // high for two clocks at least

    // Frames from the host.
    input logic [DATA_BITS-1:0] s_host_tdata,
    input logic [KEEP-1:0] s_host_tkeep,
    input logic s_host_tvalid,
    output logic s_host_tready,
    input logic s_host_tlast,
    input logic s_host_tuser,    // with tlast: the frame is bad

    // Frames to the MAC.
    output logic [DATA_BITS-1:0] m_mac_tdata,
    output logic [KEEP-1:0] m_mac_tkeep,
    output logic m_mac_tvalid,
    input logic m_mac_tready,
    output logic m_mac_tlast,

    // Frames from the MAC, and the same to the host.
    input logic [DATA_BITS-1:0] s_mac_tdata,
    input logic [KEEP-1:0] s_mac_tkeep,
    input logic s_mac_tvalid,
    output logic s_mac_tready,
    input logic s_mac_tlast,
    input logic s_mac_tuser,
    output logic [DATA_BITS-1:0] m_host_tdata,
    output logic [KEEP-1:0] m_host_tkeep,
    output logic m_host_tvalid,
    input logic m_host_tready,
    output logic m_host_tlast,
    output logic m_host_tuser,

    // Registers.
    input logic [11:0] s_axil_awaddr,
    input logic [2:0] s_axil_awprot,
    input logic s_axil_awvalid,
    output logic s_axil_awready,
    input logic [31:0] s_axil_wdata,
    input logic [3:0] s_axil_wstrb,
    input logic s_axil_wvalid,
    output logic s_axil_wready,
    output logic [1:0] s_axil_bresp,
    output logic s_axil_bvalid,
    input logic s_axil_bready,
    input logic [11:0] s_axil_araddr,
    input logic [2:0] s_axil_arprot,
    input logic s_axil_arvalid,
    output logic s_axil_arready,
    output logic [31:0] s_axil_rdata,
    output logic [1:0] s_axil_rresp,
    output logic s_axil_rvalid,
    input logic s_axil_rready
);
  localparam int LiveBits = $clog2(ENTRIES + 1);
  logic enable, evict_when_full, seed_written, ece_valid;
  logic [39:0] max_rate_bps, min_rate_bps, initial_rate_bps, rate_bps;
  logic [19:0] bucket_bytes;
  logic [23:0] fifo_bytes, update_interval, token_tick, backlog_bytes, max_backlog_bytes;
  logic [16:0] eta;
  logic [27:0] beta;
  logic [55:0] gain;
  logic [31:0] rate_step_bps, probability, timeout_clocks, seed, ece_flow;
  logic [1:0] when_full;
  logic [31:0] passed_count, queued_count, dropped_count, bypassed_count;
  logic [31:0] associations, refreshed, expired, ignored, evicted, missed;
  logic [LiveBits-1:0] live;
  logic [31:0] frames, bad_frames, truncated_frames, tcp_acks, ece_acks;

  ece_snooper #(.DATA_BITS(DATA_BITS)) snooper (
      .clk, .rst,
      .s_tdata(s_mac_tdata), .s_tkeep(s_mac_tkeep), .s_tvalid(s_mac_tvalid), .s_tready(s_mac_tready),
      .s_tlast(s_mac_tlast), .s_tuser(s_mac_tuser),
      .m_tdata(m_host_tdata), .m_tkeep(m_host_tkeep), .m_tvalid(m_host_tvalid), .m_tready(m_host_tready),
      .m_tlast(m_host_tlast), .m_tuser(m_host_tuser),
      .ece_valid, .ece_flow, .frames, .bad_frames, .truncated(truncated_frames), .tcp_acks, .ece_acks
  );

  logic frame_in, frame_out, full, runt, oversized, truncated, bad;
  nic_datapath #(
      .DATA_BITS(DATA_BITS), .CLOCK_PS(CLOCK_PS), .STAGED_BEATS(STAGED_BEATS), .FIFO_BEATS(FIFO_BEATS),
      .FIFO_FRAMES(FIFO_FRAMES), .ENTRIES(ENTRIES), .MIN_BYTES(MIN_BYTES), .MAX_BYTES(MAX_BYTES)
  ) datapath (
      .clk, .rst,
      .s_tdata(s_host_tdata), .s_tkeep(s_host_tkeep), .s_tvalid(s_host_tvalid), .s_tready(s_host_tready),
      .s_tlast(s_host_tlast), .s_tuser(s_host_tuser),
      .m_tdata(m_mac_tdata), .m_tkeep(m_mac_tkeep), .m_tvalid(m_mac_tvalid), .m_tlast(m_mac_tlast),
      .m_tready(m_mac_tready),
      .pacer_enable(enable), .max_rate_bps, .min_rate_bps, .initial_rate_bps, .bucket_bytes, .fifo_bytes,
      .update_interval, .eta, .gain, .beta({4'd0, beta}), .rate_step_bps, .token_tick, .when_full,
      .probability, .timeout_clocks, .evict_when_full, .seed_valid(seed_written), .seed, .ece_valid, .ece_flow,
      .rate_bps, .backlog_bytes, .max_backlog_bytes, .passed_count, .queued_count, .dropped_count, .bypassed_count,
      .live, .associations, .refreshed, .expired, .ignored, .evicted, .missed,
      .frame_in, .frame_out, .full, .runt, .oversized, .truncated, .bad
  );

  localparam int Counters = 7;
  logic [Counters-1:0] events;
  logic [Counters-1:0][31:0] counts;
  assign events = {frame_in, frame_out, full, runt, oversized, truncated, bad};
  for (genvar i = 0; i < Counters; i++) begin : g_counter
    event_counter counter (.clk, .rst, .event_now(events[i]), .count(counts[i]));
  end

  hull_nic_registers #(.CLOCK_PS(CLOCK_PS), .FIFO_BYTES(FIFO_BEATS * KEEP)) registers (
      .clk, .rst,
      .s_axil_awaddr, .s_axil_awprot, .s_axil_awvalid, .s_axil_awready,
      .s_axil_wdata, .s_axil_wstrb, .s_axil_wvalid, .s_axil_wready,
      .s_axil_bresp, .s_axil_bvalid, .s_axil_bready,
      .s_axil_araddr, .s_axil_arprot, .s_axil_arvalid, .s_axil_arready,
      .s_axil_rdata, .s_axil_rresp, .s_axil_rvalid, .s_axil_rready,
      .pacer_enable(enable),
      .pacer_max_rate_bps(max_rate_bps),
      .pacer_min_rate_bps(min_rate_bps),
      .pacer_initial_rate_bps(initial_rate_bps),
      .pacer_bucket_bytes(bucket_bytes),
      .pacer_fifo_bytes(fifo_bytes),
      .pacer_update_interval(update_interval),
      .pacer_eta(eta),
      .pacer_beta(beta),
      .pacer_gain(gain),
      .pacer_rate_step_bps(rate_step_bps),
      .pacer_token_tick(token_tick),
      .pacer_when_full(when_full),
      .pacer_backlog_bytes({8'd0, backlog_bytes}),
      .pacer_rate_bps(rate_bps),
      .pacer_max_backlog_bytes({8'd0, max_backlog_bytes}),
      .pacer_frames_passed(passed_count),
      .pacer_frames_queued(queued_count),
      .pacer_frames_dropped(dropped_count),
      .pacer_frames_bypassed(bypassed_count),
      .flow_association_probability(probability),
      .flow_association_when_full(evict_when_full),
      .flow_association_timeout_clocks(timeout_clocks),
      .flow_association_seed(seed),
      .flow_association_seed_written(seed_written),
      .flow_association_live_entries(32'(live)),
      .flow_association_associations(associations),
      .flow_association_refreshed(refreshed),
      .flow_association_expired(expired),
      .flow_association_ignored(ignored),
      .flow_association_evicted(evicted),
      .flow_association_missed(missed),
      .ece_snooper_frames(frames),
      .ece_snooper_bad_frames(bad_frames),
      .ece_snooper_truncated(truncated_frames),
      .ece_snooper_tcp_acks(tcp_acks),
      .ece_snooper_ece_acks(ece_acks),
      .counters_frames_in(counts[6]),
      .counters_frames_out(counts[5]),
      .counters_dropped_full(counts[4]),
      .counters_runt(counts[3]),
      .counters_oversized(counts[2]),
      .counters_truncated(counts[1]),
      .counters_bad(counts[0])
  );
endmodule

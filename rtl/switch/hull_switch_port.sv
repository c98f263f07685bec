// A switch port with HULL: queue, threshold marker and phantom queue (port_datapath.sv) with their registers on
// AXI4-Lite (docs/hardware/registers.md).
//
// Source: paper 5.1, where a NetFPGA holds two of them. Instantiate it between the fabric of a switch and a MAC.
// Frames on AXI4-Stream start with the destination MAC and have no FCS. The port accepts every beat; it drops and
// counts frames that do not fit. The reset values are the NetFPGA's: 950 Mbps of 1 Gbps at 125 MHz, 1 KB.
module hull_switch_port #(
    parameter int DATA_BITS = 64,    // 64, 128, 256 or 512
    parameter int CLOCK_PS  = 8000,  // period of clk, for software to read: 6400 at 156.25 MHz
    parameter int BEATS     = 16384, // memory of the queue, in beats; a power of two; below 1 MiB in all
    parameter int FRAMES    = 1024,  // most frames in the queue; a power of two
    parameter int MIN_BYTES = 60,    // shortest frame
    parameter int MAX_BYTES = 9022,  // longest frame
    localparam int KEEP     = DATA_BITS / 8
) (
    input logic clk,
    input logic rst,  // high for two clocks at least

    // Frames from the switch.
    input logic [DATA_BITS-1:0] s_axis_tdata,
    input logic [KEEP-1:0] s_axis_tkeep,
    input logic s_axis_tvalid,
    output logic s_axis_tready,  // always 1
    input logic s_axis_tlast,
    input logic s_axis_tuser,    // with tlast: the frame is bad

    // Frames to the MAC.
    output logic [DATA_BITS-1:0] m_axis_tdata,
    output logic [KEEP-1:0] m_axis_tkeep,
    output logic m_axis_tvalid,
    input logic m_axis_tready,
    output logic m_axis_tlast,

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
  logic phantom_enable, phantom_count_arriving, marker_enable, marker_count_arriving, count_in_service;
  logic [31:0] drain_units, byte_units;
  logic [19:0] threshold_bytes, marker_threshold_bytes, limit_bytes, queue_bytes, max_queue_bytes;
  logic [15:0] tick_clocks;
  logic [5:0] overhead_bytes;
  logic [51:0] backlog_units;
  logic frame_in, frame_out, dropped_full, runt, oversized, bad, truncated, departs;
  logic above_phantom, above_threshold, marked, not_capable;

  assign s_axis_tready = 1'b1;
  port_datapath #(
      .DATA_BITS(DATA_BITS), .BEATS(BEATS), .FRAMES(FRAMES), .MIN_BYTES(MIN_BYTES), .MAX_BYTES(MAX_BYTES)
  ) datapath (
      .clk, .rst,
      .s_tdata(s_axis_tdata), .s_tkeep(s_axis_tkeep), .s_tvalid(s_axis_tvalid), .s_tlast(s_axis_tlast),
      .s_tuser(s_axis_tuser),
      .m_tdata(m_axis_tdata), .m_tkeep(m_axis_tkeep), .m_tvalid(m_axis_tvalid), .m_tlast(m_axis_tlast),
      .m_tready(m_axis_tready),
      .phantom_enable, .phantom_count_arriving, .drain_units, .byte_units, .threshold_bytes, .tick_clocks,
      .overhead_bytes, .marker_enable, .marker_count_arriving, .marker_threshold_bytes, .limit_bytes,
      .count_in_service, .queue_bytes, .backlog_units,
      .frame_in, .frame_out, .dropped_full, .runt, .oversized, .bad, .truncated, .departs,
      .above_phantom, .above_threshold, .marked, .not_capable
  );

  always_ff @(posedge clk) begin
    if (queue_bytes > max_queue_bytes) max_queue_bytes <= queue_bytes;
    if (rst) max_queue_bytes <= '0;
  end

  // Counters, in the order of the events here.
  localparam int Counters = 12;
  logic [Counters-1:0] events;
  logic [Counters-1:0][31:0] counts;
  assign events = {
    departs, above_phantom, above_threshold, marked, not_capable,
    frame_in, frame_out, dropped_full, runt, oversized, truncated, bad
  };
  for (genvar i = 0; i < Counters; i++) begin : g_counter
    event_counter counter (.clk, .rst, .event_now(events[i]), .count(counts[i]));
  end

  hull_switch_port_registers #(.CLOCK_PS(CLOCK_PS), .QUEUE_BYTES(BEATS * KEEP)) registers (
      .clk, .rst,
      .s_axil_awaddr, .s_axil_awprot, .s_axil_awvalid, .s_axil_awready,
      .s_axil_wdata, .s_axil_wstrb, .s_axil_wvalid, .s_axil_wready,
      .s_axil_bresp, .s_axil_bvalid, .s_axil_bready,
      .s_axil_araddr, .s_axil_arprot, .s_axil_arvalid, .s_axil_arready,
      .s_axil_rdata, .s_axil_rresp, .s_axil_rvalid, .s_axil_rready,
      .phantom_queue_enable(phantom_enable),
      .phantom_queue_count_arriving(phantom_count_arriving),
      .phantom_queue_drain_units(drain_units),
      .phantom_queue_byte_units(byte_units),
      .phantom_queue_threshold_bytes(threshold_bytes),
      .phantom_queue_tick_clocks(tick_clocks),
      .phantom_queue_overhead_bytes(overhead_bytes),
      .phantom_queue_backlog_units(backlog_units),
      .phantom_queue_frames_seen(counts[11]),
      .phantom_queue_frames_above(counts[10]),
      .threshold_marker_enable(marker_enable),
      .threshold_marker_count_arriving(marker_count_arriving),
      .threshold_marker_threshold_bytes(marker_threshold_bytes),
      .threshold_marker_frames_above(counts[9]),
      .ecn_marker_frames_marked(counts[8]),
      .ecn_marker_frames_not_ect_over_threshold(counts[7]),
      .egress_queue_limit_bytes(limit_bytes),
      .egress_queue_count_in_service(count_in_service),
      .egress_queue_backlog_bytes({12'd0, queue_bytes}),
      .egress_queue_max_backlog_bytes({12'd0, max_queue_bytes}),
      .counters_frames_in(counts[6]),
      .counters_frames_out(counts[5]),
      .counters_dropped_full(counts[4]),
      .counters_runt(counts[3]),
      .counters_oversized(counts[2]),
      .counters_truncated(counts[1]),
      .counters_bad(counts[0])
  );
endmodule

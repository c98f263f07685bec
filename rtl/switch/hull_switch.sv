// A switch of four ports with HULL at each, as the NetFPGA's reference switch with a phantom queue at every
// output, so that a rack can be simulated.
//
// Source: paper 5.1, figure 7. The way of a frame is the reference switch's: input arbiter, look-up of the
// output, queue of the output. Ports share the bus and the table of addresses, no buffer: an output that is
// full drops its own frames only.
//
// The bus moves DATA_BITS a clock. It loses nothing while four links together are not faster: 64 bits at
// 125 MHz are 8 Gbps, for four links of 1 Gbps; four of 10 Gbps need 512 bits at 156.25 MHz. An input has
// memory for two of the longest frames; a frame that finds no room there is dropped and counted (`lost`).
//
// Forwarding: an address that has been seen goes to its port (none, where that is the frame's own), any other
// to all ports but its own. Each port has its registers (hull_switch_port.sv); buses of the four ports are
// arrays, port 0 in the lowest bits.
module hull_switch #(
    parameter int DATA_BITS   = 64,
    parameter int CLOCK_PS    = 8000,
    parameter int INPUT_BEATS = 4096,   // memory of an input, in beats; a power of two
    parameter int BEATS       = 16384,  // memory of an output, in beats; a power of two
    parameter int FRAMES      = 1024,   // most frames in an output's queue; a power of two
    parameter int MIN_BYTES   = 60,
    parameter int MAX_BYTES   = 9022,
    localparam int KEEP       = DATA_BITS / 8,
    localparam int PORTS      = 4
) (
    input logic clk,
    input logic rst,

    // Frames from the MACs.
    input logic [PORTS-1:0][DATA_BITS-1:0] s_axis_tdata,
    input logic [PORTS-1:0][KEEP-1:0] s_axis_tkeep,
    input logic [PORTS-1:0] s_axis_tvalid,
    output logic [PORTS-1:0] s_axis_tready,  // always 1
    input logic [PORTS-1:0] s_axis_tlast,
    input logic [PORTS-1:0] s_axis_tuser,

    // Frames to the MACs.
    output logic [PORTS-1:0][DATA_BITS-1:0] m_axis_tdata,
    output logic [PORTS-1:0][KEEP-1:0] m_axis_tkeep,
    output logic [PORTS-1:0] m_axis_tvalid,
    input logic [PORTS-1:0] m_axis_tready,
    output logic [PORTS-1:0] m_axis_tlast,

    // Frames that did not come through an input: without room, runts, oversized, bad. One clock each.
    output logic [PORTS-1:0] lost,

    // Registers of each port.
    input logic [PORTS-1:0][11:0] s_axil_awaddr,
    input logic [PORTS-1:0][2:0] s_axil_awprot,
    input logic [PORTS-1:0] s_axil_awvalid,
    output logic [PORTS-1:0] s_axil_awready,
    input logic [PORTS-1:0][31:0] s_axil_wdata,
    input logic [PORTS-1:0][3:0] s_axil_wstrb,
    input logic [PORTS-1:0] s_axil_wvalid,
    output logic [PORTS-1:0] s_axil_wready,
    output logic [PORTS-1:0][1:0] s_axil_bresp,
    output logic [PORTS-1:0] s_axil_bvalid,
    input logic [PORTS-1:0] s_axil_bready,
    input logic [PORTS-1:0][11:0] s_axil_araddr,
    input logic [PORTS-1:0][2:0] s_axil_arprot,
    input logic [PORTS-1:0] s_axil_arvalid,
    output logic [PORTS-1:0] s_axil_arready,
    output logic [PORTS-1:0][31:0] s_axil_rdata,
    output logic [PORTS-1:0][1:0] s_axil_rresp,
    output logic [PORTS-1:0] s_axil_rvalid,
    input logic [PORTS-1:0] s_axil_rready
);
  // Inputs: whole frames wait for the bus.
  logic [PORTS-1:0] waits, grant, leaves, i_tvalid, i_tlast, i_tready;
  logic [PORTS-1:0][DATA_BITS-1:0] i_tdata;
  logic [PORTS-1:0][KEEP-1:0] i_tkeep;
  assign s_axis_tready = '1;
  for (genvar p = 0; p < PORTS; p++) begin : g_input
    logic taken, full, runt, oversized, bad, unused_offer, unused_info;
    logic [13:0] unused_next, unused_bytes, unused_head;
    logic [$clog2(INPUT_BEATS):0] unused_free;
    frame_fifo #(
        .DATA_BITS(DATA_BITS), .BEATS(INPUT_BEATS), .FRAMES(256), .INFO_BITS(1),
        .MIN_BYTES(MIN_BYTES), .MAX_BYTES(MAX_BYTES)
    ) waiting (
        .clk, .rst,
        .s_tdata(s_axis_tdata[p]), .s_tkeep(s_axis_tkeep[p]), .s_tvalid(s_axis_tvalid[p]),
        .s_tlast(s_axis_tlast[p]), .s_tuser(s_axis_tuser[p]),
        .next_bytes(unused_next), .offer_valid(unused_offer), .offer_bytes(unused_bytes),
        .offer_take(1'b1), .offer_info(1'b0), .beats_free(unused_free),
        .taken, .full, .runt, .oversized, .bad,
        .head_valid(waits[p]), .head_bytes(unused_head), .head_info(unused_info),
        .release_head(grant[p]), .departs(leaves[p]),
        .m_tdata(i_tdata[p]), .m_tkeep(i_tkeep[p]), .m_tvalid(i_tvalid[p]), .m_tlast(i_tlast[p]),
        .m_tready(i_tready[p])
    );
    assign lost[p] = (full || runt || oversized || bad) && !taken;
  end

  // Arbiter: frame by frame in turn. The frame that was granted has the bus until its last beat.
  logic [1:0] turn, chosen;
  logic any, busy, pending;
  always_comb begin
    chosen = turn;
    any = 1'b0;
    for (int i = PORTS - 1; i >= 0; i--) begin
      if (waits[2'(turn + 2'(i))]) begin
        chosen = turn + 2'(i);
        any = 1'b1;
      end
    end
  end
  logic [1:0] owner, next_owner;
  logic last_now;
  assign last_now = busy && i_tvalid[owner] && i_tlast[owner];
  // One frame is read ahead, so that the memory's delay costs nothing.
  always_comb begin
    grant = '0;
    grant[chosen] = any && !pending;
    i_tready = '0;
    i_tready[owner] = busy;
  end
  always_ff @(posedge clk) begin
    if (last_now || !busy) begin
      busy  <= pending;
      owner <= next_owner;
      if (pending) pending <= 1'b0;
    end
    if (leaves != '0) begin
      pending <= 1'b1;
      next_owner <= chosen;
      turn <= chosen + 2'd1;
    end
    if (rst) begin
      busy <= 1'b0;
      pending <= 1'b0;
      turn <= '0;
    end
  end

  // The bus, and the look-up: the destination is in the first beat, the source ends in the second one of 64
  // bits. Four clocks later the outputs of the frame are known. Frames start on the bus at least two clocks apart,
  // as the table asks for: the next one is granted when the present one gets the bus.
  logic [DATA_BITS-1:0] b_data[4];
  logic [KEEP-1:0] b_keep[4];
  logic [3:0] b_valid, b_last, b_first;
  logic [PORTS-1:0] b_from[4];
  logic first;
  logic [PORTS-1:0] from;
  always_comb begin
    from = '0;
    from[owner] = 1'b1;
  end
  always_ff @(posedge clk) begin
    b_data[0] <= i_tdata[owner];
    b_keep[0] <= i_tkeep[owner];
    b_last[0] <= i_tlast[owner];
    b_from[0] <= from;
    b_valid[0] <= busy && i_tvalid[owner];
    b_first[0] <= first;
    if (busy && i_tvalid[owner]) first <= i_tlast[owner];
    for (int i = 1; i < 4; i++) begin
      b_data[i] <= b_data[i-1];
      b_keep[i] <= b_keep[i-1];
      b_last[i] <= b_last[i-1];
      b_from[i] <= b_from[i-1];
      b_valid[i] <= b_valid[i-1];
      b_first[i] <= b_first[i-1];
    end
    if (rst) begin
      b_valid <= '0;
      first <= 1'b1;
    end
  end

  logic [47:0] source;
  logic [15:0] source_start;
  logic learn;
  if (DATA_BITS == 64) begin : g_source_64
    logic second;
    always_ff @(posedge clk) if (b_valid[0]) begin
      second <= b_first[0];
      source_start <= b_data[0][63:48];
    end
    assign source = {b_data[0][31:0], source_start};
    assign learn  = b_valid[0] && second && !b_first[0];
  end else begin : g_source
    assign source_start = b_data[0][63:48];
    assign source = {b_data[0][95:64], source_start};
    assign learn  = b_valid[0] && b_first[0];
  end
  logic [PORTS-1:0] known, outputs, outputs_held;
  mac_table #(.PORTS(PORTS)) table_of_addresses (
      .clk, .rst, .find(b_data[0][47:0]), .ports(known),
      .learn_valid(learn), .learn(source), .learn_port(b_from[0])
  );
  // `known` is of the beat in stage 2.
  assign outputs = b_first[2] ? known & ~b_from[2] : outputs_held;
  logic [PORTS-1:0] outputs_3;
  always_ff @(posedge clk) begin
    if (b_valid[2] && b_first[2]) outputs_held <= known & ~b_from[2];
    outputs_3 <= outputs;
  end

  for (genvar p = 0; p < PORTS; p++) begin : g_output
    logic unused_ready;
    hull_switch_port #(
        .DATA_BITS(DATA_BITS), .CLOCK_PS(CLOCK_PS), .BEATS(BEATS), .FRAMES(FRAMES),
        .MIN_BYTES(MIN_BYTES), .MAX_BYTES(MAX_BYTES)
    ) port (
        .clk, .rst,
        .s_axis_tdata(b_data[3]), .s_axis_tkeep(b_keep[3]), .s_axis_tvalid(b_valid[3] && outputs_3[p]),
        .s_axis_tready(unused_ready), .s_axis_tlast(b_last[3]), .s_axis_tuser(1'b0),
        .m_axis_tdata(m_axis_tdata[p]), .m_axis_tkeep(m_axis_tkeep[p]), .m_axis_tvalid(m_axis_tvalid[p]),
        .m_axis_tready(m_axis_tready[p]), .m_axis_tlast(m_axis_tlast[p]),
        .s_axil_awaddr(s_axil_awaddr[p]), .s_axil_awprot(s_axil_awprot[p]), .s_axil_awvalid(s_axil_awvalid[p]),
        .s_axil_awready(s_axil_awready[p]), .s_axil_wdata(s_axil_wdata[p]), .s_axil_wstrb(s_axil_wstrb[p]),
        .s_axil_wvalid(s_axil_wvalid[p]), .s_axil_wready(s_axil_wready[p]), .s_axil_bresp(s_axil_bresp[p]),
        .s_axil_bvalid(s_axil_bvalid[p]), .s_axil_bready(s_axil_bready[p]), .s_axil_araddr(s_axil_araddr[p]),
        .s_axil_arprot(s_axil_arprot[p]), .s_axil_arvalid(s_axil_arvalid[p]), .s_axil_arready(s_axil_arready[p]),
        .s_axil_rdata(s_axil_rdata[p]), .s_axil_rresp(s_axil_rresp[p]), .s_axil_rvalid(s_axil_rvalid[p]),
        .s_axil_rready(s_axil_rready[p])
    );
  end
endmodule

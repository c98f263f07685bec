// ECE snooper: detects TCP's ECN-Echo in received ACKs, for the flow association table.
//
// What it models: paper 5.1 and thesis 4.4.1, the module of the NIC that sees the ACKs. The receive stream passes
// unchanged and without delay. At the end of each good TCP segment with ACK and ECE the module gives one pulse with
// the key of the acknowledged flow, which has the opposite direction. A segment with SYN gives no pulse: its ECE
// negotiates ECN (RFC 3168, 6.1.1).
//
// A frame that ends with tuser, or whose tkeep breaks the rule of keep_check.sv, gives no pulse, because its bytes are
// unreliable. NetFPGA: not stated.
module ece_snooper #(
    // Width of the stream: 64, 128, 256 or 512.
    parameter int DATA_BITS = 64
) (
    input logic clk,
    input logic rst,

    // Frames from the link.
    input logic [DATA_BITS-1:0] s_tdata,
    input logic [DATA_BITS/8-1:0] s_tkeep,
    input logic s_tvalid,
    output logic s_tready,
    input logic s_tlast,
    input logic s_tuser,   // with tlast: the frame is bad
    // The same to the host.
    output logic [DATA_BITS-1:0] m_tdata,
    output logic [DATA_BITS/8-1:0] m_tkeep,
    output logic m_tvalid,
    input logic m_tready,
    output logic m_tlast,
    output logic m_tuser,

    // Eleven clocks after the frame's last beat.
    output logic ece_valid,        // one ACK with ECN-Echo
    output logic [31:0] ece_flow,  // key of the flow whose data it acknowledges (header_parser.sv)

    // Counts since the reset; they stop at all ones.
    output logic [31:0] frames,       // frames that ended
    output logic [31:0] bad_frames,   // with tuser or a broken tkeep
    output logic [31:0] truncated,    // good ones that end within their headers
    output logic [31:0] tcp_acks,     // good ones with ACK and without SYN
    output logic [31:0] ece_acks      // of these, with ECN-Echo
);
  // From a beat to the answer of the parser.
  localparam int Latency = 10;

  assign m_tdata  = s_tdata;
  assign m_tkeep  = s_tkeep;
  assign m_tvalid = s_tvalid;
  assign s_tready = m_tready;
  assign m_tlast  = s_tlast;
  assign m_tuser  = s_tuser;

  logic header_valid, short_header, is_tcp, tcp_ece, tcp_ack, tcp_syn;
  logic [31:0] flow_reverse;
  /* verilator lint_off PINCONNECTEMPTY */
  header_parser #(.DATA_BITS(DATA_BITS)) parser (
      .clk, .rst, .s_tdata, .s_tkeep, .s_tvalid, .s_tready, .s_tlast,
      .header_valid, .truncated(short_header), .is_tcp, .tcp_ece, .tcp_ack, .tcp_syn, .flow_reverse,
      .ok(), .ip_version(), .ip_offset(), .ecn(), .tcp_cwr(), .tcp_rst(), .tcp_fin(), .flow()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // The end of a frame meets the parser's answer, which stays until the next frame's answer.
  logic [Latency-1:0] ended, ended_bad;
  logic good, ack, keep_broken;
  keep_check #(.DATA_BITS(DATA_BITS)) rule (
      .clk, .rst, .keep(s_tkeep), .accepted(s_tvalid && s_tready), .last(s_tlast), .broken(keep_broken)
  );
  assign good = ended[Latency-1] && !ended_bad[Latency-1];
  assign ack  = good && is_tcp && tcp_ack && !tcp_syn;
  always_ff @(posedge clk) begin
    ended <= {ended[Latency-2:0], s_tvalid && s_tready && s_tlast};
    ended_bad <= {ended_bad[Latency-2:1], ended_bad[0] || keep_broken, s_tuser};
    ece_valid <= ack && tcp_ece;
    if (ended[Latency-1]) ece_flow <= flow_reverse;
    if (ended[Latency-1] && frames != '1) frames <= frames + 32'd1;
    if (ended[Latency-1] && !good && bad_frames != '1) bad_frames <= bad_frames + 32'd1;
    if (good && short_header && truncated != '1) truncated <= truncated + 32'd1;
    if (ack && tcp_acks != '1) tcp_acks <= tcp_acks + 32'd1;
    if (ack && tcp_ece && ece_acks != '1) ece_acks <= ece_acks + 32'd1;
    if (rst) begin
      ended <= '0;
      ece_valid <= 1'b0;
      frames <= '0;
      bad_frames <= '0;
      truncated <= '0;
      tcp_acks <= '0;
      ece_acks <= '0;
    end
  end

  logic unused;
  assign unused = header_valid;
endmodule

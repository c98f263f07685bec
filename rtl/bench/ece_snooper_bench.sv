// The ECE snooper, with its header parser, between a player of beats and three recorders. Checks that the
// stream passes unchanged.
//
// Stimulus, most significant first: tdata, tkeep, clocks for which the receiver is not ready (6), tuser, tlast.
// Answers: `headers` (128 bits): flow, flow_reverse (32 each), unused (12), ok, truncated, ip_version (4),
// ip_offset (5), ecn (2), is_tcp, CWR, ECE, ACK, RST, SYN, FIN. `eces` (64): ece_flow, unused (32). `counts`, once
// (192): frames, bad_frames, truncated, tcp_acks, ece_acks (32 each), unused (32).
module ece_snooper_bench #(
    parameter int DATA_BITS = 64
) (
    input  logic clk,
    output logic done
);
  localparam int KeepBits = DATA_BITS / 8;
  logic rst, valid, ready;
  logic [63:0] now;
  logic [DATA_BITS-1:0] s_tdata, m_tdata;
  logic [KeepBits-1:0] s_tkeep, m_tkeep;
  logic [5:0] hold, held;
  logic s_tuser, s_tlast, m_tvalid, m_tready, m_tuser, m_tlast;
  player #(.BITS(DATA_BITS + KeepBits + 8)) player (
      .clk, .ready, .rst, .now, .valid, .done,
      .payload({s_tdata, s_tkeep, hold, s_tuser, s_tlast})
  );
  assign m_tready = held >= hold;
  always @(posedge clk) held <= (rst || !valid || m_tready) ? 6'd0 : held + 6'd1;

  logic ece_valid;
  logic [31:0] ece_flow, frames, bad_frames, truncated, tcp_acks, ece_acks;
  ece_snooper #(.DATA_BITS(DATA_BITS)) dut (
      .clk, .rst, .s_tdata, .s_tkeep, .s_tvalid(valid), .s_tready(ready), .s_tlast, .s_tuser,
      .m_tdata, .m_tkeep, .m_tvalid, .m_tready, .m_tlast, .m_tuser,
      .ece_valid, .ece_flow, .frames, .bad_frames, .truncated, .tcp_acks, .ece_acks
  );
  always @(posedge clk)
    if ({m_tdata, m_tkeep, m_tvalid, m_tlast, m_tuser, ready} !=
        {s_tdata, s_tkeep, valid, s_tlast, s_tuser, m_tready})
      $fatal(1, "the stream does not pass unchanged");

  recorder #(.BITS(128), .FILE("headers=%s")) headers (
      .clk, .now, .valid(dut.parser.header_valid),
      .payload({
        dut.parser.flow, dut.parser.flow_reverse, 44'd0, dut.parser.ok, dut.parser.truncated,
        dut.parser.ip_version, dut.parser.ip_offset, dut.parser.ecn, dut.parser.is_tcp,
        dut.parser.tcp_cwr, dut.parser.tcp_ece, dut.parser.tcp_ack, dut.parser.tcp_rst,
        dut.parser.tcp_syn, dut.parser.tcp_fin
      })
  );
  recorder #(.BITS(64), .FILE("eces=%s")) eces (
      .clk, .now, .valid(ece_valid), .payload({ece_flow, 32'd0})
  );

  logic [7:0] since_done;
  always @(posedge clk) since_done <= done ? since_done + 8'(since_done != '1) : 8'd0;
  recorder #(.BITS(192), .FILE("counts=%s")) counts (
      .clk, .now, .valid(since_done == 8'd100),
      .payload({frames, bad_frames, truncated, tcp_acks, ece_acks, 32'd0})
  );
endmodule

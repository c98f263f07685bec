// The ECN marker between a player and two recorders, with a receiver that stalls at random.
//
// Stimulus (DATA_BITS + DATA_BITS/8 + 8 bits): unused (4), reset (1; resets the module instead of offering a
// beat), mark (1), user (1), last (1), keep, data.
// Stimulus `stalls` (8 bits): from this clock the receiver stalls with this probability in 256.
// Answers (the next multiple of 64 bits): unused, user (1), last (1), keep, data; one a beat that leaves.
// Answers `reports` (64 bits): unused (61), ect (1), ce (1), marked (1); one a frame.
module ecn_marker_bench #(
    parameter int DATA_BITS = 64
) (
    input  logic clk,
    output logic done
);
  localparam int BYTES = DATA_BITS / 8;
  localparam int ANSWER = (DATA_BITS + BYTES + 2 + 63) / 64 * 64;

  logic rst, valid, resets;
  logic [63:0] now;
  logic [DATA_BITS+BYTES+7:0] stimulus;
  logic s_tready;
  assign resets = valid && stimulus[DATA_BITS+BYTES+3];
  player #(.BITS(DATA_BITS + BYTES + 8)) player (
      .clk, .ready(s_tready || resets), .rst, .now, .valid, .payload(stimulus), .done
  );

  logic stall_rst, stall_valid, stall_done;
  logic [63:0] stall_now;
  logic [7:0] stall_payload, stall;
  player #(.BITS(8), .FILE("stalls=%s")) staller (
      .clk, .ready(1'b1), .rst(stall_rst), .now(stall_now), .valid(stall_valid),
      .payload(stall_payload), .done(stall_done)
  );
  logic [31:0] noise;
  always @(posedge clk) begin
    noise <= rst ? 32'd1 : {noise[30:0], noise[31] ^ noise[21] ^ noise[1] ^ noise[0]};
    if (rst) stall <= 8'd0;
    else if (stall_valid) stall <= stall_payload;
  end

  logic [DATA_BITS-1:0] m_tdata;
  logic [BYTES-1:0] m_tkeep;
  logic m_tvalid, m_tready, m_tlast, m_tuser;
  logic frame_done, frame_ect, frame_ce, frame_marked;
  assign m_tready = {noise[28], noise[3], noise[17], noise[9], noise[24], noise[6], noise[13], noise[20]} >= stall;
  ecn_marker #(.DATA_BITS(DATA_BITS)) dut (
      .clk,
      .rst(rst || resets),
      .mark(stimulus[DATA_BITS+BYTES+2]),
      .s_tdata(stimulus[DATA_BITS-1:0]),
      .s_tkeep(stimulus[DATA_BITS+:BYTES]),
      .s_tvalid(valid && !resets),
      .s_tready,
      .s_tlast(stimulus[DATA_BITS+BYTES]),
      .s_tuser(stimulus[DATA_BITS+BYTES+1]),
      .m_tdata, .m_tkeep, .m_tvalid, .m_tready, .m_tlast, .m_tuser,
      .frame_done, .frame_ect, .frame_ce, .frame_marked
  );
  recorder #(.BITS(ANSWER)) recorder (
      .clk, .now, .valid(m_tvalid && m_tready && !rst && !resets),
      .payload(ANSWER'({m_tuser, m_tlast, m_tkeep, m_tdata}))
  );
  recorder #(.BITS(64), .FILE("reports=%s")) reports (
      .clk, .now, .valid(frame_done), .payload({61'd0, frame_ect, frame_ce, frame_marked})
  );

  // A beat that is offered stays the same until it is taken.
  logic held;
  logic [DATA_BITS+BYTES+1:0] offered;
  always @(posedge clk) begin
    held   <= m_tvalid && !m_tready && !rst && !resets;
    offered <= {m_tuser, m_tlast, m_tkeep, m_tdata};
    if (held && !rst && (!m_tvalid || offered != {m_tuser, m_tlast, m_tkeep, m_tdata}))
      $fatal(1, "an offered beat changed before it was taken");
  end
endmodule

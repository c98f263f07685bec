// The pacer between a player and recorders, with the FIFO and the line of a NIC.
//
// Stimulus (128 bits): kind (8), unused (56), value (64). Kind 0 is a packet, whose value is: unused (9),
// paced (1), clocks from when it is the first to wait until the pacer sees it (8), clocks that the line is
// busy after its release (16), unused (16), bytes (14). Kind 16 resets the pacer, others set one setting.
// Answers (128 bits): packet: active (1), tokens_negative (1), admission (2), unused (4), rate (40), unused (16),
// bytes (16), largest backlog so far (32), backlog (32), one clock after the decision. The same for releases,
// without the largest backlog.
// Rates (64 bits): active (1), unused (23), rate (40): each new rate, and each start.
module pacer_bench #(
    parameter int CLOCK_PS = 8000
) (
    input  logic clk,
    output logic done
);
  logic rst, valid, taken, play_done;
  logic [63:0] now;
  logic [127:0] stimulus;
  logic [7:0] kind;
  logic [63:0] value;
  player #(.BITS(128)) player (
      .clk, .ready(taken), .rst, .now, .valid, .payload(stimulus), .done(play_done)
  );
  assign {kind, value} = {stimulus[127:120], stimulus[63:0]};

  // Starts the time of the pacer again, with other settings.
  logic restart;
  assign restart = rst || (valid && kind == 8'd16);
  logic enable;
  logic [39:0] max_rate_bps, min_rate_bps, initial_rate_bps;
  logic [19:0] bucket_bytes;
  logic [23:0] fifo_bytes, update_interval, token_tick;
  logic [16:0] eta;
  logic [55:0] gain;
  logic [31:0] beta, rate_step_bps;
  logic [1:0] when_full;
  // Offers a packet again that was held, and waits for each admission before the next packet.
  logic again;
  // The line is never free.
  logic line_off;
  always @(posedge clk) begin
    if (rst) {enable, again, line_off} <= '0;
    else if (valid) begin
      case (kind)
        8'd1: max_rate_bps <= value[39:0];
        8'd2: min_rate_bps <= value[39:0];
        8'd3: initial_rate_bps <= value[39:0];
        8'd4: bucket_bytes <= value[19:0];
        8'd5: fifo_bytes <= value[23:0];
        8'd6: update_interval <= value[23:0];
        8'd7: eta <= value[16:0];
        8'd8: gain <= value[55:0];
        8'd9: beta <= value[31:0];
        8'd10: rate_step_bps <= value[31:0];
        8'd11: token_tick <= value[23:0];
        8'd12: when_full <= value[1:0];
        8'd13: enable <= value[0];
        8'd14: again <= value[0];
        8'd15: line_off <= value[0];
        default: ;
      endcase
    end
  end

  logic packet_ready, offered, waiting, admission_valid;
  logic [1:0] admission;
  assign offered = valid && kind == 8'd0 && !waiting;
  assign taken = kind != 8'd0 ? 1'b1
               : again ? admission_valid && admission != 2'd3 : packet_ready;
  always @(posedge clk) begin
    if (rst) waiting <= 1'b0;
    else if (admission_valid) waiting <= 1'b0;
    else if (offered && packet_ready && again) waiting <= 1'b1;
  end

  // Packets on their way to the admission, then the FIFO. 40 bits each, as in the stimulus.
  logic [63:0] on_way[16];
  logic [3:0] first, last;
  logic [63:0] fifo[65536];
  logic [15:0] front, back;
  logic [63:0] head_at, line_at;
  logic release_head, head_valid, line_free;
  logic [63:0] admitted;
  assign admitted = on_way[first];
  assign head_valid = front != back && now >= head_at;
  assign line_free = !line_off && now >= line_at;
  always @(posedge clk) begin
    if (rst) begin
      {first, last, front, back} <= '0;
      {head_at, line_at} <= '0;
    end else begin
      if (offered && packet_ready) begin
        on_way[last] <= value;
        last <= last + 4'd1;
      end
      if (release_head) begin
        front   <= front + 16'd1;
        line_at <= now + 64'd1 + 64'(fifo[front][45:30]);
        head_at <= now + 64'd1 + 64'(fifo[front+16'd1][53:46]);
      end
      if (admission_valid) begin
        first <= first + 4'd1;
        if (admission == 2'd1) begin
          fifo[back] <= admitted;
          back <= back + 16'd1;
          if (front == back || (release_head && front + 16'd1 == back)) begin
            head_at <= now + 64'd1 + 64'(admitted[53:46]);
          end
        end
      end
    end
  end

  logic active, tokens_negative;
  logic [39:0] rate_bps, rate_before;
  logic [23:0] backlog_bytes, max_backlog_bytes;
  logic [31:0] passed_count, queued_count, dropped_count, bypassed_count;
  pacer #(.CLOCK_PS(CLOCK_PS)) dut (
      .clk, .rst(restart), .enable, .max_rate_bps, .min_rate_bps, .initial_rate_bps, .bucket_bytes, .fifo_bytes,
      .update_interval, .eta, .gain, .beta, .rate_step_bps, .token_tick, .when_full,
      .packet_valid(offered), .packet_ready, .packet_bytes(value[13:0]), .packet_paced(value[54]),
      .admission_valid, .admission,
      .head_valid, .head_bytes(fifo[front][13:0]), .line_free, .release_head,
      .active, .rate_bps, .backlog_bytes, .max_backlog_bytes, .tokens_negative,
      .passed_count, .queued_count, .dropped_count, .bypassed_count
  );

  recorder #(.BITS(128), .FILE("admissions=%s")) admissions (
      .clk, .now, .valid(admission_valid),
      .payload({active, tokens_negative, admission, 4'd0, rate_bps, 2'd0, admitted[13:0],
                8'd0, max_backlog_bytes, 8'd0, backlog_bytes})
  );
  recorder #(.BITS(128), .FILE("releases=%s")) releases (
      .clk, .now, .valid(release_head),
      .payload({active, tokens_negative, 2'd0, 4'd0, rate_bps, 2'd0, fifo[front][13:0],
                16'd0, 16'd0, 8'd0, backlog_bytes})
  );
  logic active_before;
  always @(posedge clk) {active_before, rate_before} <= {active, rate_bps};
  recorder #(.BITS(64), .FILE("rates=%s")) rates (
      .clk, .now, .valid(!rst && (rate_bps != rate_before || (active && !active_before))),
      .payload({active, 23'd0, rate_bps})
  );
  // The counters at the end, once.
  logic ended;
  always @(posedge clk) ended <= rst ? 1'b0 : done;
  recorder #(.BITS(128), .FILE("counts=%s")) counts (
      .clk, .now, .valid(done && !ended),
      .payload({passed_count, queued_count, dropped_count, bypassed_count})
  );
  // The end: all packets have been decided and have left; a stuck pacer ends the run as well.
  logic [31:0] idle;
  always @(posedge clk) begin
    if (rst || !play_done || release_head || rate_bps != rate_before) idle <= '0;
    else idle <= idle + 32'd1;
    done <= !rst && play_done && ((front == back && idle > 32'd40) || idle > 32'd20_000_000);
  end
endmodule

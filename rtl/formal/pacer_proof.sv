// Bounded proof of the pacer, at its ports: any packets, any line, some constant settings and rates.
//
// 1. The backlog is what was queued less what was released, never negative, and at most fifo_bytes.
// 2. From the start on, over any interval the paced packets have at most the tokens of the bucket (or of a packet larger than it)
//    and those that the rate makes: the pacer never sends faster than its rate plus bucket.
// 3. A packet that was taken has its answer after 8 clocks, and no answer comes without a packet.
//
// The rate filter is replaced by one with a constant rate; the widths are small, and nothing in the module
// depends on them. Time in steps: packets and releases are seen at their
// outputs, 2 clocks after the decisions, which shifts both alike.

`default_nettype none

module rate_filter #(
    parameter int RATE_BITS = 40,
    parameter int MEASURED_BITS = 32,
    parameter int BACKLOG_BITS = 24,
    parameter int GAIN_BITS = 56,
    parameter int CLOCKS_BITS = 24,
    parameter int TOKEN_BITS = 51
) (
    input  wire                      clk,
    input  wire                      clear,
    input  wire                      start_initial,
    input  wire                      start_update,
    input  wire  [MEASURED_BITS-1:0] measured_bytes,
    input  wire  [ BACKLOG_BITS-1:0] backlog_bytes,
    input  wire  [    RATE_BITS-1:0] max_rate_bps,
    input  wire  [    RATE_BITS-1:0] min_rate_bps,
    input  wire  [    RATE_BITS-1:0] initial_rate_bps,
    input  wire  [             16:0] eta,
    input  wire  [    GAIN_BITS-1:0] gain,
    input  wire  [             31:0] beta,
    input  wire  [             31:0] rate_step_bps,
    input  wire  [  CLOCKS_BITS-1:0] token_tick,
    output logic                     busy,
    output logic [    RATE_BITS-1:0] rate_bps,
    output logic                     ticked,
    output logic [   TOKEN_BITS-1:0] step_tokens
);
    // The start lasts until the bucket's size is there.
    logic [4:0] left;
    assign busy = left != 0;
    always_ff @(posedge clk) begin
        if (clear) left <= '0;
        else if (start_initial) left <= 5'd12;
        else if (busy) left <= left - 1'b1;
    end
    assign rate_bps = initial_rate_bps;
    assign ticked = 1'b0;
    assign step_tokens = TOKEN_BITS'(initial_rate_bps) << 1;
endmodule

module pacer_proof (
    input wire       clk,
    input wire       packet_valid,
    input wire [2:0] packet_bytes,
    input wire       packet_paced,
    input wire       head_line_free,
    input wire       head_late,     // the head is shown later
    input wire       begin_now      // the interval of 2. begins
);
    localparam int CLOCK_PS = 2_000_000_000;
    localparam int BYTE = 4000;
    // Few settings, so that the bound is reached: 0, 1/4, 1/2 and 3/4 byte a clock.
    (* anyconst *) logic [1:0] rate_quarters;
    (* anyconst *) logic bucket_large;
    logic [11:0] rate;
    logic [3:0] bucket_bytes;
    logic [5:0] fifo_bytes;
    assign rate = 12'd1000 * 12'(rate_quarters);
    assign bucket_bytes = bucket_large ? 4'd7 : 4'd5;
    assign fifo_bytes = 6'd9;
    (* anyconst *) logic when_full_hold;

    logic rst = 1'b1;
    always_ff @(posedge clk) rst <= 1'b0;

    logic packet_ready, admission_valid, release_head, active, tokens_negative;
    logic [1:0] admission;
    logic [5:0] backlog_bytes, max_backlog_bytes;
    logic [11:0] rate_bps;
    logic [31:0] passed_count, queued_count, dropped_count, bypassed_count;
    logic head_valid;
    logic [2:0] head_bytes;
    pacer #(
        .CLOCK_PS(CLOCK_PS), .RATE_BITS(12), .BYTES_BITS(3), .BUCKET_BITS(4), .BACKLOG_BITS(6),
        .MEASURED_BITS(18), .GAIN_BITS(20), .CLOCKS_BITS(4)
    ) dut (
        .clk, .rst, .enable(1'b1), .max_rate_bps(rate), .min_rate_bps(rate), .initial_rate_bps(rate),
        .bucket_bytes, .fifo_bytes, .update_interval(4'd8), .eta(17'd0), .gain(20'd0), .beta(32'd0),
        .rate_step_bps(32'd0), .token_tick(4'd0), .when_full({when_full_hold, 1'b0}),
        .packet_valid, .packet_ready, .packet_bytes, .packet_paced, .admission_valid, .admission,
        .head_valid, .head_bytes, .line_free(head_line_free), .release_head,
        .active, .rate_bps, .backlog_bytes, .max_backlog_bytes, .tokens_negative,
        .passed_count, .queued_count, .dropped_count, .bypassed_count
    );

    // What was taken, and its way to the answer.
    logic [8:1] taken = '0;
    logic [8:1] paced;
    logic [8:1][2:0] bytes;
    always_ff @(posedge clk) begin
        taken <= rst ? '0 : {taken[7:1], packet_valid && packet_ready};
        paced <= {paced[7:1], packet_paced};
        bytes <= {bytes[7:1], packet_bytes};
    end

    // The FIFO of the NIC, 8 packets.
    logic [7:0][2:0] fifo;
    logic [3:0] count = '0;
    logic shown = 1'b0;
    logic queued;
    assign queued = admission_valid && admission == 2'd1;
    assign head_valid = shown && count != 0;
    assign head_bytes = fifo[0];
    always_ff @(posedge clk) begin
        shown <= count != 0 && !release_head && (shown || !head_late);
        if (queued && release_head) begin
            fifo <= fifo >> 3;
            fifo[3'(count-1'b1)] <= bytes[8];
        end else if (queued) begin
            fifo[3'(count)] <= bytes[8];
            count <= count + 1'b1;
        end else if (release_head) begin
            fifo <= fifo >> 3;
            count <= count - 1'b1;
        end
        if (rst) count <= '0;
    end

    // Bytes that wait, and tokens of the interval: those taken less those made.
    logic [9:0] waiting = '0;
    logic inside = 1'b0;
    logic signed [21:0] used = '0;
    logic [16:0] paid;
    // The answers of this clock are decisions of the one before it; before the start nothing is paced.
    logic decided_active = 1'b0;
    always_ff @(posedge clk) decided_active <= active && !rst;
    logic [16:0] most;
    always_comb begin
        paid = 17'd0;
        if (release_head && decided_active) paid = 17'(fifo[0]) * 17'(BYTE);
        else if (admission_valid && admission == 2'd0 && paced[8] && decided_active) begin
            paid = 17'(bytes[8]) * 17'(BYTE);
        end
        most = 17'(bucket_bytes > 4'd7 ? bucket_bytes : 4'd7) * 17'(BYTE);
    end
    always_ff @(posedge clk) begin
        waiting <= rst ? '0 : waiting + (queued ? 10'(bytes[8]) : '0) - (release_head ? 10'(fifo[0]) : '0);
        inside <= inside || begin_now;
        // Answers and releases are seen in the clocks with packet_ready, one each step.
        if (packet_ready && (inside || begin_now)) begin
            used <= used + $signed({5'd0, paid}) - $signed({9'd0, rate, 1'b0});
        end
    end

    always @(*) begin
        assume (packet_bytes != 0);
        // The FIFO here has room for 8 packets on the way.
        assume (!(packet_valid && count > 1));
        if (!rst) begin
            assert (admission_valid == taken[8]);
            assert (backlog_bytes <= fifo_bytes);
            assert (!release_head || count != 0);
            assert (!queued || paced[8]);
            if (packet_ready) begin
                assert (10'(backlog_bytes) == waiting + (queued ? 10'(bytes[8]) : '0)
                                            - (release_head ? 10'(fifo[0]) : '0));
                if (inside || begin_now) begin
                    assert (used + $signed({5'd0, paid}) <= $signed({5'd0, most}));
                end
            end
        end
    end

    always @(posedge clk) begin
        cover (active && release_head && tokens_negative);
        cover (admission_valid && admission == 2'd3);
        cover (admission_valid && admission == 2'd2 && max_backlog_bytes == fifo_bytes);
    end
endmodule

`default_nettype wire

// Pacer of a NIC: a token bucket whose rate follows the host's sending rate. Control only: the caller
// stores the packets; the pacer counts their bytes and holds the tokens and the rate.
//
// Models hull-core's pacer (paper 4.2, equation 4, and 5.1; thesis 4.4.1) and agrees bit for bit with
// its hardware form, crates/hull-core/src/hardware/pacer.rs. One step is two clocks: tokens are added
// and packets decided on every second clock. A new rate takes effect a fixed time after its sampling.
//
// Unlike the NetFPGA: tokens on each step or, with token_tick, on a tick (NetFPGA: 16 us); R keeps a
// fraction; a full FIFO has three policies, because the paper does not say what happens.
//
// Units: bit/s, bytes, clocks. A token is CLOCK_PS * 1e-12 bit: a rate in bit/s is its tokens per clock,
// and a byte has 8e12 / CLOCK_PS, so that tokens are hull-core's divided by CLOCK_PS, with no rounding.
//
// Order at one instant: tokens at the old rate, the sampling for equation 4, the packet, the head.

`default_nettype none

module pacer #(
    parameter int CLOCK_PS = 8000,     // clock period, ps; divides 8e12: 8000, 6400, 5000, 4000, 3200
    parameter int RATE_BITS = 40,      // width of a rate in bit/s: up to 1.09 Tbps
    parameter int BYTES_BITS = 14,     // width of a packet's size in bytes
    parameter int BUCKET_BITS = 20,    // width of the bucket in bytes
    parameter int BACKLOG_BITS = 24,   // width of the FIFO in bytes
    parameter int MEASURED_BITS = 32,  // width of M_r in bytes; M_r saturates
    parameter int GAIN_BITS = 56,      // width of the gain
    parameter int CLOCKS_BITS = 24     // width of T_r and of a tick in clocks
) (
    input wire clk,  // clock
    input wire rst,  // reset, synchronous, active high; time 0 of the grids is 4 clocks after it

    // Settings. They may change at any time; the next rate update uses them.
    input wire enable,  // low: nothing is paced, and what waits leaves; high: starts with a full bucket
    input wire [RATE_BITS-1:0] max_rate_bps,  // largest rate; wins over min_rate_bps
    input wire [RATE_BITS-1:0] min_rate_bps,  // smallest rate; 0 may stop a waiting packet
    input wire [RATE_BITS-1:0] initial_rate_bps,  // rate at the rise of enable
    input wire [BUCKET_BITS-1:0] bucket_bytes,  // depth of the bucket
    input wire [BACKLOG_BITS-1:0] fifo_bytes,  // room of the FIFO
    input wire [CLOCKS_BITS-1:0] update_interval,  // T_r in clocks, at least 256
    input wire [16:0] eta,  // eta in 2^-16, at most 65536
    input wire [GAIN_BITS-1:0] gain,  // eta * 8e12 * 2^16 / (T_r in ps), rounded to nearest
    input wire [31:0] beta,  // beta per second in 2^-8
    input wire [31:0] rate_step_bps,  // step of the rate that makes tokens; 0: none
    input wire [CLOCKS_BITS-1:0] token_tick,  // clocks between token ticks; 0 or 1: each step
    input wire [1:0] when_full,  // 0 drop, 1 bypass, 2 hold; 3 acts as 0

    // A packet that the host hands over: taken at a clock with valid and ready.
    input wire packet_valid,  // a packet is offered
    output logic packet_ready,  // high on every second clock
    input wire [BYTES_BITS-1:0] packet_bytes,  // its size, above 0
    input wire packet_paced,  // its flow is associated
    output logic admission_valid,  // the decision, 8 clocks after the packet was taken
    output logic [1:0] admission,  // 0 pass, 1 queued, 2 dropped, 3 held: not taken, offer it again

    // Head of the caller's FIFO.
    input wire head_valid,  // a packet waits; stays until release
    input wire [BYTES_BITS-1:0] head_bytes,  // its size; constant until release
    input wire line_free,  // the head may leave now
    output logic release_head,  // one clock: the head leaves. The next head from the clock after it on

    // State.
    output logic active,  // high from the start that follows enable on
    output logic [RATE_BITS-1:0] rate_bps,  // rate that makes tokens
    output logic [BACKLOG_BITS-1:0] backlog_bytes,  // Q: bytes that wait
    output logic [BACKLOG_BITS-1:0] max_backlog_bytes,  // largest Q since the reset
    output logic tokens_negative,  // a packet larger than the bucket has taken more than there was
    output logic [31:0] passed_count,  // packets that passed, paced or not, but bypassed ones
    output logic [31:0] queued_count,  // packets that were put into the FIFO
    output logic [31:0] dropped_count,  // packets that found it full and were dropped
    output logic [31:0] bypassed_count  // packets that found it full and passed
);
    localparam logic [63:0] TOKENS_PER_BYTE = 64'd8_000_000_000_000 / 64'(CLOCK_PS);
    // A deficit is at most the larger of the bucket and a packet.
    localparam int TOKEN_BITS = BUCKET_BITS + $clog2(TOKENS_PER_BYTE + 1);
    // A packet is decided at the phase 0 that is this many clocks after it was taken.
    localparam int DECISION = 6;

    localparam logic [1:0] WHEN_FULL_BYPASS = 2'd1;
    localparam logic [1:0] WHEN_FULL_HOLD = 2'd2;
    localparam logic [1:0] PASS = 2'd0;
    localparam logic [1:0] QUEUED = 2'd1;
    localparam logic [1:0] DROPPED = 2'd2;
    localparam logic [1:0] HELD = 2'd3;

    if (64'd8_000_000_000_000 % 64'(CLOCK_PS) != 0) begin : g_bad_clock
        $error("CLOCK_PS must divide 8e12");
    end

    // Phase 0: compare and add, into registers. Phase 1: decide.
    logic phase;
    always_ff @(posedge clk) phase <= rst ? 1'b0 : !phase;

    // --- Time: ticks, and sampling instants. -------------------------------------------------------
    // Ticks are looked at two steps before the instant that they belong to: their count starts at the
    // reset, the other one 4 clocks later.
    logic [CLOCKS_BITS-1:0] tick_count, tick_last, update_count, update_last;
    logic tick_now, tick_before, update_now, update_before;
    logic [3:0] started;
    always_ff @(posedge clk) begin
        tick_last <= token_tick - 1'b1;
        update_last <= update_interval - 1'b1;
        tick_before <= tick_now;
        update_before <= update_now;
        started <= {started[2:0], 1'b1};
        tick_count <= tick_count + 1'b1;
        tick_now <= 1'b0;
        if (!(tick_count < tick_last)) begin
            tick_count <= '0;
            tick_now <= 1'b1;
        end
        update_count <= update_count + 1'b1;
        update_now <= 1'b0;
        if (!(update_count < update_last)) begin
            update_count <= '0;
            update_now <= 1'b1;
        end
        if (rst || !started[3]) begin
            update_count <= '0;
            update_now <= 1'b0;
        end
        if (rst) begin
            started <= '0;
            tick_count <= '0;
            tick_now <= 1'b0;
        end
    end

    // --- Start. ------------------------------------------------------------------------------------
    // The start computes the first rate. `running`: active for at least one step.
    logic starting, initial_asked, rate_ready, running;
    logic filter_busy;
    always_ff @(posedge clk) begin
        if (rst || !enable) begin
            starting <= 1'b0;
            initial_asked <= 1'b0;
            rate_ready <= 1'b0;
            active <= 1'b0;
            running <= 1'b0;
        end else begin
            initial_asked <= starting;
            starting <= !active;
            if (!phase) rate_ready <= initial_asked && !filter_busy;
            if (phase && rate_ready) active <= 1'b1;
            if (phase) running <= active;
        end
    end

    // --- Rate. -------------------------------------------------------------------------------------
    logic sample, ticked;
    logic [TOKEN_BITS-1:0] filter_tokens;
    logic [MEASURED_BITS-1:0] measured_bytes;
    assign sample = !phase && running && (update_now || update_before) && !filter_busy;

    rate_filter #(
        .RATE_BITS(RATE_BITS), .MEASURED_BITS(MEASURED_BITS), .BACKLOG_BITS(BACKLOG_BITS),
        .GAIN_BITS(GAIN_BITS), .CLOCKS_BITS(CLOCKS_BITS), .TOKEN_BITS(TOKEN_BITS)
    ) filter (
        .clk, .clear(rst || !enable),
        .start_initial(starting && !initial_asked), .start_update(sample),
        .measured_bytes, .backlog_bytes,
        .max_rate_bps, .min_rate_bps, .initial_rate_bps, .eta, .gain, .beta, .rate_step_bps, .token_tick,
        .busy(filter_busy), .rate_bps, .ticked, .step_tokens(filter_tokens)
    );

    // Tokens of the next step, and of the present one (from this phase 0 to the next).
    logic [TOKEN_BITS-1:0] next_tokens, step_tokens;
    always_ff @(posedge clk) begin
        if (!phase) next_tokens <= ticked && !(tick_now || tick_before) ? '0 : filter_tokens;
        else step_tokens <= next_tokens;
    end

    // --- Bucket size in tokens: one bit of bucket_bytes per clock, recomputed continuously. -----------
    logic [BUCKET_BITS-1:0] bucket_factor, bucket_low;
    logic [32:0] bucket_acc, bucket_sum;
    logic [4:0] bucket_left;
    logic [TOKEN_BITS-1:0] bucket_tokens;
    assign bucket_sum = bucket_acc + (bucket_factor[0] ? {1'b0, TOKENS_PER_BYTE[31:0]} : 33'd0);
    always_ff @(posedge clk) begin
        bucket_factor <= bucket_factor >> 1;
        bucket_acc <= bucket_sum >> 1;
        bucket_low <= {bucket_sum[0], bucket_low[BUCKET_BITS-1:1]};
        bucket_left <= bucket_left - 1'b1;
        if (rst || bucket_left == 0) begin
            bucket_factor <= bucket_bytes;
            bucket_acc <= '0;
            bucket_left <= 5'(BUCKET_BITS);
            bucket_tokens <= TOKEN_BITS'({bucket_acc, bucket_low});
        end
    end

    // --- The packet's way to its decision. -----------------------------------------------------------
    logic [DECISION+1:1] packet_on;
    logic [DECISION+1:1] paced;
    logic [DECISION+1:1][BYTES_BITS-1:0] bytes;
    logic [TOKEN_BITS-1:0] packet_size, packet_limit, packet_limit_6;
    logic [TOKEN_BITS:0] packet_delta;
    logic [BACKLOG_BITS:0] packet_room;
    logic [BYTES_BITS:0] packet_less_head;
    assign packet_ready = !phase;

    packet_tokens #(
        .CLOCK_PS(CLOCK_PS), .BYTES_BITS(BYTES_BITS), .TOKEN_BITS(TOKEN_BITS)
    ) packet_size_of (
        .clk, .bytes(packet_bytes), .bucket_tokens,
        .size_tokens(packet_size), .limit_tokens(packet_limit)
    );

    always_ff @(posedge clk) begin
        packet_on <= rst ? '0 : {packet_on[DECISION:1], packet_valid && packet_ready};
        paced <= {paced[DECISION:1], packet_paced};
        bytes <= {bytes[DECISION:1], packet_bytes};
        packet_limit_6 <= packet_limit;
        packet_delta <= {1'b0, packet_size} - {1'b0, next_tokens};
        packet_room <= {1'b0, fifo_bytes} - (BACKLOG_BITS + 1)'(bytes[DECISION-1]);
    end

    // --- The head's way to its release. --------------------------------------------------------------
    logic [DECISION:1] head_on;
    logic [BYTES_BITS-1:0] head_bytes_1;
    logic [TOKEN_BITS-1:0] head_size, head_limit;
    logic [TOKEN_BITS:0] head_delta;
    logic take_head;
    packet_tokens #(
        .CLOCK_PS(CLOCK_PS), .BYTES_BITS(BYTES_BITS), .TOKEN_BITS(TOKEN_BITS)
    ) head_size_of (
        .clk, .bytes(head_bytes), .bucket_tokens,
        .size_tokens(head_size), .limit_tokens(head_limit)
    );
    always_ff @(posedge clk) begin
        head_on <= {head_on[DECISION-1:1], head_valid};
        // While the release is on its way the old head is still there.
        if (rst || take_head || release_head) head_on <= '0;
        head_bytes_1 <= head_bytes;
        packet_less_head <= {1'b0, bytes[DECISION-1]} - {1'b0, head_bytes_1};
        head_delta <= {1'b0, head_size} - {1'b0, next_tokens};
    end

    // Comparisons are written with `<`, which is one carry chain; `<=` would need one for equality as well.
    // --- Phase 0: candidate values. ------------------------------------------------------------------
    // Deficit: bucket minus tokens. One bit more is its sign: tokens that find the bucket full are lost.
    logic [TOKEN_BITS-1:0] deficit;
    logic [TOKEN_BITS:0] deficit_idle, deficit_packet, deficit_head;
    logic packet_enough, head_enough, head_ready, empty, fits, sampled;
    logic [BACKLOG_BITS:0] backlog_less, backlog_both;
    logic [BACKLOG_BITS-1:0] backlog_more;
    logic [MEASURED_BITS:0] measured_more;
    always_ff @(posedge clk) begin
        if (!phase) begin
            deficit_idle <= {1'b0, deficit} - {1'b0, step_tokens};
            deficit_packet <= {1'b0, deficit} + packet_delta;
            deficit_head <= {1'b0, deficit} + head_delta;
            packet_enough <= !(packet_limit_6 < deficit);
            head_enough <= !(head_limit < deficit);
            head_ready <= head_on[DECISION];
            tokens_negative <= bucket_tokens < deficit;
            empty <= backlog_bytes == 0;
            fits <= !packet_room[BACKLOG_BITS] && !(packet_room[BACKLOG_BITS-1:0] < backlog_bytes);
            backlog_more <= backlog_bytes + BACKLOG_BITS'(bytes[DECISION]);
            backlog_less <= {1'b0, backlog_bytes} - (BACKLOG_BITS + 1)'(head_bytes_1);
            backlog_both <= {1'b0, backlog_bytes}
                          + {{(BACKLOG_BITS - BYTES_BITS) {packet_less_head[BYTES_BITS]}}, packet_less_head};
            sampled <= sample;
            measured_more <= {1'b0, measured_bytes} + (MEASURED_BITS + 1)'(bytes[DECISION]);
        end
    end

    // --- Phase 1: the decision. ----------------------------------------------------------------------
    logic decide, pass_unpaced, pass_paid, queue, full, bypass, hold, drop;
    always_comb begin
        decide = phase && packet_on[DECISION+1];
        pass_unpaced = decide && (!paced[DECISION+1] || (!active && empty));
        pass_paid = decide && paced[DECISION+1] && active && empty && packet_enough;
        queue = decide && !pass_unpaced && !pass_paid && fits;
        full = decide && !pass_unpaced && !pass_paid && !fits;
        bypass = full && when_full == WHEN_FULL_BYPASS;
        // A packet larger than the whole FIFO is held until that is empty, and then passes.
        hold = full && when_full == WHEN_FULL_HOLD;
        drop = full && !bypass && !hold;
        // A head that the backlog does not know of leaves without tokens, so that it cannot block.
        take_head = phase && head_ready && line_free && (head_enough || empty || !active);
    end

    always_ff @(posedge clk) begin
        if (phase) begin
            deficit <= deficit_idle[TOKEN_BITS] ? '0 : deficit_idle[TOKEN_BITS-1:0];
            if (pass_paid) deficit <= deficit_packet[TOKEN_BITS] ? '0 : deficit_packet[TOKEN_BITS-1:0];
            if (take_head && !empty) begin
                deficit <= deficit_head[TOKEN_BITS] ? '0 : deficit_head[TOKEN_BITS-1:0];
            end
            case ({queue, take_head})
                2'b10: backlog_bytes <= backlog_more;
                2'b01: backlog_bytes <= backlog_less[BACKLOG_BITS] ? '0 : backlog_less[BACKLOG_BITS-1:0];
                2'b11: backlog_bytes <= backlog_both[BACKLOG_BITS] ? '0 : backlog_both[BACKLOG_BITS-1:0];
                default: ;
            endcase
            if (sampled) measured_bytes <= '0;
            if (decide && !hold) begin
                measured_bytes <= sampled ? MEASURED_BITS'(bytes[DECISION+1])
                                : measured_more[MEASURED_BITS] ? '1 : measured_more[MEASURED_BITS-1:0];
            end
        end
        if (!active) begin
            deficit <= '0;
            measured_bytes <= '0;
        end

        release_head <= take_head && !rst;
        admission_valid <= decide && !rst;
        admission <= queue ? QUEUED : drop ? DROPPED : hold ? HELD : PASS;
        if ((pass_unpaced || pass_paid) && passed_count != '1) passed_count <= passed_count + 1'b1;
        if (queue && queued_count != '1) queued_count <= queued_count + 1'b1;
        if (drop && dropped_count != '1) dropped_count <= dropped_count + 1'b1;
        if (bypass && bypassed_count != '1) bypassed_count <= bypassed_count + 1'b1;
        if (max_backlog_bytes < backlog_bytes) max_backlog_bytes <= backlog_bytes;
        if (rst) begin
            backlog_bytes <= '0;
            max_backlog_bytes <= '0;
            passed_count <= '0;
            queued_count <= '0;
            dropped_count <= '0;
            bypassed_count <= '0;
        end
    end

`ifdef PACER_INVARIANT
`include "pacer_invariant.sv"
`endif
endmodule

`default_nettype wire

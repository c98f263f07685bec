// Sets the CE codepoint in the IP header of the frames that a marking rule selects.
//
// Models: the last step of a marking rule, "mark the packet CE" (paper 3.1; thesis 2.2.1, part 1;
// RFC 3168). The rule itself (phantom queue or threshold) is outside and drives `mark`.
// Units: bytes for offsets, clocks for latencies.
// Differs from the NetFPGA: the paper's prototype is limited to untagged IPv4; this module also
// takes IPv6 and 0 to 2 VLAN tags (0x8100, 0x88a8).
//
// A frame is changed if and only if all of these hold:
//   - `mark` was high on its first beat;
//   - the EtherType behind 0 to 2 VLAN tags is IPv4 (version 4, IHL >= 5) or IPv6 (version 6);
//   - its ECN field is ECT(0) or ECT(1);
//   - it is long enough: up to the end of the IPv4 header checksum, or of the IPv6 header.
// The IPv4 checksum is updated incrementally (RFC 1624, equation 3). A wrong checksum stays wrong by
// the same amount. Every other frame passes unchanged, bit for bit. `tuser` does not matter. `tkeep` must follow the
// rule of keep_check.sv; in a port the queue before this module drops other frames.
//
// Pipeline: input register, comparison register, header window (WINDOW beats), patch register, output
// register: WINDOW + 4 clocks, which is 10, 8, 6 and 5 clocks for 64, 128, 256 and 512 bits. The
// latency does not depend on the frame, and back-to-back beats leave back to back.
//
// The window exists because of truncated headers: the beat with the ECN field has to know whether
// the header is complete. It moves forward over empty places, so an idle input never holds back
// a complete frame. If the input stops inside the header of a frame that is to be marked, the beat
// with the ECN field waits in the window until the header continues or the frame ends. In every other
// case all accepted beats leave, even of an unfinished frame.

module ecn_marker #(
    // Width of the stream: 64, 128, 256 or 512.
    parameter int DATA_BITS = 64
) (
    input logic clk,
    // Synchronous, active high. Discards all beats inside; the next beat starts a frame.
    input logic rst,

    // Marking decision. Valid and stable while the first beat of a frame is offered.
    input logic mark,

    // Frames in: AXI4-Stream, destination MAC to payload, no FCS.
    input  logic [  DATA_BITS-1:0] s_tdata,
    input  logic [DATA_BITS/8-1:0] s_tkeep,
    input  logic                   s_tvalid,
    output logic                   s_tready,
    input  logic                   s_tlast,
    input  logic                   s_tuser,

    // Frames out. All signals come from registers; m_tready ends in registers.
    output logic [  DATA_BITS-1:0] m_tdata,
    output logic [DATA_BITS/8-1:0] m_tkeep,
    output logic                   m_tvalid,
    input  logic                   m_tready,
    output logic                   m_tlast,
    output logic                   m_tuser,

    // High for one clock per frame, 3 clocks after its last beat was offered if nothing stalls.
    output logic frame_done,
    // With frame_done: complete IP header whose ECN field on arrival was ECT(0), ECT(1) or CE.
    output logic frame_ect,
    // With frame_done: complete IP header whose ECN field on arrival was CE.
    output logic frame_ce,
    // With frame_done: this module set CE.
    output logic frame_marked,
    // With frame_done: an IP header begins, and the frame ends inside it.
    output logic frame_truncated
);

    localparam int BYTES = DATA_BITS / 8;

    // Beats from the one with the ECN field (byte 15 at the earliest) to the one with the end of the
    // IPv6 header (byte 53), both included. With one or two tags the distance is never longer.
    localparam int WINDOW = 53 / BYTES - 15 / BYTES + 1;

    // Largest beat number that matters: the end of the IPv6 header behind two tags (byte 61).
    localparam logic [3:0] LAST_BEAT = 4'(61 / BYTES);

    // Level k is the EtherType behind k tags: bytes 12+4k and 13+4k. The first two bytes of the IP
    // header follow, so one beat has all four.
    localparam logic [15:0] TYPE_C_TAG = 16'h8100;
    localparam logic [15:0] TYPE_S_TAG = 16'h88a8;
    localparam logic [15:0] TYPE_IPV4 = 16'h0800;
    localparam logic [15:0] TYPE_IPV6 = 16'h86dd;

    // ------------------------------------------------------------------ input register
    logic [DATA_BITS-1:0] a_data;
    logic [    BYTES-1:0] a_keep;
    logic                 a_last;
    logic                 a_user;
    logic                 a_valid;
    logic                 a_mark;  // the frame's decision, loaded with its first beat
    logic [          3:0] a_beat;  // number of the beat in its frame, stops at LAST_BEAT + 1
    logic [          3:0] next_beat;  // number of the beat that is offered
    logic                 a_moves;

    assign s_tready = !a_valid || a_moves;

    always_ff @(posedge clk) begin
        if (s_tready) begin
            a_data <= s_tdata;
            a_keep <= s_tkeep;
            a_last <= s_tlast;
            a_user <= s_tuser;
            a_beat <= next_beat;
            if (s_tvalid && next_beat == 0) a_mark <= mark;
        end
        if (rst) begin
            a_valid   <= 1'b0;
            next_beat <= 4'd0;
        end else if (s_tready) begin
            a_valid <= s_tvalid;
            if (s_tvalid) begin
                if (s_tlast) next_beat <= 4'd0;
                else if (next_beat != LAST_BEAT + 4'd1) next_beat <= next_beat + 4'd1;
            end
        end
    end

    // ------------------------------------------------------------------ comparison register
    // What one beat tells by itself, in a register stage of its own.
    logic [DATA_BITS-1:0] b_data;
    logic [    BYTES-1:0] b_keep;
    logic                 b_last;
    logic                 b_user;
    logic                 b_valid;
    logic                 b_mark;
    logic                 b_moves;
    logic [          1:0] b_tag;  // this beat has the TPID of a tag at level k
    logic [          2:0] b_ipv4;  // this beat has an EtherType at level k, and IPv4 follows
    logic [          2:0] b_ipv6;  // the same for IPv6
    logic [     2:0][1:0] b_ecn;  // the ECN field at level k
    logic [          2:0] b_ends_ipv4;  // this beat has the end of the IPv4 checksum at level k
    logic [          2:0] b_ends_ipv6;  // this beat has the end of the IPv6 header at level k

    for (genvar k = 0; k < 3; k++) begin : g_level
        localparam int TYPE_AT = 12 + 4 * k;
        localparam int LANE = TYPE_AT % BYTES;
        localparam int SUM_END = 25 + 4 * k;
        localparam int IPV6_END = 53 + 4 * k;
        localparam logic [3:0] TYPE_BEAT = 4'(TYPE_AT / BYTES);
        localparam logic [3:0] SUM_BEAT = 4'(SUM_END / BYTES);
        localparam logic [3:0] IPV6_BEAT = 4'(IPV6_END / BYTES);
        logic [15:0] ether_type;
        logic [ 3:0] version;
        logic [ 3:0] ihl;
        logic        here;
        logic        starts;
        assign ether_type = {a_data[8*LANE+:8], a_data[8*LANE+8+:8]};
        assign version    = a_data[8*LANE+20+:4];
        assign ihl        = a_data[8*LANE+16+:4];
        assign here       = a_beat == TYPE_BEAT;
        // The frame goes on to the first two bytes of the IP header.
        assign starts     = here && a_keep[LANE+3];

        always_ff @(posedge clk) begin
            if (a_moves) begin
                b_ipv4[k] <= starts && ether_type == TYPE_IPV4 && version == 4'd4 && ihl >= 4'd5;
                b_ipv6[k] <= starts && ether_type == TYPE_IPV6 && version == 4'd6;
                // IPv4: the low bits of byte 1. IPv6: the traffic class starts in the middle of byte 0.
                // Bit 7 of the second byte of the EtherType is enough to tell one from the other.
                b_ecn[k] <= ether_type[7] ? a_data[8*LANE+28+:2] : a_data[8*LANE+24+:2];
                b_ends_ipv4[k] <= a_beat == SUM_BEAT && a_keep[SUM_END%BYTES];
                b_ends_ipv6[k] <= a_beat == IPV6_BEAT && a_keep[IPV6_END%BYTES];
            end
        end
        if (k < 2) begin : g_tag
            always_ff @(posedge clk) begin
                if (a_moves)
                    b_tag[k] <= here && (ether_type == TYPE_C_TAG || ether_type == TYPE_S_TAG);
            end
        end
    end

    always_ff @(posedge clk) begin
        if (a_moves) begin
            b_data <= a_data;
            b_keep <= a_keep;
            b_last <= a_last;
            b_user <= a_user;
            b_mark <= a_mark;
        end
        if (rst) b_valid <= 1'b0;
        else if (a_moves) b_valid <= a_valid;
    end

    // ------------------------------------------------------------------ parser
    // What is known of the frame from the beats before this one.
    logic [1:0] was_tag;
    logic [2:0] was_ip;  // one-hot: the level of the IP header
    logic       was_ipv6;
    logic [1:0] was_ecn;
    logic       was_complete;

    // The same with this beat.
    logic [1:0] now_tag;
    logic [2:0] found_ip;  // the IP header starts in this beat
    logic [2:0] now_ip;
    logic       now_ipv6;
    logic [1:0] now_ecn;
    logic       ends;
    logic       now_complete;

    always_comb begin
        now_tag[0] = was_tag[0] || b_tag[0];
        now_tag[1] = was_tag[1] || (b_tag[1] && now_tag[0]);
        found_ip = (b_ipv4 | b_ipv6) & {now_tag, 1'b1};
        now_ip = was_ip | found_ip;
        now_ipv6 = was_ipv6 || |(found_ip & b_ipv6);
        now_ecn = was_ecn;
        for (int k = 0; k < 3; k++) if (found_ip[k]) now_ecn = b_ecn[k];
        ends = |(now_ip & (now_ipv6 ? b_ends_ipv6 : b_ends_ipv4));
        now_complete = was_complete || ends;
    end

    always_ff @(posedge clk) begin
        if (rst || (b_valid && b_moves && b_last)) begin
            was_tag      <= 2'd0;
            was_ip       <= 3'd0;
            was_ipv6     <= 1'b0;
            was_ecn      <= 2'd0;
            was_complete <= 1'b0;
        end else if (b_valid && b_moves) begin
            was_tag      <= now_tag;
            was_ip       <= now_ip;
            was_ipv6     <= now_ipv6;
            was_ecn      <= now_ecn;
            was_complete <= now_complete;
        end
    end

    // The frame is to be changed if its header is complete.
    logic wanted;
    assign wanted = b_mark && (now_ecn == 2'b01 || now_ecn == 2'b10);

    always_ff @(posedge clk) begin
        frame_done   <= b_valid && b_moves && b_last && !rst;
        frame_ect    <= now_complete && now_ecn != 2'b00;
        frame_ce     <= now_complete && now_ecn == 2'b11;
        frame_marked <= now_complete && wanted;
        frame_truncated <= now_ip != 3'd0 && !now_complete;
    end

    // ------------------------------------------------------------------ header window
    // Place 0 is filled from the comparison register, place WINDOW - 1 is the exit.
    logic [WINDOW-1:0][DATA_BITS-1:0] w_data;
    logic [WINDOW-1:0][BYTES-1:0] w_keep;
    logic [   WINDOW-1:0] w_last;
    logic [   WINDOW-1:0] w_user;
    logic [   WINDOW-1:0] w_valid;
    logic [   WINDOW-1:0] w_set_ce;  // change the ECN field of this beat ...
    logic [   WINDOW-1:0] w_undecided;  // ... if the header turns out to be complete
    logic [   WINDOW-1:0] w_set_sum;  // change the IPv4 checksum of this beat
    logic [   WINDOW-1:0] w_ipv6;
    logic [WINDOW-1:0][2:0] w_level;
    logic [   WINDOW-1:0] w_ect1;  // ECN field 01, so CE adds 2; else 10, so CE adds 1
    logic [   WINDOW-1:0] w_moves;
    logic                 p_ready;

    // A beat moves if the window's exit moves or if there is an empty place in front of it. Whether there is none is
    // calculated one clock ahead, so that a stop of the output passes through one gate to the input.
    logic [WINDOW:0] full;  // full[i]: place i and all in front of it hold a beat
    logic [WINDOW:0] next_valid;  // place 0 is the comparison register, 1 to WINDOW the window
    logic            exit_moves;
    assign exit_moves = p_ready && !w_undecided[WINDOW-1];
    assign {w_moves, a_moves} = ~full | {(WINDOW + 1) {exit_moves}};
    assign b_moves = w_moves[0];
    always_comb begin
        next_valid[0] = a_moves ? a_valid : b_valid;
        next_valid[1] = b_moves ? b_valid : w_valid[0];
        for (int i = 1; i < WINDOW; i++) next_valid[i+1] = w_moves[i] ? w_valid[i-1] : w_valid[i];
    end
    always_ff @(posedge clk) begin
        for (int i = 0; i <= WINDOW; i++) full[i] <= !rst && next_valid >> i == {(WINDOW + 1) {1'b1}} >> i;
    end

    // At most one beat in the window is undecided: the one with the ECN field of the newest frame.
    // The header's last byte or the end of the frame decides it, as soon as it is in front of the
    // window: whether it moves in this clock does not matter.
    logic decides;
    assign decides = b_valid && (ends || b_last);

    for (genvar i = 0; i < WINDOW; i++) begin : g_window
        logic                 from_valid;
        logic                 from_set_ce;
        logic                 from_undecided;
        logic [DATA_BITS-1:0] from_data;
        logic [    BYTES-1:0] from_keep;
        logic                 from_last;
        logic                 from_user;
        logic                 from_set_sum;
        logic                 from_ipv6;
        logic [          2:0] from_level;
        logic                 from_ect1;

        if (i == 0) begin : g_entry
            assign from_valid     = b_valid;
            assign from_set_ce    = wanted && found_ip != 3'd0;
            assign from_undecided = wanted && found_ip != 3'd0;
            assign from_data      = b_data;
            assign from_keep      = b_keep;
            assign from_last      = b_last;
            assign from_user      = b_user;
            assign from_set_sum   = wanted && ends && !now_ipv6;
            assign from_ipv6      = now_ipv6;
            assign from_level     = now_ip;
            assign from_ect1      = now_ecn[0];
        end else begin : g_shift
            assign from_valid     = w_valid[i-1];
            assign from_set_ce    = w_set_ce[i-1];
            assign from_undecided = w_undecided[i-1];
            assign from_data      = w_data[i-1];
            assign from_keep      = w_keep[i-1];
            assign from_last      = w_last[i-1];
            assign from_user      = w_user[i-1];
            assign from_set_sum   = w_set_sum[i-1];
            assign from_ipv6      = w_ipv6[i-1];
            assign from_level     = w_level[i-1];
            assign from_ect1      = w_ect1[i-1];
        end

        // The decision reaches a beat whether it moves in this clock or not.
        logic next_set_ce;
        logic next_undecided;
        assign next_set_ce    = w_moves[i] ? from_set_ce : w_set_ce[i];
        assign next_undecided = w_moves[i] ? from_valid && from_undecided : w_undecided[i];

        always_ff @(posedge clk) begin
            w_set_ce[i] <= next_set_ce && !(next_undecided && decides && !ends);
            if (w_moves[i]) begin
                w_data[i]    <= from_data;
                w_keep[i]    <= from_keep;
                w_last[i]    <= from_last;
                w_user[i]    <= from_user;
                w_set_sum[i] <= from_set_sum;
                w_ipv6[i]    <= from_ipv6;
                w_level[i]   <= from_level;
                w_ect1[i]    <= from_ect1;
            end
            if (rst) begin
                w_valid[i]     <= 1'b0;
                w_undecided[i] <= 1'b0;
            end else begin
                if (w_moves[i]) w_valid[i] <= from_valid;
                w_undecided[i] <= next_undecided && !decides;
            end
        end
    end

    // ------------------------------------------------------------------ patch register
    // RFC 1624: HC' = ~(~HC + ~m + m'). Setting CE adds 1 or 2 to the word m, so HC' is HC minus that,
    // with an end-around borrow, which only touches the low two bits: 0xFFFF becomes 0xFFFE, 0xFFFE
    // becomes 0xFFFD. The subtraction is in this stage, the borrow in the next. The checksum is at bytes
    // 24+4k and 25+4k, always in one beat.
    logic [DATA_BITS-1:0] p_data;
    logic [    BYTES-1:0] p_keep;
    logic                 p_last;
    logic                 p_user;
    logic                 p_valid;
    logic                 p_set_ce;
    logic                 p_set_sum;
    logic                 p_ipv6;
    logic [          2:0] p_level;
    logic [         15:0] p_sum;  // before the end-around borrow
    logic                 p_borrow;
    logic [         15:0] new_sum;
    logic [         15:0] old_sum;

    logic [2:0][15:0] sum_at;
    for (genvar k = 0; k < 3; k++) begin : g_sum
        localparam int LANE = (24 + 4 * k) % BYTES;
        assign sum_at[k] = {w_data[WINDOW-1][8*LANE+:8], w_data[WINDOW-1][8*LANE+8+:8]};
    end

    always_comb begin
        old_sum = 16'd0;
        for (int k = 0; k < 3; k++) if (w_level[WINDOW-1][k]) old_sum = old_sum | sum_at[k];
    end

    always_ff @(posedge clk) begin
        if (p_ready) begin
            p_data    <= w_data[WINDOW-1];
            p_keep    <= w_keep[WINDOW-1];
            p_last    <= w_last[WINDOW-1];
            p_user    <= w_user[WINDOW-1];
            p_set_ce  <= w_set_ce[WINDOW-1];
            p_set_sum <= w_set_sum[WINDOW-1];
            p_ipv6    <= w_ipv6[WINDOW-1];
            p_level   <= w_level[WINDOW-1];
            p_sum     <= old_sum - {14'd0, w_ect1[WINDOW-1], !w_ect1[WINDOW-1]};
            p_borrow  <= old_sum[15:1] == 15'd0 && (w_ect1[WINDOW-1] || !old_sum[0]);
        end
        if (rst) p_valid <= 1'b0;
        else if (p_ready) p_valid <= w_valid[WINDOW-1] && !w_undecided[WINDOW-1];
    end

    logic [DATA_BITS-1:0] patched;
    assign new_sum = {p_sum[15:2], p_borrow ? {p_sum[0], !p_sum[0]} : p_sum[1:0]};
    always_comb begin
        patched = p_data;
        for (int k = 0; k < 3; k++) begin
            if (p_level[k] && p_set_ce) begin
                if (p_ipv6) patched[8*((15+4*k)%BYTES)+4+:2] = 2'b11;
                else patched[8*((15+4*k)%BYTES)+:2] = 2'b11;
            end
            if (p_level[k] && p_set_sum) begin
                patched[8*((24+4*k)%BYTES)+:16] = {new_sum[7:0], new_sum[15:8]};
            end
        end
    end

    // ------------------------------------------------------------------ output register and spare
    // The spare takes the beat that was on its way when the output stopped.
    logic [DATA_BITS-1:0] x_data;
    logic [    BYTES-1:0] x_keep;
    logic                 x_last;
    logic                 x_user;
    logic                 x_valid;

    assign p_ready = !x_valid;

    always_ff @(posedge clk) begin
        if (!x_valid) begin
            x_data <= patched;
            x_keep <= p_keep;
            x_last <= p_last;
            x_user <= p_user;
        end
        if (!m_tvalid || m_tready) begin
            m_tdata <= x_valid ? x_data : patched;
            m_tkeep <= x_valid ? x_keep : p_keep;
            m_tlast <= x_valid ? x_last : p_last;
            m_tuser <= x_valid ? x_user : p_user;
        end
        if (rst) begin
            m_tvalid <= 1'b0;
            x_valid  <= 1'b0;
        end else if (!m_tvalid || m_tready) begin
            m_tvalid <= x_valid || p_valid;
            x_valid  <= 1'b0;
        end else begin
            x_valid <= x_valid || p_valid;
        end
    end

`ifdef ECN_MARKER_ORDER
`include "ecn_marker_order.sv"
`endif
endmodule

// What the ECN marker must do, for every input and every stall, to a bounded depth (see the .sby file).
//
//   1. Order: beat number n that leaves is beat number n that came, for any n: nothing is lost, repeated or
//      reordered. tkeep, tlast and tuser are equal, and so is each byte outside the ECN field and the checksum.
//   2. The first frame: CE is set if and only if `mark` was high on its first beat, its header is complete and
//      its ECN field is ECT(0) or ECT(1); otherwise its first 64 bytes leave as they came. The rule is written a
//      second time here, on bytes.
//   3. The one's complement sum of the IPv4 ECN word and the checksum stays the same.
//   4. An offered beat stays as it is until it is taken.

module ecn_marker_proof #(
    parameter int DATA_BITS = 64
) (
    input logic                   clk,
    input logic                   mark,
    input logic [  DATA_BITS-1:0] s_tdata,
    input logic [DATA_BITS/8-1:0] s_tkeep,
    input logic                   s_tvalid,
    input logic                   s_tlast,
    input logic                   s_tuser,
    input logic                   m_tready
);
    localparam int BYTES = DATA_BITS / 8;
    localparam int BEATS = 64 / BYTES;

    logic [5:0] age = 6'd0;
    logic       rst;
    always_ff @(posedge clk) if (!(&age)) age <= age + 6'd1;
    assign rst = age == 6'd0;

    logic s_tready, m_tvalid, m_tlast, m_tuser, frame_done, frame_ect, frame_ce, frame_marked;
    logic [DATA_BITS-1:0] m_tdata;
    logic [BYTES-1:0] m_tkeep;
    ecn_marker #(.DATA_BITS(DATA_BITS)) dut (
        .clk, .rst, .mark, .s_tdata, .s_tkeep, .s_tvalid, .s_tready, .s_tlast, .s_tuser,
        .m_tdata, .m_tkeep, .m_tvalid, .m_tready, .m_tlast, .m_tuser,
        .frame_done, .frame_ect, .frame_ce, .frame_marked
    );

    // The sender: a beat stays until it is taken; tkeep is contiguous, all ones but in the last beat.
    logic s_held = 1'b0;
    logic [DATA_BITS+BYTES+2:0] s_offered;
    always_ff @(posedge clk) begin
        s_held    <= s_tvalid && !s_tready && !rst;
        s_offered <= {mark, s_tlast, s_tuser, s_tkeep, s_tdata};
        if (s_held) begin
            assume (s_tvalid);
            assume (s_offered == {mark, s_tlast, s_tuser, s_tkeep, s_tdata});
        end
        assume (s_tkeep[0] && (s_tkeep & (s_tkeep + 1'b1)) == '0);
        if (!s_tlast) assume (&s_tkeep);
    end

    // 4.
    logic m_held = 1'b0;
    logic [DATA_BITS+BYTES+1:0] m_offered;
    always_ff @(posedge clk) begin
        m_held    <= m_tvalid && !m_tready && !rst;
        m_offered <= {m_tlast, m_tuser, m_tkeep, m_tdata};
        if (m_held) assert (m_tvalid && m_offered == {m_tlast, m_tuser, m_tkeep, m_tdata});
    end

    // 1. One beat, whichever.
    (* anyconst *) logic [5:0] watched;
    logic [5:0] came = 6'd0, left = 6'd0;
    logic [BYTES+1:0] side;
    always_ff @(posedge clk) begin
        if (!rst && s_tvalid && s_tready) begin
            came <= came + 6'd1;
            if (came == watched) side <= {s_tlast, s_tuser, s_tkeep};
        end
        if (!rst && m_tvalid && m_tready) begin
            left <= left + 6'd1;
            assert (left < came);
            if (left == watched) assert ({m_tlast, m_tuser, m_tkeep} == side);
        end
    end

    // 2. and 3. The first 64 bytes of the first frame, as they came and as they left.
    logic [511:0] before_bytes = '0, after_bytes = '0;
    logic [6:0] size = 7'd0;
    logic [3:0] in_beat = 4'd0, out_beat = 4'd0;
    logic in_ended = 1'b0, out_ended = 1'b0, wanted = 1'b0;
    logic [6:0] kept;
    always_comb begin
        kept = 7'd0;
        for (int i = 0; i < BYTES; i++) kept = kept + 7'(s_tkeep[i]);
    end
    always_ff @(posedge clk) begin
        if (!rst && s_tvalid && s_tready && !in_ended && in_beat != 4'(BEATS)) begin
            if (in_beat == 4'd0) wanted <= mark;
            before_bytes[in_beat*DATA_BITS+:DATA_BITS] <= s_tdata;
            size <= size + kept;
            in_beat <= in_beat + 4'd1;
            in_ended <= s_tlast;
        end
        if (!rst && m_tvalid && m_tready && !out_ended && out_beat != 4'(BEATS)) begin
            after_bytes[out_beat*DATA_BITS+:DATA_BITS] <= m_tdata;
            out_beat <= out_beat + 4'd1;
            out_ended <= m_tlast;
        end
    end

    logic [6:0] start;  // of the IP header
    logic ipv4, ipv6, complete, due;
    logic [15:0] ether_type, tag0, tag1;
    logic [7:0] byte0, byte1, new1;
    logic [1:0] ecn;
    logic [511:0] patch;  // the bits that may change
    logic [15:0] old_sum, new_sum;
    logic [16:0] total_before, total_after;
    function automatic logic [15:0] tagged(input logic [15:0] value);
        tagged = 16'(value == 16'h8100 || value == 16'h88a8);
    endfunction
    always_comb begin
        tag0 = tagged({before_bytes[8*12+:8], before_bytes[8*13+:8]});
        tag1 = tagged({before_bytes[8*16+:8], before_bytes[8*17+:8]});
        start = tag0[0] ? (tag1[0] ? 7'd22 : 7'd18) : 7'd14;
        ether_type = {before_bytes[8*(start-7'd2)+:8], before_bytes[8*(start-7'd1)+:8]};
        byte0 = before_bytes[8*start+:8];
        byte1 = before_bytes[8*(start+7'd1)+:8];
        new1 = after_bytes[8*(start+7'd1)+:8];
        ipv4 = ether_type == 16'h0800 && byte0[7:4] == 4'd4 && byte0[3:0] >= 4'd5;
        ipv6 = ether_type == 16'h86dd && byte0[7:4] == 4'd6;
        ecn = ipv6 ? byte1[5:4] : byte1[1:0];
        complete = (ipv4 && size >= start + 7'd12) || (ipv6 && size >= start + 7'd40);
        due = wanted && complete && (ecn == 2'd1 || ecn == 2'd2);
        old_sum = {before_bytes[8*(start+7'd10)+:8], before_bytes[8*(start+7'd11)+:8]};
        new_sum = {after_bytes[8*(start+7'd10)+:8], after_bytes[8*(start+7'd11)+:8]};
        patch = '0;
        if (due) patch[8*(start+7'd1)+:8] = ipv6 ? 8'h30 : 8'h03;
        if (due && ipv4) patch[8*(start+7'd10)+:16] = 16'hffff;
        // Both sums of two words, end around.
        total_before = {1'b0, byte0, byte1} + {1'b0, old_sum};
        total_before = {1'b0, total_before[15:0]} + {16'd0, total_before[16]};
        total_after = {1'b0, byte0, new1} + {1'b0, new_sum};
        total_after = {1'b0, total_after[15:0]} + {16'd0, total_after[16]};
    end

    logic seen = 1'b0;
    always_ff @(posedge clk) begin
        seen <= out_ended || out_beat == 4'(BEATS);
        if (!seen && (out_ended || out_beat == 4'(BEATS))) begin
            assert (((before_bytes ^ after_bytes) & ~patch) == '0);
            if (due) assert ((ipv6 ? new1[5:4] : new1[1:0]) == 2'b11);
            if (due && ipv4) assert (total_before[15:0] == total_after[15:0]);
            cover (due && ipv4 && start == 7'd22);
            cover (due && ipv6);
            cover (!due && wanted && ipv6 && ecn == 2'd1);
        end
    end
endmodule

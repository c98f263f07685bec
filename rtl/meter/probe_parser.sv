// Finds probes in a stream that it only listens to, and reads their sequence number and time.
//
// Models: the place of the Latency Measurement Module that recognises a ping (paper 5.2).
// Units: offsets in 16-bit words from the start of the frame; time in the units of `now`.
// Differs from the NetFPGA: the pattern is settable (the paper's pings are one setting of it), and the
// frame is not changed.
//
// A frame is a probe if `enable` was high at its first beat, each of the four pattern words equals the
// frame's where its mask is 1, the sequence number lies inside the frame, tuser is low at tlast, and
// tkeep follows the rule of keep_check.sv. A frame whose tkeep breaks it is not `truncated` either.
// A pattern word with a mask of 0 is not used. The time is when the first beat is transferred.
// The result comes 4 clocks after the transfer of the last beat. Settings other than `enable` must be
// stable while a frame passes.

module probe_parser #(
    // Width of the stream: 64, 128, 256 or 512.
    parameter int DATA_BITS = 64
) (
    input logic clk,
    // Synchronous, active high. The next beat starts a frame.
    input logic rst,

    // Sampled at the first beat of each frame.
    input logic        enable,
    // Pattern word i: bits 7i+6..7i of its offset, bits 16i+15..16i of value and mask.
    input logic [27:0] match_offset,
    input logic [63:0] match_value,
    input logic [63:0] match_mask,
    // Place of the sequence number.
    input logic [ 6:0] sequence_offset,
    // The clock that stamps.
    input logic [63:0] now,

    // The stream, all inputs; a beat counts when tvalid and tready are high.
    input logic [  DATA_BITS-1:0] tdata,
    input logic [DATA_BITS/8-1:0] tkeep,
    input logic                   tvalid,
    input logic                   tready,
    input logic                   tlast,
    input logic                   tuser,

    // High for one clock: a probe has passed.
    output logic        probe,
    // With probe: time of its first beat.
    output logic [63:0] probe_time,
    // With probe: its sequence number.
    output logic [15:0] probe_sequence,
    // High for one clock: a frame matched as far as it went, and ended before the pattern or the
    // sequence number did.
    output logic        truncated
);

    localparam int WORDS = DATA_BITS / 16;
    localparam int LANE_BITS = $clog2(WORDS);
    localparam int BEAT_BITS = 7 - LANE_BITS;
    // Four pattern words and the sequence number.
    localparam int FIELDS = 5;

    // ------------------------------------------------------------------ input register
    logic [DATA_BITS-1:0] a_data;
    logic [    WORDS-1:0] a_has;  // the whole 16-bit word is inside the frame
    logic                 a_last;
    logic                 a_user;
    logic                 a_valid;
    logic                 a_enable;
    logic [         63:0] a_time;
    logic [  BEAT_BITS:0] a_beat;  // stops behind the last beat that an offset can name
    logic [  BEAT_BITS:0] next_beat;
    logic                 in_frame;  // the next beat is not the first of its frame

    always_ff @(posedge clk) begin
        a_data <= tdata;
        for (int w = 0; w < WORDS; w++) a_has[w] <= tkeep[2*w+1];
        a_last <= tlast;
        a_user <= tuser;
        a_beat <= next_beat;
        if (tvalid && tready && !in_frame) begin
            a_enable <= enable;
            a_time   <= now;
        end
        if (rst) begin
            a_valid   <= 1'b0;
            next_beat <= '0;
            in_frame    <= 1'b0;
        end else begin
            a_valid <= tvalid && tready;
            if (tvalid && tready) begin
                in_frame <= !tlast;
                if (tlast) next_beat <= '0;
                else if (!next_beat[BEAT_BITS]) next_beat <= next_beat + 1'b1;
            end
        end
    end

    // ------------------------------------------------------------------ selected words
    logic [FIELDS-1:0]       b_here;  // the field lies in this beat and inside the frame
    logic [FIELDS-1:0][15:0] b_word;
    logic                    b_last;
    logic                    b_user;
    logic                    b_broken;  // with b_last: tkeep broke its rule
    logic                    b_valid;
    logic                    b_enable;
    logic [            63:0] b_time;

    for (genvar i = 0; i < FIELDS; i++) begin : g_field
        logic [          6:0] offset;
        logic [LANE_BITS-1:0] lane;
        logic [         15:0] swapped;
        if (i == FIELDS - 1) begin : g_sequence
            assign offset = sequence_offset;
        end else begin : g_match
            assign offset = match_offset[7*i+:7];
        end
        assign lane = offset[LANE_BITS-1:0];
        assign swapped = a_data[{lane, 4'd0}+:16];
        always_ff @(posedge clk) begin
            b_here[i] <= a_beat == {1'b0, offset[6:LANE_BITS]} && a_has[lane];
            b_word[i] <= {swapped[7:0], swapped[15:8]};
        end
    end

    logic keep_broken;
    keep_check #(.DATA_BITS(DATA_BITS)) rule (
        .clk, .rst, .keep(tkeep), .accepted(tvalid && tready), .last(tlast), .broken(keep_broken)
    );

    always_ff @(posedge clk) begin
        b_last   <= a_last;
        b_user   <= a_user;
        b_broken <= keep_broken;
        b_valid  <= a_valid && !rst;
        b_enable <= a_enable;
        b_time   <= a_time;
    end

    // ------------------------------------------------------------------ comparison
    logic [FIELDS-1:0] c_here;
    logic [       3:0] c_wrong;
    logic [      15:0] c_sequence;
    logic              c_last;
    logic              c_user;
    logic              c_broken;
    logic              c_valid;
    logic              c_enable;
    logic [      63:0] c_time;
    logic [       3:0] used;  // the pattern words whose mask is not 0

    always_ff @(posedge clk) begin
        for (int i = 0; i < 4; i++) begin
            used[i] <= match_mask[16*i+:16] != 16'd0;
            c_wrong[i] <= b_here[i]
                && ((b_word[i] ^ match_value[16*i+:16]) & match_mask[16*i+:16]) != 16'd0;
        end
        c_here     <= b_here;
        c_sequence <= b_word[4];
        c_last     <= b_last;
        c_user     <= b_user;
        c_broken   <= b_broken;
        c_valid    <= b_valid && !rst;
        c_enable   <= b_enable;
        c_time     <= b_time;
    end

    // ------------------------------------------------------------------ decision
    logic [FIELDS-1:0] was_found;
    logic              was_wrong;
    logic [      15:0] was_sequence;
    logic [FIELDS-1:0] now_found;
    logic              now_wrong;
    logic              whole;

    assign now_found = was_found | c_here;
    assign now_wrong = was_wrong || c_wrong != 4'd0;
    assign whole     = now_found[4] && (now_found[3:0] | ~used) == 4'hf;

    always_ff @(posedge clk) begin
        if (rst || (c_valid && c_last)) begin
            was_found <= '0;
            was_wrong <= 1'b0;
        end else if (c_valid) begin
            was_found <= now_found;
            was_wrong <= now_wrong;
        end
        if (c_valid && c_here[4]) was_sequence <= c_sequence;
        probe_time <= c_time;
        probe_sequence <= c_here[4] ? c_sequence : was_sequence;
        probe <= c_valid && c_last && c_enable && !c_user && !c_broken && !now_wrong && whole && !rst;
        truncated <= c_valid && c_last && c_enable && !c_broken && !now_wrong && !whole
            && (now_found[3:0] & used) != 4'd0 && !rst;
    end

endmodule

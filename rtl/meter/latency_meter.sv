// Measures the latency of a switch: stamps probes that enter, takes them back when they leave.
//
// Models: the Latency Measurement Module (paper 5.2, "Measuring Switch Latency"; NF6 in figure 7).
// Units: as `ptp_now`, or clocks.
// Differs from the NetFPGA: that one writes the time into the ping and reads it behind the switch. This one
// keeps it in a table by the probe's sequence number. So no frame is changed, no checksum has to be
// repaired, a probe needs no room for a time, and the module only listens: it adds no latency to the path
// that it measures and cannot stall it. The price: a probe must carry a 16-bit sequence number (ICMP echo
// does), at most 2^TABLE_BITS probes may be under way, and the pattern has to select one flow.
//
// The latency is the time from the transfer of the probe's first beat at the entry to that at the exit.
// `now` is subtracted modulo 2^64, so a wrap of the clock is right; a clock that is set back while a probe
// is under way gives a latency in the last bucket.

module latency_meter #(
    // Width of both streams: 64, 128, 256 or 512.
    parameter int DATA_BITS = 64,
    // 2^TABLE_BITS probes can be under way; at most 15.
    parameter int TABLE_BITS = 5,
    // The histogram has 2^BUCKET_BITS buckets.
    parameter int BUCKET_BITS = 10
) (
    input logic clk,
    // Synchronous, active high. Clears everything, as `clear` does.
    input logic rst,

    // Settings. All but `enable` and `clear` must be stable while `enable` is high.
    // Probes are looked for in frames that start while this is high.
    input logic        enable,
    // Starts to clear the table, the histogram and all counters.
    input logic        clear,
    // Clearing: probes do not count. Lasts the clocks of the larger memory, 1024 by default.
    output logic       busy,
    // Time is ptp_now; else the module's own count of clocks.
    input logic        use_ptp,
    input logic [63:0] ptp_now,
    // Pattern of probes, see probe_parser: offsets in 16-bit words.
    input logic [27:0] match_offset,
    input logic [63:0] match_value,
    input logic [63:0] match_mask,
    input logic [ 6:0] sequence_offset,
    // Width of a bucket: 2^shift.
    input logic [ 4:0] shift,

    // The stream into the switch, listened to.
    input logic [  DATA_BITS-1:0] entry_tdata,
    input logic [DATA_BITS/8-1:0] entry_tkeep,
    input logic                   entry_tvalid,
    input logic                   entry_tready,
    input logic                   entry_tlast,
    input logic                   entry_tuser,

    // The stream out of the switch, listened to.
    input logic [  DATA_BITS-1:0] exit_tdata,
    input logic [DATA_BITS/8-1:0] exit_tkeep,
    input logic                   exit_tvalid,
    input logic                   exit_tready,
    input logic                   exit_tlast,
    input logic                   exit_tuser,

    // Read port of the histogram: data of the address two clocks before.
    input  logic [BUCKET_BITS-1:0] address,
    output logic [           31:0] data,

    // Probes that entered and were stamped.
    output logic [31:0] stamped,
    // Probes that left and had a stamp.
    output logic [31:0] matched,
    // Probes that left without one: never stamped, a second time, or the table was too small.
    output logic [31:0] unmatched,
    // Stamped and not yet matched. After the last probe has left this is the number that was lost.
    output logic [31:0] outstanding,
    // Frames at either side that ended inside the pattern.
    output logic [31:0] truncated,
    // Smallest, largest and sum of latencies. The smallest is all ones before the first one.
    output logic [63:0] minimum,
    output logic [63:0] maximum,
    output logic [63:0] sum
);

    localparam int TAG_BITS = 16 - TABLE_BITS;
    localparam int SWEEP_BITS = (TABLE_BITS > BUCKET_BITS) ? TABLE_BITS : BUCKET_BITS;

    // ------------------------------------------------------------------ time and clearing
    logic [          63:0] own_clock;
    logic [          63:0] now;
    logic [  SWEEP_BITS:0] sweep;
    logic [SWEEP_BITS-1:0] place;

    assign place = sweep[SWEEP_BITS-1:0];
    assign busy  = !sweep[SWEEP_BITS];

    always_ff @(posedge clk) begin
        own_clock <= rst ? 64'd0 : own_clock + 64'd1;
        now <= use_ptp ? ptp_now : own_clock;
        if (rst || clear) sweep <= '0;
        else if (busy) sweep <= sweep + 1'b1;
    end

    // ------------------------------------------------------------------ probes
    logic        enter_probe;
    logic [63:0] enter_time;
    logic [15:0] enter_sequence;
    logic        enter_truncated;
    logic        leave_probe;
    logic [63:0] leave_time;
    logic [15:0] leave_sequence;
    logic        leave_truncated;

    probe_parser #(
        .DATA_BITS(DATA_BITS)
    ) entry (
        .clk, .rst, .enable, .match_offset, .match_value, .match_mask, .sequence_offset, .now,
        .tdata(entry_tdata), .tkeep(entry_tkeep), .tvalid(entry_tvalid), .tready(entry_tready),
        .tlast(entry_tlast), .tuser(entry_tuser),
        .probe(enter_probe), .probe_time(enter_time), .probe_sequence(enter_sequence),
        .truncated(enter_truncated)
    );

    probe_parser #(
        .DATA_BITS(DATA_BITS)
    ) exit (
        .clk, .rst, .enable, .match_offset, .match_value, .match_mask, .sequence_offset, .now,
        .tdata(exit_tdata), .tkeep(exit_tkeep), .tvalid(exit_tvalid), .tready(exit_tready),
        .tlast(exit_tlast), .tuser(exit_tuser),
        .probe(leave_probe), .probe_time(leave_time), .probe_sequence(leave_sequence),
        .truncated(leave_truncated)
    );

    // ------------------------------------------------------------------ table
    // The entry writes `stamps`, the exit writes `taken`: the serial number of the stamp that it used. A
    // stamp is fresh while the two differ, so each memory has one writer. Serial numbers start at 1 and
    // come again after 2^32 stamps. Both are small: logic cells, not block RAM.
    (* ram_style = "distributed" *)
    logic [TAG_BITS+95:0] stamps[1 << TABLE_BITS];  // tag, serial number, time
    (* ram_style = "distributed" *)
    logic [31:0] taken[1 << TABLE_BITS];
    logic [31:0] serial;

    always_ff @(posedge clk) begin
        if (busy) stamps[place[TABLE_BITS-1:0]] <= '0;
        else if (enter_probe)
            stamps[enter_sequence[TABLE_BITS-1:0]] <= {
                enter_sequence[15:TABLE_BITS], serial, enter_time
            };
        if (busy) serial <= 32'd1;
        else if (enter_probe) serial <= (&serial) ? 32'd1 : serial + 32'd1;
    end

    // One clock later than the entry, so that a probe is found even behind a switch without latency.
    logic        o_probe;
    logic [63:0] o_time;
    logic [15:0] o_sequence;
    // With the answer of the memories.
    logic                r_probe;
    logic [        63:0] r_time;
    logic [        15:0] r_sequence;
    logic [TAG_BITS-1:0] r_tag;
    logic [        31:0] r_serial;
    logic [        63:0] r_stamp;
    logic [        31:0] r_taken;
    // Compared.
    logic                  s_probe;
    logic                  s_fits;  // a stamp of this probe that was not taken when it was read
    logic [          63:0] s_latency;
    logic [          31:0] s_serial;
    logic [TABLE_BITS-1:0] s_place;
    logic                  s_as_t;  // the same stamp as in the clock before, ...
    logic                  s_as_u;  // ... or of two clocks before, which `taken` did not yet show
    logic                  fresh;
    logic                  t_fresh;
    logic [          31:0] t_serial;
    logic                  u_fresh;

    assign fresh = s_fits && !(s_as_t && t_fresh) && !(s_as_u && u_fresh);

    always_ff @(posedge clk) begin
        o_probe    <= leave_probe && !busy;
        o_time     <= leave_time;
        o_sequence <= leave_sequence;

        r_probe    <= o_probe && !busy;
        r_time     <= o_time;
        r_sequence <= o_sequence;
        {r_tag, r_serial, r_stamp} <= stamps[o_sequence[TABLE_BITS-1:0]];
        r_taken    <= taken[o_sequence[TABLE_BITS-1:0]];

        s_probe   <= r_probe && !busy;
        s_fits    <= r_probe && !busy && r_serial != 32'd0 && r_tag == r_sequence[15:TABLE_BITS]
            && r_serial != r_taken;
        s_latency <= r_time - r_stamp;
        s_serial  <= r_serial;
        s_place   <= r_sequence[TABLE_BITS-1:0];
        s_as_t    <= r_serial == s_serial;
        s_as_u    <= r_serial == t_serial;

        t_fresh  <= fresh && !busy;
        t_serial <= s_serial;
        u_fresh  <= t_fresh && !busy;
    end

    always_ff @(posedge clk) begin
        if (busy) taken[place[TABLE_BITS-1:0]] <= 32'd0;
        else if (fresh) taken[s_place] <= s_serial;
    end

    // ------------------------------------------------------------------ latency and counters
    logic        d_matched;
    logic        d_unmatched;
    logic [63:0] d_latency;

    always_ff @(posedge clk) begin
        d_matched   <= fresh && !busy;
        d_unmatched <= s_probe && !fresh && !busy;
        d_latency   <= s_latency;
        if (busy) begin
            stamped     <= 32'd0;
            matched     <= 32'd0;
            unmatched   <= 32'd0;
            outstanding <= 32'd0;
            truncated   <= 32'd0;
        end else begin
            if (enter_probe && !(&stamped)) stamped <= stamped + 32'd1;
            if (d_matched && !(&matched)) matched <= matched + 32'd1;
            if (d_unmatched && !(&unmatched)) unmatched <= unmatched + 32'd1;
            if (enter_probe && !d_matched && !(&outstanding)) outstanding <= outstanding + 32'd1;
            if (!enter_probe && d_matched && outstanding != 32'd0) outstanding <= outstanding - 32'd1;
            if ((enter_truncated || leave_truncated) && !(&truncated)) begin
                if (enter_truncated && leave_truncated && truncated != 32'hffff_fffe)
                    truncated <= truncated + 32'd2;
                else truncated <= truncated + 32'd1;
            end
        end
    end

    latency_histogram #(
        .BUCKET_BITS(BUCKET_BITS)
    ) histogram (
        .clk,
        .rst(busy),
        .sweep(place[BUCKET_BITS-1:0]),
        .sample_valid(d_matched),
        .sample(d_latency),
        .shift, .address, .data, .minimum, .maximum, .sum
    );

endmodule

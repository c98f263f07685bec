// Histogram of latencies in memory, with minimum, maximum and sum.
//
// Models: the statistics of the Latency Measurement Module (paper 5.2, figures 8 and 9).
// Units: as `sample`; bucket i holds i << shift up to ((i + 1) << shift) - 1, the last bucket holds
// everything above. Counts saturate at 2^32 - 1, the sum at 2^64 - 1.
// Differs from the NetFPGA: the paper's module reports each latency to software; this one keeps them.
//
// A sample counts in minimum, maximum and sum 1 clock after it came, at the read port 5 clocks after. Samples
// may come in every clock. A register follows each read of the memory, since block RAM answers late in
// its clock, and another one is before each write, since block RAM can be far away; counts that are on their
// way to the memory are taken from the registers.

module latency_histogram #(
    // There are 2^BUCKET_BITS buckets.
    parameter int BUCKET_BITS = 10
) (
    input logic clk,
    // Synchronous, active high; hold it for 2^BUCKET_BITS clocks, in which `sweep` names each bucket, to
    // clear the memory.
    input logic rst,
    input logic [BUCKET_BITS-1:0] sweep,

    // A latency, when valid is high.
    input logic        sample_valid,
    input logic [63:0] sample,
    // Width of a bucket: 2^shift units.
    input logic [ 4:0] shift,

    // Read port: `data` is the count of bucket `address` two clocks before.
    input  logic [BUCKET_BITS-1:0] address,
    output logic [           31:0] data,

    // Smallest and largest latency (all ones and 0 before the first one), and the sum of all.
    output logic [63:0] minimum,
    output logic [63:0] maximum,
    output logic [63:0] sum
);

    // Reads of a bucket that is being written are not used.
    (* no_rw_check *)
    logic [31:0] memory[1 << BUCKET_BITS];

    // ------------------------------------------------------------------ minimum, maximum, sum
    logic [63:0] total;
    logic        overflow;
    assign sum = overflow ? '1 : total;

    always_ff @(posedge clk) begin
        if (rst) begin
            minimum <= '1;
            maximum <= '0;
            {overflow, total} <= '0;
        end else if (sample_valid) begin
            if (sample < minimum) minimum <= sample;
            if (sample > maximum) maximum <= sample;
            if (!overflow) {overflow, total} <= {1'b0, total} + {1'b0, sample};
        end
    end

    // ------------------------------------------------------------------ bucket
    logic                   a_valid;
    logic [           63:0] a_shifted;
    logic                   b_valid;
    logic [BUCKET_BITS-1:0] b_bucket;

    always_ff @(posedge clk) begin
        a_valid   <= sample_valid && !rst;
        a_shifted <= sample >> shift;
        b_valid   <= a_valid && !rst;
        b_bucket  <= (a_shifted[63:BUCKET_BITS] != '0) ? '1 : a_shifted[BUCKET_BITS-1:0];
    end

    // ------------------------------------------------------------------ read, wait, add, write
    logic                   c_valid;
    logic [BUCKET_BITS-1:0] c_bucket;
    logic [           31:0] c_read;
    logic                   d_valid;
    logic [BUCKET_BITS-1:0] d_bucket;
    logic [           31:0] d_read;
    logic [           31:0] d_count;
    logic [           31:0] d_next;
    logic                   d_from_e;
    logic                   d_from_older;
    logic [           31:0] d_older;
    logic                   full;
    logic                   e_valid;
    logic [BUCKET_BITS-1:0] e_bucket;
    logic [           31:0] e_count;  // is being written
    logic                   f_valid;
    logic [BUCKET_BITS-1:0] f_bucket;
    logic [           31:0] f_count;  // was written one clock before
    logic                   c_as_e;
    logic                   c_as_f;

    always_comb begin
        // The read did not show the last three counts: two were on their way, and one was being written.
        c_as_e = e_valid && e_bucket == c_bucket;
        c_as_f = f_valid && f_bucket == c_bucket;
        if (d_from_e) d_count = e_count;
        else if (d_from_older) d_count = d_older;
        else d_count = d_read;
        {full, d_next} = {1'b0, d_count} + 33'd1;
        if (full) d_next = '1;
    end

    always_ff @(posedge clk) begin
        c_valid  <= b_valid && !rst;
        c_bucket <= b_bucket;
        c_read   <= memory[b_bucket];
        d_valid  <= c_valid && !rst;
        d_bucket <= c_bucket;
        d_read   <= c_read;
        d_from_e <= d_valid && d_bucket == c_bucket;
        d_from_older <= c_as_e || c_as_f;
        d_older  <= c_as_e ? e_count : f_count;
        e_valid  <= d_valid && !rst;
        e_bucket <= d_bucket;
        e_count  <= d_next;
        f_valid  <= e_valid && !rst;
        f_bucket <= e_bucket;
        f_count  <= e_count;
    end

    always_ff @(posedge clk) begin
        if (rst) memory[sweep] <= 32'd0;
        else if (e_valid) memory[e_bucket] <= e_count;
    end

    // ------------------------------------------------------------------ read port
    logic [31:0] x_read;
    logic        x_added;    // a count of the bucket was being added while it was read
    logic        x_written;  // a count of the bucket was being written while it was read
    logic        x_clear;
    logic [31:0] y_read;
    logic        y_written;
    logic        y_clear;
    logic [31:0] y_count;

    always_ff @(posedge clk) begin
        x_read    <= memory[address];
        x_added   <= d_valid && !rst && d_bucket == address;
        x_written <= e_valid && !rst && e_bucket == address;
        x_clear   <= rst;
        y_read    <= x_read;
        y_written <= x_added || x_written;
        y_clear   <= x_clear;
        y_count   <= x_added ? e_count : f_count;
    end
    // 0 while the memory is being cleared.
    assign data = y_clear ? 32'd0 : y_written ? y_count : y_read;

endmodule

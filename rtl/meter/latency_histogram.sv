// Histogram of latencies in memory, with minimum, maximum and sum.
//
// Models: the statistics of the Latency Measurement Module (paper 5.2, figures 8 and 9).
// Units: those of `sample`; bucket i holds i << shift up to ((i + 1) << shift) - 1, the last bucket holds
// everything above. Counts saturate at 2^32 - 1, the sum at 2^64 - 1.
// Differs from the NetFPGA: the paper's module reports each latency to software; this one keeps them.
//
// A sample counts in minimum, maximum and sum 1 clock after it came, in the memory 3 clocks after. Samples
// may come in every clock.

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

    // Read port: `data` is the count of bucket `address` one clock before.
    input  logic [BUCKET_BITS-1:0] address,
    output logic [           31:0] data,

    // Smallest and largest latency (all ones and 0 before the first one), and the sum of all.
    output logic [63:0] minimum,
    output logic [63:0] maximum,
    output logic [63:0] sum
);

    logic [31:0] memory[1 << BUCKET_BITS];

    // ------------------------------------------------------------------ minimum, maximum, sum
    logic [64:0] next_sum;
    assign next_sum = {1'b0, sum} + {1'b0, sample};

    always_ff @(posedge clk) begin
        if (rst) begin
            minimum <= '1;
            maximum <= '0;
            sum     <= '0;
        end else if (sample_valid) begin
            if (sample < minimum) minimum <= sample;
            if (sample > maximum) maximum <= sample;
            sum <= next_sum[64] ? '1 : next_sum[63:0];
        end
    end

    // ------------------------------------------------------------------ bucket
    logic [            63:0] shifted;
    logic                    b_valid;
    logic [BUCKET_BITS-1:0]  b_bucket;
    assign shifted = sample >> shift;

    always_ff @(posedge clk) begin
        b_valid  <= sample_valid && !rst;
        b_bucket <= (shifted[63:BUCKET_BITS] != '0) ? '1 : shifted[BUCKET_BITS-1:0];
    end

    // ------------------------------------------------------------------ read, add, write
    logic                   c_valid;
    logic [BUCKET_BITS-1:0] c_bucket;
    logic [           31:0] c_read;
    logic [           31:0] c_count;
    logic [           31:0] c_next;
    logic                   d_valid;  // what was written one clock before
    logic [BUCKET_BITS-1:0] d_bucket;
    logic [           31:0] d_count;

    always_comb begin
        // The memory gave the count before the write of the last clock.
        c_count = (d_valid && d_bucket == c_bucket) ? d_count : c_read;
        c_next  = (&c_count) ? c_count : c_count + 32'd1;
    end

    always_ff @(posedge clk) begin
        c_valid  <= b_valid && !rst;
        c_bucket <= b_bucket;
        c_read   <= memory[b_bucket];
        d_valid  <= c_valid && !rst;
        d_bucket <= c_bucket;
        d_count  <= c_next;
    end

    always_ff @(posedge clk) begin
        if (rst) memory[sweep] <= 32'd0;
        else if (c_valid) memory[c_bucket] <= c_next;
    end

    always_ff @(posedge clk) data <= memory[address];

endmodule

// Tokens of a packet, and the deficit of the bucket up to which the packet may leave.
//
// Models `size_tokens` and `needed_tokens` of hull-core's pacer (paper 5.1, the 3 KB bucket). The
// bucket is kept as its deficit: bucket minus tokens. A packet may leave while the deficit is at
// most the bucket minus the packet; a packet larger than the bucket needs a full one, a deficit of 0.
// Unit: a token is CLOCK_PS * 1e-12 bit, so that a rate in bit/s is its tokens per clock.
// The NetFPGA counts tokens in bytes.
//
// A result belongs to the `bytes` of LATENCY = 5 clocks before. One packet per clock.

`default_nettype none

module packet_tokens #(
    parameter int CLOCK_PS = 8000,  // clock period, ps; divides 8e12
    parameter int BYTES_BITS = 14,  // width of a packet's size
    parameter int TOKEN_BITS = 51   // width of a deficit
) (
    input  wire                   clk,            // clock
    input  wire  [BYTES_BITS-1:0] bytes,          // size of the packet
    input  wire  [TOKEN_BITS-1:0] bucket_tokens,  // tokens of a full bucket
    output logic [TOKEN_BITS-1:0] size_tokens,    // tokens of the packet
    output logic [TOKEN_BITS-1:0] limit_tokens    // largest deficit at which the packet may leave
);
    localparam logic [63:0] TOKENS_PER_BYTE = 64'd8_000_000_000_000 / 64'(CLOCK_PS);
    localparam int PART_BITS = BYTES_BITS + 16;

    logic [BYTES_BITS-1:0] bytes_1;
    logic [PART_BITS-1:0] low_2, high_2;
    logic [TOKEN_BITS-1:0] size_3, size_4;
    logic [TOKEN_BITS:0] left_4;

    always_ff @(posedge clk) begin
        bytes_1 <= bytes;
        low_2 <= PART_BITS'(bytes_1) * PART_BITS'(TOKENS_PER_BYTE[15:0]);
        high_2 <= PART_BITS'(bytes_1) * PART_BITS'(TOKENS_PER_BYTE[31:16]);
        size_3 <= TOKEN_BITS'(low_2) + (TOKEN_BITS'(high_2) << 16);
        size_4 <= size_3;
        left_4 <= {1'b0, bucket_tokens} - {1'b0, size_3};
        size_tokens <= size_4;
        limit_tokens <= left_4[TOKEN_BITS] ? '0 : left_4[TOKEN_BITS-1:0];
    end
endmodule

`default_nettype wire

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
    parameter int BYTES_BITS = 14,  // width of a packet's size, at most 16
    parameter int TOKEN_BITS = 51   // width of a deficit
) (
    input  wire                   clk,            // clock
    input  wire  [BYTES_BITS-1:0] bytes,          // size of the packet
    input  wire  [TOKEN_BITS-1:0] bucket_tokens,  // tokens of a full bucket
    output logic [TOKEN_BITS-1:0] size_tokens,    // tokens of the packet
    output logic [TOKEN_BITS-1:0] limit_tokens    // largest deficit at which the packet may leave
);
    localparam logic [63:0] TOKENS_PER_BYTE = 64'd8_000_000_000_000 / 64'(CLOCK_PS);
    // A product of 4 bits with a constant is a table of 16 entries: one LUT4 for each of its bits.
    localparam int PART_BITS = 36;
    localparam logic [PART_BITS-1:0] T = TOKENS_PER_BYTE[PART_BITS-1:0];
    logic [15:0][PART_BITS-1:0] times;
    assign times = {
        T * 36'd15, T * 36'd14, T * 36'd13, T * 36'd12, T * 36'd11, T * 36'd10, T * 36'd9, T * 36'd8,
        T * 36'd7, T * 36'd6, T * 36'd5, T * 36'd4, T * 36'd3, T * 36'd2, T, 36'd0
    };

    logic [15:0] number;
    logic [3:0][PART_BITS-1:0] part_1;
    logic [TOKEN_BITS-1:0] low_2, high_2;
    logic [TOKEN_BITS-1:0] size_3, size_4;
    logic [TOKEN_BITS:0] left_4;

    assign number = 16'(bytes);
    always_ff @(posedge clk) begin
        for (int i = 0; i < 4; i++) part_1[i] <= times[number[4*i+:4]];
        low_2 <= TOKEN_BITS'(part_1[0]) + (TOKEN_BITS'(part_1[1]) << 4);
        high_2 <= TOKEN_BITS'(part_1[2]) + (TOKEN_BITS'(part_1[3]) << 4);
        size_3 <= low_2 + (high_2 << 8);
        size_4 <= size_3;
        left_4 <= {1'b0, bucket_tokens} - {1'b0, size_3};
        size_tokens <= size_4;
        limit_tokens <= left_4[TOKEN_BITS] ? '0 : left_4[TOKEN_BITS-1:0];
    end
endmodule

`default_nettype wire

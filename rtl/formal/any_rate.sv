// Takes the place of the rate filter in a proof: any tokens at any time. A start lasts until the pacer knows the
// bucket's size, as the real one does.
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
    (* anyseq *) logic [RATE_BITS-1:0] any_rate_bps;
    (* anyseq *) logic any_ticked;
    (* anyseq *) logic [TOKEN_BITS-1:0] any_tokens;
    assign rate_bps = any_rate_bps;
    assign ticked = any_ticked;
    assign step_tokens = any_tokens;

    localparam logic [4:0] START = 5'd12;
    logic [4:0] left = '0;
    assign busy = left != 0;
    always_ff @(posedge clk) begin
        if (clear) left <= '0;
        else if (start_initial) left <= START;
        else if (busy) left <= left - 1'b1;
    end
endmodule

`default_nettype wire

// Rate filter of the pacer: equation 4 of the paper, R <- (1 - eta) R + eta M_r / T_r + beta Q.
//
// Models `update_rate` and `set_token_rate` of hull-core's pacer (paper 4.2 and 5.1) bit for bit: R
// has a fraction of 2^-16 bit/s, and only the rate that makes tokens is rounded to `rate_step`.
// The NetFPGA rounds R itself to a number of bytes per tick.
//
// One adder each for the products, one bit at a time, and one subtractor for the remainder by
// `rate_step`: there is no divider and no multiplier. eta / T_r arrives as `gain`. An update takes
// UPDATE_CLOCKS = 2 MEASURED_BITS + 2 RATE_BITS + 11 clocks for any settings.
//
// Units: bit/s; bytes; `gain` is what a byte of M_r adds to R, in 2^-32 bit/s.

`default_nettype none

module rate_filter #(
    parameter int RATE_BITS = 40,      // width of a rate in bit/s
    parameter int MEASURED_BITS = 32,  // width of M_r in bytes, at least BACKLOG_BITS
    parameter int BACKLOG_BITS = 24,   // width of Q in bytes
    parameter int GAIN_BITS = 56,      // width of the gain
    parameter int CLOCKS_BITS = 24,    // width of a time in clocks
    parameter int TOKEN_BITS = 51      // width of the tokens of a step
) (
    input  wire                      clk,             // clock
    input  wire                      clear,           // abandons what is under way; reset
    input  wire                      start_initial,   // sets R to initial_rate; ignored while busy
    input  wire                      start_update,    // samples M_r and Q for equation 4; ignored while busy
    input  wire  [MEASURED_BITS-1:0] measured_bytes,  // M_r
    input  wire  [ BACKLOG_BITS-1:0] backlog_bytes,   // Q
    input  wire  [    RATE_BITS-1:0] max_rate_bps,    // largest rate; wins over min_rate_bps
    input  wire  [    RATE_BITS-1:0] min_rate_bps,    // smallest rate
    input  wire  [    RATE_BITS-1:0] initial_rate_bps,  // R at the start
    input  wire  [             16:0] eta,             // eta in 2^-16, at most 65536
    input  wire  [    GAIN_BITS-1:0] gain,            // eta * 8e12 * 2^16 / (T_r in ps), rounded
    input  wire  [             31:0] beta,            // beta per second in 2^-8
    input  wire  [             31:0] rate_step_bps,   // step of the rate that makes tokens; 0: none
    input  wire  [  CLOCKS_BITS-1:0] token_tick,      // clocks per tick; 0 and 1: no ticks
    output logic                     busy,            // an update or a start is under way
    output logic [    RATE_BITS-1:0] rate_bps,        // rate that makes tokens
    output logic                     ticked,          // step_tokens are for a tick, not for a step
    output logic [   TOKEN_BITS-1:0] step_tokens      // tokens of two clocks, or of a tick
);
    localparam int FRACTION = 16;
    localparam int R_BITS = RATE_BITS + FRACTION;
    localparam int ACC_BITS = (R_BITS > GAIN_BITS ? R_BITS : GAIN_BITS) + 2;
    // Sum of equation 4 before it is clamped: each half saturates one bit above the largest R.
    localparam int HALF_BITS = R_BITS + 1;
    // Of the bits that leave the sum at its low end the last ones remain; the others are its fraction.
    localparam int LOW_BITS = MEASURED_BITS - FRACTION;
    localparam int NUMBER_BITS = RATE_BITS + 1;
    localparam int BACKLOG_PRODUCT_BITS = 33 + MEASURED_BITS;
    localparam int TICK_PRODUCT_BITS = CLOCKS_BITS + 1 + RATE_BITS;

    localparam logic [3:0] IDLE = 4'd0;
    localparam logic [3:0] MULTIPLY = 4'd1;
    localparam logic [3:0] SATURATE = 4'd2;
    localparam logic [3:0] SUM = 4'd3;
    localparam logic [3:0] COMPARE = 4'd4;
    localparam logic [3:0] CLAMP = 4'd5;
    localparam logic [3:0] ROUND = 4'd6;
    localparam logic [3:0] HALF_STEP = 4'd7;
    localparam logic [3:0] REMAINDER = 4'd8;
    localparam logic [3:0] SUBTRACT = 4'd9;
    localparam logic [3:0] STEP_COMPARE = 4'd10;
    localparam logic [3:0] STEP_CLAMP = 4'd11;
    localparam logic [3:0] TICK_PRODUCT = 4'd12;
    localparam logic [3:0] FINISH = 4'd13;

    logic [3:0] state;
    logic [7:0] left;  // clocks left in a state of several clocks
    logic add_rate;    // MULTIPLY: this clock adds R and shifts; the one before it adds the gain

    // Equation 4. `acc` and `low` hold kept + sampled + one half; bits leave `acc` at its low end.
    logic [R_BITS-1:0] filtered_rate;
    logic [16:0] keep;
    logic [MEASURED_BITS-1:0] measured, waiting;
    logic [ACC_BITS-1:0] acc, acc_sum, addend;
    logic [LOW_BITS-1:0] low;
    logic [32:0] backlog_acc, backlog_sum;
    logic [MEASURED_BITS-1:0] backlog_low;
    logic [BACKLOG_PRODUCT_BITS-1:0] backlog_product;
    logic [ACC_BITS+LOW_BITS-1:0] filtered_sum;
    logic [HALF_BITS-1:0] filtered_half, backlog_half;
    logic [HALF_BITS:0] total;
    logic above, below;

    always_comb begin
        acc_sum = acc + addend;
        backlog_sum = backlog_acc + (waiting[0] ? {1'b0, beta} : 33'd0);
        backlog_product = {backlog_acc, backlog_low};
        filtered_sum = {acc, low};
    end

    // Rounding to the step: rate + step/2, less its remainder by the step.
    logic [RATE_BITS-1:0] rounded, stepped, new_rate;
    logic [NUMBER_BITS-1:0] number, digits, difference;
    logic [32:0] remainder, remainder_next;
    logic [33:0] trial;
    always_comb begin
        trial = {1'b0, remainder[31:0], digits[NUMBER_BITS-1]} - {2'b00, rate_step_bps};
        remainder_next = trial[33] ? {remainder[31:0], digits[NUMBER_BITS-1]} : trial[32:0];
        difference = number - NUMBER_BITS'(remainder);
    end

    // Tokens of a tick.
    logic [RATE_BITS-1:0] factor;
    logic [CLOCKS_BITS-1:0] tick;
    logic tick_on;
    logic [CLOCKS_BITS:0] tick_acc, tick_sum;
    logic [RATE_BITS-1:0] tick_low;
    logic [TICK_PRODUCT_BITS-1:0] tick_product;
    always_comb begin
        tick_sum = tick_acc + (factor[0] ? {1'b0, tick} : '0);
        tick_product = {tick_acc, tick_low};
    end

    assign busy = state != IDLE;

    always_ff @(posedge clk) begin
        left <= left - 8'd1;
        tick_on <= tick[CLOCKS_BITS-1:1] != 0;
        case (state)
            IDLE: begin
                add_rate <= 1'b0;
                left <= 8'(2 * MEASURED_BITS - 1);
                keep <= eta[16] ? 17'd0 : 17'h10000 - eta;
                measured <= measured_bytes;
                addend <= measured_bytes[0] ? ACC_BITS'(gain) : '0;
                waiting <= MEASURED_BITS'(backlog_bytes);
                acc <= ACC_BITS'(1) << (FRACTION - 1);
                backlog_acc <= '0;
                total <= {2'b00, initial_rate_bps, {FRACTION{1'b0}}};
                if (start_initial) state <= COMPARE;
                else if (start_update) state <= MULTIPLY;
            end
            MULTIPLY: begin
                add_rate <= !add_rate;
                acc <= add_rate ? acc_sum >> 1 : acc_sum;
                // What the next clock adds.
                if (add_rate) addend <= measured[1] ? ACC_BITS'(gain) : '0;
                else addend <= keep[0] ? ACC_BITS'(filtered_rate) : '0;
                if (add_rate) begin
                    low <= {acc_sum[0], low[LOW_BITS-1:1]};
                    keep <= keep >> 1;
                    measured <= measured >> 1;
                    backlog_acc <= backlog_sum >> 1;
                    backlog_low <= {backlog_sum[0], backlog_low[MEASURED_BITS-1:1]};
                    waiting <= waiting >> 1;
                end
                if (left == 0) state <= SATURATE;
            end
            SATURATE: begin
                // The last term is 8 beta Q with beta in 2^-8, so 2^(3 + 16 - 8) in 2^-16 bit/s.
                filtered_half <= |(filtered_sum >> HALF_BITS) ? '1 : filtered_sum[HALF_BITS-1:0];
                backlog_half <= |(backlog_product >> (HALF_BITS - 11)) ? '1
                              : {backlog_product[HALF_BITS-12:0], 11'd0};
                state <= SUM;
            end
            SUM: begin
                total <= {1'b0, filtered_half} + {1'b0, backlog_half};
                state <= COMPARE;
            end
            COMPARE: begin
                above <= !(total[HALF_BITS:FRACTION] < {2'b00, max_rate_bps});
                below <= total[HALF_BITS:FRACTION] < {2'b00, min_rate_bps};
                state <= CLAMP;
            end
            CLAMP: begin
                filtered_rate <= above ? {max_rate_bps, {FRACTION{1'b0}}}
                               : below ? {min_rate_bps, {FRACTION{1'b0}}} : total[R_BITS-1:0];
                state <= ROUND;
            end
            ROUND: begin
                rounded <= filtered_rate[R_BITS-1:FRACTION] + RATE_BITS'(filtered_rate[FRACTION-1]);
                state <= HALF_STEP;
            end
            HALF_STEP: begin
                number <= {1'b0, rounded} + NUMBER_BITS'(rate_step_bps >> 1);
                digits <= {1'b0, rounded} + NUMBER_BITS'(rate_step_bps >> 1);
                remainder <= '0;
                left <= 8'(NUMBER_BITS - 1);
                state <= REMAINDER;
            end
            REMAINDER: begin
                remainder <= remainder_next;
                digits <= digits << 1;
                if (left == 0) state <= SUBTRACT;
            end
            SUBTRACT: begin
                // At most 2^RATE_BITS - 1: a step above that is clamped to the same largest rate.
                stepped <= rate_step_bps == 0 ? rounded
                         : difference[NUMBER_BITS-1] ? '1 : difference[RATE_BITS-1:0];
                state <= STEP_COMPARE;
            end
            STEP_COMPARE: begin
                above <= !(stepped < max_rate_bps);
                below <= stepped < min_rate_bps;
                state <= STEP_CLAMP;
            end
            STEP_CLAMP: begin
                new_rate <= above ? max_rate_bps : below ? min_rate_bps : stepped;
                factor <= above ? max_rate_bps : below ? min_rate_bps : stepped;
                tick <= token_tick;
                tick_acc <= '0;
                left <= 8'(RATE_BITS - 1);
                state <= TICK_PRODUCT;
            end
            TICK_PRODUCT: begin
                tick_acc <= tick_sum >> 1;
                tick_low <= {tick_sum[0], tick_low[RATE_BITS-1:1]};
                factor <= factor >> 1;
                if (left == 0) state <= FINISH;
            end
            FINISH: begin
                rate_bps <= new_rate;
                ticked <= tick_on;
                step_tokens <= !tick_on ? {{(TOKEN_BITS - RATE_BITS - 1) {1'b0}}, new_rate, 1'b0}
                             : |(tick_product >> TOKEN_BITS) ? '1
                             : tick_product[TOKEN_BITS-1:0];
                state <= IDLE;
            end
            default: state <= IDLE;
        endcase
        if (clear) state <= IDLE;
    end
endmodule

`default_nettype wire

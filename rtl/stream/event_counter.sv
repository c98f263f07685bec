// Counts events for a register. It stops at all ones instead of wrapping.
module event_counter #(
    parameter int BITS = 32
) (
    input logic clk,
    input logic rst,
    input logic event_now,
    output logic [BITS-1:0] count
);
  // What is counted is added one clock later, so that the events' logic ends at a register.
  logic event_before;
  always_ff @(posedge clk) begin
    event_before <= event_now;
    if (event_before && count != '1) count <= count + 1'b1;
    if (rst) begin
      event_before <= 1'b0;
      count <= '0;
    end
  end
endmodule

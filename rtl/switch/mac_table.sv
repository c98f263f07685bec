// Table of the addresses that a switch has seen: which port a MAC address is behind.
//
// Source: the NetFPGA's reference switch, which learns 16 addresses. An address that comes from another port
// moves; a new one takes the place of the one that was learned first. Both searches take one clock.
module mac_table #(
    parameter int ENTRIES = 16,  // a power of two
    parameter int PORTS   = 4
) (
    input logic clk,
    input logic rst,

    // Where is an address? The answer one clock later; all ports where it is not known.
    input logic [47:0] find,
    output logic [PORTS-1:0] ports,

    // An address has come from a port.
    input logic learn_valid,
    input logic [47:0] learn,
    input logic [PORTS-1:0] learn_port  // one bit
);
  logic [ENTRIES-1:0] used;
  logic [ENTRIES-1:0][47:0] addresses;
  logic [ENTRIES-1:0][PORTS-1:0] behind;
  logic [$clog2(ENTRIES)-1:0] oldest;

  logic [PORTS-1:0] found;
  logic known;
  logic [ENTRIES-1:0] same;
  always_comb begin
    found = '0;
    known = 1'b0;
    for (int i = 0; i < ENTRIES; i++) begin
      same[i] = used[i] && addresses[i] == learn;
      if (used[i] && addresses[i] == find) begin
        known = 1'b1;
        found = found | behind[i];
      end
    end
  end
  // Addresses of groups (lowest bit of the first byte) are behind no port, and none may be learned.
  logic group;
  assign group = learn[0];
  always_ff @(posedge clk) begin
    ports <= known ? found : '1;
    if (learn_valid && !group) begin
      for (int i = 0; i < ENTRIES; i++) if (same[i]) behind[i] <= learn_port;
      if (same == '0) begin
        used[oldest] <= 1'b1;
        addresses[oldest] <= learn;
        behind[oldest] <= learn_port;
        oldest <= oldest + 1'b1;
      end
    end
    if (rst) begin
      used   <= '0;
      oldest <= '0;
    end
  end
endmodule

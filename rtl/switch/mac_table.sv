// Table of the addresses that a switch has seen: which port a MAC address is behind.
//
// Source: the NetFPGA's reference switch, which learns 16 addresses. An address that comes from another port
// moves; a new one takes the place of the one that was learned first.
//
// An address is compared in parts in one clock and the parts are joined in the next. What is learned is found
// from two clocks later on, and the next address to learn must come two clocks later at the earliest.
module mac_table #(
    parameter int ENTRIES = 16,
    parameter int PORTS   = 4
) (
    input logic clk,
    input logic rst,

    // Where is an address? The answer two clocks later; all ports where it is not known.
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
  logic [ENTRIES-1:0] oldest;  // one bit: the place of the next new address

  // Clock 1: both addresses are compared, each by thirds.
  logic [ENTRIES-1:0][2:0] find_equal, learn_equal;
  logic learn_valid_1;
  logic [47:0] learn_1;
  logic [PORTS-1:0] learn_port_1;

  // Clock 2: the entries that have the addresses.
  logic [ENTRIES-1:0] same;
  logic enters;  // an address that is not in the table
  logic [PORTS-1:0] found;
  logic known;
  always_comb begin
    found = '0;
    known = 1'b0;
    for (int i = 0; i < ENTRIES; i++) begin
      same[i] = used[i] && learn_equal[i] == '1;
      if (used[i] && find_equal[i] == '1) begin
        known = 1'b1;
        found = found | behind[i];
      end
    end
    enters = learn_valid_1 && same == '0;
  end

  always_ff @(posedge clk) begin
    for (int i = 0; i < ENTRIES; i++) begin
      for (int part = 0; part < 3; part++) begin
        find_equal[i][part]  <= addresses[i][16*part+:16] == find[16*part+:16];
        learn_equal[i][part] <= addresses[i][16*part+:16] == learn[16*part+:16];
      end
    end
    // Addresses of groups (lowest bit of the first byte) are behind no port, and none may be learned.
    learn_valid_1 <= learn_valid && !learn[0];
    learn_1 <= learn;
    learn_port_1 <= learn_port;

    ports <= known ? found : '1;
    for (int i = 0; i < ENTRIES; i++) begin
      if (enters && oldest[i]) begin
        used[i] <= 1'b1;
        addresses[i] <= learn_1;
      end
      if ((enters && oldest[i]) || (learn_valid_1 && same[i])) behind[i] <= learn_port_1;
    end
    if (enters) oldest <= {oldest[ENTRIES-2:0], oldest[ENTRIES-1]};
    if (rst) begin
      used <= '0;
      oldest <= ENTRIES'(1);
      learn_valid_1 <= 1'b0;
    end
  end
endmodule

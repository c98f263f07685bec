// Both marking rules of a switch port, for the simulator: the threshold marker on arrival and the phantom
// queue on departure, with the same settings as in switch/port_datapath.sv. Not synthesised.
module marking_port (
    input logic clk,
    input logic rst,

    // Threshold marker.
    input logic marker_enable,
    input logic marker_count_arriving,
    input logic [19:0] marker_threshold_bytes,
    input logic [19:0] arrival_queue_bytes,
    input logic [13:0] arrival_bytes,
    output logic arrival_mark,

    // Phantom queue.
    input logic phantom_enable,
    input logic phantom_count_arriving,
    input logic [31:0] drain_units,
    input logic [31:0] byte_units,
    input logic [19:0] threshold_bytes,
    input logic [15:0] tick_clocks,
    input logic departure_valid,
    input logic [13:0] departure_bytes,
    input logic departure_ect,
    output logic answer_valid,
    output logic departure_mark,
    output logic [51:0] backlog_units
);
  logic unused_above;
  threshold_marker marker (
      .enable(marker_enable), .count_arriving(marker_count_arriving),
      .threshold_bytes(marker_threshold_bytes), .queue_bytes(arrival_queue_bytes),
      .packet_bytes(arrival_bytes), .mark(arrival_mark)
  );
  phantom_queue phantom (
      .clk, .rst, .enable(phantom_enable), .count_arriving(phantom_count_arriving),
      .drain_units, .byte_units, .threshold_bytes, .tick_clocks,
      .packet_valid(departure_valid), .packet_bytes(departure_bytes), .packet_ect(departure_ect),
      .answer_valid, .mark(departure_mark), .above(unused_above), .backlog_units
  );
endmodule

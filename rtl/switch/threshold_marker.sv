// Threshold marking on the instantaneous queue: the switch's part of DCTCP. An arriving packet is marked
// when the queue is strictly above K.
//
// Source: thesis 2.2.1 and figure 2.9. Reference: hull-core, marking.rs, to the bit. Units: bytes.
// Without state and without a clock: the answer belongs to the same clock.
module threshold_marker (
    input logic enable,
    input logic count_arriving,          // 1: the arriving packet is part of the queue that is compared
    input logic [19:0] threshold_bytes,  // K
    input logic [19:0] queue_bytes,      // what the packet finds in the queue
    input logic [13:0] packet_bytes,
    output logic mark
);
  // The most that the queue may hold without a mark, below 0 for a packet longer than K, and what it holds less.
  // The first is calculated while a caller calculates the queue.
  logic [20:0] most;
  logic [21:0] spare;
  assign most = {1'b0, threshold_bytes} - (count_arriving ? {7'd0, packet_bytes} : 21'd0);
  assign spare = {most[20], most} - {2'b00, queue_bytes};
  assign mark = enable && spare[21];

  logic unused;
  assign unused = &{1'b0, spare[20:0]};
endmodule

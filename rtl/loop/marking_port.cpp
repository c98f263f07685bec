// The verilated marking_port behind C functions, for crates/hull-sim/src/network/rules/verilated.rs.
//
// Time is in clocks from 0 and only goes on. Clocks in which nothing can change are skipped: with the counter
// empty and no packet under way, a clock moves the phase of the drain's tick alone, so that whole ticks
// may be left out.

#include "Vmarking_port.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {

// Clocks until a new threshold is in force, twice its 21 clocks, and the way of a packet through the queue.
constexpr std::uint64_t SETTLING = 64;
constexpr int LATENCY = 4;

struct Port {
  VerilatedContext context;
  std::unique_ptr<Vmarking_port> model;
  std::uint64_t tick;         // clocks of a tick; 1 without
  std::uint64_t next;         // number of the next clock
  std::uint64_t clocks = 0;   // that were simulated
  std::uint64_t skipped = 0;

  void clock() {
    model->clk = 0;
    model->eval();
    model->clk = 1;
    model->eval();
    ++next;
    ++clocks;
  }

  // Goes on until clock number `to` is the next one.
  void go_to(std::uint64_t to) {
    while (next < to) {
      if (model->backlog_units == 0 && to - next >= tick) {
        const std::uint64_t idle = (to - next) / tick * tick;
        next += idle;
        skipped += idle;
      } else {
        clock();
      }
    }
  }
};

}  // namespace

extern "C" {

// Settings are those of the module's ports; byte_units 0: without phantom queue.
void *marking_port_new(std::uint32_t drain_units, std::uint32_t byte_units, std::uint32_t threshold_bytes,
                       bool count_arriving, std::uint16_t tick_clocks, bool marker_enable,
                       std::uint32_t marker_threshold_bytes, bool marker_count_arriving) {
  auto *port = new Port;
  port->model = std::make_unique<Vmarking_port>(&port->context);
  Vmarking_port &model = *port->model;
  model.marker_enable = marker_enable;
  model.marker_count_arriving = marker_count_arriving;
  model.marker_threshold_bytes = marker_threshold_bytes;
  model.phantom_count_arriving = count_arriving;
  model.drain_units = drain_units;
  model.byte_units = byte_units;
  model.threshold_bytes = threshold_bytes;
  model.tick_clocks = tick_clocks;
  model.departure_valid = 0;
  model.phantom_enable = 0;
  model.rst = 1;
  port->tick = tick_clocks == 0 ? 1 : tick_clocks;
  for (std::uint64_t i = 0; i < SETTLING; ++i) {
    port->clock();
    model.rst = 0;
  }
  // The grid of the ticks begins in the first clock in which the queue is on: clock 0.
  model.phantom_enable = byte_units != 0;
  port->next = 0;
  port->clocks = 0;
  return port;
}

void marking_port_delete(void *pointer) { delete static_cast<Port *>(pointer); }

// A packet comes and finds so many bytes in the queue; whether the threshold marker marks it.
bool marking_port_arrives(void *pointer, std::uint32_t queue_bytes, std::uint16_t bytes) {
  Vmarking_port &model = *static_cast<Port *>(pointer)->model;
  model.arrival_queue_bytes = queue_bytes;
  model.arrival_bytes = bytes;
  model.eval();
  return model.arrival_mark;
}

// A packet leaves at a clock; whether the phantom queue marks it. Clocks must be at least 4 apart, as the
// answer is waited for.
bool marking_port_departs(void *pointer, std::uint64_t at, std::uint16_t bytes, bool ect) {
  Port &port = *static_cast<Port *>(pointer);
  Vmarking_port &model = *port.model;
  if (at < port.next) {
    std::fprintf(stderr, "marking_port: a packet at clock %llu, expected %llu or later\n",
                 static_cast<unsigned long long>(at), static_cast<unsigned long long>(port.next));
    std::abort();
  }
  port.go_to(at);
  model.departure_valid = 1;
  model.departure_bytes = bytes;
  model.departure_ect = ect;
  port.clock();
  model.departure_valid = 0;
  for (int i = 1; i < LATENCY; ++i) port.clock();
  if (!model.answer_valid) {
    std::fprintf(stderr, "marking_port: no answer after %d clocks\n", LATENCY);
    std::abort();
  }
  return model.departure_mark;
}

// Clocks that were simulated, and those left out.
std::uint64_t marking_port_clocks(void *pointer) { return static_cast<Port *>(pointer)->clocks; }
std::uint64_t marking_port_skipped(void *pointer) { return static_cast<Port *>(pointer)->skipped; }
}

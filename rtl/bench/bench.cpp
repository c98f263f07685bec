// The program of every bench in this folder: toggles `clk` until `done`, and for `+after=N` clocks more.
// The files that players read and recorders write are plusargs too.

#include <cstdlib>
#include <cstring>

#include "Vtop.h"
#include "verilated.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif

namespace {

// Number of clocks after the end of the stimulus.
unsigned long long clocks_after(VerilatedContext &context) {
  const char *given = context.commandArgsPlusMatch("after=");
  return std::strtoull(given + std::strlen(*given ? "+after=" : ""), nullptr, 10);
}

}  // namespace

int main(int argc, char **argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vtop bench{&context};
  unsigned long long left = clocks_after(context);
  bench.clk = 0;
  bench.eval();
  while (!context.gotFinish() && left > 0) {
    context.timeInc(1);
    bench.clk = 1;
    bench.eval();
    if (bench.done) --left;
    context.timeInc(1);
    bench.clk = 0;
    bench.eval();
  }
  bench.final();
#if VM_COVERAGE
  context.coveragep()->write("coverage.dat");
#endif
  return context.errorCount() > 0;
}

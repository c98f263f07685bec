// The program of every bench in this folder: toggles `clk` until `done`, and for `+after=N` clocks more.
// The files that players read and recorders write are plusargs too.

#include <cstdlib>
#include <cstring>

#include "Vtop.h"
#include "verilated.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif

int main(int argc, char **argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vtop bench{&context};
  auto clock = [&] {
    for (int level : {0, 1}) {
      bench.clk = level;
      bench.eval();
      context.timeInc(1);
    }
  };
  while (!bench.done && !context.gotFinish()) clock();
  const char *after = std::strchr(context.commandArgsPlusMatch("after="), '=');
  unsigned long long left = after ? std::strtoull(after + 1, nullptr, 10) : 0;
  for (; left > 0 && !context.gotFinish(); --left) clock();
  bench.final();
#if VM_COVERAGE
  context.coveragep()->write("coverage.dat");
#endif
  return context.errorCount() > 0;
}

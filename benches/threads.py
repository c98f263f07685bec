"""What two threads gain on one run: the time on the clock of one thread divided by the time of two,
alone and beside a process that keeps one processor busy.

    make threads [RUNS=N]

One thread and two take turns, RUNS times; a row has the medians of the times and of their ratios.
A quiet machine with two processors is needed: the load before the first run is printed.
"""

import argparse
import os
import tempfile
from pathlib import Path

import machine
import sides
from figures import FIGURES
from measures import MEASURES
from processes import in_turn


def main() -> int:
    """Measures, and prints a row for each network, scheme and neighbour."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", metavar="N", type=int, default=3, help="of each (3)")
    options = parser.parse_args()
    side = sides.this()
    print(f"{machine.text()}; hull {side.name}; load {os.getloadavg()[0]:.1f}; runs {options.runs}")
    print(f"{'':30} {'one, s':>8} {'two, s':>8} {'times':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for figure in FIGURES:
            if figure.kind not in ("threads", "busy"):
                continue
            measure = MEASURES[figure.kind]
            [values] = in_turn(
                [side],
                options.runs,
                lambda side, figure=figure, measure=measure: measure(side, figure, folder),
            )
            one, two = values["one_thread_seconds"], values["two_threads_seconds"]
            print(
                f"{figure.name:30} {one:8.2f} {two:8.2f} {values['times_as_fast']:8.2f}", flush=True
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

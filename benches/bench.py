"""The speed of hull, compared with another revision's if one is named.

    make bench [BASE=REV] [RUNS=N] [ONLY=TEXT] [LARGE=1] [TIMES=1]

Each figure is measured RUNS times on each side in turn; the table has the medians. BASE is built
from a clean work tree by plain `make`'s rules; this side is what `make` or `make fast` built last.
ONLY measures the figure of that name, or all whose names contain the text; LARGE adds figures with
8,192 and more hosts. Without BASE it also counts instructions (valgrind; not with TIMES=1). It
fails where a speed is below what is required, or a run's fixed cost above its limit. measures.py
says what each kind of figure is. Writes results/bench.json, or the file of --out.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import instructions
import records
import sides
from figures import FIGURES, Figure
from measures import LOOP, LOOP_SOURCE, MEASURES
from processes import in_turn

# Million packet-hops per CPU second.
REQUIRED = {"star dctcp_30k": 8.0, "tree192 dctcp": 10.0}
# CPU seconds of a run beside its simulation.
MOST_FIXED_SECONDS = 0.12


def chosen(options: argparse.Namespace) -> list[Figure]:
    """What is to be measured; the loop only where it was written."""
    has_loop = LOOP_SOURCE.exists()
    exact = any(figure.name == options.only for figure in FIGURES)
    figures = [
        figure
        for figure in FIGURES
        if (figure.name == options.only if exact else options.only in figure.name)
        and (options.large or exact or not figure.large)
        and (has_loop or figure.kind != "loop")
    ]
    if not figures:
        names = ", ".join(figure.name for figure in FIGURES)
        raise SystemExit(
            f"bench: --only: {options.only} is invalid; expected part of one of {names}"
        )
    if any(figure.kind == "loop" for figure in figures):
        subprocess.run(["rustc", "-O", "-o", LOOP, LOOP_SOURCE], check=True)
    return figures


def row(figure: Figure, values: list[dict[str, float]], count: float | None) -> str:
    """A line of the table: what the figure is about, of each side, and what they differ by."""
    key = next(iter(values[0]))
    shown = [f"{value[key]:10.2f}" for value in values]
    change = f"{values[0][key] / values[1][key]:8.2f}" if len(values) > 1 else ""
    counted = "" if count is None else f"{count:10.0f}"
    return f"{figure.name:30} {''.join(shown)}{change}{counted}  {key.replace('_', ' ')}"


def missed(figure: Figure, values: dict[str, float]) -> str | None:
    """A line that names the bound that a figure does not keep, where it does not."""
    speed = values.get("million_hops_per_cpu_second", 0)
    if figure.kind == "speed" and speed < (required := REQUIRED.get(figure.name, 0)):
        return f"{figure.name} ran {speed:.1f} million hops per CPU s; required are {required}"
    seconds = values.get("seconds_beside_simulation", 0)
    if seconds > MOST_FIXED_SECONDS:
        return f"{figure.name} is {seconds:.3f} CPU s; allowed are {MOST_FIXED_SECONDS}"
    return None


def main() -> int:
    """Measures, prints a row for each figure, writes all values."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--base", metavar="REV", help="the revision to measure beside this one")
    parser.add_argument("--runs", metavar="N", type=int, default=5, help="on each side (5)")
    parser.add_argument("--only", metavar="TEXT", default="", help="figures with this in the name")
    parser.add_argument("--times", action="store_true", help="no instructions")
    parser.add_argument("--large", action="store_true", help="the large networks too")
    parser.add_argument(
        "--out", metavar="FILE", type=Path, default=sides.ROOT / "results/bench.json"
    )
    options = parser.parse_args()
    compared = [sides.this(), *([sides.base(options.base)] if options.base else [])]
    figures = chosen(options)
    countable = [figure for figure in figures if figure.kind == "speed" and not figure.large]
    count = bool(countable) and not (options.base or options.times) and instructions.build()
    heading = [f"{side.name:>10}" for side in compared]
    print(
        f"{'':30} {''.join(heading)}{'   times' if options.base else ''}"
        f"{'instr./hop' if count else ''}"
    )
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for figure in figures:
            values = in_turn(
                compared,
                options.runs,
                lambda side, figure=figure: MEASURES[figure.kind](side, figure, folder),
            )
            per_hop = None
            if count and figure in countable:
                per_hop = instructions.per_hop(folder, figure)
            print(row(figure, values, per_hop), flush=True)
            measured = {
                "hosts": figure.hosts,
                "kind": figure.kind,
                "revisions": [side.name for side in compared],
                "runs": options.runs,
                "load": os.getloadavg()[0],
                "this": values[0],
                **({"base": values[1]} if options.base else {}),
                **({} if per_hop is None else {"instructions_per_hop": per_hop}),
            }
            records.add(options.out, "figures", {figure.name: measured})
            if failure := missed(figure, values[0]):
                failures.append(failure)
    for line in failures:
        print(f"bench: {line}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())

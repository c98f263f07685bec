"""`ask_coverage.py`: how often the range of another period that `hull ask` gives holds one.

A generator draws traces: 16 hosts, Poisson starts, 85% small flows, the others with Pareto sizes.
From each trace `hull ask` draws the flows of its seeds and gives the range of the change that HULL
at 5% makes against DCTCP in another period. Further traces of the generator are the periods that
the ranges should hold: their own changes are the known truth. A range is made from one trace, which
is a draw itself, so fewer than 95% are expected. Printed: the share of periods inside the ranges,
and of the ranges of the mean that hold the mean over the periods. The same numbers each time;
minutes with the settings of docs/howto/ask.md, which are the default.
"""

import argparse
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from hull.ask.answer import ALL, LARGE_MEAN, SMALL_P99, Row, Statistic
from hull.ask.fit import draw
from hull.ask.network import read_network
from hull.ask.question import Question, hull_name, settings_for
from hull.ask.sizes import Sizes
from hull.ask.trial import Trial, run_lists
from hull.results.changes import Change
from hull.results.registry import NO_GROUP

HEADROOM = 0.05
HOSTS = 16
FLOWS_PER_SECOND = 140_000
STATISTICS = (SMALL_P99, LARGE_MEAN)
FIRST_TRACE, FIRST_PERIOD = 10_000, 11_000
"""Seeds of the generator."""


@dataclass(frozen=True)
class Coverage:
    """Shares, 0 to 1."""

    periods: float
    """Of the periods that are in the range of another period, over all traces."""
    means: float
    """Of the traces whose range of the mean holds the mean over the periods."""


def coverage(changes: Sequence[Change], periods: Sequence[float]) -> Coverage:
    """The ranges of several traces against the logarithms of the changes of further periods."""
    truth = math.fsum(periods) / len(periods)
    inside = means = 0
    for change in changes:
        low, high = change.next_range() or (math.inf, 0.0)
        inside += sum(low <= math.exp(log) <= high for log in periods)
        means += change.low <= math.exp(truth) <= change.high
    return Coverage(inside / (len(changes) * len(periods)), means / len(changes))


def trace(seed: int, flows: int) -> pl.DataFrame:
    """Flows as `hull ask` has read and placed them."""
    numbers = np.random.default_rng(seed)
    start_s = np.cumsum(numbers.exponential(1 / FLOWS_PER_SECOND, flows))
    src = numbers.integers(0, HOSTS, flows)
    dst = (src + numbers.integers(1, HOSTS, flows)) % HOSTS
    is_small = numbers.random(flows) < 0.85
    small = np.where(is_small, numbers.choice([500, 2000, 8000], flows), 0)
    pareto = (200_000 * (1 - numbers.random(flows)) ** (-1 / 1.6)).clip(0, 20_000_000)
    size = np.where(small == 0, pareto, small).astype(np.int64)
    start_ps = (start_s * 1e12).astype(np.int64)
    content = {"start_ps": start_ps, "src": src, "dst": dst, "bytes": size}
    return pl.DataFrame(content).with_columns(group=pl.lit(NO_GROUP), write=pl.lit(value=False))


def compared(lists: Sequence[pl.DataFrame], folder: Path) -> Row:
    """HULL against DCTCP, a list for each seed."""
    network = read_network("2x8@25G,2x100G")
    question = Question(network, (HEADROOM,), ("dctcp",), settings_for(network))
    last_ps = max(int(one["start_ps"].to_numpy().max()) for one in lists)
    sizes = Sizes(14_600, 500_000, "")
    runs = folder / "runs"
    trial = Trial(question, lists[0], sizes, last_ps, "Coverage", "coverage", folder, runs, None)
    rows = run_lists(trial, lists, len(lists), force=True).rows
    name = hull_name(HEADROOM)
    return next(row for row in rows if (row.scheme, row.group) == (name, ALL))


def logs_of(row: Row, of: Statistic) -> list[float]:
    """The logarithm of the change of each seed."""
    samples, base = row.samples[of.name], row.base[of.name]
    pairs = ((value, base[seed]) for seed, value in samples.items())
    return [math.log(value / theirs) for value, theirs in pairs if value and theirs]


def measured(traces: int, periods: int, seeds: int, flows: int) -> dict[str, Coverage]:
    """By the name of a statistic."""
    with tempfile.TemporaryDirectory(prefix="hull-coverage-") as name:
        further = [trace(FIRST_PERIOD + place, flows) for place in range(periods)]
        truth = compared(further, Path(name))
        rows = []
        for place in range(traces):
            seen = trace(FIRST_TRACE + place, flows)
            drawn = [draw(seen, seed, None) for seed in range(1, seeds + 1)]
            rows.append(compared(drawn, Path(name)))
    found = {}
    for of in STATISTICS:
        changes = [change for row in rows if (change := row.change(of)) is not None]
        found[of.name] = coverage(changes, logs_of(truth, of))
    return found


def main() -> None:
    """Prints a line for each number of seeds and statistic."""
    parser = argparse.ArgumentParser(description="Coverage of the ranges of hull ask.")
    parser.add_argument("--traces", type=int, default=24)
    parser.add_argument("--periods", type=int, default=60)
    parser.add_argument("--seeds", default="5,20", help="numbers of seeds, with commas")
    parser.add_argument("--flows", type=int, default=3000, help="flows of a trace")
    given = parser.parse_args()
    for seeds in map(int, given.seeds.split(",")):
        for name, of in measured(given.traces, given.periods, seeds, given.flows).items():
            print(
                f"{seeds} seeds, {name}: {100 * of.periods:.0f}% of {given.periods} periods in the "
                f"ranges of {given.traces} traces; {100 * of.means:.0f}% of the ranges of the mean "
                "hold the mean over the periods",
                flush=True,
            )


if __name__ == "__main__":
    main()

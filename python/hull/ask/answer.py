"""The answer: what small flows gain and large flows lose with each scheme, as rows.

Completion times in us. A percentile covers one run: all flows that started in it, and one that has
not completed ranks last. Each change is the ratio to another scheme on the same flows and seed, so
that variation between seeds cancels (`hull.results.changes`). What follows is in
`hull.ask.verdict`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hull.ask.question import Question
from hull.ask.sizes import Sizes
from hull.results.changes import Change, Value, change, value_of

if TYPE_CHECKING:
    import polars as pl

ALL = "all"
CHANGED, OTHERS = "between changed hosts", "with an unchanged host"
"""Groups of flows where only some hosts change."""
Seed = tuple[str, int]
"""Condition and seed of a run."""
BySeed = Mapping[Seed, float | None]
"""None without enough flows; infinite if a flow that has not completed decides it."""


@dataclass(frozen=True)
class Statistic:
    """What is told of the completion times of a class."""

    name: str
    size: str
    """Class of flows: small or large."""
    label: str
    """In headings of tables and in sentences."""
    share: float | None
    """Of a percentile; None for the mean."""
    needed: int
    """Smallest number of flows in a run: with fewer, two or three flows decide the statistic."""


SMALL_MEAN = Statistic("small_mean", "small", "mean", None, 1)
SMALL_P99 = Statistic("small_p99", "small", "99th percentile", 0.99, 300)
SMALL_P999 = Statistic("small_p999", "small", "99.9th percentile", 0.999, 3000)
LARGE_MEAN = Statistic("large_mean", "large", "mean", None, 1)
LARGE_P99 = Statistic("large_p99", "large", "99th percentile", 0.99, 300)
STATISTICS = (SMALL_MEAN, SMALL_P99, SMALL_P999, LARGE_MEAN, LARGE_P99)


@dataclass(frozen=True)
class Count:
    """Flows of a class in all runs of a scheme."""

    started: int
    completed: int
    timed_out: int = 0
    """Completed ones whose sender waited for a retransmission timeout."""
    runs: int = 1

    @property
    def each(self) -> int:
        """Started flows of a run, on average."""
        return round(self.started / self.runs)

    @property
    def unfinished(self) -> int:
        """Flows that had not completed at the end of their runs."""
        return self.started - self.completed


@dataclass(frozen=True)
class Row:
    """One scheme on one group of flows."""

    scheme: str
    group: str
    small: Count
    large: Count
    samples: Mapping[str, BySeed]
    """By the name of a statistic."""
    base: Mapping[str, BySeed] = field(default_factory=dict)
    """Samples of the scheme that it is compared with; empty for that scheme itself."""

    def value(self, of: Statistic) -> Value | None:
        """The mean over the runs; None without enough flows."""
        return value_of(list(self.samples.get(of.name, {}).values()))

    def change(self, of: Statistic) -> Change | None:
        """Against the base; None for the base itself, or without enough flows."""
        return change(self.samples.get(of.name, {}), self.base.get(of.name, {}))

    def against(self, other: "Row") -> "Row":
        """The same compared with another scheme."""
        return replace(self, base=other.samples)

    def as_json(self) -> dict[str, Any]:
        """As `--format json` and summary.json have it."""
        found: dict[str, Any] = {"scheme": self.scheme, "group": self.group}
        for name, count in (("small", self.small), ("large", self.large)):
            found[name] = {
                "started": count.started,
                "completed": count.completed,
                "timed_out": count.timed_out,
                "in_each_run": count.each,
            }
        for of in STATISTICS:
            value, against = self.value(of), self.change(of)
            is_known = value is not None and math.isfinite(value.mean)
            found[f"{of.name}_us"] = asdict(value) if value is not None and is_known else None
            found[f"{of.name}_change"] = None if against is None else against.as_json()
        return found


def rows_of(
    question: Question,
    finished: "pl.DataFrame",
    asked: "pl.DataFrame",
    sizes: Sizes,
) -> list[Row]:
    """A row for each scheme and group. `asked` are the flows that were to be carried, of each
    condition with its number of seeds in `seeds`; `finished` is `flows.parquet` of the runs. Both
    have a column `group`, and `changed` where only some hosts change.
    """
    import polars as pl

    named = asked["group"].unique(maintain_order=True).to_list()
    of_group = {ALL: pl.lit(True)}
    if len(named) > 1:
        of_group |= {group: pl.col("group") == group for group in named}
    if question.partly:
        of_group |= {CHANGED: pl.col("changed"), OTHERS: ~pl.col("changed")}
    found = []
    for group, is_inside in of_group.items():
        wanted = _wanted(asked.filter(is_inside), sizes)
        inside = finished.filter(is_inside)
        of_scheme = {
            scheme: _row(scheme, group, wanted, inside.filter(pl.col("scheme") == scheme), sizes)
            for scheme in question.schemes
        }
        base = of_scheme[question.schemes[0]]
        found += [row if row is base else row.against(base) for row in of_scheme.values()]
    return found


def _wanted(asked: "pl.DataFrame", sizes: Sizes) -> dict[Seed, dict[str, int]]:
    """Flows that start in each run, by class."""
    found = {}
    for (condition, seeds), flows in asked.group_by("condition", "seeds", maintain_order=True):
        counts = {
            "small": int((flows["bytes"] <= sizes.small).sum()),
            "large": int((flows["bytes"] >= sizes.large).sum()),
        }
        found.update({(str(condition), seed + 1): counts for seed in range(int(str(seeds)))})
    return found


def _row(
    scheme: str,
    group: str,
    wanted: Mapping[Seed, Mapping[str, int]],
    flows: "pl.DataFrame",
    sizes: Sizes,
) -> Row:
    import polars as pl

    of_size = {
        "small": flows.filter(pl.col("bytes") <= sizes.small),
        "large": flows.filter(pl.col("bytes") >= sizes.large),
    }
    samples: dict[str, BySeed] = {}
    counts = {}
    for size, inside in of_size.items():
        times: dict[Seed, list[float]] = {
            (str(condition), int(str(seed))): of["fct_ps"].sort().to_list()
            for (condition, seed), of in inside.group_by("condition", "seed", maintain_order=True)
        }
        for of in STATISTICS:
            if of.size == size:
                samples[of.name] = {
                    run: _statistic(of, times.get(run, []), count[size])
                    for run, count in wanted.items()
                }
        counts[size] = Count(
            started=sum(count[size] for count in wanted.values()),
            completed=len(inside),
            timed_out=int((inside["timeouts"] > 0).sum()),
            runs=max(1, len(wanted)),
        )
    return Row(scheme, group, counts["small"], counts["large"], samples)


def _statistic(of: Statistic, ordered_ps: Sequence[float], started: int) -> float | None:
    """A statistic of the completion times of a run, us. Percentiles cover all started flows, with
    unfinished ones last; a mean covers completed flows.
    """
    if started < of.needed:
        return None
    if of.share is None:
        return math.fsum(ordered_ps) / len(ordered_ps) * 1e-6 if ordered_ps else math.inf
    place = of.share * (started - 1)
    below = math.floor(place)
    if math.ceil(place) >= len(ordered_ps):
        return math.inf
    low, high = ordered_ps[below], ordered_ps[math.ceil(place)]
    return (low + (high - low) * (place - below)) * 1e-6


def as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The frontier as `--format json` prints it."""
    return [row.as_json() for row in rows]

"""Measured values of an experiment's runs, by condition and scheme, over seeds.

A reader takes one number from the summary of a part (docs/results.md); `Results` gives its mean
over the seeds of a cell, with the 95% interval.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from hull.results.statistics import mean_ci95
from hull.runs.plan import part_folder

if TYPE_CHECKING:
    import polars as pl

Summary = dict[str, Any]
Reader = Callable[[Summary], float | None]
"""From the summary of a part to a number; None where the run has none."""


class Estimate(NamedTuple):
    """Mean over seeds and half width of its 95% interval (None for one seed)."""

    mean: float
    ci95: float | None


def over_seeds(values: Iterable[float | None]) -> Estimate | None:
    """The estimate over the seeds that have a value; None if none has."""
    found = [value for value in values if value is not None]
    return Estimate(*mean_ci95(found)) if found else None


def occupancy(statistic: str) -> Reader:
    """Switch latency, us, as the time-weighted queue of the measured port: "mean", "p99", ..."""
    return lambda part: part["switch_latency"]["occupancy"][f"{statistic}_us"]


def queue_of(queue: str, statistic: str) -> Reader:
    """Time-weighted queue, us, of a port ("switch->h0") or of its class ("switch->h0:class0")."""
    return lambda part: float(part["queues"][queue][f"{statistic}_us"])


def probe(statistic: str) -> Reader:
    """Switch latency, us, as probe packets see it, the unloaded latency subtracted."""
    return lambda part: (part["switch_latency"]["probe"] or {}).get(f"{statistic}_us")


def goodput(transport: str) -> Reader:
    """Goodput of a transport's flows, Gbit/s; the flows of [transport] are "default"."""
    return lambda part: float(part["transports"][transport]["goodput_bps"]) / 1e9


def transport_mbps(transport: str) -> Reader:
    """Goodput of a transport's flows, Mbit/s."""
    return lambda part: float(part["transports"][transport]["goodput_bps"]) / 1e6


def fct_of(transport: str, size_class: str, statistic: str) -> Reader:
    """Flow completion time of a size class of a transport, us."""

    def read(part: Summary) -> float | None:
        classes = {of["class"]: of for of in part["transports"][transport]["fct"]}
        found = classes.get(size_class, {}).get(f"{statistic}_us")
        return None if found is None else float(found)

    return read


Completion = Literal["delivered", "acked"]
"""When a flow counts as complete: its last byte has arrived, or its sender has the ACK of it."""


def fct(
    size_class: str, statistic: str, *, unit_us: float = 1.0, until: Completion = "delivered"
) -> Reader:
    """Flow completion time of a size class, in units of `unit_us` us."""

    def read(part: Summary) -> float | None:
        classes: dict[str, Summary] = {entry["class"]: entry for entry in part["fct"]}
        entry = classes.get(size_class, {})
        value = (entry if until == "delivered" else entry.get("acked", {})).get(f"{statistic}_us")
        return None if value is None else value / unit_us

    return read


def query(statistic: str, *, unit_us: float = 1.0) -> Reader:
    """Completion time of queries, in units of `unit_us` us."""

    def read(part: Summary) -> float | None:
        value = (part["queries"] or {}).get(f"{statistic}_us")
        return None if value is None else value / unit_us

    return read


def interval_means(statistic: str, *, rate_bps: float = 1e9) -> "Callable[[pl.DataFrame], float]":
    """Switch latency, us, from latency.parquet: the queue averaged over each time between two
    samples (measure.sample_interval); "mean" or a percentile ("p99") of these averages."""

    def read(latency: "pl.DataFrame") -> float:
        means = latency["queue_mean_bytes"].drop_nulls() * (8e6 / rate_bps)
        if statistic == "mean":
            found = means.mean()
        else:
            found = means.quantile(float(statistic.removeprefix("p")) / 100, "linear")
        return math.nan if found is None else float(found)  # type: ignore[arg-type]

    return read


def goodput_mbps(part: Summary) -> float:
    """Payload delivered to the measured host, Mbit/s."""
    return float(part["throughput"]["goodput_bps"]) / 1e6


def throughput_mbps(part: Summary) -> float:
    """Bytes on the wire of the measured link as a share of its rate, Mbit/s at 1 Gbps."""
    return float(part["throughput"]["utilization"]) * 1e3


class Results:
    """The runs of one experiment."""

    def __init__(self, folder: Path, summary: Summary) -> None:
        """`folder` holds the parts and the merged tables, `summary` the summary over all parts."""
        self.folder = folder
        self.summary = summary
        self._parts: dict[tuple[str, str], list[Summary]] = {}
        for part in summary["parts"]:
            self._parts.setdefault((part["condition"], part["scheme"]), []).append(part)

    def of_seeds(self, seeds: Sequence[int]) -> "Results":
        """The runs of some seeds alone."""
        kept = [part for part in self.summary["parts"] if part["seed"] in seeds]
        return Results(self.folder, {**self.summary, "seeds": list(seeds), "parts": kept})

    @property
    def conditions(self) -> list[str]:
        """Each condition once, in the plan's order."""
        return list(dict.fromkeys(condition for condition, _ in self._parts))

    @property
    def schemes(self) -> list[str]:
        """Each scheme once, in the plan's order."""
        return list(dict.fromkeys(scheme for _, scheme in self._parts))

    @property
    def is_full(self) -> bool:
        """Whether these are results of `--full`; for values that are computed, not simulated."""
        return str(self.summary["name"]).endswith("-full")

    def parts(self, condition: str, scheme: str) -> list[Summary]:
        """The summaries of a cell's parts, one per seed; empty where the cell was not run."""
        return self._parts.get((condition, scheme), [])

    def estimate(self, condition: str, scheme: str, read: Reader) -> Estimate | None:
        """Mean over the seeds that have the value; None where none has."""
        return over_seeds(read(part) for part in self.parts(condition, scheme))

    def of_table(
        self, name: str, condition: str, scheme: str, read: "Callable[[pl.DataFrame], float]"
    ) -> Estimate | None:
        """Mean over the seeds of a number that is read from a table of each part."""
        seeds = self.summary["seeds"] if self.parts(condition, scheme) else []
        return over_seeds(read(self.table(name, condition, scheme, seed)) for seed in seeds)

    def mean(self, condition: str, scheme: str, read: Reader) -> float:
        """The mean alone; NaN if absent, so that no claim holds with it."""
        found = self.estimate(condition, scheme, read)
        return math.nan if found is None else found.mean

    def part_folder(self, condition: str, scheme: str, seed: int | None = None) -> Path:
        """Where the tables of one part are; of the first seed if none is given."""
        chosen = self.summary["seeds"][0] if seed is None else seed
        return self.folder / part_folder(condition, scheme, chosen)

    @cached_property
    def flows(self) -> "pl.LazyFrame":
        """flows.parquet of all parts together."""
        import polars as pl

        flows = pl.scan_parquet(self.folder / "flows.parquet", glob=False)
        return flows.filter(pl.col("seed").is_in(self.summary["seeds"]))

    def table(self, name: str, condition: str, scheme: str, seed: int | None = None) -> Any:
        """A table of one part ("queues", "series", ...) as a polars data frame."""
        import polars as pl

        folder = self.part_folder(condition, scheme, seed)
        return pl.read_parquet(folder / f"{name}.parquet", glob=False)


class Measure(Protocol):
    """A function from the results of a cell to a value."""

    def __call__(self, results: Results, condition: str, scheme: str) -> Estimate | None:
        """The estimate; None if nothing was measured."""


def from_summary(read: Reader) -> Measure:
    """A value from the summary of a part."""
    return lambda results, condition, scheme: results.estimate(condition, scheme, read)


def from_table(name: str, read: "Callable[[pl.DataFrame], float]") -> Measure:
    """A value computed from a table of a part."""
    return lambda results, condition, scheme: results.of_table(name, condition, scheme, read)


def value(measure: Measure, results: Results, condition: str, scheme: str) -> float:
    """The mean over seeds; NaN if absent, so that no claim holds with it."""
    found = measure(results, condition, scheme)
    return math.nan if found is None else found.mean

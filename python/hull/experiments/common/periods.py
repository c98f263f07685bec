"""Rates of flows and the measured port's queue in periods of a run, as recorded runs list them.

Rates in Gbps come from series.parquet and need its rows at both ends of a period; queues are the
samples of latency.parquet. Flows are known by their sources. Times are in ms.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hull.experiments.common.experiment import Point
from hull.experiments.common.measured import Estimate, Results
from hull.results.fairness import jain

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Period:
    """A part of a run and the sources that send in it."""

    begin_ms: float
    end_ms: float
    sources: tuple[int, ...]
    name: str = ""
    condition: str = ""
    """The run's condition in the results."""
    wire: float = 1.0
    """Bytes on the wire per byte of payload, if rates count headers."""

    def rates(self, results: Results, scheme: str) -> list[float]:
        """Rate of each source, Gbps."""
        return [self._rate(results, scheme, source) for source in self.sources]

    def sum(self, results: Results, scheme: str) -> float:
        """Sum of the rates, Gbps."""
        return sum(self.rates(results, scheme))

    def jain(self, results: Results, scheme: str) -> float:
        """Jain's index of the rates."""
        return jain(self.rates(results, scheme))

    def queue(self, results: Results, scheme: str) -> Array:
        """Samples of the queue, bytes."""
        at, waiting = queue(results, self.condition, scheme)
        return waiting[(at >= self.begin_ms) & (at < self.end_ms)]

    def _rate(self, results: Results, scheme: str, source: int) -> float:
        at, delivered = deliveries(results, self.condition, scheme, source)
        begin, end = (
            float(np.interp(ms, at, delivered, left=0.0)) for ms in (self.begin_ms, self.end_ms)
        )
        return self.wire * (end - begin) * 8e-6 / (self.end_ms - self.begin_ms)


def deliveries(results: Results, condition: str, scheme: str, source: int) -> tuple[Array, Array]:
    """Sample times (ms) and the bytes that had arrived from a source; first seed."""
    series = _table(results, "series", condition, scheme)
    rows = series.filter(series["src"] == source)
    return rows["time_ps"].to_numpy() * 1e-9, rows["delivered_bytes"].to_numpy().astype(float)


def rates_over(
    results: Results, condition: str, scheme: str, source: int
) -> tuple[list[float], list[float]]:
    """Middle of each two samples (ms) and the rate between them (Gbps)."""
    at, delivered = deliveries(results, condition, scheme, source)
    return list((at[1:] + at[:-1]) / 2), list(np.diff(delivered) * 8e-6 / np.diff(at))


def queue(results: Results, condition: str, scheme: str) -> tuple[Array, Array]:
    """Times (ms) and samples (bytes) of the measured port's queue; first seed."""
    samples = _table(results, "latency", condition, scheme).drop_nulls("queue_bytes")
    return samples["time_ps"].to_numpy() * 1e-9, samples["queue_bytes"].to_numpy().astype(float)


@lru_cache(maxsize=16)
def _table(results: Results, name: str, condition: str, scheme: str) -> "pl.DataFrame":
    seed = results.parts(condition, scheme)[0]["seed"]
    table: pl.DataFrame = results.table(name, condition, scheme, seed)
    return table


def point(
    period: Period,
    scheme: str,
    metric: str,
    statistic: str,
    recorded: float,
    read: Callable[[Results], float],
) -> Point:
    """A recorded number of a period; `read` measures it."""

    def measure(results: Results) -> Estimate | None:
        if not results.parts(period.condition, scheme):
            return None
        return Estimate(read(results), None)

    return Point(period.name, scheme, metric, statistic, recorded, measure)


def rate_points(
    period: Period, scheme: str, recorded: Sequence[float], names: Sequence[str]
) -> Iterator[Point]:
    """A point for the recorded rate of each source; `names` are the sources' names."""
    for index, (value, name) in enumerate(zip(recorded, names, strict=True)):
        yield point(
            period,
            scheme,
            "rate_gbps",
            name,
            value,
            lambda results, index=index: period.rates(results, scheme)[index],  # type: ignore[misc]
        )

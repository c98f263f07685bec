"""Oscillation of a queue: period, extremes and mean over time, from latency.parquet.

Units: packets of 1500 bytes, seconds.
"""

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hull.experiments.common.measured import Results

if TYPE_CHECKING:
    import polars as pl

_PACKET_BYTES = 1500


class Swing(NamedTuple):
    """Means over the periods of one run, or over several runs."""

    period_s: float
    low: float
    """Lowest queue of a period."""
    high: float
    """Highest queue of a period."""
    mean: float

    @property
    def amplitude(self) -> float:
        """Difference between highest and lowest."""
        return self.high - self.low


def queue(latency: "pl.DataFrame") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times and queue as sampled; shape (n,) each."""
    samples = latency.drop_nulls("queue_bytes")
    return samples["time_ps"].to_numpy() * 1e-12, samples["queue_bytes"].to_numpy() / _PACKET_BYTES


def swing(results: Results, condition: str, scheme: str) -> Swing:
    """The oscillation of a cell's queue, averaged over its seeds."""
    found = []
    for part in results.parts(condition, scheme):
        times, packets = queue(results.table("latency", condition, scheme, part["seed"]))
        falls = _falls(packets)
        periods = [packets[a:b] for a, b in pairwise(falls)]
        found.append(
            (
                float(np.mean(np.diff(times[falls]))),
                np.mean([p.min() for p in periods]),
                np.mean([p.max() for p in periods]),
                packets.mean(),
            )
        )
    return Swing(*(float(value) for value in np.mean(found, axis=0)))


def _falls(queue: NDArray[np.float64]) -> list[int]:
    """Indices at which the queue falls from the upper third of its range into the lower third."""
    low, high = np.percentile(queue, [2, 98])
    found, above = [], False
    for i, value in enumerate(queue):
        if value > high - (high - low) / 3:
            above = True
        elif above and value < low + (high - low) / 3:
            found.append(i)
            above = False
    return found

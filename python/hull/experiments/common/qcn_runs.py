"""Runs of ten QCN sources (scenario thesis-qcn): their variants and measurements.

Queues are in packets of 1500 bytes, rates of one source in Mbit/s, times in ms.
"""

import math
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hull.experiments.common.experiment import Variant
from hull.experiments.common.measured import Results, Summary
from hull.report.schemes import BLUE, GREEN, ORANGE, PURPLE, VERMILION, Scheme

if TYPE_CHECKING:
    import polars as pl

LOOKS = (
    Scheme("qcn", "QCN", BLUE, (5, 2), "s"),
    Scheme("qcn_aimd", "QCN-AIMD", VERMILION, (2, 2), "o"),
    Scheme("qcn_small_packets", "QCN with packets of 375 bytes", PURPLE, (2, 2), "o"),
    Scheme("qcn_8021qau", "QCN as 802.1Qau", GREEN, (), "D"),
    Scheme("qcn_aimd_8021qau", "QCN-AIMD as 802.1Qau", ORANGE, (10, 3), "^"),
)

Array = NDArray[np.float64]

QCN, AIMD = "qcn", "qcn_aimd"
"""As thesis 5.2 and 5.4.1 describe them."""
QCN_STANDARD, AIMD_STANDARD = "qcn_8021qau", "qcn_aimd_8021qau"
"""With details of IEEE 802.1Qau."""
SMALL_PACKETS = "qcn_small_packets"
"""QCN as described, packets of a quarter of the size."""
WARMUP_MS = 40
STEP_MS = 0.01
"""Time between two samples of the queue."""
MBPS = 12e-3
"""A packet per second."""


class Series(NamedTuple):
    """A quantity over the measured time, from 0 on."""

    time: Array
    value: Array

    def shown(self, start_ms: float, end_ms: float) -> tuple[list[float], list[float]]:
        """Time from `start_ms` on, and values, every 50 us at most."""
        step = max(1, round(0.05 / float(self.time[1] - self.time[0])))
        time, value = self.time[::step], self.value[::step]
        kept = (time >= start_ms) & (time < end_ms)
        return list(time[kept] - start_ms), list(value[kept])


def name(rtt_us: int) -> str:
    """The name of a round trip in results."""
    return f"{rtt_us}us"


def variant(rtt_us: int, schemes: tuple[str, ...]) -> Variant:
    """The runs with this round trip, which is the feedback delay."""
    return Variant(
        {"": name(rtt_us)},
        overrides=(f'topology.dumbbell.rtts=["{rtt_us}us"]',),
        schemes=schemes,
    )


def _table(results: Results, table: str, rtt_us: int, scheme: str, seed: int) -> "pl.DataFrame":
    import polars as pl

    rows: pl.DataFrame = results.table(table, name(rtt_us), scheme, seed)
    return rows.filter(pl.col("time_ps") >= WARMUP_MS * 10**9).with_columns(
        time_ms=pl.col("time_ps") / 1e9 - WARMUP_MS
    )


def seeds(results: Results, rtt_us: int, scheme: str) -> list[int]:
    """The seeds that were run."""
    return [part["seed"] for part in results.parts(name(rtt_us), scheme)]


def queue(results: Results, rtt_us: int, scheme: str, seed: int) -> Series:
    """The bottleneck's queue, packets."""
    rows = _table(results, "latency", rtt_us, scheme, seed).drop_nulls("queue_bytes")
    return Series(rows["time_ms"].to_numpy(), rows["queue_bytes"].to_numpy() / 1500)


def rate(results: Results, rtt_us: int, scheme: str, seed: int) -> Series:
    """R_C, averaged over the sources, Mbit/s."""
    import polars as pl

    rows = _table(results, "series", rtt_us, scheme, seed)
    means = (
        rows.group_by("time_ms", maintain_order=True).agg(pl.col("rate_bps").mean()).sort("time_ms")
    )
    return Series(means["time_ms"].to_numpy(), means["rate_bps"].to_numpy() / 1e6)


class Queue(NamedTuple):
    """A queue over the measured time, averaged over seeds."""

    mean: float
    deviation: float
    """Standard deviation, packets."""
    empty_pct: float
    """Percent of the samples that find nothing waiting."""

    def words(self) -> str:
        """The text of a finding."""
        return f"{self.mean:.1f} +- {self.deviation:.1f}, empty {self.empty_pct:.2f}%"


def of_queue(results: Results, rtt_us: int, scheme: str) -> Queue:
    """Mean, deviation and emptiness of the queue."""
    found = []
    for seed in seeds(results, rtt_us, scheme):
        packets = queue(results, rtt_us, scheme, seed).value
        found.append((packets.mean(), packets.std(), 100 * (packets == 0).mean()))
    return Queue(*(float(value) for value in np.mean(found, axis=0)))


@cache
def model(rtt_us: int) -> tuple[Series, Series]:
    """Queue and rate of QCN's fluid model over 100 ms after its transient."""
    from hull.theory.qcn import Qcn
    from hull.theory.qcn_fluid import Fluid

    qcn = Qcn()
    run = Fluid(qcn, rtt_us * 1e-6).run((WARMUP_MS + 100) * 1e-3, qcn.rate)
    times = np.arange(0, 100, STEP_MS)
    values = [
        np.interp(times, run.time * 1e3 - WARMUP_MS, values)
        for values in (run.queue, run.current * MBPS)
    ]
    return Series(times, values[0]), Series(times, values[1])


def lag_ms(found: Series, expected: Series, most_ms: float) -> float:
    """The lag of the measured series behind the expected one: the shift with the best match, ms."""
    length = int((expected.time[-1] - most_ms) / STEP_MS)
    times = STEP_MS * np.arange(length)
    measured = np.interp(times, found.time, found.value)
    lags = np.arange(0, most_ms, 5 * STEP_MS)
    moved = [np.interp(times + lag, expected.time, expected.value) for lag in lags]
    gaps = [float(np.mean((values - measured) ** 2)) for values in moved]
    return float(lags[int(np.argmin(gaps))])


def period_ms(series: Series, depth: float) -> float:
    """Mean time between two peaks, each more than `depth` above the lows beside it."""
    peaks: list[float] = []
    rising, extreme, at = True, float(series.value[0]), float(series.time[0])
    for time, value in zip(series.time.tolist(), series.value.tolist(), strict=True):
        if value > extreme if rising else value < extreme:
            extreme, at = value, time
        elif abs(value - extreme) >= depth:
            if rising:
                peaks.append(at)
            rising, extreme, at = not rising, value, time
    return (peaks[-1] - peaks[0]) / (len(peaks) - 1) if len(peaks) > 1 else math.inf


def utilization_pct(part: Summary) -> float:
    """Utilization of the bottleneck, percent."""
    return 100 * float(part["throughput"]["utilization"])

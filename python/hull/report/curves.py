"""Curves: samples of a run thinned to what a chart can show.

A CDF keeps a few hundred of its points, more of them in the upper tail, each exact. A queue over
time keeps minimum, mean and maximum of each of a few hundred equal stretches of time, so that no
peak is lost. Latency in µs, FCT in its
class's unit, queues in KB (1000 bytes), time in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from hull.report.seed_means import FlowClass

PS_PER_US = 1_000_000
PS_PER_S = 1_000_000_000_000
BYTES_PER_KB = 1000
# Below this a logarithmic axis ends: 0.1 µs is 12.5 bytes at 1 Gbps, 0.1 KB less than any packet
# with data, so what is drawn at the edge was an empty queue.
LOG_FLOOR = 0.1
# Where the tail of a CDF begins, which gets half of the points.
_TAIL_FROM = 0.9


@dataclass(frozen=True)
class Cdf:
    """`share[i]` of a cell's samples are at most `value[i]`; both ascend.

    The k-th of n samples has the share (k - 1/2)/n, which never reaches 1.
    """

    condition: str
    scheme: str
    value: list[float]
    share: list[float]


@dataclass(frozen=True)
class Envelope:
    """A queue over time: least, mean and largest KB in the stretch from `time_s[i]`."""

    condition: str
    scheme: str
    seed: int
    time_s: list[float]
    low_kb: list[float]
    mean_kb: list[float]
    high_kb: list[float]


def fct_cdfs(flows: pl.LazyFrame, flow_class: FlowClass, points: int) -> list[Cdf]:
    """Flow completion times of one class in the class's unit, seeds pooled."""
    chosen = flows.filter(pl.col("class") == flow_class.name)
    return cdfs_of(chosen, pl.col("fct_ps") / (PS_PER_US * flow_class.unit_us), points)


def probe_cdfs(latency: pl.LazyFrame, points: int) -> list[Cdf]:
    """Queueing latency of the probe packets in µs, seeds pooled; empty without probes."""
    chosen = latency.filter(pl.col("probe_ps").is_not_null())
    return cdfs_of(chosen, (pl.col("probe_ps") / PS_PER_US).clip(LOG_FLOOR), points)


def queue_cdfs(latency: pl.LazyFrame, points: int) -> list[Cdf]:
    """KB waiting in the measured port as sampled at a fixed interval, seeds pooled."""
    chosen = latency.filter(pl.col("queue_bytes").is_not_null())
    return cdfs_of(chosen, (pl.col("queue_bytes") / BYTES_PER_KB).clip(LOG_FLOOR), points)


def cdfs_of(frame: pl.LazyFrame, value: pl.Expr, points: int) -> list[Cdf]:
    """The distribution of `value` for each `condition` and `scheme` of the frame."""
    # One cell after the other: a run may have millions of flows.
    cells = frame.select("condition", "scheme").unique(maintain_order=True)
    curves = []
    for condition, scheme in cells.collect(engine="streaming").iter_rows():
        cell = frame.filter(pl.col("condition") == condition, pl.col("scheme") == scheme)
        samples = cell.select(value.alias("value")).collect(engine="streaming")["value"].sort()
        last = _cdf_indices(len(samples), points)
        # Of equal values the last one carries the share of samples that are at most as large.
        curve = pl.DataFrame({"value": samples.gather(last), "rank": last})
        curve = curve.group_by("value", maintain_order=True).agg(pl.col("rank").max()).sort("value")
        share = (curve["rank"] + 0.5) / len(samples)
        curves.append(Cdf(str(condition), str(scheme), curve["value"].to_list(), share.to_list()))
    return curves


def _cdf_indices(samples: int, points: int) -> list[int]:
    """Which of the sorted samples to keep: half of the points evenly spaced up to `_TAIL_FROM`,
    half evenly spaced on the stretched share axis from there to the largest.
    """
    body = points // 2
    shares = [_TAIL_FROM * step / body for step in range(body)]
    rarest = min(1 - _TAIL_FROM, 0.5 / samples)
    tail = points - body
    for step in range(tail):
        above = (1 - _TAIL_FROM) * (rarest / (1 - _TAIL_FROM)) ** (step / (tail - 1))
        shares.append(1 - above)
    return sorted({min(samples - 1, int(share * samples)) for share in shares})


def queue_envelopes(latency: pl.LazyFrame, bins: int) -> list[Envelope]:
    """The queue over time of the first seed of each cell, in at most `bins` stretches."""
    chosen = latency.filter(pl.col("queue_bytes").is_not_null())
    firsts = chosen.group_by("condition", "scheme", maintain_order=True).agg(pl.col("seed").first())
    curves = []
    for condition, scheme, seed in firsts.collect(engine="streaming").iter_rows():
        keys = {"condition": condition, "scheme": scheme, "seed": seed}
        samples = (
            chosen.filter(*(pl.col(name) == value for name, value in keys.items()))
            .select("time_ps", "queue_bytes")
            .collect(engine="streaming")
            .sort("time_ps")
        )
        times = samples["time_ps"]
        span_ps = times[-1] - times[0] + 1
        curve = (
            samples.group_by((pl.col("time_ps") - times[0]) * bins // span_ps, maintain_order=True)
            .agg(
                pl.col("time_ps").first().alias("start_ps"),
                pl.col("queue_bytes").min().alias("low"),
                pl.col("queue_bytes").mean().alias("mean"),
                pl.col("queue_bytes").max().alias("high"),
            )
            .sort("start_ps")
        )
        curves.append(
            Envelope(
                str(condition),
                str(scheme),
                int(str(seed)),
                (curve["start_ps"] / PS_PER_S).to_list(),
                (curve["low"] / BYTES_PER_KB).to_list(),
                (curve["mean"] / BYTES_PER_KB).to_list(),
                (curve["high"] / BYTES_PER_KB).to_list(),
            )
        )
    return curves

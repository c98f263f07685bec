"""How flows share a link, and how long they take to get there: from `Result.series`.

Jain's index and the throughput of each flow over time are the measures of thesis 2.3.1 (figure
2.16), the convergence time is defined in thesis 3.3.3 (figure 3.11): how long until all flows are
within 10% of their fair share.

The functions take the rows of one run; from a result with several, choose first:
`result.series.filter(pl.col("scheme") == "dctcp")`.
"""

import math
from collections.abc import Iterable

import polars as pl

_PS = 1e12
_RUN = ("condition", "scheme", "seed")


def jain(throughputs: Iterable[float]) -> float:
    """Jain's fairness index, (sum x)^2 / (n sum x^2): 1 if all are equal, 1/n if one has all.

    Raises ValueError without values, for a negative value, or if all are 0.
    """
    values = [float(value) for value in throughputs]
    squares = math.fsum(value * value for value in values)
    if not values or min(values) < 0 or squares == 0:
        raise ValueError(f"{values!r} is invalid; expected throughputs of 0 and more, not all 0")
    return math.fsum(values) ** 2 / (len(values) * squares)


def throughput(series: pl.DataFrame, interval: float) -> pl.DataFrame:
    """Throughput of each flow over time.

    `series` is `Result.series`, or at least its columns `time_ps`, `flow`, `delivered_bytes`;
    `interval` is in seconds. Intervals begin at time 0. The frame has one row for each flow and
    interval in which it was sampled: `flow`, `time_ps` (the end of the interval), `bps`. The last
    sample in an interval represents its end, so the sampling interval should divide `interval`.
    """
    if not interval > 0:
        raise ValueError(f"interval: {interval!r} is invalid; expected a time above 0, in seconds")
    _one_run(series)
    step_ps = round(interval * _PS)
    # A sample at the end of an interval belongs to it.
    place = (pl.col("time_ps") + step_ps - 1) // step_ps
    ends = (
        series.sort("flow", "time_ps")
        .group_by("flow", (place * step_ps).alias("end_ps"), maintain_order=True)
        .agg(pl.col("time_ps").last(), pl.col("delivered_bytes").last())
    )
    since_ps = pl.col("time_ps") - pl.col("time_ps").shift(1).over("flow")
    bits = 8 * (pl.col("delivered_bytes") - pl.col("delivered_bytes").shift(1).over("flow"))
    return (
        ends.select("flow", "end_ps", (bits / (since_ps / _PS)).alias("bps"))
        .drop_nulls("bps")
        .rename({"end_ps": "time_ps"})
    )


def convergence_time(
    series: pl.DataFrame,
    share: float,
    tolerance: float = 0.1,
    hold: float = 0.0,
    *,
    interval: float | None = None,
    start: float | None = None,
) -> float | None:
    """Seconds until the rates of all flows are within `tolerance` (a share) of `share`.

    With `interval` (seconds), `share` is in bit/s and a rate is the throughput over that interval;
    without it, `share` is in bytes and a rate is the congestion window, sample by sample, as in
    thesis 3.3.3. Time counts from `start` (seconds), by default from the first sample of the
    flow that came last. The rates must stay there at every sample for `hold` seconds; 0 gives the
    first time that they are, as in the thesis. None if they never are.
    """
    if not share > 0 or not tolerance > 0 or not hold >= 0:
        raise ValueError("share and tolerance must be above 0, hold at least 0")
    _one_run(series)
    if series.is_empty():
        return None
    openings = (
        series.group_by("flow", maintain_order=True)
        .agg(pl.col("time_ps").min())["time_ps"]
        .to_list()
    )
    start_ps = max(openings) if start is None else round(start * _PS)
    rates = (
        series.select("flow", "time_ps", pl.col("cwnd_bytes").cast(pl.Float64).alias("rate"))
        if interval is None
        else throughput(series, interval).rename({"bps": "rate"})
    )
    near = (pl.col("rate") / share - 1).abs() <= tolerance
    times = (
        rates.filter(pl.col("time_ps") >= start_ps)
        .group_by("time_ps", maintain_order=True)
        .agg((near.all() & (pl.len() == len(openings))).alias("near"))
        .sort("time_ps")
    )
    began_ps: int | None = None
    for time_ps, is_near in times.iter_rows():
        if not is_near:
            began_ps = None
            continue
        began_ps = time_ps if began_ps is None else began_ps
        if time_ps - began_ps >= hold * _PS:
            return float((began_ps - start_ps) / _PS)
    return None


def _one_run(series: pl.DataFrame) -> None:
    """ValueError when the rows are of several runs."""
    keys = [key for key in _RUN if key in series.columns]
    if keys and series.select(keys).n_unique() > 1:
        raise ValueError(
            "the series has several runs: choose one by its condition, scheme and seed"
        )

"""Flows that took longer in the trace than their size needs: a program or another limit paced them.

An idle network needs the rounds of slow start and the time of all bits on the host's link. hull
replays a flow as fast as the simulated network allows, so the page says how many bytes were slower.
Times in ps, sizes in bytes, rates in bit/s.
"""

from typing import TYPE_CHECKING

from hull.ask.counts import counted

if TYPE_CHECKING:
    import polars as pl

FACTOR = 10
"""Times the need, from which a queue does not explain a flow's duration."""
_FIRST_WINDOW = 10 * 1460
"""Bytes of the first round of slow start; each round has twice those of the one before."""


def needed_ps(bytes_: "pl.Expr", rate_bps: float, round_trip_s: float) -> "pl.Expr":
    """Time of a flow of this size between idle hosts."""
    rounds = (bytes_ / _FIRST_WINDOW + 1).log(2).ceil()
    return 1e12 * (rounds * round_trip_s + 8 * bytes_ / rate_bps)


def said_of_durations(
    flows: "pl.DataFrame", rate_bps: float, round_trip_s: float, tick_ps: int
) -> tuple[str, ...]:
    """A sentence for the page, if durations are known and some flows were slower; `tick_ps`: the
    step of the trace's clock.
    """
    import polars as pl

    if "duration_ps" not in flows.columns:
        return ()
    bytes_ = pl.col("bytes").cast(pl.Float64)
    lasted = pl.col("duration_ps").cast(pl.Float64)
    times = lasted / needed_ps(bytes_, rate_bps, round_trip_s)
    # An end and a start are off by up to a step each.
    slow = flows.filter((times > FACTOR) & (lasted > 2 * tick_ps)).select(
        "bytes", times.alias("times")
    )
    if slow.is_empty():
        return ()
    part = 100 * int(slow["bytes"].sum()) / max(1, int(flows["bytes"].sum()))
    times_ = slow["times"].sort().to_list()
    median = times_[len(times_) // 2]
    return (
        f"By their recorded durations, {counted(len(slow), 'flow')} with {part:.3g}% of the bytes "
        f"took more than {FACTOR} times as long as their size needs on an idle network (median "
        f"{median:,.0f} times): a program or another limit paced them. They are replayed as fast "
        "as the network allows, in shorter bursts than recorded.",
    )

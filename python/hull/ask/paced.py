"""Transfers that took longer in the trace than their size needs: a program, a disk or another limit
paced them.

They are replayed at their recorded rate, as writes of 64 KB at most that are evenly spaced over
their duration, each with a connection of its own. They load the network and count in no statistic,
as the network does not decide how long they take. `--as-fast-as-possible` replays them like all
others. An idle network needs the rounds of slow start and the time of all bits on the host's link.
Times in ps, sizes in bytes, rates in bit/s.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from hull.ask.counts import counted, size
from hull.ask.network import Network
from hull.ask.placement import Placed

if TYPE_CHECKING:
    import polars as pl

FACTOR = 10
"""Times the need, from which a queue does not explain a duration."""
WRITE = 65_536
"""Most bytes of a write: what the stack passes to the NIC at once."""
_FIRST_WINDOW = 10 * 1460
"""Bytes of the first round of slow start; each later round has twice as many."""


def needed_ps(bytes_: "pl.Expr", rate_bps: float, round_trip_s: float) -> "pl.Expr":
    """Time of a transfer of this size between idle hosts."""
    rounds = (bytes_ / _FIRST_WINDOW + 1).log(2).ceil()
    return 1e12 * (rounds * round_trip_s + 8 * bytes_ / rate_bps)


def at_recorded_rates(
    placed: Placed, network: Network, *, as_fast_as_possible: bool
) -> tuple[Placed, tuple[str, ...]]:
    """The flows with a column `write`, true for the writes of paced transfers; and what the page
    says of these.
    """
    import polars as pl

    flows = placed.flows
    plain = flows.with_columns(pl.lit(value=False).alias("write"))
    if "duration_ps" not in flows.collect_schema().names():
        return replace(placed, flows=plain), ()
    bytes_, lasted = pl.col("bytes").cast(pl.Float64), pl.col("duration_ps").cast(pl.Float64)
    times = lasted / needed_ps(bytes_, network.rate_bps, network.round_trip_s)
    # An end and a start are off by up to a step each; a window of data has no rate.
    is_paced = (
        (times > FACTOR)
        & (lasted > 2 * placed.trace.resolution_ps)
        & (pl.col("bytes") > _FIRST_WINDOW)
    ).fill_null(value=False)
    found = flows.select(
        is_paced.sum().alias("transfers"),
        bytes_.filter(is_paced).sum().alias("bytes"),
        times.filter(is_paced).median().alias("median"),
        bytes_.sum().alias("all"),
        (bytes_ / WRITE).ceil().filter(is_paced).sum().alias("writes"),
    ).collect(engine="streaming")
    transfers, paced_bytes, median, all_bytes, writes = found.row(0)
    if not transfers:
        return replace(placed, flows=plain), ()
    told = (
        f"By their recorded durations, {counted(transfers, 'transfer')} with {size(paced_bytes)} "
        f"({100 * paced_bytes / all_bytes:.3g}% of the bytes) took more than {FACTOR} times as "
        f"long as their size needs on an idle network (median {median:,.0f} times): a program or "
        "another limit paced them. "
    )
    if as_fast_as_possible:
        told += "They are replayed as fast as the network allows (--as-fast-as-possible)."
        return replace(placed, flows=plain), (told,)
    told += (
        f"They are replayed at their recorded rates, as {counted(int(writes), 'write')} of 64 KB "
        "at most, evenly spaced, which count in no statistic; --as-fast-as-possible replays them "
        "like all others."
    )
    others = plain.filter(~is_paced)
    both = pl.concat([others, _writes(flows.filter(is_paced))], how="diagonal_relaxed")
    return replace(placed, flows=both), (told,)


def _writes(transfers: "pl.LazyFrame") -> "pl.LazyFrame":
    """The writes of each transfer; the last one has what is left."""
    import polars as pl

    whole, lasted = pl.col("bytes").cast(pl.Int64), pl.col("duration_ps")
    count = (whole + (WRITE - 1)) // WRITE
    each = transfers.with_columns(pl.int_ranges(0, count).alias("number"), count.alias("count"))
    apart = lasted // pl.col("count")
    return (
        each.explode("number")
        .with_columns(
            pl.col("start_ps") + pl.col("number") * apart,
            pl.min_horizontal(pl.lit(WRITE), whole - pl.col("number") * WRITE)
            .cast(pl.UInt64)
            .alias("bytes"),
            pl.lit(None, pl.Int64).alias("duration_ps"),
            pl.lit(value=True).alias("write"),
        )
        .drop("number", "count")
    )

"""Which host of the network each address of a trace is; bytes are those sent and received.

Three ways: a table of addresses and hosts or racks, prefixes (`10.1.0.0/24=0-19`,
`10.2.0.0/24=rack:1`), or a guess. What a table or prefixes leave out is outside and goes through
one gateway host.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hull.ask.addresses import Address, parsed, spellings
from hull.ask.counts import Counts, Dropped, counted, number, size
from hull.ask.guessed_places import guess
from hull.ask.place_rules import Places, by_prefixes, by_table
from hull.ask.trace import Trace
from hull.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

_MOST_OUTSIDE = 0.9
_ADVICE = (
    "give --place PREFIX=HOSTS or a table that covers them, such as --place 10.1.0.0/24=rack:0"
)


@dataclass(frozen=True)
class Placed:
    """A trace between hosts of the network."""

    flows: "pl.LazyFrame"
    """start_ps (Int64), src, dst (UInt32), bytes (UInt64), duration_ps (Int64, null where unknown),
    src_address, dst_address (String); ports and group where the trace has them.
    """
    counts: Counts
    how: str
    """A sentence for the page."""
    addresses: "pl.DataFrame"
    """address, bytes, host (UInt32), how (table, prefix, guess, gateway), by bytes."""
    trace: Trace


def place(
    trace: Trace,
    racks: Sequence[Sequence[int]],
    table: Path | None = None,
    prefixes: Sequence[str] = (),
    gateway: int | None = None,
    names: Mapping[str, int] | None = None,
) -> Placed:
    """The flows of a trace between the hosts of `racks`.

    `names`: hosts by name, if the table has names; `gateway`: the host for addresses outside
    (default: the last one). Raises UsageError.
    """
    import polars as pl

    hosts = [host for rack in racks for host in rack]
    if len(hosts) < 2:
        raise UsageError(f"--topology: {counted(len(hosts), 'host')}; expected at least 2")
    if gateway is not None and gateway not in hosts:
        raise UsageError(
            f"--gateway: {gateway} is invalid; expected a host, {min(hosts)} to {max(hosts)}"
        )
    if table is not None and prefixes:
        raise UsageError("--place: must not be given as a table and as prefixes")
    through = max(hosts) if gateway is None else gateway
    totals = _totals(trace.flows)
    spelled = spellings(totals["address"])
    if spelled:
        ends = pl.col("src", "dst").replace(spelled)
        trace = replace(trace, flows=trace.flows.with_columns(ends))
        totals = _totals(trace.flows)
    addresses = [
        Address(text, bytes_, parsed(text))
        for text, bytes_ in zip(totals["address"], totals["bytes"], strict=True)
    ]
    if table is not None:
        places = by_table(table, addresses, racks, names or {})
    elif prefixes:
        places = by_prefixes(prefixes, addresses, racks)
    else:
        places = guess(addresses, racks, gateway)
    host_of = [places.host_of.get(address.text, through) for address in addresses]
    outside = [address.text not in places.host_of for address in addresses]
    how = ["gateway" if away else places.kind for away in outside]
    if all(outside):
        shown = ", ".join(totals["address"].head(3))
        raise UsageError(
            f"--place: none of {counted(len(addresses), 'address', 'addresses')} of the trace "
            f"({shown}, ...) is in the network; {_ADVICE}"
        )
    whole = totals.with_columns(
        pl.Series("host", host_of, dtype=pl.UInt32),
        pl.Series("how", how, dtype=pl.String),
        pl.Series("outside", outside, dtype=pl.Boolean),
    )
    joined = _joined(trace.flows, whole)
    counts = _counts(trace, joined, places, whole, through)
    away, same = _left_out()
    flows = joined.filter(~away & ~same).drop("src_outside", "dst_outside")
    sentence = f"{places.how}{_said_of_gateway(whole, through)}"
    return Placed(flows, counts, sentence, whole.drop("outside"), trace)


def _totals(flows: "pl.LazyFrame") -> "pl.DataFrame":
    """Bytes of every address, most first."""
    import polars as pl

    def ends(role: str) -> "pl.DataFrame":
        one = flows.group_by(pl.col(role).alias("address"), maintain_order=True)
        return one.agg(pl.col("bytes").sum()).collect(engine="streaming")

    both = pl.concat([ends("src"), ends("dst")])
    summed = both.group_by("address", maintain_order=True).agg(pl.col("bytes").sum())
    return summed.sort(["bytes", "address"], descending=[True, False])


def _joined(flows: "pl.LazyFrame", whole: "pl.DataFrame") -> "pl.LazyFrame":
    import polars as pl

    places = whole.lazy().select("address", "host", "outside")
    for role in ("src", "dst"):
        # Without the order of the left side, rows of one start would change places.
        flows = flows.join(
            places.rename({"address": role, "host": f"{role}_host", "outside": f"{role}_outside"}),
            on=role,
            how="left",
            maintain_order="left",
        )
    extra = [
        name for name in ("src_port", "dst_port", "group") if name in flows.collect_schema().names()
    ]
    return flows.select(
        "start_ps",
        pl.col("src_host").alias("src"),
        pl.col("dst_host").alias("dst"),
        "bytes",
        "duration_ps",
        pl.col("src").alias("src_address"),
        pl.col("dst").alias("dst_address"),
        *extra,
        "src_outside",
        "dst_outside",
    )


def _left_out() -> "tuple[pl.Expr, pl.Expr]":
    """Flows between two addresses outside, and other flows from a host to itself."""
    import polars as pl

    away = pl.col("src_outside") & pl.col("dst_outside")
    return away, ~away & (pl.col("src") == pl.col("dst"))


def _counts(
    trace: Trace, joined: "pl.LazyFrame", places: Places, whole: "pl.DataFrame", through: int
) -> Counts:
    import polars as pl

    away, same = _left_out()
    crossing = (pl.col("src_outside") | pl.col("dst_outside")) & ~away & ~same
    asked = [pl.len().alias("rows"), pl.col("bytes").sum()]
    for name, which in (("away", away), ("same", same), ("crossing", crossing)):
        asked += [
            which.sum().alias(name),
            pl.col("bytes").filter(which).sum().alias(f"{name}_bytes"),
        ]
    found = joined.select(asked).collect(engine="streaming").row(0, named=True)
    rows = found["rows"]
    if found["away"] > _MOST_OUTSIDE * rows:
        raise UsageError(
            f"--place: {number(found['away'])} of {counted(rows, 'flow')} "
            f"({100 * found['away'] / rows:.1f}%) are between addresses outside the network; "
            f"expected at most 90%: {_ADVICE}"
        )
    kept = rows - found["away"] - found["same"]
    if not kept:
        raise UsageError(
            f"--place: no flow can be replayed: of {counted(rows, 'flow')}, "
            f"{number(found['away'])} are between addresses outside and {number(found['same'])} "
            f"begin and end at one host; {_ADVICE}"
        )
    unplaced = [
        Dropped(why, found[name], found[f"{name}_bytes"])
        for name, why in (
            ("away", "flows between two addresses outside the network"),
            ("same", "flows that begin and end at the same host"),
        )
        if found[name]
    ]
    guessed = [*trace.counts.guessed, *places.guessed]
    if found["crossing"]:
        guessed.append(
            f"Flows between the network and outside pass host {through}, the gateway: "
            f"{counted(found['crossing'], 'flow')}, {size(found['crossing_bytes'])}."
        )
    left = found["bytes"] - found["away_bytes"] - found["same_bytes"]
    return replace(
        trace.counts, flows=kept, bytes=left, unplaced=tuple(unplaced), guessed=tuple(guessed)
    )


def _said_of_gateway(whole: "pl.DataFrame", through: int) -> str:
    outside = int(whole.get_column("outside").sum())
    if not outside:
        return ""
    said = counted(outside, "address", "addresses")
    return f" {said} outside the network {'is' if outside == 1 else 'are'} host {through}."

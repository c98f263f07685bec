"""Flows that a trace has twice although no column names the exporter: the first row counts.

Two observation points on a path, or both interfaces of a router, export each flow. Twins have the
same addresses, ports, protocol and packets (or bytes), bytes within 5% and starts within a second.
Rows that may be single packets of a flow look alike as well, and so do flows of a program that uses
few ports. So twins count only if a tenth of the flows that are larger than a packet has them, if
most rows with the same ends within a second are twins, and at most four rows are one flow.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hull.ask.counts import counted, number
from hull.ask.records import ROW

if TYPE_CHECKING:
    import polars as pl

TWIN = 13
"""Key of WHY for the further rows of a flow."""
_NEAR_PS = 10**12
_MOST = 4
"""Rows of a flow: observation points on a path."""
_FRAME = 9216
"""Bytes of a jumbo frame."""
_LIKE = 0.05
"""Difference of bytes: with and without the headers of a VLAN or a tunnel."""
_LEAST = 0.1
"""Part of the flows that are larger than a packet, from which twins are no chance."""
_PIECE = 500_000
"""Rows that are compared at a time."""
_PORTS = ("src_port", "dst_port")


@dataclass(frozen=True)
class Twins:
    """Rows of flows that another row has as well."""

    rows: "pl.Series"
    """Their numbers."""
    of: int
    """Rows that were compared."""

    def without(self, rows: "pl.LazyFrame") -> "pl.LazyFrame":
        """The rows, these marked as dropped."""
        import polars as pl

        twin = pl.col(ROW).is_in(self.rows.implode())
        return rows.with_columns(
            pl.when(twin).then(pl.lit(TWIN, pl.UInt8)).otherwise(pl.col("why")).alias("why")
        )

    @property
    def sentence(self) -> str:
        """For the page."""
        return (
            f"Of {counted(self.of, 'row')} {number(len(self.rows))} repeat a flow (addresses, "
            "ports and size, starts within 1 s), as two observation points export it; the first "
            "row counts. Give the export of one point if these are flows of their own."
        )


def twins_of(rows: "pl.LazyFrame", tick_ps: int) -> Twins | None:
    """The twins among rows in their common form, whose starts are in units of `tick_ps`.

    A long trace is searched in pieces, and not at all if a piece has none.
    """
    import polars as pl

    names = rows.collect_schema().names()
    if not all(name in names for name in _PORTS):
        return None
    if "rate" in names and rows.select((pl.col("rate") > 1).any()).collect().item():
        return None  # Sampled packets of a flow look alike.
    key = ["src", "dst", *_PORTS, *(["protocol"] if "protocol" in names else [])]
    amount = "packets" if "packets" in names else "bytes"
    known = (pl.col("src_port") > 0) & (pl.col("dst_port") >= 0) & pl.col(amount).is_not_null()
    kept = rows.filter((pl.col("why") == 0) & known)
    total = kept.select(pl.len()).collect(engine="streaming").item()
    if total < 2:
        return None
    pieces = -(-total // _PIECE)
    part = pl.struct(key).hash(1) % pieces
    found: list[pl.Series] = []
    large = large_twins = same_ends = 0
    near = _NEAR_PS // tick_ps
    for piece in range(pieces):
        columns = list(dict.fromkeys([ROW, *key, amount, "start", "bytes"]))
        one = kept.filter(part == piece).select(columns).collect(engine="streaming")
        marked = _marked(one, key, amount, near)
        twins = marked.filter("twin")
        large += int(marked["large"].sum())
        large_twins += int(twins["large"].sum())
        same_ends += one.sort([*key, "start", ROW]).select(_follows(key, near).sum()).item()
        if twins.is_empty() and not found:
            return None
        found.append(twins.get_column(ROW))
    every = pl.concat(found).sort()
    if large_twins == 0 or large_twins < _LEAST * large or 2 * len(every) < same_ends:
        return None
    return Twins(every, total)


def _follows(key: list[str], near: int) -> "pl.Expr":
    """Whether a row has the values of the one before it, and starts soon after it."""
    import polars as pl

    before = [pl.col(name).eq_missing(pl.col(name).shift(1)) for name in key]
    close = pl.col("start") - pl.col("start").shift(1) <= near
    return pl.all_horizontal(*before, close).fill_null(False)


def _marked(one: "pl.DataFrame", key: list[str], amount: str, near: int) -> "pl.DataFrame":
    """Whether each row is a twin of an earlier one, and whether it is larger than a packet."""
    import polars as pl

    order = list(dict.fromkeys([*key, amount, "start", ROW]))
    like = (pl.col("bytes") - pl.col("bytes").shift(1)).abs() <= _LIKE * pl.col("bytes")
    follows = _follows([*key, amount], near) & like.fill_null(False)
    large = pl.col("packets") > 1 if amount == "packets" else pl.col("bytes") > _FRAME
    return (
        one.sort(order)
        .with_columns(follows.alias("twin"), large.alias("large"))
        .with_columns((~pl.col("twin")).cum_sum().alias("flow"))
        .with_columns(pl.len().over("flow").alias("of_flow"))
        .with_columns((pl.col("twin") & (pl.col("of_flow") <= _MOST)).alias("twin"))
    )

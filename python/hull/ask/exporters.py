"""Flows that several exporters saw, such as two routers on a path: the rows of one are kept.

A flow is known by its addresses, ports and protocol, or without ports by start and size. Of each
flow the exporter with the most bytes counts. Ports are used again, so rows of another exporter long
before or after are another flow.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hull.ask.columns import Column
from hull.ask.counts import number
from hull.ask.replies import has_reply

if TYPE_CHECKING:
    import polars as pl

COPY = 11
"""Key of WHY for rows of the other exporters."""
_PORTS = ("src_port", "dst_port")
_SHOWN = 4
_NEAR_PS = 60 * 10**12
"""Time between the starts that two exporters note of a flow: collectors report once a minute."""


@dataclass(frozen=True)
class Copies:
    """Flows with several exporters."""

    chosen: "pl.DataFrame"
    """The columns of `key`; `chosen`, the exporter that is kept; its first and last start."""
    key: tuple[str, ...]
    names: tuple[str, ...]
    """All exporters."""

    def without(self, rows: "pl.LazyFrame", tick_ps: int) -> "pl.LazyFrame":
        """The rows of the exporter that counts; `tick_ps` is the unit of their starts."""
        import polars as pl

        joined = rows.join(
            self.chosen.lazy(),
            on=list(self.key),
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        moves = (pl.col("why") == 0) | has_reply(rows.collect_schema().names())
        near = _NEAR_PS // tick_ps
        then = pl.col("start").is_between(pl.col("first") - near, pl.col("last") + near)
        other = moves & then & (pl.col("exporter") != pl.col("chosen"))
        why = pl.when(other.fill_null(False)).then(pl.lit(COPY, pl.UInt8)).otherwise(pl.col("why"))
        return joined.with_columns(why.alias("why")).drop("chosen", "first", "last")

    def sentence(self, column: Column) -> str:
        """For the page."""
        names = ", ".join(self.names[:_SHOWN]) + (", ..." if len(self.names) > _SHOWN else "")
        ports = _PORTS[0] in self.key
        what = "connections, by addresses and ports" if ports else "flows, by start and size"
        return (
            f"Several exporters (column {column.name}: {names}) saw the same {what}: "
            f"{number(self.chosen.height)}; of each the exporter with the most bytes counts."
        )


def copies_of(rows: "pl.LazyFrame") -> Copies | None:
    """The flows of rows in their common form that have several exporters."""
    import polars as pl

    there = rows.collect_schema().names()
    kept = rows.filter((pl.col("why") == 0) | has_reply(there))
    names = kept.select(pl.col("exporter").unique()).collect(engine="streaming").to_series()
    if len(names) <= 1:
        return None
    ports = all(name in there for name in _PORTS)
    rest = (
        [*_PORTS, *(["protocol"] if "protocol" in there else [])] if ports else ["start", "bytes"]
    )
    key = ("src", "dst", *rest)
    # A sum named "bytes" would hide the key.
    each = kept.group_by([*key, "exporter"], maintain_order=True).agg(
        pl.col("bytes").sum().alias("sum"),
        pl.col("start").min().alias("first"),
        pl.col("start").max().alias("last"),
    )

    def of_most(name: str) -> "pl.Expr":
        return pl.col(name).sort_by(["sum", "exporter"], descending=[True, False]).first()

    chosen = (
        each.group_by(key, maintain_order=True)
        .agg(
            of_most("exporter").alias("chosen"),
            of_most("first"),
            of_most("last"),
            pl.len().alias("exporters"),
        )
        .filter(pl.col("exporters") > 1)
        .drop("exporters")
        .collect(engine="streaming")
    )
    if chosen.is_empty():
        return None
    return Copies(chosen, key, tuple(sorted(names.to_list())))

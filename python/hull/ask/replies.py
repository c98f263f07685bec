"""The other direction of rows that count both: a flow of its own from receiver to sender."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hull.ask import json_lines, zeek
from hull.ask.columns import Column

if TYPE_CHECKING:
    import polars as pl

OWN_SIZE = (8, 9)
"""Keys of rows.WHY of rows that are dropped for the size of their own direction alone."""


def replayed(roles: Mapping[str, Column], form: str) -> bool:
    """Whether the other direction is replayed: of Zeek's logs and JSON, or if its column was given.

    The `out_bytes` of an exporter may be the same bytes at another interface.
    """
    column = roles.get("reply_bytes")
    both = form in (zeek.FORM, json_lines.FORM)
    return "bytes" in roles and column is not None and (column.given or both)


def has_reply(names: list[str]) -> "pl.Expr":
    """Whether a row in the common form, of these columns, has a flow of the other direction."""
    import polars as pl

    if "reply_bytes" not in names:
        return pl.lit(False)
    there = pl.col("why").is_in([0, *OWN_SIZE]) & (pl.col("reply_bytes") > 0)
    return there.fill_null(False)


def flows_with_replies(rows: "pl.LazyFrame") -> "pl.LazyFrame":
    """The rows that are kept, then the other direction with the ends exchanged."""
    import polars as pl

    names = rows.collect_schema().names()
    turned = {"src": "dst", "dst": "src", "bytes": "reply_bytes"}
    if "src_port" in names and "dst_port" in names:
        turned |= {"src_port": "dst_port", "dst_port": "src_port"}
    replies = rows.filter(has_reply(names))
    exchanged = [pl.col(other).alias(name) for name, other in turned.items()]
    return pl.concat([rows.filter(pl.col("why") == 0), replies.with_columns(exchanged)])

"""Sampled traces: a collector that saw one packet of N multiplies by N, or leaves that to us.

The rate is a column (`sampling_rate`, `sampling_interval`) or `--sampling N`. Rows that are single
packets (sFlow) are no flows: their number and bytes give the load, but not the sizes of flows.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hull.ask.columns import Column
from hull.ask.counts import counted, number
from hull.ask.records import ROW, Records, refused
from hull.errors import shown

if TYPE_CHECKING:
    import polars as pl

MOST = 10**9
"""Largest rate."""
_FRAME = 9216
"""Bytes of a jumbo frame: rows of at most so many may be packets, if no column counts packets."""


def rate(records: Records, roles: Mapping[str, Column], given: int | None) -> "pl.Expr | None":
    """Packets per packet seen, of each row; null where it is not readable. None if unsampled."""
    import polars as pl

    if given is not None:
        return pl.lit(given, pl.Int64)
    if "sampling" not in roles:
        return None
    text = pl.col(roles["sampling"].name).cast(pl.String).str.strip_chars()
    whole = text.str.replace(r"^1\s*[:/]\s*", "").cast(pl.Float64, strict=False)
    return whole.cast(pl.Int64, strict=False).fill_null(
        pl.when(text.is_null() | text.is_in(["", "-"])).then(0)
    )


def single(bytes_: "pl.Expr", packets: "pl.Expr | None") -> "pl.Expr":
    """Whether a row can be one packet; `bytes_`: as the row has them."""
    return packets == 1 if packets is not None else bytes_ <= _FRAME


def asked() -> "list[pl.Expr]":
    """The totals of the columns rate (as above) and single."""
    import polars as pl

    kept = pl.col("why") == 0
    sampled = kept & (pl.col("rate") > 1)
    unknown = kept & ((pl.col("rate") < 1) | pl.col("rate").is_null())
    wrong = kept & ((pl.col("rate") < 0) | (pl.col("rate") > MOST) | pl.col("rate").is_null())
    return [
        sampled.sum().alias("sampled"),
        (sampled & pl.col("single")).sum().alias("single"),
        pl.col("rate").filter(sampled).min().alias("least_rate"),
        pl.col("rate").filter(sampled).max().alias("most_rate"),
        unknown.sum().alias("unknown_rate"),
        pl.col(ROW).filter(unknown).min().alias("first_unknown_rate"),
        pl.col(ROW).filter(wrong).min().alias("first_wrong_rate"),
        pl.col(ROW).filter(sampled).min().alias("first_sampled"),
    ]


def check_rates(
    path: Path, records: Records, roles: Mapping[str, Column], found: Mapping[str, Any]
) -> None:
    """Raise UsageError for rates that are unknown, and for samples of single packets."""
    import polars as pl

    name = roles["sampling"].name
    row = found["first_wrong_rate"]
    if row is None and found["sampled"]:
        row = found["first_unknown_rate"]
    if row is not None:
        cell = records.frame.filter(pl.col(ROW) == row).select(name).collect().item()
        told = "empty" if cell in (None, "") else shown(str(cell))
        raise refused(
            path,
            f"row {number(row + 1)}, column {name}: {told} is invalid; expected the sampling rate, "
            "1 or more, in each row, or --sampling N for all rows",
        )
    if found["sampled"] and found["single"] == found["sampled"]:
        most = found["most_rate"]
        raise refused(
            path,
            f"row {number(found['first_sampled'] + 1)}, column {name}: {most} of a single packet: "
            "the rows are sampled packets, from which the sizes of flows are unknown; expected "
            f"flows; --sampling {most} replays each row as a flow of {most} times its bytes",
        )


def said_of_rates(
    roles: Mapping[str, Column], found: Mapping[str, Any], given: int | None
) -> list[str]:
    """Sentences about what was multiplied."""
    if found["sampled"]:
        low, high = found["least_rate"], found["most_rate"]
        rates = number(low) if low == high else f"{number(low)} to {number(high)}"
        rows = counted(found["sampled"], "row")
        source = "--sampling" if given is not None else f"column {roles['sampling'].name}"
        how = "" if given is not None else "; override with --sampling N (1: as they are)"
        said = [
            f"Sizes are multiplied by the sampling rate, {rates} ({source}): {rows}{how}. They are "
            "estimates, and flows of which no packet was sampled are missing."
        ]
        if found["single"]:
            said.append(
                "A single sampled packet does not tell its flow's size, yet is replayed as a flow: "
                f"{counted(found['single'], 'row')}."
            )
        return said
    if found["unknown_rate"] and given is None:
        rows = counted(found["unknown_rate"], "row")
        return [
            f"The sampling rate is 0 or empty and counts as 1 (column {roles['sampling'].name}): "
            f"{rows}; set it with --sampling N."
        ]
    return []

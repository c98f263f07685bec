"""Totals of a trace's rows in their common form (bytes, times in ticks), and the rejected rows.

Columns: row, start, src, dst, bytes, duration_ps, why (0: kept, else a key of WHY).
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hull.ask import sampling
from hull.ask.columns import Column, plain
from hull.ask.counts import Dropped, counted, number, size
from hull.ask.exporters import COPY
from hull.ask.records import ROW, Records, longer_row, refused
from hull.ask.replies import OWN_SIZE, has_reply
from hull.ask.twins import TWIN
from hull.ask.units import UTC_ZONES
from hull.errors import shown

if TYPE_CHECKING:
    import polars as pl

OTHER_EVENT = 12
"""Key of WHY for JSON records of what is no flow, such as Suricata's alerts."""
WHY = {
    1: "lines of nfdump's summary",
    2: "rows that repeat the header",
    3: "records of an interval without traffic (NODATA)",
    4: "records that the collector skipped (SKIPDATA)",
    5: "flows that a firewall rejected",
    6: "rows without an address",
    7: "rows without a readable start",
    8: "rows without a readable size",
    9: "rows of zero bytes",
    10: "rows of ICMP",
    OTHER_EVENT: "records of other events than flows (event_type)",
    TWIN: "rows of flows that another row has as well",
    COPY: "rows of flows that another exporter has as well",
}
"""Why rows are dropped."""
NO_FLOWS = (1, 2, 3, OTHER_EVENT)
"""Keys of WHY for lines that a tool writes beside its flows: they have no size."""
UNREADABLE = {7: "start", 8: "bytes"}
"""Key of WHY -> role of the cell that cannot be read."""
_MOST_BYTES = 10**12
"""Of a flow, as hull's flow lists have it."""
_LONGEST_PS = 100 * 86_400 * 10**12
_ACKNOWLEDGEMENT = 60
"""Bytes of a packet that carries no data: IP and TCP headers with options."""

_PAYLOADS = ("orig_bytes",)
"""Columns of sizes without the bytes of headers and acknowledgements."""


def totals_of(rows: "pl.LazyFrame") -> dict[str, Any]:
    """All that is asked of the rows, in one go."""
    import polars as pl

    names = rows.collect_schema().names()
    kept = pl.col("why") == 0
    replies = has_reply(names)
    moves = kept | replies
    asked = [
        pl.len().alias("rows"),
        pl.col("start").filter(moves).min().alias("first"),
        pl.col("start").filter(moves).max().alias("last"),
        pl.col("duration_ps").filter(moves).null_count().alias("without_duration"),
        pl.col(ROW).filter(kept & (pl.col("bytes") < 0)).min().alias("negative"),
        pl.col(ROW).filter(kept & (pl.col("bytes") > _MOST_BYTES)).min().alias("too_large"),
        pl.col(ROW).filter(moves & (pl.col("duration_ps") < 0)).min().alias("backwards"),
        pl.col(ROW).filter(pl.col("longer")).min().alias("longer"),
        (kept & pl.col("written_out")).sum().alias("written_out"),
        pl.col(ROW).filter(kept & pl.col("written_out")).min().alias("first_written_out"),
    ]
    for code in (0, *WHY):
        this = pl.col("why") == code
        bytes_ = pl.col("bytes").filter(this).sum() if code else pl.col("bytes").filter(kept).sum()
        unknown = this & pl.col("bytes").is_null()
        asked += [
            this.sum().alias(f"rows{code}"),
            bytes_.alias(f"bytes{code}"),
            unknown.sum().alias(f"unknown{code}"),
            pl.col(ROW).filter(this).min().alias(f"first{code}"),
        ]
    for power in range(1, 13):
        divides = (pl.col("start") % 10**power == 0).filter(moves).all()
        asked.append(divides.alias(f"tick{power}"))
    if "zone" in names:
        zone = pl.col("zone")
        away = moves & zone.is_not_null() & ~zone.is_in(UTC_ZONES)
        asked += [
            (moves & zone.is_not_null()).sum().alias("zoned"),
            (moves & zone.is_null()).sum().alias("zoneless"),
            pl.col(ROW).filter(moves & zone.is_null()).min().alias("first_zoneless"),
            zone.filter(away).first().alias("other_zone"),
        ]
    if "rate" in names:
        asked += sampling.asked()
    if "packets" in names:
        small = kept & (pl.col("bytes") <= _ACKNOWLEDGEMENT * pl.col("packets"))
        asked.append(small.sum().alias("small"))
        asked.append(pl.col("bytes").filter(small).sum().alias("small_bytes"))
        asked.append((kept & (pl.col("packets") == 1)).sum().alias("lone"))
    for role, which in (("reply_bytes", replies), ("other_bytes", kept)):
        if role not in names:
            continue
        size_ = pl.col(role)
        there = which & (size_ > 0)
        asked += [
            there.sum().alias("replies" if role == "reply_bytes" else "others"),
            size_.filter(there)
            .sum()
            .alias("replied_bytes" if role == "reply_bytes" else "other_total"),
        ]
    if "reply_bytes" in names:
        size_ = pl.col("reply_bytes")
        asked += [
            (kept & size_.is_null()).sum().alias("unknown_replies"),
            pl.col(ROW).filter(moves & (size_ < 0)).min().alias("negative_reply"),
            pl.col(ROW).filter(moves & (size_ > _MOST_BYTES)).min().alias("too_large_reply"),
        ]
        dropped = ~pl.col("why").is_in([0, *OWN_SIZE])
        asked += [
            size_.filter(dropped & (pl.col("why") == code)).sum().alias(f"reply{code}")
            for code in WHY
        ]
    return rows.select(asked).collect(engine="streaming").row(0, named=True)


def dropped_of(
    rows: "pl.LazyFrame", found: dict[str, Any], roles: dict[str, Column]
) -> tuple[Dropped, ...]:
    """The rows that are not replayed, by reason."""
    dropped = []
    for code, why in WHY.items():
        if not found[f"rows{code}"]:
            continue
        unknown = 0 if code in NO_FLOWS else found[f"unknown{code}"]
        bytes_ = (found[f"bytes{code}"] or 0) + (found.get(f"reply{code}") or 0)
        first = ""
        if code in UNREADABLE:
            row = found[f"first{code}"]
            column = size_column(roles) if UNREADABLE[code] == "bytes" else roles["start"]
            cell = _value(rows, row, "cell")
            told = "empty" if cell in (None, "") else shown(cell)
            first = f"row {number(row + 1)}, column {column.name}: {told}"
        dropped.append(Dropped(why, found[f"rows{code}"], bytes_, unknown, first))
    return tuple(dropped)


def size_column(roles: dict[str, Column]) -> Column:
    """The column that sizes are read from."""
    return roles["bytes"] if "bytes" in roles else roles["packets"]


def _value(rows: "pl.LazyFrame", index: int, column: str) -> Any:
    import polars as pl

    return rows.filter(pl.col(ROW) == index).select(column).collect().item()


def check(
    path: Path,
    rows: "pl.LazyFrame",
    found: dict[str, Any],
    records: Records,
    roles: dict[str, Column],
    tick_ps: int,
) -> None:
    """Raise UsageError for a trace that cannot be replayed."""
    import polars as pl

    if (row := found["longer"]) is not None:
        raise longer_row(path, records.names, row, _value(rows, row, "cell"))
    for problem in ("negative", "too_large", "negative_reply", "too_large_reply"):
        row = found.get(problem)
        if row is None:
            continue
        role = "reply_bytes" if problem.endswith("reply") else "bytes"
        name = (roles[role] if role in roles else size_column(roles)).name
        raise refused(
            path,
            f"row {number(row + 1)}, column {name}: {_value(rows, row, role)} is invalid; "
            "expected a size from 0 to 1 TB in bytes",
        )
    if found["backwards"] is not None:
        row = found["backwards"]
        name = roles["duration" if "duration" in roles else "end"].name
        lasts = _value(rows, row, "duration_ps") / 1e12
        raise refused(
            path,
            f"row {number(row + 1)}, column {name}: the flow ends {-lasts:.12g} s before it "
            "starts; expected an end at or after the start",
        )
    if not found["rows0"] and not found.get("replies"):
        whys = ", ".join(
            f"{why}: {number(found[f'rows{code}'])}"
            for code, why in WHY.items()
            if found[f"rows{code}"]
        )
        first = records.sample.row(0, named=True)
        cells = [f"{role} {shown(first[roles[role].name])}" for role in ("start", "src", "dst")]
        raise refused(
            path,
            f"none of {counted(found['rows'], 'row')} is a flow ({whys}); expected a start, two "
            f"addresses and a size; the first row has {', '.join(cells)}",
        )
    if found.get("zoneless") and found["other_zone"]:
        raise refused(
            path,
            f"row {number(found['first_zoneless'] + 1)}, column {roles['start'].name}: the time "
            f"has no zone, but another row has {found['other_zone']}; expected a zone in each row "
            "or in none",
        )
    if "sampled" in found and "sampling" in roles:
        sampling.check_rates(path, records, roles, found)
    span = (found["last"] - found["first"]) * tick_ps
    if span > _LONGEST_PS:
        earliest = rows.filter((pl.col("why") == 0) & (pl.col("start") == found["first"]))
        row = earliest.select(pl.col(ROW).min()).collect().item()
        raise refused(
            path,
            f"starts lie {span / 86_400e12:.0f} days apart, the first in row {number(row + 1)}; "
            "expected at most 100 days: is the unit right, and is that row's time?",
        )


def said_of(rows: "pl.LazyFrame", found: dict[str, Any], roles: dict[str, Column]) -> list[str]:
    """Sentences about rows that are kept with something inferred or unknown."""
    said = []
    if found.get("zoneless") and found["zoned"]:
        rows_ = counted(found["zoneless"], "row")
        said.append(
            f"Times without a zone count as UTC, like the others (column {roles['start'].name}): "
            f"{rows_} of {number(found['zoneless'] + found['zoned'])}."
        )
    if found["written_out"]:
        row = found["first_written_out"]
        cell, bytes_ = shown(_value(rows, row, "cell").strip()), _value(rows, row, "bytes")
        said.append(
            "Sizes with units (K is 1,000, Ki is 1,024) or with separators between thousands are "
            f"read to the digits written: {counted(found['written_out'], 'row')}; the first is row "
            f"{number(row + 1)}, column {size_column(roles).name}: {cell}, {number(bytes_)} bytes."
        )
    if ("duration" in roles or "end" in roles) and found["without_duration"]:
        flows = counted(found["without_duration"], "flow")
        said.append(f"The duration cannot be read and counts as unknown: {flows}.")
    if found.get("small") and plain(size_column(roles).name) not in _PAYLOADS:
        flows = counted(found["small"], "flow")
        said.append(
            f"Probably acknowledgements only, at most {_ACKNOWLEDGEMENT} bytes a packet, but "
            f"replayed as data: {flows}, {size(found['small_bytes'])}."
        )
    if found.get("replies"):
        flows = counted(found["replies"], "flow")
        said.append(
            f"The other direction (column {roles['reply_bytes'].name}) is replayed as flows of its "
            f"own from the starts of the rows: {flows}, {size(found['replied_bytes'])}."
        )
    if found.get("unknown_replies"):
        unknown = counted(found["unknown_replies"], "row")
        said.append(
            "The bytes of the other direction cannot be read and are left out (column "
            f"{roles['reply_bytes'].name}): {unknown}."
        )
    if found.get("others"):
        name = roles["reply_bytes"].name
        said.append(
            f"Bytes of the other direction are not replayed (column {name}): "
            f"{counted(found['others'], 'row')}, {size(found['other_total'])}; replay them with "
            f"--columns reply_bytes={name}."
        )
    return said

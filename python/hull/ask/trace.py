"""A recorded trace as flows: start in ps from the first, addresses, bytes, duration in ps.

CSV and Parquet go through a temporary Parquet file of one form, a piece at a time, so that memory
does not grow with the rows; its folder is `scratch`, or the system's for temporary files.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hull.ask import json_lines
from hull.ask.columns import Column, map_columns
from hull.ask.counts import Counts, number
from hull.ask.exporters import COPY, copies_of
from hull.ask.guessed_units import Guess, duration_clock, time_clock
from hull.ask.packets import IDLE_PS, read_capture
from hull.ask.records import CAPTURES, MORE, ROW, Records, first_line, head_of, refused, scan
from hull.ask.replies import flows_with_replies, replayed
from hull.ask.rows import (
    OTHER_EVENT,
    UNREADABLE,
    check,
    dropped_of,
    said_of,
    size_column,
    totals_of,
)
from hull.ask.sampling import rate as rate_of
from hull.ask.sampling import said_of_rates, single
from hull.ask.scratch import Scratch
from hull.ask.twins import twins_of
from hull.ask.units import (
    BYTE_UNITS,
    ISO,
    is_written_out,
    resolution_ps,
    ticks,
    time_unit,
    whole_bytes,
    zone_of,
)
from hull.errors import RunError, UsageError, reason_of
from hull.files.parquet_probe import DAMAGED

if TYPE_CHECKING:
    import polars as pl

MTU_PAYLOAD = 1460
"""Data of a full TCP packet at an MTU of 1500 bytes."""
_ROW_GROUP = 65_536
"""Rows that are read as one: threads hold some each."""
_NO_ADDRESS = ("", "-", "0.0.0.0", "::", "N/A", "null", "None")
_ICMP = ("1", "58", "ICMP", "ICMP6", "IPV6-ICMP", "ICMPV6")

_FLOW_EVENTS = ("FLOW", "NETFLOW")
"""Of Suricata's events."""
_REJECTED = ("REJECT", "REJECTED", "DENY", "DENIED", "DROP", "DROPPED", "BLOCK", "BLOCKED")


@dataclass(frozen=True)
class Trace:
    """A trace that was read."""

    form: str
    """Such as "nfdump CSV"."""
    flows: "pl.LazyFrame"
    """start_ps (Int64), src, dst (String), bytes (UInt64), duration_ps (Int64, null where unknown);
    src_port, dst_port (Int32) and group (String) where the trace has them.
    """
    counts: Counts
    resolution_ps: int
    """Of the start times."""
    span_ps: int
    """From the first start to the last."""
    columns: dict[str, str] = field(default_factory=dict)
    """Role -> column of the trace."""
    kept_in: Scratch | None = field(default=None, repr=False)
    """What `flows` reads; removed with the trace."""


def read_trace(
    path: Path,
    columns: str | None = None,
    unit: str | None = None,
    *,
    packet_bytes: int = MTU_PAYLOAD,
    idle_ps: int = IDLE_PS,
    sampling: int | None = None,
    scratch: Path | None = None,
) -> Trace:
    """The flows of a trace.

    `columns`: the value of `--columns`; `unit`: the unit of start and end; `packet_bytes`: bytes
    per packet if the trace counts only packets; `idle_ps`: the gap that ends a flow of a capture;
    `sampling`: the rate by which sizes are multiplied, in place of a column's. Raises UsageError.
    """
    import polars as pl

    head = head_of(path)
    if head[:4] in CAPTURES:
        if sampling is not None:
            raise UsageError("--sampling: must not be given for a packet capture; it has all bytes")
        return _of_capture(path, columns, idle_ps)
    records = scan(path, head)
    roles = map_columns(records.names, columns)
    if sampling is not None:
        roles.pop("sampling", None)
    given = time_unit(unit, "--time-unit") if unit else None
    guesses: list[str] = []
    frame, tick_ps = _common_form(records, roles, given, packet_bytes, sampling, guesses)
    kept_in = _scratch(path, scratch)
    rows = _kept(path, frame, kept_in.path / "rows.parquet")
    copies = copies_of(rows) if "exporter" in roles else None
    if copies is not None:
        rows = _kept(path, copies.without(rows, tick_ps), kept_in.path / "once.parquet")
    twins = twins_of(rows, tick_ps)
    if twins is not None:
        rows = _kept(path, twins.without(rows), kept_in.path / "single.parquet")
    found = totals_of(rows)
    check(path, rows, found, records, roles, tick_ps)
    kept = rows.filter(pl.col("why") == 0)
    replies = found.get("replies") or 0
    if replies:
        kept = _kept(path, flows_with_replies(rows), kept_in.path / "flows.parquet")
    extra = [c for c in ("src_port", "dst_port", "group") if c in roles]
    flows = kept.select(
        ((pl.col("start") - found["first"]) * tick_ps).alias("start_ps"),
        "src",
        "dst",
        pl.col("bytes").cast(pl.UInt64),
        "duration_ps",
        *extra,
    )
    dropped = dropped_of(rows, found, roles)
    if copies is not None and found[f"rows{COPY}"]:
        guesses.append(copies.sentence(roles["exporter"]))
    if twins is not None:
        guesses.append(twins.sentence)
    guesses += said_of(rows, found, roles)
    if "sampled" in found:
        guesses += said_of_rates(roles, found, sampling)
    counts = Counts(
        found["rows"],
        found["rows0"] + replies,
        (found["bytes0"] or 0) + (found.get("replied_bytes") or 0),
        dropped,
        tuple(guesses),
        replies=replies,
        lone_packets=max(found.get("lone") or 0, found.get("single") or 0),
    )
    return Trace(
        records.form,
        flows,
        counts,
        resolution_ps([found[f"tick{power}"] for power in range(1, 13)], tick_ps),
        (found["last"] - found["first"]) * tick_ps,
        {role: column.name for role, column in roles.items()},
        kept_in,
    )


def _scratch(path: Path, inside: Path | None) -> Scratch:
    try:
        return Scratch(inside)
    except OSError as error:
        raise RunError(f"{path}: its rows cannot be kept: {reason_of(error)}") from None


def _kept(path: Path, frame: "pl.LazyFrame", file: Path) -> "pl.LazyFrame":
    """The rows in a file of their own."""
    import polars as pl

    try:
        frame.sink_parquet(file, compression="lz4", row_group_size=_ROW_GROUP)
    except pl.exceptions.PanicException:
        raise refused(path, f"cannot be read: {DAMAGED}") from None
    except pl.exceptions.PolarsError as error:
        raise refused(path, f"cannot be read: {first_line(error)}") from None
    except OSError as error:
        if error.errno is None:  # of the decompression
            raise refused(path, f"cannot be read: {reason_of(error)}") from None
        raise RunError(f"{path}: its rows cannot be kept: {reason_of(error)}") from None
    return pl.scan_parquet(file)


def _common_form(
    records: Records,
    roles: dict[str, Column],
    given: str | None,
    packet_bytes: int,
    sampling: int | None,
    guesses: list[str],
) -> "tuple[pl.LazyFrame, int]":
    """Rows in one form, with why they are dropped; the unit of `start`, ps."""
    import polars as pl

    def text(role: str) -> "pl.Expr":
        return pl.col(roles[role].name).cast(pl.String).str.strip_chars()

    def one_of(role: str, values: Sequence[str]) -> "pl.Expr":
        return text(role).str.to_uppercase().is_in(values) if role in roles else no

    no = pl.lit(False)
    start = time_clock(records, "start", roles["start"], given)
    tick_ps = start.clock.tick_ps
    end: Guess | None = None
    if "end" in roles and "duration" not in roles:
        end = time_clock(records, "end", roles["end"], given)
        tick_ps = max(tick_ps, end.clock.tick_ps)

    def time(role: str, guess: Guess) -> "pl.Expr":
        name = roles[role].name
        clock = replace(guess.clock, tick_ps=tick_ps)
        return ticks(pl.col(name), records.kind(name), clock)

    lasts = pl.lit(None, pl.Int64)
    if end is not None:
        lasts = (time("end", end) - time("start", start)) * tick_ps
    elif "duration" in roles:
        of_duration = duration_clock(records, roles["duration"], start)
        guesses += of_duration.said
        name = roles["duration"].name
        lasts = ticks(pl.col(name), records.kind(name), of_duration.clock)
    guesses[:0] = [*start.said, *(end.said if end else ())]
    if "bytes" in roles:
        column = roles["bytes"]
        scale, lettered = BYTE_UNITS[column.unit.lower()] if column.unit else 1, 1
    else:
        column, scale, lettered = roles["packets"], packet_bytes, packet_bytes
        guesses.append(
            f"The trace has no bytes: a packet ({column.name}) counts as {packet_bytes} bytes."
        )
    bytes_ = whole_bytes(pl.col(column.name), records.kind(column.name), scale, lettered)
    written_out = is_written_out(pl.col(column.name), records.kind(column.name))
    src, dst = text("src"), text("dst")
    repeated = no
    if records.kind(roles["start"].name) == pl.String:
        repeated = pl.col(roles["start"].name) == roles["start"].name
    nowhere = src.is_null() | dst.is_null() | src.is_in(_NO_ADDRESS) | dst.is_in(_NO_ADDRESS)
    why = pl.lit(0)
    conditions = (
        records.summary(),
        repeated,
        one_of("status", ("NODATA",)),
        one_of("status", ("SKIPDATA",)),
        one_of("verdict", _REJECTED),
        nowhere,
        time("start", start).is_null(),
        bytes_.is_null(),
        bytes_ == 0,
        one_of("protocol", _ICMP),
    )
    coded = list(enumerate(conditions, start=1))
    if "event" in roles and records.form == json_lines.FORM:
        coded.insert(0, (OTHER_EVENT, ~one_of("event", _FLOW_EVENTS)))
    for code, condition in reversed(coded):
        why = pl.when(condition.fill_null(False)).then(code).otherwise(why)
    optional = []
    for role in ("src_port", "dst_port"):
        if role in roles:
            optional.append(text(role).cast(pl.Int32, strict=False).alias(role))
    if start.clock.unit == ISO and not records.kind(roles["start"].name).is_temporal():
        optional.append(zone_of(pl.col(roles["start"].name)).alias("zone"))
    if "group" in roles:
        optional.append(text("group").alias("group"))
    counts = {
        role: whole_bytes(pl.col(roles[role].name), records.kind(roles[role].name), 1)
        for role in ("packets", "reply_bytes")
        if role in roles
    }
    if "exporter" in roles:
        optional.append(text("exporter").fill_null("").alias("exporter"))
    if "protocol" in roles:
        optional.append(text("protocol").alias("protocol"))
    rate = rate_of(records, roles, sampling)
    if rate is not None:
        times = pl.when(rate > 1).then(rate).otherwise(1)
        optional += [rate.alias("rate"), single(bytes_, counts.get("packets")).alias("single")]
        bytes_ *= times
        counts = {role: count * times for role, count in counts.items()}
    if "bytes" in roles:
        names = {"reply_bytes": "reply_bytes" if replayed(roles, records.form) else "other_bytes"}
        optional += [count.alias(names.get(role, role)) for role, count in counts.items()]
    cell = pl.lit(None, pl.String)
    for code, role in UNREADABLE.items():
        name = size_column(roles).name if role == "bytes" else roles[role].name
        which = (why == code) | written_out if role == "bytes" else why == code
        cell = pl.when(which).then(pl.col(name).cast(pl.String)).otherwise(cell)
    if MORE in records.sample.columns:
        cell = pl.when(records.longer()).then(pl.col(MORE)).otherwise(cell)
    common = records.frame.select(
        ROW,
        time("start", start).alias("start"),
        src.alias("src"),
        dst.alias("dst"),
        bytes_.alias("bytes"),
        lasts.alias("duration_ps"),
        *optional,
        why.cast(pl.UInt8).alias("why"),
        cell.alias("cell"),
        written_out.alias("written_out"),
        records.longer().alias("longer"),
    )
    return common, tick_ps


def _of_capture(path: Path, columns: str | None, idle_ps: int) -> Trace:
    if columns:
        raise UsageError("--columns: must not be given for a packet capture; it has no columns")
    capture = read_capture(path, idle_ps)
    flows = capture.flows
    if flows.is_empty():
        whys = ", ".join(f"{d.why}: {number(d.rows)}" for d in capture.dropped) or "no packet"
        raise refused(path, f"has no data of TCP or UDP ({whys}); expected flows")
    span_ps = int(flows.select("start_ps").max().item())
    counts = Counts(
        capture.packets,
        flows.height,
        int(flows.get_column("bytes").sum()),
        capture.dropped,
        capture.said,
        "packet",
    )
    return Trace("packet capture", flows.lazy(), counts, capture.resolution_ps, span_ps)

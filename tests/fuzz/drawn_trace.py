"""Draws a trace as collectors write them, and what is right: flows, and dropped rows by reason.

Forms: tables with several separators, names, units and orders of columns; nfdump's CSV; Zeek's log;
cloud flow logs; JSON lines; Parquet; plain and in gzip. Sizes may have units or separators between
thousands. Rows may be damaged, cut short, repeated or of other records. The truth is computed from
what is drawn, not from the text.
"""

import gzip
import io
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal

import polars as pl

Flow = tuple[int, str, str, int]
"""Start in ps from the first, sender, receiver, bytes."""
BEGIN_S = 1_767_268_800
NO_SIZE = "rows without a readable size"
ZERO = "rows of zero bytes"
REPEATED = "rows that repeat the header"
SUMMARY = "lines of nfdump's summary"
NO_DATA = "records of an interval without traffic (NODATA)"
REJECTED = "flows that a firewall rejected"
NOWHERE = "rows without an address"
NO_START = "rows without a readable start"
ICMP = "rows of ICMP"
TWIN = "rows of flows that another row has as well"
_NOBODY = ("", "-", "0.0.0.0", "N/A")
_REASONS = (NO_SIZE, NO_START, NOWHERE, ZERO, ICMP, REJECTED)
_FACTORS = {"K": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20}
_PACKET = 1460
_FRAME = 9216
_LARGEST = 10**12
_TICKS = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3}


@dataclass
class Row:
    """A flow as it is written, and why it is dropped."""

    us: int
    src: str
    dst: str
    size: str
    bytes: int | None
    """None if the size cannot be read."""
    proto: str = "6"
    reply: int = 0
    start: str | None = None
    """In place of the time."""
    action: str = "ACCEPT"

    @property
    def why(self) -> str:
        """The first reason to drop it; empty if there is none."""
        if self.action == "REJECT":
            return REJECTED
        if self.src in _NOBODY or self.dst in _NOBODY:
            return NOWHERE
        if self.start is not None:
            return NO_START
        if self.bytes is None:
            return NO_SIZE
        if self.bytes == 0:
            return ZERO
        return ICMP if self.proto in ("1", "58") else ""


@dataclass
class Drawn:
    """A trace with its truth."""

    file: str
    content: bytes
    text: str
    """For people."""
    flows: list[Flow] = field(default_factory=list)
    rows: int = 0
    dropped: dict[str, list[int]] = field(default_factory=dict)
    """Reason -> rows, bytes, rows of unknown size."""
    refused: str = ""
    """Part of the message of a trace that hull must reject; empty for others."""


def drawn(draw: random.Random) -> Drawn:
    """A trace."""
    rows = [_row(draw, index) for index in range(draw.randint(1, 40))]
    form = draw.choice(list(_FORMS))
    return _FORMS[form](draw, rows)


def _row(draw: random.Random, index: int) -> Row:
    near, far = (
        f"10.{draw.randrange(2)}.{draw.randrange(3)}.{k + 1}" for k in draw.sample(range(9), 2)
    )
    size, value = _size(draw)
    row = Row(draw.randrange(3_000_000) + index, near, far, size, value)
    for _ in range(draw.choice([0, 0, 0, 1, 1, 2])):
        _damage(draw, row)
    return row


def _size(draw: random.Random) -> tuple[str, int]:
    value = draw.choice([1, 60, 999, 1000, 1460, 20_000, 1_234_567, 10**9])
    value = max(1, value + draw.randrange(3) - 1)
    if draw.random() < 0.7:
        form = draw.choice(["{}", "{}", "{}", "{}.0", "+{}", " {} ", "0{}"])
        return form.format(value), value
    if draw.random() < 0.5:
        between = draw.choice([",", "'", " ", "\u202f"])
        return f"{value:,}".replace(",", between), value
    letter = draw.choice(list(_FACTORS))
    number = Decimal(draw.randrange(1, 999)) / draw.choice([1, 10, 100])
    exact = (number * _FACTORS[letter]).quantize(Decimal(1), ROUND_HALF_EVEN)
    return f"{number}{draw.choice(['', ' '])}{letter}{draw.choice(['', 'B'])}", int(exact)


def _damage(draw: random.Random, row: Row) -> None:
    why = draw.choice(_REASONS)
    if why == NO_SIZE:
        row.size, row.bytes = draw.choice(["-", "n/a", "1.5.2", "0x10", "1,50", "12 apples"]), None
    elif why == NO_START:
        row.start = draw.choice(["-", "soon"])
    elif why == NOWHERE:
        row.src = draw.choice(["-", "0.0.0.0", "N/A"])
    elif why == ZERO:
        row.size, row.bytes = "0", 0
    elif why == ICMP:
        row.proto = draw.choice(["1", "58"])
    else:
        row.action = "REJECT"


def _drop(found: Drawn, why: str, bytes_: int | None, more: int) -> None:
    """Count a row with its own bytes and the other direction's."""
    of = found.dropped.setdefault(why, [0, 0, 0])
    of[0] += 1
    of[1] += (bytes_ or 0) + more
    of[2] += bytes_ is None


def _truth(found: Drawn, rows: list[Row], tick: str, *, replies: bool = False) -> None:
    """Count what is right of rows whose times are written in this unit."""
    step_us = max(1, _TICKS[tick] // 10**6)
    kept: list[tuple[int, str, str, int]] = []
    back: list[tuple[int, str, str, int]] = []
    for row in rows:
        at = row.us // step_us * step_us
        reply = row.reply if replies else 0
        if not row.why:
            assert row.bytes is not None
            kept.append((at, row.src, row.dst, row.bytes))
        else:
            more = 0 if row.why in (NO_SIZE, ZERO) else reply
            _drop(found, row.why, row.bytes, more)
        if reply and row.why in ("", NO_SIZE, ZERO):
            back.append((at, row.dst, row.src, reply))
    found.rows += len(rows)
    moves = kept + back
    first = min((at for at, *_ in moves), default=0)
    found.flows = [((at - first) * 10**6, src, dst, bytes_) for at, src, dst, bytes_ in moves]
    if not moves:
        found.refused = f"none of {found.rows} row"


def _time(us: int, unit: str) -> str:
    """A time as text of a unit, since 1970."""
    if unit == "iso":
        at = datetime.fromtimestamp(BEGIN_S, UTC) + timedelta(microseconds=us)
        return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if unit == "s":
        return f"{BEGIN_S + us // 10**6}.{us % 10**6:06d}"
    return str((BEGIN_S * 10**6 + us) * 10**6 // _TICKS[unit])


def _written(found: Drawn, draw: random.Random) -> Drawn:
    """The trace, in gzip if it is drawn so."""
    if draw.random() < 0.25:
        found.content = gzip.compress(found.content, mtime=0)
        found.file += ".gz"
    return found


_HEADERS: dict[str, tuple[str, ...]] = {
    "src": ("src", "src_ip", "SrcAddr", "source address", "sa", "IPV4_SRC_ADDR"),
    "dst": ("dst", "dst_ip", "DstAddr", "destination address", "da", "IPV4_DST_ADDR"),
    "size": ("bytes", "octets", "Octet Delta Count", "IN_BYTES", "ibyt", "num_bytes"),
    "proto": ("protocol", "proto", "pr"),
    "action": ("action", "verdict"),
}
_STARTS = {
    "iso": ("timestamp", "start", "first_seen", "StartTime"),
    "s": ("ts", "start_s", "first", "time"),
    "ms": ("start_ms", "flowStartMilliseconds", "ts"),
    "us": ("start_us", "flowStartMicroseconds", "first_seen"),
    "ns": ("time_flow_start_ns", "start_ns", "ts"),
}


def _table(draw: random.Random, rows: list[Row]) -> Drawn:
    """A table with a separator."""
    separator = draw.choice([",", ";", "\t", "|"])
    unit = draw.choice(list(_STARTS))
    columns = ["start", *_HEADERS, "note"]
    draw.shuffle(columns)
    names = {role: draw.choice(of) for role, of in _HEADERS.items()}
    names |= {"start": draw.choice(_STARTS[unit]), "note": "note"}
    if sum(row.start is None for row in rows) * 2 <= len(rows):
        rows = [row for row in rows if row.start is None] or [Row(1, "a", "b", "7", 7)]
    found = Drawn("trace.csv", b"", "")
    factor = _factor(draw, rows, names, columns)

    def cell(text: str) -> str:
        return f'"{text}"' if separator in text or draw.random() < 0.1 else text

    header = separator.join(names[role] for role in columns)
    lines = [header]
    for row in rows:
        cells = {
            "start": _time(row.us, unit) if row.start is None else row.start,
            "src": row.src,
            "dst": row.dst,
            "size": row.size,
            "proto": row.proto,
            "action": row.action,
            "note": draw.choice(["", "x", f"a{separator}b"]),
            "rate": str(factor),
        }
        whole = [cell(cells[role]) for role in columns]
        if "rate" not in columns and draw.random() < 0.05:
            _cut(row, columns[(left := draw.randrange(1, len(columns))) :])
            whole = whole[:left]
        lines.append(separator.join(whole))
        if row.bytes is not None:
            row.bytes *= factor
    _truth(found, rows, "us" if unit in ("iso", "s") else unit)
    if all(row.start is not None for row in rows):
        found.refused = "start"
    sampled = [row for row in rows if not row.why and "rate" in columns and factor > 1]
    if sampled and all((row.bytes or 0) <= _FRAME * factor for row in sampled):
        found.refused = f"{factor} of a single packet"
    if draw.random() < 0.15:
        lines.insert(draw.randint(2, len(lines)), header)
        found.rows += 1
        found.dropped[REPEATED] = [1, 0, 0]
        if found.refused.startswith("none"):
            found.refused = f"none of {found.rows} row"
    if draw.random() < 0.1:
        place = draw.randint(1, len(lines) - 1)
        lines[place] = separator.join([*["x"] * len(columns), "more"])
        found.refused = f"row {place}: more is beyond the {len(columns)} columns of the header"
    if draw.random() < 0.1:
        lines.insert(1, "# a comment")
    ends = draw.choice(["\n", "\r\n"])
    text = ends.join(lines) + draw.choice(["", ends])
    found.text, found.content = text, (draw.choice(["", "\ufeff"]) + text).encode()
    return _written(found, draw)


def _factor(draw: random.Random, rows: list[Row], names: dict[str, str], columns: list[str]) -> int:
    """By what sizes are multiplied: packets in place of bytes, or a sampling rate."""
    largest = max((row.bytes or 0 for row in rows), default=0)
    if draw.random() < 0.15 and largest * _PACKET <= _LARGEST:
        names["size"] = draw.choice(["packets", "pkts", "Packet Delta Count"])
        return _PACKET
    if draw.random() < 0.15 and largest * 100 <= _LARGEST:
        names["rate"] = draw.choice(["sampling_rate", "SamplingInterval", "sample rate"])
        columns.insert(draw.randint(0, len(columns)), "rate")
        return draw.choice([1, 100])
    return 1


def _cut(row: Row, lost: list[str]) -> None:
    """Remove the cells of these columns."""
    if "src" in lost:
        row.src = ""
    if "dst" in lost:
        row.dst = ""
    if "start" in lost:
        row.start = ""
    if "size" in lost:
        row.bytes = None
    if "proto" in lost:
        row.proto = ""
    if "action" in lost:
        row.action = ""


def _blanks(draw: random.Random, rows: list[Row]) -> Drawn:
    """A cloud's flow log: cells with blanks between them."""
    found = Drawn("flow.log", b"", "")
    lines = [
        "version srcaddr dstaddr srcport dstport protocol packets bytes start end action log-status"
    ]
    for place, row in enumerate(rows):
        row.size = "".join(row.size.split()) if row.bytes is not None else "-"
        start = row.start if row.start is not None else str(BEGIN_S + row.us // 10**6)
        end = str(BEGIN_S + row.us // 10**6 + 1)
        gap = " " * draw.choice([1, 1, 1, 3])
        ports = [str(1000 + place), "80"]
        cells = ["2", row.src, row.dst, *ports, row.proto, "3", row.size, start, end]
        lines.append(gap.join([*cells, row.action, "OK"]))
    _truth(found, rows, "s")
    if idle := draw.choice([0, 0, 1, 3]):
        for _ in range(idle):
            place = draw.randint(1, len(lines))
            lines.insert(place, "2 - - - - - - - 1767268800 1767268801 - NODATA")
        found.rows += idle
        found.dropped[NO_DATA] = [idle, 0, 0]
    if found.refused:
        found.refused = f"none of {found.rows} row"
    found.text = "\n".join([*lines, ""])
    found.content = found.text.encode()
    if all(row.start is not None for row in rows):
        found.refused = "start"
    return _written(found, draw)


def _nfdump(draw: random.Random, rows: list[Row]) -> Drawn:
    """nfdump 1.7's CSV, with its summary; some flows are exported by a second router, too."""
    found = Drawn("nfdump.csv", b"", "")
    rows = [row for row in rows if row.start is None and "," not in row.size]
    rows = _accepted(rows) or [Row(1, "10.0.0.1", "10.0.0.2", "7", 7)]

    def line(place: int, row: Row, later_us: int = 0) -> str:
        at = datetime.fromtimestamp(BEGIN_S, UTC) + timedelta(microseconds=row.us + later_us)
        start = at.strftime("%Y-%m-%d %H:%M:%S.") + f"{at.microsecond // 1000:03d}"
        ends = f"{row.src},{1000 + place},{row.dst},80"
        return f"{start},0.012,{row.proto},{ends},9,{row.size},1"

    lines = [line(place, row) for place, row in enumerate(rows)]
    _truth(found, rows, "ms")
    if draw.random() < 0.4:
        for place, row in enumerate(rows):
            if draw.random() < 0.5:
                lines.insert(draw.randint(0, len(lines)), line(place, row, draw.randrange(900_000)))
                _drop(found, row.why or TWIN, row.bytes, 0)
                found.rows += 1
    header = "firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows"
    lines.insert(0, header)
    if draw.random() < 0.5:
        numbers = f"{len(rows)},12345,9,1,1,1"
        lines += ["Summary", "flows,bytes,packets,avg_bps,avg_pps,avg_bpp", numbers]
        found.rows += 3
        found.dropped[SUMMARY] = [3, 0, 0]
    if found.refused:
        found.refused = f"none of {found.rows} row"
    found.text = "\n".join([*lines, ""])
    found.content = found.text.encode()
    return _written(found, draw)


def _accepted(rows: list[Row]) -> list[Row]:
    """Rows in a form without a firewall's verdict."""
    for row in rows:
        row.action = "ACCEPT"
    return rows


def _pairs(draw: random.Random, rows: list[Row]) -> list[Row]:
    """Rows with the bytes of the other direction."""
    for row in rows:
        row.reply = draw.choice([0, 40, 5000, 2_000_000])
    return [row for row in _accepted(rows) if row.start is None] or [
        Row(1, "10.0.0.1", "10.0.0.2", "7", 7, reply=9)
    ]


def _zeek(draw: random.Random, rows: list[Row]) -> Drawn:
    """Zeek's conn.log."""
    rows = _pairs(draw, rows)
    ends = ["id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p"]
    fields = ["ts", *ends, "proto", "orig_bytes", "resp_bytes"]
    lines = ["#separator \\x09", "#unset_field\t-", "\t".join(["#fields", *fields])]
    for place, row in enumerate(rows):
        proto = {"6": "tcp", "1": "icmp", "58": "icmp6"}[row.proto]
        cells = [_time(row.us, "s"), row.src, str(1000 + place), row.dst, "80", proto]
        lines.append("\t".join([*cells, row.size, str(row.reply)]))
    lines.append("#close\t2026-01-01-13-00-00")
    found = Drawn("conn.log", b"", "\n".join([*lines, ""]))
    found.content = found.text.encode()
    _truth(found, rows, "us", replies=True)
    return _written(found, draw)


def _json(draw: random.Random, rows: list[Row]) -> Drawn:
    """JSON lines, flat or nested, with numbers or text."""
    rows = _pairs(draw, rows)
    nested = draw.random() < 0.5
    lines = []
    for place, row in enumerate(rows):
        size: object = row.size
        if row.size.isdecimal() and draw.random() < 0.8:
            size = int(row.size)
        one: dict[str, object] = {"src_ip": row.src, "dest_ip": row.dst, "src_port": 1000 + place}
        one |= {"dest_port": 80, "proto": "TCP" if row.proto == "6" else "ICMP"}
        start = _time(row.us, "iso")
        if nested:
            flow = {"bytes_toserver": size, "bytes_toclient": row.reply, "start": start}
            one |= {"event_type": "flow", "flow": flow}
        else:
            one |= {"timestamp": start, "bytes": size, "resp_bytes": row.reply}
        if row.bytes is None and draw.random() < 0.5:
            (flow if nested else one)["bytes_toserver" if nested else "bytes"] = None
        lines.append(json.dumps(one, ensure_ascii=draw.random() < 0.5))
    found = Drawn("flows.json", b"", "\n".join([*lines, ""]))
    found.content = found.text.encode()
    _truth(found, rows, "us", replies=True)
    return _written(found, draw)


def _parquet(draw: random.Random, rows: list[Row]) -> Drawn:
    """A table of numbers."""
    rows = [row for row in _accepted(rows) if row.bytes is not None and row.start is None]
    rows = rows or [Row(1, "10.0.0.1", "10.0.0.2", "7", 7)]
    unit = draw.choice(["ms", "us", "ns"])
    table = {
        f"start_{unit}": [int(_time(row.us, unit)) for row in rows],
        "src": [row.src for row in rows],
        "dst": [row.dst for row in rows],
        "bytes": [row.bytes for row in rows],
        "proto": [int(row.proto) for row in rows],
    }
    found = Drawn("trace.parquet", b"", str(table))
    buffer = io.BytesIO()
    pl.DataFrame(table).write_parquet(buffer)
    found.content = buffer.getvalue()
    _truth(found, rows, unit)
    return found


_FORMS = {
    "table": _table,
    "another table": _table,
    "blanks": _blanks,
    "nfdump": _nfdump,
    "zeek": _zeek,
    "json": _json,
    "parquet": _parquet,
}


def as_counter(flows: list[Flow]) -> "Counter[Flow]":
    """Flows without their order."""
    return Counter(flows)

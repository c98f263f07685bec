"""Units of a trace's columns: times from their text to whole picoseconds or nanoseconds, and bytes.

A time column is seconds, a fraction of them, or ISO 8601 text. Epoch times are kept in ns and times
from the start of a recording in ps: both fit 64 bits.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hull.errors import UsageError, shown

if TYPE_CHECKING:
    import polars as pl

SECOND_PS = 10**12
ISO = "iso"
TIME_UNITS = {"s": 12, "ms": 9, "us": 6, "ns": 3, "ps": 0}
"""Unit -> power of ten in ps."""
BYTE_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20}
"""Unit -> bytes; not for packets."""
LETTERS = {
    "": 1,
    "K": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "KI": 2**10,
    "MI": 2**20,
    "GI": 2**30,
    "TI": 2**40,
}
"""Letter before an optional B -> factor, as nfdump writes sizes."""
_LETTERED = r"^(\d+(?:\.\d+)?)\s*([kKMGT]i?|)(?:B|bytes)?$"
_GROUPED = r"^(\d{1,3}(?:(?:,\d{3})+|(?:'\d{3})+|(?:[ \u{a0}\u{202f}]\d{3})+))\s*(?:B|bytes)?$"
FORM = "s, ms, us, ns, ps, iso or auto"
_SPELT = {
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "msec": "ms",
    "millis": "ms",
    "milliseconds": "ms",
    "millisecond": "ms",
    "µs": "us",
    "μs": "us",
    "usec": "us",
    "micros": "us",
    "microseconds": "us",
    "microsecond": "us",
    "nsec": "ns",
    "nanos": "ns",
    "nanoseconds": "ns",
    "nanosecond": "ns",
    "picoseconds": "ps",
    "iso8601": ISO,
}
# Epoch times from 2001 to 2100.
_EPOCH_S = (1_000_000_000, 4_102_444_800)
_DATE = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?[T ]\d\d?:\d\d:\d\d")
_ZONE = r"(Z|[+-]\d\d:?(?:\d\d)?)$"
_ZONE_PATTERN = "%#z"
UTC_ZONES = ("Z", "+00:00", "+0000", "+00", "-00:00", "-0000")
_DIGITS = 16
"""Decimal digits that a double holds."""


@dataclass(frozen=True)
class Clock:
    """How the texts or numbers of a time column are read."""

    unit: str
    """One of TIME_UNITS, or ISO."""
    pattern: str | None = None
    """Of ISO text, as chrono writes it."""
    tick_ps: int = 1000
    """Unit of the stored times: 1000 for calendar times."""
    digits: int | None = None
    """Decimal places of the unit that a double holds here."""


def time_unit(text: str, place: str) -> str | None:
    """The unit that a user wrote; None for auto."""
    unit = _SPELT.get(text.lower(), text.lower())
    if unit == "auto":
        return None
    if unit not in TIME_UNITS and unit != ISO:
        raise UsageError(f"{place}: {shown(text)} is invalid; expected {FORM}")
    return unit


def unit_of_name(column: str) -> str | None:
    """The unit at the end of a column's name: `start_ms`, `flowStartMilliseconds`, `ts.us`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column)
    last = re.split(r"[^A-Za-zµμ]+", words.strip(" )]"))[-1]
    unit = _SPELT.get(last.lower(), last.lower())
    alone = len(last) == len(words)
    return unit if unit in TIME_UNITS and not alone else None


def epoch_unit(values: Sequence[float]) -> str | None:
    """The unit in which all values are times between 2001 and 2100."""
    for unit in ("s", "ms", "us", "ns"):
        scale = 10 ** (12 - TIME_UNITS[unit])
        if values and all(_EPOCH_S[0] <= value / scale <= _EPOCH_S[1] for value in values):
            return unit
    return None


def numbers_of(texts: Sequence[object]) -> list[float]:
    """The numbers in a sample."""
    found = []
    for text in texts:
        try:
            value = float(str(text))
        except ValueError:
            continue
        if math.isfinite(value):
            found.append(value)
    return found


def is_calendar(texts: Sequence[object]) -> bool:
    """Whether a sample has more dates with times than numbers; other cells cannot be read."""
    dates = sum(bool(_DATE.match(str(text).strip())) for text in texts)
    return dates > len(numbers_of(texts))


def calendar_pattern(texts: Sequence[object]) -> str:
    """The pattern of ISO 8601 text, by its first date."""
    text = next(str(text).strip() for text in texts if _DATE.match(str(text).strip()))
    mark = "/" if "/" in text[:8] else "-"
    middle = "T" if "T" in text else " "
    rest = re.split(r"[T ]", text, maxsplit=1)[1]
    zone = _ZONE_PATTERN if re.search(_ZONE, rest) else ""
    space = " " if re.search(r"\s\S+$", rest) and zone else ""
    return f"%Y{mark}%m{mark}%d{middle}%H:%M:%S%.f{space}{zone}"


def clock_of(unit: str, values: Sequence[object], floating: bool) -> Clock:
    """The clock of a column of this unit with this sample; `floating`: it holds doubles."""
    if unit == ISO:
        return Clock(ISO, calendar_pattern(values) if is_calendar(values) else "%+")
    most = max((abs(value) for value in numbers_of(values)), default=0.0)
    # In ps, 64 bits hold 106 days.
    long = most * 10.0 ** TIME_UNITS[unit] > 10**18
    whole = max(0, math.ceil(math.log10(most))) if most >= 1 else 0
    digits = max(0, min(12, _DIGITS - whole)) if floating else None
    return Clock(unit, None, 1000 if long else 1, digits)


def ticks(column: "pl.Expr", kind: "pl.DataType", clock: Clock) -> "pl.Expr":
    """A time column as Int64 in units of `clock.tick_ps`; null where it is not readable."""
    import polars as pl

    if kind == pl.Datetime or kind == pl.Date:
        return column.cast(pl.Datetime("ns")).dt.timestamp("ns")
    if kind == pl.Duration:
        return column.dt.total_nanoseconds() * (1000 // clock.tick_ps)
    if clock.unit == ISO:
        text = column.cast(pl.String).str.strip_chars()
        times = [
            text.str.strptime(pl.Datetime("ns"), pattern, strict=False).dt.timestamp("ns")
            for pattern in _patterns(clock.pattern or "%+")
        ]
        return pl.coalesce(times)
    if kind == pl.String:
        column = column.str.strip_chars()
    factor = 10 ** TIME_UNITS[clock.unit] // clock.tick_ps or 1
    if clock.digits is not None and factor > 1:
        scale = min(10**clock.digits, factor)
        rounded = column.cast(pl.Float64).mul(scale).round(0)
        return rounded.cast(pl.Int64, strict=False).mul(factor // scale)
    exact = column.cast(pl.Decimal(38, 12), strict=False) * factor
    if 10 ** TIME_UNITS[clock.unit] < clock.tick_ps:
        exact = exact / (clock.tick_ps // 10 ** TIME_UNITS[clock.unit])
    return exact.round(0).cast(pl.Int64, strict=False)


def _patterns(pattern: str) -> list[str]:
    """A pattern, and the same without a zone or with one: a file may have both."""
    if pattern == "%+":
        return [pattern]
    if pattern.endswith(_ZONE_PATTERN):
        return [pattern, pattern.removesuffix(_ZONE_PATTERN).rstrip()]
    return [pattern, pattern + _ZONE_PATTERN]


def zone_of(column: "pl.Expr") -> "pl.Expr":
    """The zone at the end of calendar times as text, such as Z; null if absent."""
    import polars as pl

    return column.cast(pl.String).str.strip_chars().str.extract(r":\d\d(?:\.\d*)?\s*" + _ZONE, 1)


def whole_bytes(column: "pl.Expr", kind: "pl.DataType", scale: int, lettered: int = 1) -> "pl.Expr":
    """A size column as Int64 in bytes; null where it is not readable.

    `scale`: bytes of a unit of plain numbers; `lettered`: of numbers with a letter, such as 1.5 M.
    """
    import polars as pl

    if kind == pl.String:
        plain = _plain_number(column)
        text = pl.when(plain.is_null()).then(column.str.strip_chars())
        digits = text.str.extract(_GROUPED, 1).str.replace_all(r"[^0-9]", "")
        number = text.str.extract(_LETTERED, 1).cast(pl.Float64, strict=False)
        powers = text.str.extract(_LETTERED, 2).str.to_uppercase()
        power = powers.replace_strict(LETTERS, default=None, return_dtype=pl.Float64)
        own = (number * power).round(0).cast(pl.Int64, strict=False) * lettered
        return pl.coalesce(plain * scale, digits.cast(pl.Int64, strict=False) * scale, own)
    if kind.is_float():
        column = column.round(0)
    return column.cast(pl.Int64, strict=False) * scale


def is_written_out(column: "pl.Expr", kind: "pl.DataType") -> "pl.Expr":
    """Whether a size has a unit or separators between thousands."""
    import polars as pl

    if kind != pl.String:
        return pl.lit(False)
    text = pl.when(_plain_number(column).is_null()).then(column.str.strip_chars())
    return (text.str.contains(_GROUPED) | text.str.contains(_LETTERED)).fill_null(False)


def _plain_number(column: "pl.Expr") -> "pl.Expr":
    import polars as pl

    text = column.str.strip_chars()
    whole = text.cast(pl.Int64, strict=False)
    rounded = text.cast(pl.Float64, strict=False).round(0).cast(pl.Int64, strict=False)
    return pl.coalesce(whole, rounded)


def resolution_ps(flags: Sequence[bool], tick_ps: int) -> int:
    """The clock's step: the longest power of ten that divides all times, at most a second.

    `flags[k]`: whether 10^(k + 1) ticks divide them.
    """
    power = 0
    while power < len(flags) and flags[power]:
        power += 1
    return min(int(tick_ps * 10**power), SECOND_PS)

"""Counts of a trace's rows: kept, dropped with reasons, and inferred properties; sizes in bytes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Dropped:
    """Rows that are not replayed."""

    why: str
    """Their kind, such as "rows without an address"."""
    rows: int
    bytes: int
    """As far as the rows say."""


@dataclass(frozen=True)
class Counts:
    """Counts from rows to flows."""

    rows: int
    flows: int
    bytes: int
    """Of the flows."""
    dropped: tuple[Dropped, ...] = ()
    guessed: tuple[str, ...] = ()
    """Sentences for the page: each names an assumption and the option that overrides it."""


def number(value: int) -> str:
    """A count with commas between thousands."""
    return f"{value:,}"


def counted(value: int, one: str, many: str | None = None) -> str:
    """A count with its noun."""
    return f"{number(value)} {one if value == 1 else many or one + 's'}"


def size(value: float) -> str:
    """Bytes with three digits and a unit."""
    for unit, power in (("TB", 12), ("GB", 9), ("MB", 6), ("KB", 3)):
        if value >= 10**power:
            return f"{value / 10**power:.3g} {unit}"
    return f"{value:.3g} B"


def duration(ps: float) -> str:
    """A time in ps with three digits and a unit; seconds with six."""
    if ps >= 10**12:
        seconds = ps / 10**12
        return f"{seconds:,.0f} s" if seconds >= 10**5 else f"{seconds:.6g} s"
    for unit, power in (("ms", 9), ("us", 6), ("ns", 3)):
        if ps >= 10**power:
            return f"{ps / 10**power:.3g} {unit}"
    return f"{ps:.3g} ps"

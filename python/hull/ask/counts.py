"""Counts of a trace's rows: kept, dropped with reasons, and inferred properties; sizes in bytes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Dropped:
    """Rows, packets or flows that are not replayed."""

    why: str
    """Their kind, such as "rows without an address"."""
    rows: int
    bytes: int
    """Of those whose size can be read."""
    unknown: int = 0
    """Those whose size cannot be read."""
    first: str = ""
    """The first of them, such as "row 3, column bytes: -"."""

    @property
    def sentence(self) -> str:
        """For the page and the terminal."""
        told = []
        if self.bytes:
            told.append(size(self.bytes))
        if self.unknown:
            which = "" if self.unknown == self.rows else f" in {number(self.unknown)} of them"
            told.append(f"size unknown{which}")
        if self.first:
            told.append(f"the first is {self.first}")
        more = f" ({'; '.join(told)})" if told else ""
        return f"Dropped: {self.why}: {number(self.rows)}{more}."


_MOST_LONE = 0.9
"""Share of single packets above which a trace is one of packets."""


@dataclass(frozen=True)
class Counts:
    """Counts from rows to flows."""

    rows: int
    """Of the file; packets of a capture."""
    flows: int
    """To replay."""
    bytes: int
    """Of the flows."""
    dropped: tuple[Dropped, ...] = ()
    """Rows or packets that are no flows."""
    guessed: tuple[str, ...] = ()
    """Sentences for the page: each names an assumption and the option that overrides it."""
    unit: str = "row"
    """What `rows` counts."""
    replies: int = 0
    """Flows of the other direction, which a row has besides its own."""
    lone_packets: int = 0
    """Flows that are a single packet, by a column of packets or of sampling."""
    unplaced: tuple[Dropped, ...] = ()
    """Flows that have no path in the network."""

    @property
    def read(self) -> int:
        """Flows before they were placed."""
        return self.flows + sum(one.rows for one in self.unplaced)

    @property
    def doubt(self) -> str:
        """Why no verdict can rest on these flows; empty if one can."""
        if self.lone_packets <= _MOST_LONE * self.read:
            return ""
        return (
            f"{number(self.lone_packets)} of {counted(self.read, 'flow')} are a single packet, so "
            "the sizes of flows are unknown. Give whole flows (unsampled records, or a capture)."
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was dropped and what was guessed, for the page and the terminal."""
        return (*(one.sentence for one in (*self.dropped, *self.unplaced)), *self.guessed)


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

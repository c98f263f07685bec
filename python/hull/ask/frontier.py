"""The gain of small flows against the loss of large ones, as points: for all flows, and for each
group. Each is a change against today's scheme, in per cent, which is at (0, 0) itself.

A group without small flows is compared with the small ones of all flows, a group without large
flows with all large ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hull.ask.answer import ALL, LARGE_MEAN, SMALL_P99, Row, Statistic
from hull.report.lines import Range
from hull.results.changes import Change

X_TITLE, Y_TITLE = "Large flows, mean: change (%)", "Small flows, 99th percentile: change (%)"
NONE = Range(0.0, 0.0, 0.0)
_MOST_DRAWN = 1e6
"""Largest ratio of a range that is drawn; an end may be infinite."""


@dataclass(frozen=True)
class Frontier:
    """The points of one group."""

    title: str
    points: tuple[tuple[str, Range, Range], ...]
    """Scheme, change of the mean of large flows, change of the 99th percentile of small flows."""


def frontiers(rows: Sequence[Row]) -> list[Frontier]:
    """A frontier per group, all flows first; groups with neither size class are omitted."""
    all_flows = {row.scheme: row for row in rows if row.group == ALL}
    found = []
    for group in dict.fromkeys(row.group for row in rows):
        mine = [row for row in rows if row.group == group]
        small, large = (any(row.value(of) for row in mine) for of in (SMALL_P99, LARGE_MEAN))
        if not (small or large):
            continue
        points = []
        for row in mine:
            whole = all_flows.get(row.scheme, row)
            x = _place(row if large else whole, LARGE_MEAN)
            y = _place(row if small else whole, SMALL_P99)
            if x and y:
                points.append((row.scheme, x, y))
        if len(points) > 1:
            found.append(Frontier(_title(group, small=small, large=large), tuple(points)))
    return found


def _place(row: Row, of: Statistic) -> Range | None:
    """In per cent; None without enough flows."""
    if not row.base:
        return NONE if row.value(of) else None
    found = row.change(of)
    return None if found is None else _percent(found)


def _percent(of: Change) -> Range:
    middle = 100 * (of.ratio - 1)
    if not of.has_range:
        return Range(middle, middle, middle)
    high = min(of.high, _MOST_DRAWN)
    return Range(middle, 100 * (of.low - 1), 100 * (max(high, of.ratio) - 1))


def _title(group: str, *, small: bool, large: bool) -> str:
    if group == ALL:
        return "All flows"
    if small and large:
        return f"Group {group}"
    return f"Group {group}, {'small' if small else 'large'} flows only"

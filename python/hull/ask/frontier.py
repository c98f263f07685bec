"""The gain of small flows against the loss of large ones, as points: for all flows, and for each
group.

A group without small flows is compared with the small ones of all flows, a group without large
flows with all large ones. Completion times, us.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hull.ask.answer import ALL, Row
from hull.changes import Value


@dataclass(frozen=True)
class Frontier:
    """The points of one group."""

    title: str
    points: tuple[tuple[str, Value, Value], ...]
    """Scheme, mean of large flows, 99th percentile of small flows."""


def frontiers(rows: Sequence[Row]) -> list[Frontier]:
    """That of all flows first; without the groups that have neither small nor large flows."""
    all_flows = {row.scheme: row for row in rows if row.group == ALL}
    found = []
    for group in dict.fromkeys(row.group for row in rows):
        mine = [row for row in rows if row.group == group]
        small, large = (
            any(row.small_p99_us for row in mine),
            any(row.large_mean_us for row in mine),
        )
        if not (small or large):
            continue
        points = []
        for row in mine:
            whole = all_flows.get(row.scheme, row)
            x = row.large_mean_us if large else whole.large_mean_us
            y = row.small_p99_us if small else whole.small_p99_us
            if x and y:
                points.append((row.scheme, x, y))
        if points:
            found.append(Frontier(_title(group, small=small, large=large), tuple(points)))
    return found


def _title(group: str, *, small: bool, large: bool) -> str:
    if group == ALL:
        return "All flows"
    if small and large:
        return f"Group {group}"
    return f"Group {group}, {'small' if small else 'large'} flows only"

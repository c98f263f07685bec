"""Deviations: ratios of measured to published beyond a factor of two, with their causes.

An experiment lists those whose cause is known; the evidence is on its page, docs/experiments/ID.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FAR = 2.0
"""Ratio above which, or below whose inverse, a number is marked."""


@dataclass(frozen=True)
class Deviation:
    """Marked numbers of one cause."""

    scheme: str
    metric: str
    statistics: tuple[str, ...]
    why: str
    """The cause, or what is known of it, in one sentence."""
    conditions: tuple[str, ...] = ()
    """None named: all."""

    def covers(self, row: Mapping[str, Any]) -> bool:
        """Whether a row of the comparison is one of these marked numbers."""
        return (
            row["scheme"] == self.scheme
            and row["metric"] == self.metric
            and row["statistic"] in self.statistics
            and (not self.conditions or row["condition"] in self.conditions)
        )


def is_far(ratio: float | None) -> bool:
    """Whether a ratio is marked."""
    return ratio is not None and not 1 / FAR <= ratio <= FAR


def explain(
    rows: Sequence[Mapping[str, Any]], known: Sequence[Deviation], page: str
) -> Iterator[str]:
    """Lines on the marked numbers: count, known causes, and the page with the evidence."""
    marked = [row for row in rows if is_far(row["ratio"])]
    if not marked:
        return
    causes: dict[str, int] = {}
    for row in marked:
        found = next((deviation for deviation in known if deviation.covers(row)), None)
        if found is not None:
            causes[found.why] = causes.get(found.why, 0) + 1
    yield (
        f"! marks a ratio above {FAR:g} or below {1 / FAR:g}: {len(marked)} of {len(rows)}, "
        f"{sum(causes.values())} with a known cause. Details: {page}"
    )
    for why, number in causes.items():
        yield f"  {number}: {why}"

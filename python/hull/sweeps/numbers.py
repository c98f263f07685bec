"""The summary of a run as statistics with dotted names and units: `fct.10MB.mean` in us.

What differs from one execution to the next (times, memory, threads) is left out.
"""

from functools import cache
from typing import Any

from hull.results.registry import StatisticPath, find, numbers

Row = tuple[str, str, float]
"""Name, unit and value of a statistic."""


def rows_of(summary: dict[str, Any]) -> list[Row]:
    """The statistics of one run, in the order of its summary."""
    return [
        (*name_and_unit, float(value))
        for path, value in numbers(summary)
        if (name_and_unit := _name_and_unit(path))
    ]


@cache
def _name_and_unit(path: StatisticPath) -> tuple[str, str] | None:
    """Name and unit of a statistic; None if sweeps omit it."""
    statistic = find(path)
    return None if statistic.of_machine else (statistic.name_at(path), statistic.unit)

"""Drift: whether flows take longer in the second half of a run than in the first.

Then queues or a backlog of flows still grew when the run ended, and a longer run would give other
numbers. The halves divide the time in which flows start; they are paired by run.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from hull.results.changes import Change, change

_NOTABLE = 1.1
"""Ratio from which a drift is told."""


def drift(
    first: Mapping[Any, float | None], second: Mapping[Any, float | None], tried: int
) -> Change | None:
    """The second half against the first, by run; None unless it is shown to differ, as one of this
    number of comparisons, and by 10% or more.
    """
    found = change(second, first)
    if found is None:
        return None
    found = found.among(tried)
    notable = abs(found.mean_log) >= math.log(_NOTABLE)
    return found if found.is_shown and notable else None


def half_means(
    flows: Iterable[tuple[int, float]], begin_ps: int, end_ps: int
) -> tuple[float | None, float | None]:
    """Mean completion times of the flows, as pairs of start in ps and time, that start in the first
    and in the second half of the time; None without any.
    """
    halves: tuple[list[float], list[float]] = ([], [])
    middle_ps = (begin_ps + end_ps) // 2
    for start_ps, time in flows:
        halves[start_ps >= middle_ps].append(time)
    first, second = (math.fsum(half) / len(half) if half else None for half in halves)
    return first, second

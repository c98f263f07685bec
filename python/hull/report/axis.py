"""Axis: scales and ticks that charts and figures have in common.

The share axis of a CDF is stretched towards 100%, because the 99th percentile is what the papers
are about: a share s stands at -log10(1 - s), so that 0, 90, 99 and 99.9% are equally far apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

# Ticks in each decade of an axis of at most so many decades; longer ones have whole decades.
_TICKS = ((1.7, (1, 2, 5)), (2.7, (1, 3)))


def log_domain(values: Iterable[float]) -> tuple[float, float]:
    """Limits around positive `values`, a little wider than they are."""
    positive = [value for value in values if value > 0]
    if not positive:
        return 0.1, 10.0
    low, high = min(positive), max(positive)
    return (low, high * 1.1) if high > low * 1.5 else (low / 1.5, high * 1.5)


def log_ticks(low: float, high: float) -> list[float]:
    """Tick values within [low, high]: decades, and some between them on a short axis."""
    decades = math.log10(high / low)
    factors = next((factors for most, factors in _TICKS if decades <= most), (1,))
    ticks = []
    for exponent in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for factor in factors:
            tick = float(f"{factor}e{exponent}")
            if low <= tick * 1.000001 and tick <= high * 1.000001:
                ticks.append(tick)
    return ticks


def share_position(share: float) -> float:
    """Where on its axis a share below 1 stands."""
    return -math.log10(1 - share)


def share_ticks(high: float) -> list[float]:
    """The positions of 0, 50, 90, 99, 99.9, ... % up to the position `high`."""
    return [0.0, share_position(0.5), *(float(nines) for nines in range(1, math.floor(high) + 1))]


def symlog_ticks(high: float) -> list[float]:
    """Zero and the decades from 1 up to `high`."""
    ticks = [0.0]
    tick = 1.0
    while tick <= high:
        ticks.append(tick)
        tick *= 10
    return ticks

"""What the theory's equations take for granted, checked before they are used.

An error names the quantity, what was found, what is expected and the equation that needs it.
"""

import math

from hull.errors import UsageError


def require(holds: bool, name: str, found: object, allowed: str, source: str) -> None:
    """UsageError unless an assumption holds; `source` is the equation that makes it."""
    if not holds:
        raise UsageError(f"{name}: {found} is invalid; expected {allowed} ({source})")


def check_positive(name: str, value: float, source: str) -> None:
    """UsageError unless a quantity is a number above zero."""
    require(math.isfinite(value) and value > 0, name, f"{value:g}", "a number above 0", source)


def check_gain(g: float, source: str = "thesis 2.1: a weight of new samples") -> None:
    """UsageError unless 0 < g <= 1."""
    require(0 < g <= 1, "g", f"{g:g}", "above 0 and at most 1", source)


def check_window(window: float, formula: str = "(C d + K)/N") -> None:
    """UsageError unless the window per flow leaves room for a limit cycle: more than 2 packets."""
    require(
        math.isfinite(window) and window > 2,
        "window",
        f"{window:.4g} packets per flow, {formula}",
        "more than 2: at 2 or fewer there is no limit cycle, each flow stands at 2 packets, every "
        "packet is marked and the queue stays at 2N - C d packets",
        "thesis 3.13",
    )

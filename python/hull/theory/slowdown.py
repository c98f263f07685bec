"""Slowdown of large flows by headroom (paper 3.2, equations 1 to 3; thesis 4.1 to 4.3).

Flows share a link as in an M/G/1 queue with processor sharing. Loads and capacities are fractions
of the line rate C.
"""

from hull.theory.assumptions import check_positive, require

TESTBED_LOSS = 0.08
"""Fraction of the line rate lost to DCTCP's rate variations on the paper's testbed (6.2.1)."""


def usable(drain: float, loss: float = TESTBED_LOSS) -> float:
    """gamma for equation 3: the phantom queue's drain rate less the loss by rate variations.

    Raises UsageError if nothing is left.
    """
    require(0 < drain <= 1, "drain", f"{drain:g}", "above 0 and at most 1", "paper 2.1: gamma")
    require(
        0 <= loss < drain, "loss", f"{loss:g}", f"0 to {drain:g}, the drain rate", "paper 6.2.1"
    )
    return drain - loss


def completion_time(size: float, capacity: float, load: float, gamma: float = 1.0) -> float:
    """Mean completion time, s, of a flow of `size` at `capacity` per s (equations 1 and 2).

    Raises UsageError for a load at or above gamma, where the queue has no steady state.
    """
    check_positive("capacity", capacity, "paper equation 1: C")
    check_load(load, gamma)
    return size / (capacity * (gamma - load))


def slowdown(load: float, gamma: float) -> float:
    """(1 - load)/(gamma - load): the factor by which large flows take longer (equation 3).

    Raises UsageError for a load at or above gamma.
    """
    check_load(load, gamma)
    return (1 - load) / (gamma - load)


def check_load(load: float, gamma: float) -> None:
    """UsageError unless a load is 0 or more and below the usable capacity gamma."""
    require(
        0 <= load < gamma,
        "load",
        f"{load:.4g}",
        f"0 or more and below the usable capacity, {gamma:.4g} of the line rate",
        "paper equation 2: the queue is stable only for load < gamma",
    )

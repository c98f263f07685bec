"""N D/D/1 against a packet-by-packet simulation of the queue, and against known results."""

import random

import pytest

from hull.errors import UsageError
from hull.theory.periodic import waiting

DRAWS = 5000


def played(senders: int, load: float) -> float:
    """Return the mean number waiting in the second period, over random times of the senders."""
    draw = random.Random(1)
    period = senders / load
    total = 0.0
    for _ in range(DRAWS):
        times = sorted(draw.uniform(0, period) for _ in range(senders))
        free = 0.0
        for turn in (0, 1):
            for time in times:
                start = max(free, turn * period + time)
                free = start + 1
                total += turn * (start - turn * period - time)
    return total / DRAWS / period


@pytest.mark.parametrize(("senders", "load"), [(2, 0.9), (4, 0.5), (4, 0.9), (8, 0.8), (8, 0.95)])
def test_matches_a_direct_simulation(senders: int, load: float) -> None:
    assert waiting(senders, load) == pytest.approx(played(senders, load), rel=0.05)


def test_two_senders_by_hand() -> None:
    # The other packet is within one transmission time with probability load / 2; mean wait 1/2.
    assert waiting(2, 0.9) == pytest.approx(0.9 * 0.45 / 2, rel=1e-3)


def test_one_sender_never_waits() -> None:
    assert waiting(1, 0.9) == 0


def test_many_senders_are_a_poisson_process() -> None:
    assert waiting(120, 0.5) == pytest.approx(0.5**2 / (2 * (1 - 0.5)), rel=0.05)


@pytest.mark.parametrize("load", [0, 1, 1.2])
def test_unstable_load(load: float) -> None:
    with pytest.raises(UsageError, match="load"):
        waiting(4, load)

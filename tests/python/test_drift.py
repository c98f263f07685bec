"""Drift between the halves of runs: by hand, on steady ones, and on a queue above its capacity."""

import random

import pytest

from hull.results.drift import drift, half_means


def test_halves_by_hand() -> None:
    flows = [(0, 10.0), (40, 20.0), (50, 100.0), (99, 300.0)]
    assert half_means(flows, 0, 100) == (15.0, 200.0)
    assert half_means(flows[:2], 0, 100) == (15.0, None)
    assert half_means([], 0, 100) == (None, None)


def test_shown_and_notable() -> None:
    runs = range(5)
    first = {run: 100.0 + run for run in runs}
    assert drift(first, {run: 150.0 + 2 * run for run in runs}, 4) is not None
    # 5% is shown, and too little to be told; 50% that varies is not shown.
    assert drift(first, {run: 1.05 * us + 0.1 * run for run, us in first.items()}, 4) is None
    assert drift(first, dict(enumerate((40.0, 300.0, 60.0, 500.0, 70.0))), 4) is None
    assert drift(first, dict.fromkeys(runs), 4) is None


def waits(load: float, seed: int, count: int = 4000) -> list[tuple[int, float]]:
    """Starts and times in a queue with Poisson arrivals and exponential service of mean 1."""
    draw = random.Random(seed)
    now = wait = 0.0
    found = []
    for _ in range(count):
        gap = draw.expovariate(load)
        now += gap
        wait = max(0.0, wait - gap)
        wait += draw.expovariate(1)
        found.append((int(now * 1000), wait))
    return found


@pytest.mark.parametrize(("load", "expected"), [(0.4, False), (1.2, True)])
def test_a_queue_above_its_capacity_drifts(load: float, expected: bool) -> None:
    first, second = {}, {}
    for seed in range(5):
        flows = waits(load, seed)
        first[seed], second[seed] = half_means(flows, 0, flows[-1][0])
    found = drift(first, second, 1)
    assert (found is not None) is expected
    if found is not None:
        # The backlog grows in proportion to time: 3 times in the mean of halves.
        assert found.ratio == pytest.approx(3, rel=0.2)


def test_steady_runs_rarely_drift() -> None:
    """At most 6% of 1,000 series of five seeds of a queue at a load of 0.5."""
    wrong = 0
    for case in range(1000):
        first, second = {}, {}
        for seed in range(5):
            flows = waits(0.5, 5 * case + seed, 200)
            first[seed], second[seed] = half_means(flows, 0, flows[-1][0])
        wrong += drift(first, second, 1) is not None
    assert wrong <= 60

"""Limit cycles against long runs, balances over a period, and printed numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hull.errors import UsageError
from hull.theory.fluid import INTEGRAL, Fluid, Point, trajectory
from hull.theory.limit_cycle import LimitCycle, limit_cycle
from hull.theory.throughput import throughput, worst_throughput

WINDOWS = st.floats(2.01, 1000)
GAINS = st.floats(0.001, 1)


def over_period(cycle: LimitCycle, value: str) -> float:
    """Integrate the term of a balance over tau."""
    total = 0.0
    for part in cycle.path.pieces:
        values = {
            "alpha": part.marked - part.alpha,
            "window": 1 - part.marked * part.window * part.alpha / 2,
            "queue": part.window / cycle.model.window - part.level,
        }[value]
        total += part.duration * float(INTEGRAL[-1] @ values)
    return total


@settings(max_examples=60)
@given(WINDOWS, GAINS)
def test_derivatives_integrate_to_zero_over_a_period(window: float, g: float) -> None:
    cycle = limit_cycle(Fluid(window, g))
    assert over_period(cycle, "alpha") == pytest.approx(0, abs=1e-7)
    assert over_period(cycle, "window") == pytest.approx(0, abs=1e-7)
    assert over_period(cycle, "queue") == pytest.approx(0, abs=1e-7)
    assert cycle.throughput == pytest.approx(1, abs=1e-7)
    assert cycle.undershoot < 0 < cycle.overshoot
    assert cycle.below > 1
    assert cycle.above > 1


@pytest.mark.parametrize(("window", "g"), [(5, 0.1), (14, 1 / 16), (100, 0.2)])
def test_other_starts_end_in_the_cycle(window: float, g: float) -> None:
    cycle = limit_cycle(Fluid(window, g))
    path = trajectory(Fluid(window, g), Point(0.0, window / 2, 1.0, 0.7), until=60 * cycle.period)
    assert np.diff(path.falls)[-3:] == pytest.approx(cycle.period, rel=1e-4)
    late = path.queue[path.time > 50 * cycle.period]
    assert late.min() == pytest.approx(cycle.undershoot, abs=2e-3)
    assert late.max() == pytest.approx(cycle.overshoot, abs=2e-3)


def test_worst_undershoot_matches_figure_3_6() -> None:
    windows = np.geomspace(4, 60, 60)
    for g in (0.01, 1 / 16, 0.1):
        depths = [limit_cycle(Fluid(w, g)).undershoot for w in windows]
        assert 10.5 <= windows[int(np.argmin(depths))] <= 16
        assert min(depths) == pytest.approx(-0.15, abs=0.02)


def test_period_grows_with_the_square_root_of_the_window() -> None:
    """Up to a constant, about 4 round trips: the exponent itself is 0.38 at 100, 0.44 at 1600."""
    periods = [limit_cycle(Fluid(w, 0.001)).period for w in (100, 400, 1600, 6400)]
    steps = np.diff(periods)
    assert steps[1:] / steps[:-1] == pytest.approx(2, rel=0.05)
    ratios = np.array(periods[1:]) / periods[:-1]
    assert ratios[0] < ratios[1] < ratios[2] < 2


@settings(max_examples=30)
@given(st.floats(2.5, 300), st.floats(0.005, 0.5), st.floats(0, 0.3))
def test_lost_throughput_is_capacity_unused_while_empty(
    window: float, g: float, psi: float
) -> None:
    cycle = limit_cycle(Fluid(window, g, psi))
    lost = 0.0
    for part in cycle.path.pieces:
        if part.empty:
            sent = part.duration * float(INTEGRAL[-1] @ part.window) / window
            lost += part.time[-1] - part.time[0] - sent
    assert cycle.throughput == pytest.approx(1 - lost / cycle.period, abs=1e-8)
    assert cycle.undershoot >= -psi / (1 + psi) - 1e-9


def test_full_throughput_above_a_17_percent_threshold() -> None:
    assert worst_throughput(0.01, 0.17).throughput == pytest.approx(1, abs=1e-6)
    assert worst_throughput(1 / 16, 0.17).throughput == pytest.approx(1, abs=1e-6)
    assert worst_throughput(0.01, 0.1).throughput < 0.995


def test_throughput_without_a_queue() -> None:
    """Printed: at least 94% for g < 0.1. That holds up to about 0.073; at 0.1 it is 93.85%."""
    assert worst_throughput(1 / 16, 0.0).throughput > 0.94
    found = worst_throughput(0.0999, 0.0)
    assert found.throughput == pytest.approx(0.9385, abs=2e-4)
    assert 10 <= found.window <= 20
    assert throughput(100, 0.05, 0.0) > found.throughput


@pytest.mark.parametrize("window", [0.5, 2.0])
def test_small_windows_have_no_cycle(window: float) -> None:
    with pytest.raises(UsageError, match=r"no limit cycle, each flow stands at 2 packets.*3\.13"):
        limit_cycle(Fluid(window, 0.1))

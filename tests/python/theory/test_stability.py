"""Theorem 3.1 against small perturbations of the Poincare map itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hull.theory.fluid import Array, Fluid
from hull.theory.limit_cycle import LimitCycle, fall, limit_cycle
from hull.theory.stability import jacobian, printed_jacobian, radius, spectral_radius


def by_differences(cycle: LimitCycle) -> Array:
    """Jacobian of (window, alpha) at one fall with respect to the previous fall, shape (2, 2)."""
    columns = []
    for row in np.diag([1e-5, 1e-6]):
        ends = [fall(cycle.model, *(np.array(cycle.start) + sign * row)).end for sign in (1, -1)]
        change = np.array([ends[0].window - ends[1].window, ends[0].alpha - ends[1].alpha])
        columns.append(change / (2 * row.sum()))
    return np.column_stack(columns)


@settings(max_examples=40)
@given(st.floats(2.2, 1000), st.floats(0.001, 1))
def test_jacobian_matches_the_poincare_map(window: float, g: float) -> None:
    cycle = limit_cycle(Fluid(window, g))
    found = jacobian(cycle)
    assert found[:2, :2] == pytest.approx(by_differences(cycle), rel=1e-3, abs=1e-4 * window)
    assert found[2] == pytest.approx(np.zeros(3), abs=1e-9 * window)


def test_jacobian_gives_the_decay_of_disturbances() -> None:
    cycle = limit_cycle(Fluid(14, 1 / 16))
    window, alpha = cycle.start
    gaps = []
    state = (window, alpha + 0.01)
    for _ in range(8):
        end = fall(cycle.model, *state).end
        state = (end.window, end.alpha)
        gaps.append(end.alpha - alpha)
    assert gaps[-1] / gaps[-2] == pytest.approx(radius(jacobian(cycle)), rel=1e-2)


def test_stable_over_figure_3_5() -> None:
    for window in np.geomspace(2.01, 1000, 25):
        for g in np.geomspace(0.001, 1, 25):
            assert spectral_radius(window, g) < 1


def test_printed_exponential_is_not_the_transition_matrix() -> None:
    cycle = limit_cycle(Fluid(100, 1 / 16))
    assert radius(jacobian(cycle)) == pytest.approx(0.0632, abs=1e-3)
    assert radius(printed_jacobian(cycle)) == pytest.approx(0.1790, abs=1e-3)

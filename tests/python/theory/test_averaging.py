"""The averaging principle: theorem 5.4 of the thesis on random errors; loops in the time domain
against the eigenvalues of a period, an integrator with a closed form, and an ODE solver."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from hull.theory.averaging import (
    EXAMPLE,
    EXAMPLE_GAIN,
    EXAMPLE_PERIOD,
    Array,
    Controller,
    Loop,
    Plant,
    averaged,
    equivalent,
    growth,
    largest_delay,
    proportional_derivative,
    response,
    spectral_radius,
)

STANDARD, AP, AP2, PD = (
    Controller(EXAMPLE_GAIN),
    Controller(EXAMPLE_GAIN, averages=1),
    Controller(EXAMPLE_GAIN, averages=2),
    Controller(EXAMPLE_GAIN, derivative=True),
)


def example(controller: Controller, delay: float) -> Loop:
    return Loop(EXAMPLE, controller, EXAMPLE_PERIOD, delay)


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=100),
    st.floats(0.001, 10),
    st.floats(-1e3, 1e3),
)
def test_theorem_5_4(errors: list[float], gain: float, start: float) -> None:
    """Controllers 1 and 2 give the same input in both halves of every period."""
    sequence = np.array(errors)
    first = averaged(sequence, gain, start)
    second = proportional_derivative(sequence, gain, start)
    scale = abs(start) + gain * float(np.abs(sequence).sum())
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-12 * max(scale, 1e-9))


def test_ap_is_equivalent_to_the_pd_controller_of_figure_5_10() -> None:
    assert equivalent(AP) == PD
    # AP2 by hand: 1, 1/2, 1/4 of the change in the thirds: 7/12 on average, 1/4 at the end.
    assert equivalent(AP2).shares == pytest.approx((1 / 4, 1 / 3))


@given(
    st.lists(st.floats(-10, 10), min_size=1, max_size=40),
    st.floats(0.05, 0.95),
    st.lists(st.floats(0.01, 0.99), min_size=1, max_size=4, unique=True),
)
def test_remark_5_4(errors: list[float], factor: float, places: list[float]) -> None:
    """Averaging by any factor, at any places, has the equivalent PD's mean in each period."""
    controller = Controller(0.3, len(places), factor=factor, places=tuple(sorted(places)))
    pd = equivalent(controller)
    edges = np.diff([0.0, *controller.at, 1.0])
    current, expected, before = 0.0, 0.0, 0.0
    for error in errors:
        values = [target := current, current + controller.feedback(error, 0.0)]
        for _ in places:
            values.append((1 - factor) * values[-1] + factor * target)
        current = values[-1]
        expected += pd.feedback(error, before)
        before = error
        assert float(edges @ np.array(values[1:])) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "controller",
    [
        STANDARD,
        AP,
        AP2,
        PD,
        Controller(EXAMPLE_GAIN, 1, factor=0.25),
        Controller(EXAMPLE_GAIN, 2, factor=0.7, places=(0.1, 0.8)),
    ],
)
@pytest.mark.parametrize("delay", [0.0, 2.3, 5.5, 8.0, 11.0, 15.0, 18.7])
def test_time_and_eigenvalues_agree(controller: Controller, delay: float) -> None:
    loop = example(controller, delay)
    radius = spectral_radius(loop)
    if radius > 0.93:  # else nothing is left to measure after 400 periods
        assert growth(loop) == pytest.approx(radius, abs=0.003)
    assert (growth(loop, 150) < 1) == (radius < 1)


@pytest.mark.parametrize("gain", [0.3, 1.7, 2.1])
def test_integrator(gain: float) -> None:
    """1/s without delay: u grows by K e at each sample, and z^2 + (K - 2) z + 1 has |z| = 1.

    With AP the mean input loses K e(n) / 4, and the input retains half of K e(n).
    """
    plant = Plant((1.0,), (1.0, 0.0))
    assert spectral_radius(Loop(plant, Controller(gain), 1.0, 0.0)) == pytest.approx(1)
    # AP: u_1 = u + K e, then u = u + K e / 2, so y(n + 1) = y + u + 3 K e / 4.
    matrix = np.array([[1 - 0.75 * gain, 1], [-0.5 * gain, 1]])
    expected = float(np.max(np.abs(np.linalg.eigvals(matrix))))
    found = spectral_radius(Loop(plant, Controller(gain, averages=1), 1.0, 0.0))
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("controller", [STANDARD, AP, PD])
def test_against_a_solver(controller: Controller) -> None:
    """The response with a delay of 2.75 s equals one solved numerically between all changes."""
    loop = example(controller, 2.75)
    times, outputs = response(loop, 20.0, 0.25)
    flow, output = EXAMPLE.matrices

    def move(state: Array, span: float) -> Array:
        solved = solve_ivp(lambda _, x: flow @ x, (0, span), state, rtol=1e-10, atol=1e-12)
        return np.asarray(solved.y[:, -1])

    state, errors, target = np.zeros(len(flow)), [], 0.0
    for quarter, expected in enumerate(outputs):
        assert float(output @ state[:-1]) == pytest.approx(expected, abs=1e-7)
        if quarter % 4 == 0:
            errors.append(1.0 - float(output @ state[:-1]))
        if quarter >= 11 and quarter % 4 == 3:
            n = (quarter - 11) // 4
            target = state[-1]
            state[-1] += controller.feedback(errors[n], errors[n - 1] if n else 0.0)
        if quarter >= 13 and quarter % 4 == 1 and controller.averages:
            state[-1] = (state[-1] + target) / 2
        state = move(state, 0.25)
    assert len(times) == 81


def test_averaging_tolerates_more_delay() -> None:
    """The example of 5.5.1: the order is the thesis's; its 15 s for AP are 14.7 s here."""
    delays = [
        largest_delay(lambda delay, c=c: example(c, delay), 20.0, 0.1)  # type: ignore[misc]
        for c in (STANDARD, AP, PD)
    ]
    assert [round(delay, 1) for delay in delays] == [6.1, 14.7, 14.7]


def test_ap_and_pd_loops_are_nearly_the_same() -> None:
    for delay in (0.0, 4.0, 12.0):
        ap, pd = (response(example(c, delay), 100.0, 0.5)[1] for c in (AP, PD))
        assert np.abs(ap - pd).max() < 0.03


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="period"):
        example(replace(AP), -1.0)
    with pytest.raises(ValueError, match="degree"):
        response(Loop(Plant((1.0, 0.0), (1.0, 1.0)), AP, 1.0, 0.0), 1.0, 0.5)
    assert math.isclose(largest_delay(lambda _: example(AP, 1.0), 3.0, 1.0), 3.0)

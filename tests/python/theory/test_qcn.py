"""QCN's models against closed forms, finite differences, other integrators and time responses."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from hull.errors import UsageError
from hull.theory.qcn import Qcn
from hull.theory.qcn_fluid import Fluid
from hull.theory.qcn_stability import (
    Loop,
    aimd_loop,
    check_theorem_5_3,
    conditions,
    omega_hat,
    omega_star,
    qcn_loop,
    tau_hat_s,
    tau_star_s,
)

Array = NDArray[np.float64]

THESIS = Qcn()
"""The baseline of thesis 5.4: 10 sources at 10 Gbps."""

PROBING = st.builds(
    Qcn,
    capacity_pps=st.floats(1e5, 1e7),
    flows=st.integers(1, 100),
    sampling=st.floats(0.002, 0.006),
    weight=st.floats(0.2, 8),
    decrease=st.floats(1 / 1024, 1 / 32),
    increase_pps=st.floats(2e3, 1e5),
    equilibrium=st.just(0.0),
)
"""Where sources probe so much that F_b is well above 0 at the fixed points."""

MODELS = st.builds(
    Qcn,
    capacity_pps=st.floats(1e5, 1e7),
    flows=st.integers(1, 100),
    sampling=st.floats(0.002, 0.05),
    weight=st.floats(0.2, 8),
    decrease=st.floats(1 / 1024, 1 / 32),
    increase_pps=st.floats(10, 5000),
    # F_b is far below Q_eq at the fixed point: with Q_eq = 0 their sum loses no digits.
    equilibrium=st.just(0.0),
)


def test_expected_packets_between_increases() -> None:
    """Figure 5.3's chain: h_i = 1 + (1 - p) h_(i+1) + p h_0, solved as linear equations."""
    p = THESIS.sampling
    chain = np.eye(100)
    for state in range(100):
        chain[state, 0] -= p
        if state < 99:
            chain[state, state + 1] -= 1 - p
    hits = np.linalg.solve(chain, np.ones(100))
    assert THESIS.eta == pytest.approx(1 / hits[0], rel=1e-9)
    assert THESIS.zeta == pytest.approx(0.99**500 / hits[0], rel=1e-9)


@settings(max_examples=60)
@given(MODELS)
def test_fixed_points_are_stationary(model: Qcn) -> None:
    for averaging, at in ((True, model.fixed_point()), (False, model.fixed_point_aimd())):
        fluid = Fluid(model, 1e-4, averaging, most_feedback=math.inf)
        feedback = fluid.feedback(at.current, at.queue)
        assert feedback == pytest.approx(at.queue - model.equilibrium, rel=1e-6, abs=1e-9)
        still = fluid.derivative(at.current, at.target, at.current, at.queue - model.equilibrium)
        fall = model.decrease * at.queue * at.current**2 * model.sampling
        rounding = 1e-14 * model.rate**2 * model.sampling
        assert still[0] == pytest.approx(0, abs=1e-9 * fall + rounding)
        probing = model.increase_pps * model.rate * model.zeta
        assert still[1] == pytest.approx(0, abs=1e-9 * probing + rounding)


@settings(max_examples=60)
@given(PROBING)
def test_linearisation_matches_the_derivative(model: Qcn) -> None:
    """Thesis 5.10 to 5.12 and E.1, E.2 equal finite differences where F_b stays above 0."""
    for averaging, loop in ((True, qcn_loop(model)), (False, aimd_loop(model))):
        at = model.fixed_point() if averaging else model.fixed_point_aimd()
        fluid = Fluid(model, 1e-4, averaging, most_feedback=math.inf)

        def slope(
            now: Array, before: Array, at: object = at, fluid: Fluid = fluid
        ) -> tuple[float, float]:
            excess = at.queue - fluid.model.equilibrium  # type: ignore[attr-defined]
            net = fluid.model.flows * before[0]
            told = (
                excess
                + before[2]
                + net * fluid.model.weight / (fluid.model.capacity_pps * fluid.model.sampling)
            )
            return fluid.derivative(
                at.current + now[0],  # type: ignore[attr-defined]
                at.target + now[1],  # type: ignore[attr-defined]
                at.current + before[0],  # type: ignore[attr-defined]
                told,
            )

        excess = at.queue - model.equilibrium
        small = np.array([1e-3 * excess * model.gamma / model.flows, 1e-4, 1e-3 * excess])
        states = (0, 1, 2) if averaging else (0, 2)
        rows = (0, 1) if averaging else (0,)
        for found, which in ((loop.now, 0), (loop.before, 1)):
            for column, state in enumerate(states):
                step = np.zeros((2, 3))
                step[which, state] = small[state]
                ends = [slope(*(sign * step)) for sign in (1, -1)]
                for row in rows:
                    change = (ends[0][row] - ends[1][row]) / (2 * small[state])
                    scale = abs(found).max()
                    assert found[row][column] == pytest.approx(change, rel=1e-4, abs=1e-5 * scale)


def test_margins_of_the_thesis() -> None:
    """Theorem 5.1 gives 249 us; theorem 5.2 gives 216 us, where the thesis prints 189 us."""
    assert tau_star_s(THESIS) * 1e6 == pytest.approx(249, abs=0.5)
    assert tau_hat_s(THESIS) * 1e6 == pytest.approx(216.3, abs=0.05)
    assert qcn_loop(THESIS).margin_s() * 1e6 == pytest.approx(250.9, abs=0.05)
    assert aimd_loop(THESIS).margin_s() == pytest.approx(tau_hat_s(THESIS), rel=1e-9)


@settings(max_examples=150)
@given(MODELS)
def test_theorems_5_1_and_5_2(model: Qcn) -> None:
    """Theorem 5.1 is a valid bound, 5.2 is exact; 5.16 is above the crossover."""
    qcn, aimd = qcn_loop(model), aimd_loop(model)
    assert qcn.crossovers()[-1] < omega_star(model)
    assert 0 < tau_star_s(model) <= qcn.margin_s() * (1 + 1e-9)
    if model.a3 > model.a_hat:
        assert aimd.crossovers() == [pytest.approx(omega_hat(model), rel=1e-6)]
        assert tau_hat_s(model) == pytest.approx(aimd.margin_s(), rel=1e-6)


@settings(max_examples=200)
@given(MODELS)
def test_theorem_5_3(model: Qcn) -> None:
    first, second = conditions(model)
    if first < 0.1 and second < 0.2:
        assert tau_star_s(model) > tau_hat_s(model)
        assert qcn_loop(model).margin_s() > aimd_loop(model).margin_s()
    else:
        with pytest.raises(UsageError, match=r"5\.2[23]"):
            check_theorem_5_3(model)


def test_equation_5_23_limits_flows_to_399() -> None:
    check_theorem_5_3(Qcn(flows=399))
    with pytest.raises(UsageError, match=r"N R_AI/C.*0.2.*5\.23"):
        check_theorem_5_3(Qcn(flows=400))


@settings(max_examples=20)
@given(MODELS)
def test_rightmost_root_crosses_at_the_margin(model: Qcn) -> None:
    """The delay equation's rightmost root crosses the axis at the frequency response's margin."""
    for loop in (qcn_loop(model), aimd_loop(model)):
        margin = loop.margin_s()
        assert loop.rightmost(0.98 * margin).real < 0 < loop.rightmost(1.02 * margin).real
        on_axis = loop.rightmost(margin)
        assert abs(on_axis.real) < 1e-6 * abs(on_axis)
        assert abs(on_axis.imag) == pytest.approx(loop.crossovers()[-1], rel=1e-6)


def test_corollary_5_1() -> None:
    for loop in (qcn_loop(THESIS), aimd_loop(THESIS)):
        assert loop.rightmost(0).real < 0


def _growth(times: Array, values: Array) -> float:
    """Return the growth rate of an oscillation about 0."""
    inner = np.flatnonzero((values[1:-1] - values[:-2]) * (values[2:] - values[1:-1]) < 0) + 1
    return float(np.polyfit(times[inner], np.log(np.abs(values[inner])), 1)[0])


@pytest.mark.parametrize("share", [0.8, 0.95, 1.1])
def test_time_response_matches_the_rightmost_root(share: float) -> None:
    """The full fluid model of QCN-AIMD, with a disturbance too small to reach F_b = 0."""
    loop, at = aimd_loop(THESIS), THESIS.fixed_point_aimd()
    delay = share * loop.margin_s()
    run = Fluid(THESIS, delay, averaging=False).run(
        0.02, at.current, queue=at.queue + (1e-3 if share < 1 else 1e-5)
    )
    late = run.time > 0.005
    root = loop.rightmost(delay)
    found = _growth(run.time[late], run.queue[late] - at.queue)
    # Before time 0 the model has no feedback: the transient vanishes after some delays.
    assert found == pytest.approx(root.real, abs=0.01 * abs(root))


def _by_steps(model: Qcn, delay: float, queue: float, delays: int) -> tuple[float, float]:
    """R_C and Q of QCN-AIMD after some delays by Dormand and Prince, one delay at a time."""
    at = model.fixed_point_aimd()

    def history(t: float) -> tuple[float, float]:
        # No feedback before time 0.
        return at.current, -1.0

    state = np.array([at.current, queue])
    heard = history
    for n in range(delays):

        def slope(t: float, y: Array, heard: object = heard) -> list[float]:
            before, feedback = heard(t - delay)  # type: ignore[operator]
            p = model.sampling if feedback > 0 else 0.0
            if feedback > 0:
                rise = model.increase_pps * before * model.eta
            else:
                rise = model.increase_pps * before / 100
            cut = model.decrease * feedback * y[0] * before * p
            return [rise - cut, model.flows * y[0] - model.capacity_pps]

        part = solve_ivp(
            slope,
            (n * delay, (n + 1) * delay),
            state,
            method="DOP853",
            rtol=1e-11,
            atol=1e-9,
            dense_output=True,
        )

        def told(t: float, sol: object = part.sol) -> tuple[float, float]:
            rate, level = sol(t)  # type: ignore[operator]
            excess = model.flows * rate - model.capacity_pps
            gain = model.weight / (model.capacity_pps * model.sampling)
            return float(rate), float(level - model.equilibrium + gain * excess)

        heard, state = told, part.y[:, -1]
    return float(state[0]), float(state[1])


def test_another_integrator_agrees() -> None:
    at, delay = THESIS.fixed_point_aimd(), 60e-6
    rate, level = _by_steps(THESIS, delay, at.queue + 0.05, 12)
    run = Fluid(THESIS, delay, averaging=False).run(12 * delay, at.current, queue=at.queue + 0.05)
    assert run.current[-1] - at.current == pytest.approx(rate - at.current, rel=2e-3)
    assert run.queue[-1] - at.queue == pytest.approx(level - at.queue, rel=2e-3)


@pytest.mark.filterwarnings("ignore:The target time is smaller")
def test_jitcdde_agrees() -> None:
    """Shampine and Thompson's integrator on the linear QCN, where it is installed."""
    jitcdde = pytest.importorskip("jitcdde")
    loop: Loop = qcn_loop(THESIS)
    delay = 200e-6
    unit = 1e-4  # time in units of 0.1 ms, the queue in units of a rate
    scale = np.diag([1, 1, THESIS.gamma / THESIS.flows])
    now = unit * scale @ loop.now @ np.linalg.inv(scale)
    before = unit * scale @ loop.before @ np.linalg.inv(scale)
    y, t = jitcdde.y, jitcdde.t
    slopes = [
        sum(now[i][j] * y(j) + before[i][j] * y(j, t - delay / unit) for j in range(3))
        for i in range(3)
    ]
    dde = jitcdde.jitcdde(slopes, max_delay=delay / unit)
    dde.constant_past([1.0, 0.0, 0.0])
    dde.generate_lambdas()
    dde.step_on_discontinuities()
    times = np.linspace(20, 120, 600)
    found = np.array([dde.integrate(time)[0] for time in times])
    root = loop.rightmost(delay) * unit
    assert _growth(times, found) == pytest.approx(root.real, abs=0.01 * abs(root))


def test_fluid_is_stable_only_below_the_margins() -> None:
    """Both queues settle at 0.25 of the margin and underflow at twice the margin."""
    for averaging, loop in ((True, qcn_loop(THESIS)), (False, aimd_loop(THESIS))):
        run = Fluid(THESIS, 2 * loop.margin_s(), averaging).run(0.06, THESIS.rate)
        assert run.after(0.03).queue.min() == 0
        at = THESIS.fixed_point() if averaging else THESIS.fixed_point_aimd()
        run = Fluid(THESIS, 0.25 * loop.margin_s(), averaging).run(0.06, THESIS.rate)
        assert run.after(0.05).queue == pytest.approx(at.queue, abs=0.1)


@pytest.mark.parametrize(
    ("settings_", "words"),
    [
        ({"sampling": 0.0}, ("sampling", "above 0 and below 1", "5.7")),
        ({"flows": 0}, ("flows", "1 or more", "5.5")),
        ({"weight": -1.0}, ("weight", "above 0", "5.6")),
        ({"equilibrium": -1.0}, ("equilibrium", "0 or more", "5.6")),
    ],
)
def test_impossible_parameters_are_refused(
    settings_: dict[str, float], words: tuple[str, ...]
) -> None:
    with pytest.raises(UsageError) as caught:
        Qcn(**settings_)  # type: ignore[arg-type]
    assert all(word in str(caught.value) for word in words)


def test_a_delay_of_zero_is_refused() -> None:
    with pytest.raises(UsageError, match=r"delay.*above 0.*5\.3"):
        Fluid(THESIS, 0.0)

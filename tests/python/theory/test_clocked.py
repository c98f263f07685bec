"""The fluid model whose queue follows the windows: small steps, balances, and simulations.

With 3.35, a cut for each marked ACK, the simulator's sources follow the thesis's rule; the part of
its model that remains is the queue, 2.3 or 3.5.
"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hull import scenarios
from hull.errors import UsageError
from hull.experiments.common.measured import Results
from hull.experiments.common.swings import Swing, swing
from hull.runner import perform
from hull.runs.plan import make_plan
from hull.theory.bottleneck import Bottleneck
from hull.theory.fluid import INTEGRAL, Fluid
from hull.theory.limit_cycle import limit_cycle

G = 1 / 16


def link(flows: int) -> Bottleneck:
    """Figure 3.1."""
    return Bottleneck(10e9 / 12000, 100e-6, 65, flows)


def model(at: Bottleneck, *, clocked: bool) -> Swing:
    cycle = limit_cycle(Fluid(at.window, G, at.psi, clocked=clocked))
    low, high, mean = (
        at.threshold_packets + value * at.max_window
        for value in (cycle.undershoot, cycle.overshoot, cycle.mean_queue)
    )
    return Swing(cycle.period * at.round_trip_s, low, high, mean)


@pytest.mark.parametrize("flows", [1, 2, 10])
def test_follows_small_steps(flows: int) -> None:
    at = link(flows)
    dt, steps = 2e-7, 150_000
    late = round(at.round_trip_s / dt)
    window, alpha = at.window, 0.15
    queue = np.zeros(steps)
    for i in range(steps):
        queue[i] = max(0.0, flows * window - at.bdp_packets)
        r = at.delay_s + queue[i] / at.capacity_pps
        marked = float(i >= late and queue[i - late] > at.threshold_packets)
        window += dt / r * (1 - marked * window * alpha / 2)
        alpha += dt * G / r * (marked - alpha)
    late_half = queue[steps // 2 :]
    rises = np.flatnonzero((late_half[:-1] <= 65) & (late_half[1:] > 65))
    expected = model(at, clocked=True)
    assert np.mean(np.diff(rises)) * dt == pytest.approx(expected.period_s, rel=2e-3)
    whole = late_half[rises[0] : rises[-1]]
    assert whole.min() == pytest.approx(expected.low, abs=0.1)
    assert whole.max() == pytest.approx(expected.high, abs=0.1)
    assert whole.mean() == pytest.approx(expected.mean, abs=0.1)


@settings(max_examples=40)
@given(st.floats(2.2, 500), st.floats(0.005, 1), st.floats(0.005, 0.3))
def test_derivatives_integrate_to_zero_over_a_period(window: float, g: float, psi: float) -> None:
    cycle = limit_cycle(Fluid(window, g, psi, clocked=True))
    alpha = rise = 0.0
    for part in cycle.path.pieces:
        alpha += part.duration * float(INTEGRAL[-1] @ (part.marked - part.alpha))
        balance = 1 - part.marked * part.window * part.alpha / 2
        rise += part.duration * float(INTEGRAL[-1] @ balance)
        if not part.empty:
            assert part.level == pytest.approx(part.window / window, rel=1e-9)
    assert alpha == pytest.approx(0, abs=1e-7)
    assert rise == pytest.approx(0, abs=1e-7)
    assert cycle.throughput <= 1 + 1e-9


@pytest.mark.parametrize("flows", [2, 10])
def test_matches_the_simulator(tmp_path: Path, flows: int) -> None:
    """Amplitude, period and mean within 10%; the model with 3.5 is off by more."""
    overrides = [f'workload.long_lived.flows=[{{src="1-{flows}",dst=0}}]']
    plan = make_plan(scenarios.text("thesis-fluid"), "thesis-fluid.toml", overrides)
    result = perform(plan, tmp_path / "run", jobs=1)
    found = swing(Results(result.folder, result.summary), "", "dctcp_rtt_fair")
    expected = model(link(flows), clocked=True)
    assert found.amplitude == pytest.approx(expected.amplitude, rel=0.1)
    assert found.period_s == pytest.approx(expected.period_s, rel=0.1)
    assert found.mean == pytest.approx(expected.mean, rel=0.1)
    assert found.period_s < 0.65 * model(link(flows), clocked=False).period_s


def test_rejects_a_phantom_queue() -> None:
    with pytest.raises(UsageError, match=r"clocked: with phantom is invalid; expected one of the"):
        Fluid(10, G, phantom=True, clocked=True)


def test_threshold_of_0_is_refused() -> None:
    with pytest.raises(UsageError, match=r"psi: 0 is invalid; expected above 0 with clocked"):
        Fluid(10, G, 0, clocked=True)


def test_smallest_windows_are_refused() -> None:
    with pytest.raises(UsageError, match=r"window: 2\.03 .*more than 2\.05.*3\.13"):
        limit_cycle(Fluid(2.03, G, clocked=True))

"""Guidelines, slowdown, headroom and the pacer's filter against printed numbers and simulations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hull.errors import UsageError
from hull.theory import guidelines, headroom, slowdown
from hull.theory.pacer import RateFilter

TABLE_3 = RateFilter(64e-6, 0.125, 16)


def test_example_of_the_thesis() -> None:
    bdp = 10e9 * 300e-6 / 12000
    k = guidelines.threshold(bdp)
    low, high = guidelines.gain_range(bdp + k)
    assert k == pytest.approx(42, abs=1)
    assert (round(low, 2), round(high, 2)) == (0.02, 0.06)


def test_undershoot_rule_exceeds_the_printed_value() -> None:
    k = guidelines.threshold_for_undershoot(250)
    assert k == pytest.approx(0.15 * (250 + k))
    assert k / 250 == pytest.approx(0.176, abs=1e-3)  # printed: 0.17


@pytest.mark.parametrize(("load", "expected"), [(0.2, 1.33), (0.4, 1.5), (0.6, 2.0)])
def test_slowdown_as_printed(load: float, expected: float) -> None:
    assert slowdown.slowdown(load, 0.8) == pytest.approx(expected, abs=5e-3)


@given(st.floats(0.1, 1), st.floats(0, 0.99))
def test_slowdown_is_a_ratio_of_completion_times(gamma: float, part: float) -> None:
    load = gamma * part
    slow, fast = (slowdown.completion_time(1e7, 1.25e8, load, g) for g in (gamma, 1.0))
    assert slowdown.slowdown(load, gamma) == pytest.approx(slow / fast)


def test_processor_sharing_queue_matches_completion_time() -> None:
    """Equation 2 against a simulation of the queue: exponential sizes, mean 1."""
    rng = np.random.default_rng(1)
    gamma, load = 0.8, 0.4
    left: list[float] = []
    now = busy = 0.0
    finished, total = 0, 0.0
    arrival = rng.exponential(1 / load)
    while finished < 60_000:
        share = gamma / len(left) if left else 0.0
        done = now + min(left) / share if left else math.inf
        at = min(done, arrival)
        total += len(left) * (at - now)
        busy += share * len(left) * (at - now)
        left = [x - share * (at - now) for x in left]
        now = at
        if done <= arrival:
            left.remove(min(left))
            finished += 1
        else:
            left.append(rng.exponential(1.0))
            arrival = now + rng.exponential(1 / load)
    assert total / finished == pytest.approx(slowdown.completion_time(1, 1, load, gamma), rel=0.03)


def test_usable_capacity_of_the_testbed() -> None:
    assert [slowdown.usable(d) for d in (0.95, 0.9, 0.8)] == pytest.approx([0.87, 0.82, 0.72])


@pytest.mark.parametrize("load", [0.87, 0.9, -0.1])
def test_load_beyond_the_capacity_is_refused(load: float) -> None:
    with pytest.raises(UsageError, match=r"load: .*below the usable capacity, 0\.87 .*equation 2"):
        slowdown.slowdown(load, 0.87)


@given(st.integers(1, 100), st.floats(101, 1e5))
def test_headroom_and_flows_are_inverse(flows: int, bdp: float) -> None:
    assert headroom.most_flows(headroom.least_headroom(flows, bdp), bdp) == pytest.approx(flows)


def test_more_flows_than_packets_in_flight_are_refused() -> None:
    with pytest.raises(UsageError, match=r"flows: 30 is invalid; .*C RTT, 25 packets.*equation 5"):
        headroom.least_headroom(30, 25)


def test_filter_of_table_3() -> None:
    assert TABLE_3.time_constant_s == pytest.approx(512e-6)
    assert TABLE_3.backlog_time_constant_s == pytest.approx(7.8e-3, rel=0.01)
    assert TABLE_3.damping == pytest.approx(1.95, rel=0.01)


def test_steady_stream_is_the_fixed_point() -> None:
    rates, backlogs = TABLE_3.response(np.full(20_000, 64e-6 * 5e7), rate=1e7)
    assert rates[-1] == pytest.approx(5e7, rel=1e-9)
    assert backlogs[-1] == pytest.approx(0, abs=1)


def test_rate_follows_its_time_constant() -> None:
    quick = RateFilter(1e-6, 0.001, 1e-3)  # without the backlog's pull
    rates, _ = quick.response(np.full(1000, 1e-6 * 5e7), rate=0)
    assert rates[-1] / 5e7 == pytest.approx(1 - math.exp(-1), abs=1e-3)


@given(st.floats(0.01, 1), st.floats(0.001, 0.999))
def test_eigenvalues_are_in_the_unit_circle_up_to_the_limit(eta: float, part: float) -> None:
    limit = (4 - 2 * eta) / 1e-4
    found = RateFilter(1e-4, eta, limit * part)
    values = np.linalg.eigvals(found.matrix)
    assert np.abs(values).max() < 1
    assert np.linalg.det(found.matrix) == pytest.approx(1 - eta, abs=1e-9)
    with pytest.raises(UsageError, match=r"beta: .*swing up"):
        RateFilter(1e-4, eta, limit * 1.001)


@settings(max_examples=30)
@given(st.floats(0.02, 0.5), st.floats(1e-4, 0.5), st.floats(0.001, 0.3))
def test_frequency_response_matches_the_time_response(
    eta: float, pull: float, cycles: float
) -> None:
    """A sinusoid of `cycles` periods per interval; its start keeps the backlog above 0."""
    interval = 1e-4
    found = RateFilter(interval, eta, pull / interval)
    slowest = 1 - np.abs(np.linalg.eigvals(found.matrix)).max()
    n = int(30 / slowest) + 2000
    k = np.arange(n)
    wave = np.exp(2j * np.pi * cycles * k)
    state, rates = np.zeros(2, dtype=complex), np.empty(n, dtype=complex)
    for i, offered in enumerate(wave):  # equation 4 without the clamp at an empty backlog
        rate, backlog = state
        backlog = backlog + interval * (offered - rate)
        state = np.array([(1 - eta) * rate + eta * offered + found.beta * backlog, backlog])
        rates[i] = state[0]
    # The rate after interval i is the rate at time i + 1.
    assert rates[-1] / np.exp(2j * np.pi * cycles * n) == pytest.approx(
        found.gain(cycles / interval), rel=1e-6, abs=1e-6
    )


def test_backlog_of_a_step() -> None:
    step, start = 1.25e7, 5e7
    _, backlogs = TABLE_3.response(np.full(2000, 64e-6 * (start + step)), rate=start)
    assert TABLE_3.step_backlog(step) == pytest.approx(backlogs.max(), rel=1e-9)
    slow, fast = 16 / 0.125, 0.125 / 64e-6  # of the continuous filter, for beta T far below 1
    peak = math.log(fast / slow) / (fast - slow)
    expected = step * (math.exp(-slow * peak) - math.exp(-fast * peak)) / (fast - slow)
    assert backlogs.max() == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(("share", "burst"), [(0.2, 3e3), (0.45, 1e4), (0.8, 3e4)])
def test_backlog_of_bursts(share: float, burst: float) -> None:
    """Bursts spaced closer than T_r/eta, each within 15%."""
    found = RateFilter(16e-6, 0.125 / 4, 16)
    mean, n = share * 1.25e8, 200_000
    times = np.arange(1, int(n * 16e-6 * mean / burst)) * burst / mean
    arrivals = np.bincount((times / 16e-6).astype(int), minlength=n)[:n] * burst
    rates, backlogs = found.response(arrivals, mean)
    assert found.burst_rate(mean, burst) == pytest.approx(rates[n // 2 :].mean(), rel=0.02)
    assert found.burst_backlog(mean, burst) == pytest.approx(backlogs[n // 2 :].mean(), rel=0.15)

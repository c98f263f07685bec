"""RCP's fluid: against small time steps and, where linear, eigenvalues; its fixed point."""

from dataclasses import replace

import numpy as np
import pytest

from hull.theory.rcp import THESIS, Rcp, boundary, follow, growth, linear_radius, versions

NAMES = ("rcp", "ap_rcp", "ap2_rcp", "pd_rcp")


def in_steps(rcp: Rcp, round_trip: float, duration: float, step: float) -> np.ndarray:
    """Return the offered rate by Euler's method with a delay line."""
    steps, interval = round(duration / step), round(rcp.interval / step)
    delay, part = round(round_trip / step), round(rcp.interval / step / (rcp.averages + 1))
    offered = np.empty(steps)
    rate, before, queue, arrived, last = 0.5, 0.5, 0.0, 0.0, 0.0
    for at in range(steps):
        if at and at % interval == 0:
            spare = 1 - arrived * step / rcp.interval
            error = rcp.alpha * spare - rcp.beta * queue / rcp.held_round_trip
            used = error / 2 + (error - last) / 4 if rcp.derivative else error
            last, before, arrived = error, rate, 0.0
            rate = min(max(rate * (1 + rcp.interval / rcp.held_round_trip * used), 2**-16), 10.0)
        elif at > interval and at % part == 0:
            rate = (rate + before) / 2
        offered[at] = rate
        inflow = offered[at - delay] if at >= delay else 0.5
        arrived += inflow
        queue = max(0.0, queue + (inflow - 1) * step)
    return offered


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("beta", "round_trip"), [(1.0, 0.11), (0.1, 0.25), (1.0, 0.37)])
def test_small_steps_agree(name: str, beta: float, round_trip: float) -> None:
    rcp = versions(replace(THESIS, beta=beta))[name]
    trace = follow(rcp, round_trip, 8.0)
    stepped = in_steps(rcp, round_trip, 8.0, 0.05 / 120)
    at = np.arange(0.0, 8.0, 0.01) + 1e-3
    exact = trace.rates[np.searchsorted(trace.times, at, "right") - 1]
    np.testing.assert_allclose(exact, stepped[(at / (0.05 / 120)).astype(int)], atol=2e-3)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("round_trip", [0.2, 0.27, 0.4, 0.61, 0.9, 1.2])
def test_without_a_queue_it_is_linear(name: str, round_trip: float) -> None:
    rcp = versions(replace(THESIS, beta=0.0))[name]
    radius = linear_radius(rcp, round_trip)
    assert growth(rcp, round_trip) ** rcp.interval == pytest.approx(radius, abs=0.002)


def test_the_pure_delay_limit() -> None:
    """With a short T and no queue, x' = -alpha / d0 x(t - round trip): stable to pi / 2 d0 / alpha.

    The bound falls by T / 2: averaging and the hold each add T / 2 of delay, and a sum that
    includes its newest term at once removes one T / 2.
    """
    rcp = Rcp(alpha=0.1, beta=0.0, interval=0.002, held_round_trip=0.02)
    assert boundary(rcp, 0.1, 1.0) == pytest.approx(np.pi / 2 * 0.2 - 0.001, abs=2e-4)


def test_emptying_the_queue_keeps_it_stable() -> None:
    """If the queue could be negative, every version would be unstable from 50 ms on."""
    for rcp in versions(THESIS).values():
        assert min(linear_radius(rcp, n / 100) for n in range(5, 60)) > 1
        assert growth(rcp, 0.05) < 1


def test_boundaries() -> None:
    """The published boundaries lie between 110 and 115, 240 and 250, 480 and 490 ms."""
    for beta, expected in ((1.0, (83.3, 194.5, 410.5, 192.5)), (0.1, (108.8, 238.5, 481.0, 236.6))):
        for rcp, boundary_ms in zip(
            versions(replace(THESIS, beta=beta)).values(), expected, strict=True
        ):
            assert boundary(rcp, 0.02, 1.0) * 1e3 == pytest.approx(boundary_ms, abs=0.5)


@pytest.mark.parametrize("name", NAMES)
def test_settles_at_the_link_rate(name: str) -> None:
    trace = follow(versions(THESIS)[name], 0.05, 60.0)
    assert trace.rates[-1] == pytest.approx(1, abs=1e-6)
    assert trace.queue[-1] == pytest.approx(0, abs=1e-8)


def test_bad_bounds() -> None:
    with pytest.raises(ValueError, match="unstable"):
        boundary(THESIS, 0.2, 0.3)

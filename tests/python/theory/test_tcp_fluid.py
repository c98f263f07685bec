"""TCP's fluid model with RED: fixed point, linearisation, growth of oscillations, and packets."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hull
from hull.errors import UsageError
from hull.theory.tcp_fluid import Red, TcpRed

CAPACITY = 10e9 / 12000
STEADY = TcpRed(CAPACITY, 104e-6, 20, Red(50, 650, 0.02, 2**-9))
OSCILLATING = TcpRed(CAPACITY, 404e-6, 5, Red(20, 320, 0.01, 2**-12))
"""With 4 us of transmission in each round trip."""

MODELS = st.builds(
    TcpRed,
    capacity_pps=st.floats(1e4, 1e6),
    delay_s=st.floats(50e-6, 1e-3),
    flows=st.integers(1, 60),
    red=st.builds(
        Red,
        low=st.floats(5, 60),
        high=st.floats(100, 600),
        most=st.floats(0.005, 0.5),
        weight=st.floats(1e-4, 0.1),
        uniform=st.booleans(),
    ),
)


def has_fixed_point(model: TcpRed) -> bool:
    try:
        model.fixed_point()
    except UsageError:
        return False
    return True


@settings(max_examples=60)
@given(MODELS)
def test_fixed_point_by_the_equations(model: TcpRed) -> None:
    assume(has_fixed_point(model))
    at = model.fixed_point()
    assert at.window**2 * at.marked == pytest.approx(2)
    assert model.red.share(at.queue) == pytest.approx(at.marked, rel=1e-6)
    assert model.flows * at.window / at.round_trip_s == pytest.approx(model.capacity_pps)


@settings(max_examples=60)
@given(MODELS)
def test_linearisation_matches_the_derivative(model: TcpRed) -> None:
    """Central differences of the equations as they are printed."""
    assume(has_fixed_point(model))
    at = model.fixed_point()
    still = np.array([at.window, at.queue, at.queue])
    assume(model.red.low * 1.01 < at.queue < model.red.high * 0.99)

    def slope(now: np.ndarray, late: np.ndarray) -> np.ndarray:
        trip, late_trip = (model.delay_s + x[1] / model.capacity_pps for x in (now, late))
        marked = late[0] / late_trip * model.red.share(float(late[2]))
        return np.array(
            [
                1 / trip - now[0] / 2 * marked,
                model.flows * now[0] / trip - model.capacity_pps,
                -math.log(1 - model.red.weight) * model.capacity_pps * (now[1] - now[2]),
            ]
        )

    matrices = model.linearised()
    for column in range(3):
        step = np.zeros(3)
        step[column] = 1e-5 * still[column]
        ends = [slope(still + sign * step, still) for sign in (1, -1)]
        late_ends = [slope(still, still + sign * step) for sign in (1, -1)]
        for matrix, (high, low) in zip(matrices, (ends, late_ends), strict=True):
            change = (high - low) / (2 * step[column])
            scale = np.abs(matrix).max()
            assert matrix[:, column] == pytest.approx(change, rel=1e-4, abs=1e-6 * scale)


@pytest.mark.parametrize(
    "model",
    [
        TcpRed(CAPACITY, 204e-6, 10, Red(30, 330, 0.02, 2**-9)),
        TcpRed(CAPACITY, 404e-6, 5, Red(20, 320, 0.01, 2**-9)),
        TcpRed(CAPACITY, 204e-6, 10, Red(30, 330, 0.02, 2**-13)),
    ],
)
def test_small_oscillations_grow_at_the_rate_of_the_rightmost_root(model: TcpRed) -> None:
    at = model.fixed_point()
    path = model.run(200 * at.round_trip_s, at.window, at.queue * 1.0001)
    late = path.time > 60 * at.round_trip_s
    values, times = (path.queue - at.queue)[late], path.time[late]
    tops = np.flatnonzero((values[1:-1] > values[:-2]) & (values[1:-1] >= values[2:])) + 1
    slope = np.polyfit(times[tops], np.log(np.abs(values[tops])), 1)[0]
    assert slope * at.round_trip_s == pytest.approx(model.growth() * at.round_trip_s, abs=2e-3)


def test_marks_of_red_with_uniform_distances() -> None:
    """Uniform on 1 .. 1/p: the mean distance is (1 + 1/p)/2."""
    red = Red(10, 110, 0.5, 0.01)
    for average, p in ((30, 0.1), (60, 0.25), (110 - 1e-9, 0.5)):
        assert 1 / red.share(average) == pytest.approx((1 + 1 / p) / 2)
    assert (red.share(5), red.share(200)) == (0, 1)
    assert Red(10, 110, 0.5, 0.01, uniform=False).share(60) == 0.25


def scenario(model: TcpRed, halvings: int) -> dict[str, Any]:
    """Long-lived NewReno flows with ECN and RED."""
    delay = f"{(model.delay_s * 1e6 - 4) / 4}us"
    red = {
        "min": f"{model.red.low:.0f}pkts",
        "max": f"{model.red.high:.0f}pkts",
        "max_probability": model.red.most,
        "weight": halvings,
    }
    return {
        "name": "red",
        "run": {"duration": "200ms", "warmup": "100ms"},
        "topology": {"star": {"hosts": model.flows + 1}},
        "host": {
            "queue": "fifo",
            "rate": "40Gbps",
            "delay": delay,
            "stack_jitter": {"exponential": "1.2us"},
        },
        "switch": {"rate": "10Gbps", "delay": delay, "red": red},
        "transport": {
            "congestion_control": "newreno",
            "ecn": True,
            "mtu": "1500B",
            "min_window": 1,
            "max_window": 5000,
            "receive_window": 5000,
            "ack_every": 1,
        },
        "workload": {"long_lived": {"flows": [{"src": f"1-{model.flows}", "dst": 0}]}},
        "measure": {"sample_interval": "20us", "ports": ["switch->h0"]},
    }


def simulated(model: TcpRed, halvings: int, folder: Path) -> np.ndarray:
    """Queue in packets, every 20 us from 100 ms on."""
    result = hull.run(scenario(model, halvings), out=folder, seeds=1, jobs=1)
    late = result.queues.filter(pl.col("time_ps") >= 100 * 10**9)
    return late["bytes"].to_numpy() / 1500


@pytest.mark.parametrize("model", [STEADY, TcpRed(CAPACITY, 204e-6, 40, Red(50, 450, 0.1, 2**-9))])
def test_mean_queue_matches_packets(model: TcpRed, tmp_path: Path) -> None:
    """Windows of packets follow W^2 p = 3/2, the mean of a sawtooth, where the model has 2. The
    simulated queue is below the model's, within 12% of the former.
    """
    queue = simulated(model, 9, tmp_path / "run")
    at = model.fixed_point()
    low, high = model.red.low, model.red.high
    for _ in range(60):  # the intersection with W^2 p = 3/2 by bisection
        middle = (low + high) / 2
        windows = model.flows * math.sqrt(1.5 / model.red.share(middle))
        above = windows > model.capacity_pps * model.delay_s + middle
        low, high = (middle, high) if above else (low, middle)
    assert queue.mean() == pytest.approx(low, rel=0.12)
    assert queue.mean() < at.queue
    assert queue.mean() == pytest.approx(at.queue, rel=0.25)
    assert model.growth() < 0
    assert queue.std() < 0.2 * queue.mean()


def test_unstable_model_oscillates_in_packets_too(tmp_path: Path) -> None:
    queue = simulated(OSCILLATING, 12, tmp_path / "run")
    at = OSCILLATING.fixed_point()
    assert OSCILLATING.growth() > 0
    path = OSCILLATING.run(0.2, at.window, at.queue * 1.2)
    late = path.queue[path.time > 0.1]
    assert late.mean() == pytest.approx(queue.mean(), rel=0.2)
    assert late.std() == pytest.approx(queue.std(), rel=0.2)
    assert queue.std() > 0.5 * queue.mean()


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: Red(50, 40, 0.1, 0.1), r"low: 50 is invalid; expected 0 to below 40"),
        (lambda: Red(5, 40, 2, 0.1), r"most: 2 is invalid; expected above 0 and at most 1"),
        (lambda: TcpRed(CAPACITY, 0, 1, STEADY.red), r"delay: 0 is invalid; expected a number"),
        (
            lambda: TcpRed(CAPACITY, 1e-5, 1000, STEADY.red).fixed_point(),
            r"flows: 1000 is invalid; expected few enough that max_p holds the queue below max_th",
        ),
    ],
)
def test_impossible_settings_are_rejected(call: Any, match: str) -> None:
    with pytest.raises(UsageError, match=match):
        call()

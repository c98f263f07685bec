"""The fluid model against another integrator: the printed equations in small fixed steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hull.errors import UsageError
from hull.theory.bottleneck import Bottleneck
from hull.theory.fluid import Array, Fluid, Point, piece, trajectory

THESIS = Bottleneck(10e9 / 12000, 100e-6, 65, 2)  # figure 3.1


def in_small_steps(link: Bottleneck, g: float, start: Array, seconds: float, steps: int) -> Array:
    """Integrate 3.3 to 3.6 in packets and seconds by Heun's method; rows (window, alpha, queue)."""
    dt = seconds / steps
    late = round(link.round_trip_s / dt)
    x = np.empty((steps + 1, 3))
    x[0] = start
    for i in range(steps):
        marks = [
            float(i + j >= late and x[i + j - late, 2] > link.threshold_packets) for j in (0, 1)
        ]

        def slope(at: Array, p: float) -> Array:
            w, a, q = at
            r = link.delay_s + q / link.capacity_pps
            change = np.array(
                [
                    1 / r - w * a / (2 * r) * p,
                    g / r * (p - a),
                    link.flows * w / r - link.capacity_pps,
                ]
            )
            if q <= 0:
                change[2] = max(change[2], 0)
            return change

        first = slope(x[i], marks[0])
        second = slope(x[i] + dt * first, marks[1])
        x[i + 1] = x[i] + dt * (first + second) / 2
        x[i + 1, 2] = max(x[i + 1, 2], 0)
    return x


def at(times: Array, path: object, name: str) -> Array:
    found: Array = np.interp(times, path.time, getattr(path, name))  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize(("flows", "g"), [(2, 1 / 16), (2, 0.4), (10, 1 / 16)])
def test_follows_the_printed_equations(flows: int, g: float) -> None:
    link = Bottleneck(THESIS.capacity_pps, THESIS.delay_s, THESIS.threshold_packets, flows)
    seconds, steps = 30 * link.round_trip_s, 30000
    window = link.window * 0.9
    expected = in_small_steps(link, g, np.array([window, 0.5, 0.0]), seconds, steps)
    floor = -link.psi / (1 + link.psi)
    path = trajectory(Fluid(link.window, g, link.psi), Point(0, window, 0.5, 1 + floor), until=30)
    times = np.linspace(0, 30, steps + 1)[10::1000]
    unit = link.capacity_pps * link.round_trip_s
    assert at(times, path, "window") == pytest.approx(expected[10::1000, 0], rel=5e-3)
    assert at(times, path, "alpha") == pytest.approx(expected[10::1000, 1], abs=2e-3)
    queue = at(times, path, "queue") * unit + link.threshold_packets
    assert queue == pytest.approx(expected[10::1000, 2], abs=0.3)


@given(
    st.floats(2.1, 500), st.floats(0.001, 1), st.floats(0.3, 1.5), st.floats(0, 1), st.booleans()
)
def test_piece_follows_the_equations(
    window: float, g: float, part: float, alpha: float, marked: bool
) -> None:
    model = Fluid(window, g)
    start = Point(0.0, window * part, alpha, 0.9)
    step = 1e-5
    moved = piece(model, start, step, float(marked), False).end
    change = np.array([moved.window - start.window, moved.alpha - start.alpha, moved.level - 0.9])
    slopes = [
        model.derivative(at.window, at.alpha, at.level - 1, float(marked)) for at in (start, moved)
    ]
    assert change / moved.time == pytest.approx((slopes[0] + slopes[1]) / 2, rel=1e-5, abs=1e-5)


@given(st.floats(2.1, 500), st.floats(0.001, 1), st.floats(0.1, 2.0), st.booleans())
def test_two_pieces_compose(window: float, g: float, length: float, marked: bool) -> None:
    model = Fluid(window, g)
    start = Point(0.0, window, 0.5, 1.1)
    whole = piece(model, start, length, float(marked), False).end
    half = piece(model, start, length / 2, float(marked), False).end
    assert piece(model, half, length / 2, float(marked), False).end == pytest.approx(
        whole, rel=1e-12
    )


def test_without_marks_there_is_a_closed_form() -> None:
    model = Fluid(10.0, 0.1)
    end = piece(model, Point(0.0, 8.0, 0.5, 1.0), 1.5, 0.0, False).end
    level = (8 + 1.5 - 1) / 10 + (1 - 0.7) * np.exp(-1.5)
    expected = Point((8 * 1.5 + 1.5**2 / 2) / 10 - level + 1, 9.5, 0.5 * np.exp(-0.15), level)
    assert end == pytest.approx(expected, rel=1e-13)


@settings(max_examples=20)
@given(st.floats(0.5, 1.9), st.floats(0.05, 1))
def test_small_windows_end_in_the_fixed_point(window: float, g: float) -> None:
    path = trajectory(Fluid(window, g), Point(0.0, window, 0.5, 1.0), until=400 / g)
    assert path.end.window == pytest.approx(2, rel=1e-3)
    assert path.end.alpha == pytest.approx(1, rel=1e-3)
    assert path.end.level == pytest.approx(2 / window, rel=1e-3)  # 3.13


def test_hundred_flows_settle_where_the_thesis_says() -> None:
    link = Bottleneck(THESIS.capacity_pps, THESIS.delay_s, 65, 100)
    path = trajectory(Fluid(link.window, 1 / 16), Point(0.0, 2.0, 1.0, 1.0), until=600)
    unit = link.capacity_pps * link.round_trip_s
    assert path.queue[-1] * unit + 65 == pytest.approx(2 * 100 - link.bdp_packets, rel=1e-6)


@pytest.mark.parametrize("g", [0.0, -0.1, 1.01, float("nan")])
def test_gain_outside_its_range_is_refused(g: float) -> None:
    with pytest.raises(UsageError, match=r"g: .*; expected above 0 and at most 1"):
        Fluid(10.0, g)


def test_zero_round_trip_is_rejected() -> None:
    with pytest.raises(UsageError, match=r"rtt: 0 is invalid; expected a number above 0 \(thesis"):
        Bottleneck(1e6, 0.0, 10, 2)

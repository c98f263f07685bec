"""The Sawtooth model against its own definition, and its guidelines against a search over N."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hull.errors import UsageError
from hull.theory import sawtooth as model
from hull.theory.bottleneck import Bottleneck

WINDOWS = st.floats(1.0, 1e5)


@given(WINDOWS)
def test_alpha_is_the_marked_share_of_a_period(window: float) -> None:
    a = model.alpha(window)
    top = window + 1
    marked, sent = model.packets_sent(window, top), model.packets_sent(top * (1 - a / 2), top)
    assert a == pytest.approx(marked / sent, rel=1e-9)  # 2.5


@given(st.integers(1, 100))
def test_sends_one_window_per_round_trip(low: int) -> None:
    high = low + 7
    assert model.packets_sent(low, high) == sum(w + 0.5 for w in range(low, high))


def test_approximations_hold_for_large_windows() -> None:
    link = Bottleneck(1e6, 1.0, 1e5, 2)
    exact, rough = model.sawtooth(link), model.sawtooth_for_large_windows(link)
    assert rough.alpha == pytest.approx(exact.alpha, rel=2e-3)
    assert rough.queue_amplitude == pytest.approx(exact.queue_amplitude, rel=2e-3)
    assert rough.queue_max == exact.queue_max == 1e5 + 2


@given(st.floats(100, 1e4), st.floats(0.0, 0.5))
def test_lowest_queue_is_the_minimum_over_flow_counts(bdp: float, part: float) -> None:
    k = part * bdp
    least = model.lowest_queue(bdp, k)
    worst = (bdp + k) / 8
    found = [k + n - math.sqrt(2 * n * (bdp + k)) / 2 for n in (worst, worst * 0.9, worst * 1.1)]
    assert found[0] == pytest.approx(least, rel=1e-9, abs=1e-9 * bdp)
    assert min(found) == found[0]


@given(st.floats(1, 1e4))
def test_threshold_of_a_seventh_prevents_an_empty_queue(bdp: float) -> None:
    assert model.lowest_queue(bdp, model.least_threshold(bdp)) == pytest.approx(0, abs=1e-9 * bdp)


@given(st.floats(2, 1e6))
def test_printed_gain_bounds_the_exact_gain(window: float) -> None:
    g, period = model.largest_gain_exact(window), math.sqrt(2 * window) / 2
    assert (1 - g) ** period == pytest.approx(0.5, rel=1e-6)
    assert g < model.largest_gain(window) < 1 / math.sqrt(window)


def test_windows_below_a_packet_are_rejected() -> None:
    with pytest.raises(
        UsageError, match=r"window: 0\.5 packets is invalid; expected 1 or more \(thesis 2\.6"
    ):
        model.alpha(0.5)

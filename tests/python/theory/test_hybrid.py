"""The Hybrid Model against its theorem and against an integration of alpha in small steps."""

import math
from collections.abc import Callable
from itertools import islice

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hull.errors import UsageError
from hull.theory import hybrid


def test_an_epoch_by_hand() -> None:
    first, second = islice(hybrid.episodes([30.0, 10.0], [0.2, 0.4], 0.1), 2)
    assert (first.time, second.time) == (0, 1 + (30 * 0.2 + 10 * 0.4) / 4)
    assert second.windows == pytest.approx([27 + 2.5, 8 + 2.5])
    assert second.windows.sum() == 40
    x = np.array([0.2, 0.4])
    steps = 100_000
    for i in range(steps):
        dt = second.time / steps
        x = x + dt * 0.1 * ((i * dt < 1) - x)
    assert second.alphas == pytest.approx(x, rel=1e-4)


@given(st.floats(2, 1e5), st.floats(1e-4, 1))
def test_bounds_of_alpha(window: float, g: float) -> None:
    low, high = hybrid.alpha_bounds(window, g)
    assert low < hybrid.steady_alpha(window, g) < high  # C.2


@st.composite
def starts(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, float]:
    """Windows, alphas and g that satisfy 3.20."""
    n = draw(st.integers(2, 6))
    w = np.array(draw(st.lists(st.floats(0.5, 200), min_size=n, max_size=n)))
    assume(w.sum() >= 2 * n)
    a = np.array(draw(st.lists(st.floats(0, 1), min_size=n, max_size=n)))
    return w, a, draw(st.floats(0.05, 1)) / math.sqrt(w.sum())


@settings(max_examples=50)
@given(starts())
def test_theorem_3_2(start: tuple[np.ndarray, np.ndarray, float]) -> None:
    windows, alphas, g = start
    theorem = hybrid.convergence(len(windows), float(windows.sum()), g)
    fair = windows.mean()
    for n, episode in enumerate(islice(hybrid.episodes(windows, alphas, g), 400)):
        assert episode.windows.sum() == pytest.approx(windows.sum())
        rounding = 1e-12 * fair
        assert np.abs(episode.windows - fair).max() < theorem.bound(n, episode.time) + rounding


def _last_step(theorem: hybrid.Convergence, window: float, n: int) -> float:
    """The sum of k e^(gamma Delta T_k) below n, bounded by 3.33, 3.31 and 3.34."""
    longest = math.exp(theorem.gamma * (1 + window * theorem.alpha / 2)) * (1 + theorem.g)
    return sum(k * longest for k in range(1, n))


@given(st.integers(2, 20), st.floats(2, 1000), st.floats(0.01, 1))
def test_last_step_of_theorem_3_2(flows: int, window: float, part: float) -> None:
    theorem = hybrid.convergence(flows, flows * window, part / math.sqrt(flows * window))
    assert math.exp(theorem.gamma * (1 + window * theorem.alpha / 2)) == pytest.approx(
        1 / (1 - theorem.alpha / 2)
    )
    if theorem.is_proven:
        assert all(_last_step(theorem, window, n) < n**2 for n in (2, 20, 200, 2000))
    else:
        assert (flows, window < 2.3, theorem.g > 0.43) == (2, True, True)


def test_constant_is_not_proven_for_the_smallest_windows() -> None:
    """Two flows of two packets with g = 1/2 have alpha* = 0.553.

    The proof's sum exceeds n^2 from n = 29 on; the model stays within the bound.
    """
    theorem = hybrid.convergence(2, 4, 0.5)
    assert theorem.alpha == pytest.approx(0.5528, abs=1e-4)
    assert not theorem.is_proven
    exceeds = [_last_step(theorem, 2, n) > n**2 for n in range(2, 60)]
    assert exceeds == [n >= 29 for n in range(2, 60)]
    for n, episode in enumerate(islice(hybrid.episodes([3.9, 0.1], [0, 1], 0.5), 400)):
        assert np.abs(episode.windows - 2).max() < theorem.bound(n, episode.time) + 1e-12
    assert hybrid.convergence(2, 4.58, 4.58**-0.5).is_proven
    assert hybrid.convergence(3, 6, 6**-0.5).is_proven


def test_flows_converge_to_fair_share_at_the_theorems_rate() -> None:
    found = hybrid.convergence(2, 200, 1 / math.sqrt(200))
    path = list(islice(hybrid.episodes([199, 1], [0, 1], found.g), 250))
    assert path[-1].windows == pytest.approx([100, 100], abs=0.01)
    assert path[-1].alphas == pytest.approx(found.alpha, rel=1e-3)
    gaps = [float(np.ptp(episode.windows)) for episode in path]
    rate = math.log(gaps[80] / gaps[100]) / (path[100].time - path[80].time)
    assert rate == pytest.approx(found.gamma, rel=1e-3)


def test_phases_of_the_proof_and_the_theorem_agree() -> None:
    g, window = 0.05, 100.0
    first = math.log(2 * window) / g
    assert hybrid.convergence(2, 200, g).second_phase == pytest.approx(
        first + 2 * (1 + window / 2) - 6 * math.log(g) / g
    )


def test_printed_rates_hold_for_large_windows() -> None:
    """Printed: 1/W* < gamma, and TCP at most 1.4 times as fast. Both omit the 1 of 3.23."""
    small, large = 100.0, 1e6
    for window, ratio, share in ((small, 1.54, 0.88), (large, 1.388, 0.998)):
        gamma = hybrid.window_rate(window, hybrid.steady_alpha(window, 1 / math.sqrt(2 * window)))
        assert hybrid.tcp_rate(window) / gamma == pytest.approx(ratio, rel=5e-3)
        assert gamma * window == pytest.approx(share, rel=5e-3)


@pytest.mark.parametrize(
    ("g_of", "published_ms"),
    [(lambda w: w**-0.5, 55), (lambda w: 5 / w, 67), (lambda w: 1 / w, 185)],
)
def test_convergence_times_are_near_figure_3_11(g_of, published_ms) -> None:  # type: ignore[no-untyped-def]
    capacity, delay, k = 10e9 / 12000, 200e-6, 35
    total = capacity * delay + k
    trips = hybrid.convergence_time([total - 1, 1], [0, 1], g_of(total))
    assert trips * (delay + k / capacity) * 1e3 == pytest.approx(published_ms, rel=0.25)


@pytest.mark.parametrize(
    ("flows", "window", "g", "match"),
    [
        (1, 200, 0.01, r"flows: 1 is invalid; expected 2 or more \(thesis 3\.20: N >= 2\)"),
        (4, 7, 0.01, r"7 packets for 4 flows is invalid; expected 8 or more \(thesis 3\.20: W_ma"),
        (2, 100, 0.2, r"g: 0\.2 is invalid; expected above 0 and at most 0\.1 \(thesis 3\.20\)"),
    ],
)
def test_assumptions_of_the_theorem(flows: int, window: float, g: float, match: str) -> None:
    with pytest.raises(UsageError, match=match):
        hybrid.convergence(flows, window, g)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hybrid.alpha_bounds(1.5, 0.1), r"window: 1\.5 packets is invalid; expected 2 or"),
        (lambda: hybrid.alpha_bounds(10, 0), r"g: 0 is invalid; expected above 0 and at most 1 ."),
        (lambda: hybrid.tcp_rate(-1), r"window: -1 is invalid; expected a number above 0 .*3\.23"),
        (lambda: hybrid.window_rate(10, 1.5), r"alpha: 1\.5 is invalid; expected above 0 and .*3"),
    ],
)
def test_invalid_bounds_and_rates_name_the_requirement(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        call()

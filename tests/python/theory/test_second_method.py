"""Limit cycles and throughput by integrators other than the library's arcs.

Small fixed steps, and jitcdde, an adaptive integrator of delay-differential equations, where it is
installed (not a dependency of hull; it needs a C compiler).
"""

import gc
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from hull.theory.fluid import Array, Fluid
from hull.theory.limit_cycle import limit_cycle
from hull.theory.throughput import worst_throughput


def throughput_by_steps(windows: Array, g: float, step: float, until: float) -> Array:
    """Throughput / C with psi = 0 by 3.9, 3.10 and 3.2.3's floor, Heun's method, shape (windows,).

    Averaged over whole periods in the second half.
    """
    late, steps = round(1 / step), round(until / step)
    w, a, q = windows * 0.9, np.full_like(windows, 0.4), np.zeros_like(windows)
    marks = np.zeros((late, len(windows)))
    rates, above = np.empty((steps, len(windows))), np.empty((steps, len(windows)), dtype=bool)

    def slopes(w: Array, a: Array, q: Array, p: Array) -> tuple[Array, Array, Array]:
        filling = w / (windows * (1 + q)) - 1
        filling = np.where(q <= 0, np.maximum(filling, 0), filling)
        return (1 - w * a * p / 2) / (1 + q), g * (p - a) / (1 + q), filling

    for i in range(steps):
        p, after = marks[i % late], marks[(i + 1) % late]
        first = slopes(w, a, q, p)
        ahead = (w + step * first[0], a + step * first[1], np.maximum(q + step * first[2], 0))
        second = slopes(*ahead, after)
        rates[i], above[i] = w / (windows * (1 + q)), q > 0
        marks[i % late] = above[i]
        w, a, q = (
            x + step * (x1 + x2) / 2 for x, x1, x2 in zip((w, a, q), first, second, strict=True)
        )
        q = np.maximum(q, 0)
    found = []
    for column in range(len(windows)):
        rises = np.flatnonzero(~above[:-1, column] & above[1:, column])
        rises = rises[rises > steps // 2]
        found.append(rates[rises[0] : rises[-1], column].mean())
    return np.array(found)


@pytest.mark.parametrize(("g", "expected"), [(0.0736, 0.94), (0.1, 0.9385)])
def test_worst_throughput_is_94_percent_only_to_gain_0_0736(g: float, expected: float) -> None:
    """Thesis 3.2.3 prints at least 94% for g < 0.1."""
    found = throughput_by_steps(np.linspace(11, 17, 7), g, 4e-3, 160).min()
    assert worst_throughput(g, 0.0).throughput == pytest.approx(expected, abs=5e-5)
    assert found == pytest.approx(expected, abs=4e-4)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("window", "g"), [(14.0, 1 / 16), (60.0, 0.2)])
def test_cycle_matches_jitcdde(
    window: float, g: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark of 3.12 becomes a steep smooth step: jitcdde needs differentiable equations."""
    monkeypatch.chdir(tmp_path)  # jitcdde compiles here
    jitcdde = pytest.importorskip("jitcdde")
    symengine = pytest.importorskip("symengine")
    y, t = jitcdde.y, jitcdde.t
    mark = (1 + symengine.tanh(y(2, t - 1) / 2e-4)) / 2
    level = 1 + y(2)
    integrator = jitcdde.jitcdde(
        [
            (1 - y(0) * y(1) * mark / 2) / level,
            g * (mark - y(1)) / level,
            y(0) / (window * level) - 1,
        ],
        verbose=False,
    )
    integrator.set_integration_parameters(rtol=1e-6, atol=1e-8, first_step=1e-3, max_step=0.05)
    integrator.constant_past([0.9 * window, 0.3, -0.05])
    integrator.adjust_diff()
    times = np.arange(integrator.t, integrator.t + 10 / g + 60, 5e-3)
    queue = np.array([integrator.integrate(time)[2] for time in times])
    del integrator
    gc.collect()  # here, where the warnings of its destructor are ignored
    cycle = limit_cycle(Fluid(window, g))
    rises = np.flatnonzero((queue[:-1] <= 0) & (queue[1:] > 0))
    periods = [queue[a:b] for a, b in pairwise(rises)][-2:]
    assert np.diff(times[rises])[-2:] == pytest.approx(cycle.period, rel=2e-3)
    assert min(p.min() for p in periods) == pytest.approx(cycle.undershoot, rel=5e-3)
    assert max(p.max() for p in periods) == pytest.approx(cycle.overshoot, rel=5e-3)

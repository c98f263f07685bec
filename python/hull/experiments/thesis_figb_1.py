"""Figure B.1 of the thesis: the marked fraction converges, as alpha(n + 1) = f(alpha(n)).

f(alpha) = exp(-g (1 + W* alpha / 2)) (exp(g) - 1 + alpha), windows in packets. Computed, not
simulated. Neither figure nor text gives g and W*; here they are chosen so that the fixed point
agrees with the caption. Lemma B.1 is checked on a grid of what 3.20 allows.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hull.experiments.common.claims import Claim, Finding, about
from hull.experiments.common.experiment import Experiment, Point, published
from hull.experiments.common.measured import Estimate, Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

STAR = float(published("thesis-dctcp", "figureB_1")["alpha_star"])
GAIN, WINDOW = 1 / 16, 35.0
"""Chosen: g and W*, for the caption's fixed point."""
FIRST = 1.0
ITERATIONS = 80
QUICK, FULL = 12, 40
"""Values of W* and of g on the grid."""
_POINTS = np.linspace(0, 1, 101)


def next_alpha(alpha: Array | float, window: float, g: float) -> Array:
    """f of appendix B."""
    return np.asarray(np.exp(-g * (1 + window * alpha / 2)) * (math.expm1(g) + alpha))


def peak(window: float, g: float) -> float:
    """alpha_max of lemma B.1 (ii)."""
    return 2 / (g * window) - math.expm1(g)


def _sequence() -> list[float]:
    found = [FIRST]
    for _ in range(ITERATIONS):
        found.append(float(next_alpha(found[-1], WINDOW, GAIN)))
    return found


def _grid(results: Results) -> Iterator[tuple[float, float]]:
    """W* and g of two flows: 3.20 allows g up to 1 / root of 2 W*."""
    count = FULL if results.is_full else QUICK
    for window in np.geomspace(2, 10_000, count):
        for share in np.geomspace(0.01, 1, count):
            yield float(window), float(share / math.sqrt(2 * window))


def _star(_: Results) -> Finding:
    found = _sequence()
    steps = next(n for n, alpha in enumerate(found) if abs(alpha / found[-1] - 1) < 0.01)
    return Finding(f"{found[-1]:.3f}, within 1% of it after {steps} steps", about(found[-1], STAR))


def _shape(results: Results) -> Finding:
    """(i) to (iv)."""
    from hull.theory.hybrid import steady_alpha

    outside = wrong = high = fixed = pairs = 0
    largest = 0.0
    for window, g in _grid(results):
        pairs += 1
        values, top = next_alpha(_POINTS, window, g), peak(window, g)
        outside += bool(values.min() < 0 or values.max() > 1)
        rising = np.diff(next_alpha(np.linspace(0, top, 50), window, g))
        falling = np.diff(next_alpha(np.linspace(top, 3 * top, 50), window, g))
        wrong += bool(rising.min() <= 0 or falling.max() >= 0)
        share = float(next_alpha(top, window, g)) / top
        largest = max(largest, share)
        high += share >= 0.8
        star = steady_alpha(window, g)
        signs = np.sign(next_alpha(_POINTS, window, g) - _POINTS)
        fixed += not (0 < star < min(top, 1) and int((np.diff(signs) != 0).sum()) <= 2)
    return Finding(
        f"of {pairs} pairs of W* and g against (i) {outside}, (ii) {wrong}, (iii) {high}, (iv) "
        f"{fixed}; f(alpha_max) is at most {largest:.2f} alpha_max",
        outside + wrong + high + fixed == 0,
    )


def _contraction(results: Results) -> Finding:
    """(v)."""
    from hull.theory.hybrid import steady_alpha

    worst, pairs = 0.0, 0
    for window, g in _grid(results):
        pairs += 1
        star = steady_alpha(window, g)
        alphas = np.linspace(0, peak(window, g), 200)
        gaps = np.abs(alphas - star)
        far = gaps > 1e-6
        ratio = np.abs(next_alpha(alphas, window, g) - star)[far] / gaps[far]
        worst = max(worst, float((ratio / np.exp(-g * (1 + window * alphas[far] / 2))).max()))
    return Finding(f"at most {worst:.4f} of the bound, of {pairs} pairs", worst <= 1)


CLAIMS = (
    Claim(
        id="thesis-figB-1-star",
        source="thesis figure B.1",
        claim="the sequence from 1 converges to about 0.2",
        check=_star,
        kind="mathematics",
        bound="hull",
    ),
    Claim(
        id="thesis-figB-1-shape",
        source="thesis lemma B.1 (i) to (iv)",
        claim="f maps [0, 1] into itself, rises up to alpha_max and falls from there, is below 4/5 "
        "of alpha_max there, and has one fixed point, below alpha_max and 1",
        check=_shape,
        kind="mathematics",
        bound="document",
    ),
    Claim(
        id="thesis-figB-1-contraction",
        source="thesis lemma B.1 (v)",
        claim="up to alpha_max a step leaves at most exp(-g (1 + W* alpha / 2)) of the distance "
        "to the fixed point",
        check=_contraction,
        kind="mathematics",
        bound="document",
    ),
)


def draw(_: Results) -> "Figure":
    """f, the diagonal, and the steps from 1 between them; alpha by congestion event beside."""
    from hull.figures import Line, Panel, plot_sweep

    alphas = np.linspace(0, 1, 101)
    sequence = _sequence()
    x, y = [sequence[0]], [0.0]
    for before, after in pairwise(sequence):
        x += [before, after]
        y += [after, after]
    return plot_sweep(
        [
            Panel(
                f"g = 1/16, W* = {WINDOW:g} packets",
                "Mean alpha at an event",
                "Mean alpha at the next event",
                [Line("sequence", x, y)],
                y_limits=(0, 1),
                reference=[
                    ("alpha", list(alphas), list(alphas)),
                    ("f(alpha)", list(alphas), list(next_alpha(alphas, WINDOW, GAIN))),
                ],
            ),
            Panel(
                "From alpha = 1",
                "Congestion event",
                "Mean alpha",
                [Line("sequence", list(range(41)), sequence[:41])],
                y_limits=(0, 1),
                reference=[("published: 0.2", [0, 40], [STAR, STAR])],
            ),
        ]
    )


EXPERIMENT = Experiment(
    id="thesis-figB-1",
    title="Thesis figure B.1: the marked fraction converges to its fixed point",
    source="thesis appendix B, figure B.1",
    scenario=None,
    points=(
        Point(
            "",
            "sequence",
            "alpha_1",
            "limit",
            STAR,
            lambda _: Estimate(_sequence()[-1], None),
        ),
    ),
    claims=CLAIMS,
    draw=draw,
)

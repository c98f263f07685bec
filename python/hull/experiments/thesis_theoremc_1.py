"""Theorem C.1 of the thesis: bounds of alpha*, the marked fraction in the equilibrium of DCTCP.

sqrt(2 / W*) / 2 - g < alpha* < sqrt(2 / W*) + g for W* >= 2 packets. Computed, not simulated:
alpha* is the fixed point of 3.21. What packets make of it is in thesis-theorem3-2.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from hull.experiments.common.claims import Claim, Finding, within
from hull.experiments.common.experiment import Experiment
from hull.experiments.common.measured import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUICK, FULL = 40, 200
"""Values of each parameter."""
WINDOWS = (2.0, 100_000.0)
SMALL_G = 1e-9
"""Of 1 / root of W*: so little that alpha* is what it is without g."""
SHOWN_G = (0.001, 0.01, 1 / 16)


def _both(results: Results) -> Finding:
    from hull.theory.hybrid import alpha_bounds, steady_alpha

    count = FULL if results.is_full else QUICK
    outside, least, most = 0, math.inf, math.inf
    for window in np.geomspace(*WINDOWS, count):
        for g in np.geomspace(1e-4, 1, count):
            low, high = alpha_bounds(window, g)
            alpha = steady_alpha(window, g)
            least, most = min(least, alpha - low), min(most, high - alpha)
            outside += not low < alpha < high
    return Finding(
        f"{outside} of {count * count} pairs outside; nearest {least:.2g} above the lower and "
        f"{most:.2g} below the upper bound",
        outside == 0,
    )


def _constant(window: float) -> float:
    from hull.theory.hybrid import steady_alpha

    return steady_alpha(window, SMALL_G / math.sqrt(window)) * math.sqrt(window)


def _small(results: Results) -> Finding:
    found = [_constant(w) for w in np.geomspace(*WINDOWS, FULL if results.is_full else QUICK)]
    low, high = 1 / math.sqrt(2), math.sqrt(2)
    words = f"c from {min(found):.3f} at 2 packets to {max(found):.3f} at {WINDOWS[1]:,.0f}"
    return Finding(words, all(low < c < high for c in found))


def _same(results: Results) -> Finding:
    """By the guideline alpha* moves little from what it is without g."""
    from hull.theory.hybrid import steady_alpha

    shares = []
    for window in np.geomspace(*WINDOWS, FULL if results.is_full else QUICK):
        # Two flows: W_max is 2 W*.
        at_most = steady_alpha(window, 1 / math.sqrt(2 * window))
        shares.append(at_most * math.sqrt(window) / _constant(window))
    words = f"{min(shares):.2f} to {max(shares):.2f} times alpha* of a very small g"
    return Finding(words, all(within(share, 0.5, 2) for share in shares))


CLAIMS = (
    Claim(
        id="thesis-theoremC-1-bounds",
        source="thesis theorem C.1",
        claim="alpha* is between root(2/W*) / 2 - g and root(2/W*) + g for each W* from 2 packets",
        check=_both,
        kind="mathematics",
        bound="document",
    ),
    Claim(
        id="thesis-theoremC-1-small-g",
        source="thesis appendix C",
        claim="for a very small g it is c / root of W* with c between 1/root of 2 and root of 2",
        check=_small,
        kind="mathematics",
        bound="document",
    ),
    Claim(
        id="thesis-theoremC-1-guideline",
        source="thesis appendix C",
        claim="with g at the upper limit 1/root of W_max it stays near that (within a factor of "
        "2, two flows)",
        check=_same,
        kind="mathematics",
        bound="hull",
    ),
)


def draw(_: Results) -> "Figure":
    """alpha* against W* for three gains, a panel each, between its bounds."""
    from hull.figures import Line, Panel, plot_sweep
    from hull.theory.hybrid import alpha_bounds, steady_alpha

    windows = list(np.geomspace(2, 10_000, 60))
    panels = []
    for g in SHOWN_G:
        bounds = [alpha_bounds(window, g) for window in windows]
        shown = [(w, low) for w, (low, _) in zip(windows, bounds, strict=True) if low > 1e-3]
        panels.append(
            Panel(
                f"g = {g:.3g}",
                "W* (packets)",
                "alpha*",
                [Line("alpha*", windows, [steady_alpha(window, g) for window in windows])],
                log_x=True,
                log_y=True,
                y_limits=(2e-3, 2),
                reference=[
                    ("upper bound", windows, [high for _, high in bounds]),
                    ("lower bound", [w for w, _ in shown], [low for _, low in shown]),
                ],
            )
        )
    return plot_sweep(panels, columns=3, width=3.2)


EXPERIMENT = Experiment(
    id="thesis-theoremC-1",
    title="Thesis theorem C.1: bounds of the marked fraction in equilibrium",
    source="thesis appendix C, theorem C.1",
    scenario=None,
    claims=CLAIMS,
    draw=draw,
)

"""Figure 3.5 of the thesis: the spectral radius of Z1 Z2, by which limit cycles are stable.

Over g from 0.001 to 1 and average windows from 2.01 to 1000 packets. Computed, not simulated.
"""

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hull.experiments.common.claims import Claim, Finding
from hull.experiments.common.experiment import Experiment
from hull.experiments.common.measured import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
QUICK, FULL = 16, 48
"""Values of each parameter."""


@cache
def _grid(count: int) -> tuple[Array, Array, Array]:
    """Windows, gains, and the spectral radius of shape (gains, windows)."""
    from hull.theory.stability import spectral_radius

    windows, gains = np.geomspace(2.01, 1000, count), np.geomspace(0.001, 1, count)
    return windows, gains, np.array([[spectral_radius(w, g) for w in windows] for g in gains])


def _of(results: Results) -> tuple[Array, Array, Array]:
    return _grid(FULL if results.is_full else QUICK)


def _stable(results: Results) -> Finding:
    windows, gains, radii = _of(results)
    row, column = np.unravel_index(np.argmax(radii), radii.shape)
    return Finding(
        f"at most {radii.max():.4f}, at {windows[column]:.3g} packets and g = {gains[row]:.3g}, of "
        f"{radii.size} pairs",
        bool(radii.max() < 1),
    )


CLAIMS = (
    Claim(
        id="thesis-fig3-5-stable",
        source="thesis 3.2.2, figure 3.5",
        claim="the spectral radius is below 1 for g from 0.001 to 1 and windows from 2.01 to 1000",
        check=_stable,
        kind="mathematics",
        bound="document",
    ),
)


def draw(results: Results) -> "Figure":
    """The radius over both parameters."""
    from hull.figures import plot_grid

    windows, gains, radii = _of(results)
    return plot_grid(
        list(windows),
        list(gains),
        radii,
        x_label="Average window (packets)",
        y_label="g",
        value_label="Spectral radius of Z1 Z2",
        lines=(0.05, 0.2, 0.5, 0.9),
    )


EXPERIMENT = Experiment(
    id="thesis-fig3-5",
    title="Thesis figure 3.5: stability of DCTCP's limit cycle",
    source="thesis 3.2.2, figure 3.5",
    scenario=None,
    claims=CLAIMS,
    draw=draw,
)

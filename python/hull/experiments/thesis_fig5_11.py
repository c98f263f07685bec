"""Figure 5.11 of the thesis: step responses with AP and with the equivalent PD controller.

For different delays. Computed, not simulated. Times in s.
"""

from typing import TYPE_CHECKING

import numpy as np

from hull.experiments.common.averaging_loop import AP, LOOKS, PD, draw_responses, largest, steps
from hull.experiments.common.claims import Claim, Finding
from hull.experiments.common.experiment import Experiment
from hull.experiments.common.measured import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DELAYS = (0.0, 4.0, 8.0, 12.0)
"""Chosen: the thesis says that there are several."""
CLOSE = 0.05
"""Fraction of the step below which two responses look the same in the figure."""


def _same(_: Results) -> Finding:
    apart = [float(np.abs(steps(AP, d)[1] - steps(PD, d)[1]).max()) for d in DELAYS]
    return Finding(
        f"at most {', '.join(f'{a:.3f}' for a in apart)} apart with "
        f"{', '.join(f'{d:g}' for d in DELAYS)} s; stable up to {largest(AP):.1f} and "
        f"{largest(PD):.1f} s",
        max(apart) < CLOSE,
    )


CLAIMS = (
    Claim(
        id="thesis-fig5-11-same",
        source="thesis 5.5.2, figure 5.11",
        claim="the outputs with AP and PD are essentially identical (within 5% of the step)",
        check=_same,
        kind="mathematics",
        bound="hull",
    ),
)


def draw(_: Results) -> "Figure":
    """Both responses, a panel for each delay."""
    return draw_responses((AP, PD), DELAYS, (-0.5, 2))


EXPERIMENT = Experiment(
    id="thesis-fig5-11",
    title="Thesis figure 5.11: AP beside the equivalent PD controller",
    source="thesis 5.5.2, figure 5.11",
    scenario=None,
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
)

"""The control loop of thesis 5.5.1 with the standard, the AP or the PD controller: its responses to
a step over time, and how they are drawn. Times in s.
"""

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hull.report.schemes import BLUE, ORANGE, VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hull.theory.averaging import Loop

LOOKS = (
    Scheme("standard", "standard controller", VERMILION, (2, 2), "o"),
    Scheme("ap", "AP", BLUE, (), "s"),
    Scheme("pd", "PD", ORANGE, (2, 2), "^"),
)

Array = NDArray[np.float64]
SCHEMES = STANDARD, AP, PD = ("standard", "ap", "pd")
SHOWN_S = 80


def loop(scheme: str, delay: float) -> "Loop":
    """The example of thesis 5.5.1 with one of the controllers."""
    from hull.theory.averaging import EXAMPLE, EXAMPLE_GAIN, EXAMPLE_PERIOD, Controller, Loop

    controller = Controller(EXAMPLE_GAIN, averages=int(scheme == AP), derivative=scheme == PD)
    return Loop(EXAMPLE, controller, EXAMPLE_PERIOD, delay)


@cache
def steps(scheme: str, delay: float) -> tuple[Array, Array]:
    """Time and output after a unit step."""
    from hull.theory.averaging import response

    return response(loop(scheme, delay), SHOWN_S, 0.25)


@cache
def largest(scheme: str) -> float:
    """The largest stable delay, in tenths of a second."""
    from hull.theory.averaging import largest_delay

    return largest_delay(lambda delay: loop(scheme, delay), 20.0, 0.1)


def draw_responses(
    schemes: tuple[str, ...], delays: tuple[float, ...], limits: tuple[float, float]
) -> "Figure":
    """Step responses, a panel for each delay."""
    from hull.figures import Line, Panel, plot_sweep

    panels = []
    for delay in delays:
        lines = []
        for scheme in schemes:
            times, outputs = steps(scheme, delay)
            lines.append(Line(scheme, list(times), list(outputs)))
        panels.append(Panel(f"delay {delay:g} s", "Time (s)", "Output", lines, y_limits=limits))
    return plot_sweep(panels, looks=LOOKS)

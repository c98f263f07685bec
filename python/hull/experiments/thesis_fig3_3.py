"""Figure 3.3 of the thesis: phase plane of the fluid model, window and queue, with its cycle.

For an average window of 10 packets and g = 1/16. Computed; nothing is simulated.
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

    from hull.theory.fluid import Trajectory
    from hull.theory.limit_cycle import LimitCycle

WINDOW, G = 10, 0.0625
STARTS = ((4, 0.2, -0.3), (16, 0.2, -0.3), (4, 0.9, 0.4), (16, 0.9, 0.5))
"""Window (packets), alpha and q of the trajectories that are drawn."""
SHOWN, FOLLOWED = 40, 600
"""R*."""


@cache
def _cycle() -> "LimitCycle":
    from hull.theory.fluid import Fluid
    from hull.theory.limit_cycle import limit_cycle

    return limit_cycle(Fluid(WINDOW, G))


def _path(window: float, alpha: float, queue: float, until: float) -> "Trajectory":
    from hull.theory.fluid import Fluid, Point, trajectory

    start = Point(0.0, window, alpha, 1 + queue)
    return trajectory(Fluid(WINDOW, G), start, marked=float(queue > 0), until=until)


def _starts(count: int) -> NDArray[np.float64]:
    """Windows, alphas and queues all over the plane, shape (count, 3)."""
    from scipy.stats import qmc

    found: NDArray[np.float64] = qmc.Halton(3, scramble=False).random(count)
    return qmc.scale(found, [2, 0, -0.5], [30, 1, 1])  # type: ignore[no-any-return]


def _distance(window: float, alpha: float, queue: float) -> float:
    """How far from the cycle a trajectory ends: windows of a period, as parts of the average."""
    path = _path(window, alpha, queue, FOLLOWED)
    cycle = _cycle()
    since = path.falls[-2]
    times = np.linspace(0, cycle.period, 200)
    here = np.interp(since + times, path.time, path.window)
    return (
        float(np.max(np.abs(here - np.interp(times, cycle.path.time, cycle.path.window)))) / WINDOW
    )


def _arrives(results: Results) -> Finding:
    starts = _starts(200 if results.is_full else 20)
    worst = max(_distance(*start) for start in starts)
    return Finding(
        f"{len(starts)} starts, after {FOLLOWED} round trips at most {100 * worst:.3f}% of the "
        "average window away",
        worst < 0.01,
    )


CLAIMS = (
    Claim(
        id="thesis-fig3-3-cycle",
        source="thesis 3.2.1, figure 3.3",
        claim="all trajectories go to the limit cycle (within 1% of the window)",
        check=_arrives,
        kind="mathematics",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """The cycle, and trajectories from four corners of the plane."""
    from hull.figures import Line, Panel, plot_sweep

    cycle = _cycle().path
    paths = [_path(*start, SHOWN) for start in STARTS]
    return plot_sweep(
        [
            Panel(
                f"Average window {WINDOW}, g = 1/16",
                "Window (packets)",
                "(Queue - K) / (C R*)",
                [Line("limit cycle", list(cycle.window), list(cycle.queue))],
                y_limits=(-0.6, 0.8),
                reference=[("", list(path.window), list(path.queue)) for path in paths],
            )
        ],
        width=5,
        height=3.8,
    )


EXPERIMENT = Experiment(
    id="thesis-fig3-3",
    title="Thesis figure 3.3: the phase plane of DCTCP's fluid model",
    source="thesis 3.2.1, figure 3.3",
    scenario=None,
    claims=CLAIMS,
    draw=draw,
)

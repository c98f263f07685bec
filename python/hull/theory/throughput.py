"""DCTCP's throughput against delay: the cost of a low marking threshold (thesis 3.2.3, figure 3.8).

Throughput is a fraction of C, psi = K/(C d). The queue stays near K, so psi is also about the
queueing delay in round trips.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from hull.theory.fluid import Fluid
from hull.theory.limit_cycle import limit_cycle

_WINDOWS = np.geomspace(2.5, 400, 16)
"""Range of the search for the worst window, packets, around figure 3.6's."""


class Worst(NamedTuple):
    """The lowest throughput over all windows."""

    throughput: float
    window: float
    """The window at which it is found, packets per flow."""


def throughput(window: float, g: float, psi: float) -> float:
    """Throughput / C of a limit cycle with an average window (packets, above 2)."""
    return min(limit_cycle(Fluid(window, g, psi)).throughput, 1.0)


def worst_throughput(g: float, psi: float) -> Worst:
    """The lowest throughput over the windows, as in figure 3.8."""
    logs = np.log(_WINDOWS)

    def at(log_window: float) -> float:
        return throughput(math.exp(log_window), g, psi)

    values = [at(log) for log in logs]
    low = int(np.argmin(values))
    around = (logs[max(low - 1, 0)], logs[min(low + 1, len(logs) - 1)])
    found = minimize_scalar(at, bounds=around, method="bounded", options={"xatol": 1e-4})
    if found.fun > values[low]:
        return Worst(values[low], float(_WINDOWS[low]))
    return Worst(float(found.fun), math.exp(found.x))

"""The limit cycle of DCTCP's fluid model (thesis 3.2.2 and 3.2.3, figures 3.3 and 3.6 to 3.8).

The cycle is the fixed point of the Poincare map from one downward crossing of q = 0 to the next. At
a crossing q is 0 and packets have been marked for the last round trip, so window and alpha are the
whole state: two equations in two unknowns.

Units: windows in packets, time in R* = d + K/C, the queue q as (packets - K)/(C R*).
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq

from hull.errors import RunError
from hull.theory import hybrid
from hull.theory.assumptions import check_window, require
from hull.theory.fluid import INTEGRAL, Array, Fluid, Piece, Point, Trajectory, trajectory

_TOLERANCE = 1e-10
"""Largest distance of the Poincare map from its fixed point, in packets."""
_STEPS = 15
"""Of Newton's method, which takes about five where it works."""
_LEAST_CLOCKED = 2.05


@dataclass(frozen=True)
class LimitCycle:
    """One period of the limit cycle, between two downward crossings of q = 0."""

    path: Trajectory

    @property
    def model(self) -> Fluid:
        """The model whose cycle it is."""
        return self.path.model

    @property
    def start(self) -> tuple[float, float]:
        """Window (packets) and alpha at the downward crossing: x*_alpha of the thesis."""
        first = self.path.pieces[0]
        return float(first.window[0]), float(first.alpha[0])

    @property
    def period(self) -> float:
        """T, in R* (figure 3.7)."""
        return self.path.end.time

    @property
    def below(self) -> float:
        """1 + h_alpha: how long q is below 0, in R*."""
        return self.path.rises[-1]

    @property
    def above(self) -> float:
        """1 + h_beta: how long q is above 0, in R*."""
        return self.period - self.below

    @cached_property
    def undershoot(self) -> float:
        """Q_min, the lowest q of the period (figure 3.6)."""
        return min(_extremes(self.model, self.path.pieces))

    @cached_property
    def overshoot(self) -> float:
        """Q_max, the highest q of the period (figure 3.6)."""
        return max(_extremes(self.model, self.path.pieces))

    @property
    def marked(self) -> float:
        """Fraction of time in which packets are marked."""
        return self.above / self.period

    @property
    def mean_queue(self) -> float:
        """q averaged over time."""

        def per_tau(part: Piece) -> Array:
            return part.level if self.model.phantom else part.level**2

        return _integral(self.path.pieces, per_tau) / self.period - 1

    @property
    def throughput(self) -> float:
        """Throughput / C (thesis 3.2.3): below 1 by the loss while the queue is empty."""
        sent = _integral(self.path.pieces, lambda part: part.window) / self.model.window
        return sent / self.period


def _integral(pieces: Iterable[Piece], integrand: Callable[[Piece], Array]) -> float:
    """Sum over all pieces of the integral over tau."""
    return math.fsum(part.duration * float(INTEGRAL[-1] @ integrand(part)) for part in pieces)


def _extremes(model: Fluid, pieces: Iterable[Piece]) -> list[float]:
    """q where it can be largest or smallest: at ends of pieces and where its derivative is 0."""
    found = []
    for part in pieces:
        found += [float(part.level[0]) - 1, float(part.level[-1]) - 1]
        if model.clocked:
            slope = 1 - part.marked * part.window * part.alpha / 2
        else:
            slope = part.window / model.window - (1.0 if model.phantom else part.level)
        for last in np.flatnonzero(slope[:-1] * slope[1:] < 0) + 1:
            if not part.empty:
                found.append(part.value(part.level, part.root(slope, int(last))) - 1)
    return found


def fall(model: Fluid, window: float, alpha: float) -> Trajectory:
    """One step of the Poincare map, from a downward crossing of q = 0 to the next.

    `window` (packets) and `alpha` are those at the crossing; marks end one R* after it.
    """
    start = Point(time=0.0, window=window, alpha=alpha, level=1.0)
    return trajectory(model, start, marked=1.0, returns=True, switches=((1.0, 0.0),))


def limit_cycle(model: Fluid) -> LimitCycle:
    """The limit cycle of a model with a window above 2 packets.

    Raises UsageError for a window of 2 packets or fewer, RunError where none is found.
    """
    check_window(model.window)
    require(
        not model.clocked or model.window > _LEAST_CLOCKED,
        "window",
        f"{model.window:.4g} packets per flow",
        f"more than {_LEAST_CLOCKED}: nearer to 2 the cycle is lost in rounding",
        "thesis 3.13",
    )
    if model.clocked:
        return _clocked_cycle(model)
    for first in (_guess, _bracketed):
        x = _newton(model, first(model))
        if x is not None:
            return LimitCycle(fall(model, float(x[0]), float(x[1])))
    raise RunError(f"limit cycle: not found for window {model.window:g}, g {model.g:g}")


def _clocked_cycle(model: Fluid) -> LimitCycle:
    """The limit cycle of the clocked model (2.3), whose queue follows the windows.

    At a downward crossing the window is the average, and only alpha is unknown.

    The queue falls only while windows do: alpha is above 2 / window.
    """
    least = 2 / model.window * (1 + 1e-9)

    def change(alpha: float) -> float:
        return fall(model, model.window, alpha).end.alpha - alpha

    return LimitCycle(fall(model, model.window, float(brentq(change, least, 1.0, xtol=1e-13))))


def _newton(model: Fluid, x: Array) -> Array | None:
    """The fixed point of the Poincare map, shape (2,); None where it is not found from `x`."""
    missed = _distance(model, x)
    for _ in range(_STEPS):
        if np.max(np.abs(missed)) < _TOLERANCE:
            return x
        newton = x - np.linalg.solve(_slope(model, x, missed), missed)
        left = _distance(model, newton) if newton[0] > 0 and 0 < newton[1] <= 1 else None
        if left is not None and np.linalg.norm(left) < np.linalg.norm(missed):
            x, missed = newton, left
        else:  # too far away for Newton's method; the map itself leads there
            x = x + missed * np.array([1.0, model.g])
            missed = _distance(model, x)
    return None


def _bracketed(model: Fluid) -> Array:
    """The fixed point by bracketing: window and alpha at which the map leaves alpha unchanged.

    For small windows and g, alpha is barely above 2 / window, where periods become long: Newton's
    method then needs a start close to the fixed point.
    """

    def window(alpha: float) -> float:
        found = model.window * (1 - alpha / 4)
        for _ in range(3):
            found = fall(model, found, alpha).end.window
        return found

    def change(alpha: float) -> float:
        return float(_distance(model, np.array([window(alpha), alpha]))[1])

    low = min(0.5, 1 / model.window)
    alpha = float(brentq(change, low, 1.0, xtol=1e-12))
    return np.array([window(alpha), alpha])


def _guess(model: Fluid) -> Array:
    """Window and alpha near the cycle: the start of Newton's method."""
    alpha = hybrid.steady_alpha(model.window, model.g)
    least = 2 / model.window  # below it windows grow in spite of marks
    if alpha < 1.2 * least:
        alpha = (1 + least) / 2
    return np.array([fall(model, model.window * (1 - alpha / 4), alpha).end.window, alpha])


def _distance(model: Fluid, x: Array) -> Array:
    """The change by one step of the Poincare map, alpha in units of g; shape (2,)."""
    end = fall(model, float(x[0]), float(x[1])).end
    return np.array([end.window - x[0], (end.alpha - x[1]) / model.g])


def _slope(model: Fluid, x: Array, at_x: Array) -> Array:
    """Derivative of `_distance` by differences, shape (2, 2)."""
    steps = 1e-7 * x
    return np.column_stack(
        [(_distance(model, x + row) - at_x) / row.sum() for row in np.diag(steps)]
    )

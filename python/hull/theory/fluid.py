"""DCTCP's fluid model, normalised (thesis 3.1 to 3.2.1, 3.9 to 3.12, and the floor of 3.2.3).

Units: windows in packets, time in R* = d + K/C, the queue q as (packets - K)/(C R*).

With the clock tau, d tau = dt / (1 + q), the model is linear between two switches of the feedback:
alpha relaxes to it exponentially, and the window and 1 + q have integrating factors. An arc of
constant feedback is therefore computed by quadrature on Chebyshev nodes, to rounding. The instants
at which q crosses 0, at which this takes effect one round trip later, and at which the queue runs
empty are located as roots, not by time steps.
"""

import math
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy.optimize import brentq

from hull.theory.assumptions import check_gain, check_positive, require

Array = NDArray[np.float64]

_ORDER = 20
_PANEL = 2.0
"""Longest piece of an arc, in tau."""

_POINTS = -np.cos(np.pi * np.arange(_ORDER + 1) / _ORDER)
_TO_COEFFICIENTS = np.linalg.inv(chebyshev.chebvander(_POINTS, _ORDER))
_INTEGRALS = chebyshev.chebval(_POINTS, chebyshev.chebint(np.eye(_ORDER + 1), lbnd=-1)).T
NODES: Array = (_POINTS + 1) / 2
"""Nodes of a piece, as parts of its length, from 0 to 1."""
INTEGRAL: Array = _INTEGRALS @ _TO_COEFFICIENTS / 2
"""Row i integrates what is given at the nodes from 0 to node i; the last row over all."""


@dataclass(frozen=True)
class Fluid:
    """The model's two parameters, and the floor of the queue."""

    window: float
    """Average window per flow, (C d + K)/N, packets."""
    g: float
    """Weight of a new sample in alpha."""
    psi: float | None = None
    """K/(C d), from which the empty queue is at q = -psi/(1 + psi); None: no floor (3.11)."""
    phantom: bool = False
    """Whether the queue is HULL's phantom queue, which delays no packet.

    The round trip is then always d, the unit of time. The window at which the queue neither grows
    nor drains is gamma C d/N, psi is the threshold as a fraction of gamma C d, and the queue is
    empty at q = -psi. hull's own extension: the thesis's model without the queueing delay in R.
    """
    clocked: bool = False
    """Whether windows, not rates, fill the queue: 2.3, Q = N W - C d, instead of 3.5.

    A source that keeps W packets in flight sends none after a cut until the queue is shorter. A
    source that sends at the rate W/R, as in 3.5, lets the queue grow for about R longer. hull's own
    extension: the thesis's windows and alpha with its Sawtooth's queue.
    """

    def __post_init__(self) -> None:
        check_positive("window", self.window, "thesis 3.11")
        check_gain(self.g, "thesis 3.10")
        require(
            self.psi is None or self.psi >= 0, "psi", self.psi, "0 or more", "thesis 3.2.3: K/(Cd)"
        )
        require(
            not (self.phantom and self.clocked),
            "clocked",
            "with phantom",
            "one of the two, as windows do not fill a phantom queue",
            "thesis 2.3",
        )
        require(
            self.psi is None or self.psi > 0 or not self.clocked,
            "psi",
            self.psi,
            "above 0 with clocked, so that an empty queue is not marked",
            "thesis 3.2.3: K/(Cd)",
        )

    @property
    def floor(self) -> float:
        """1 + q of an empty queue; 0 without a floor."""
        if self.psi is None:
            return -math.inf if self.phantom else 0.0
        return 1 - self.psi if self.phantom else 1 / (1 + self.psi)

    def derivative(self, window: float, alpha: float, queue: float, marked: float) -> Array:
        """F(x, u) of 3.14: d/dt of (window, alpha, queue), shape (3,), without the floor."""
        level = 1.0 if self.phantom else 1 + queue
        growth = (1 - window * alpha * marked / 2) / level
        filling = growth / self.window if self.clocked else window / (self.window * level) - 1
        return np.array([growth, self.g * (marked - alpha) / level, filling])


class Point(NamedTuple):
    """One instant of a trajectory."""

    time: float
    window: float
    alpha: float
    level: float
    """1 + q."""


@dataclass(frozen=True)
class Piece:
    """A piece of an arc: constant feedback, and a queue that is empty throughout or never."""

    duration: float
    """In tau."""
    marked: float
    """u, the feedback: 1 or 0."""
    empty: bool
    """Whether the queue is at its floor."""
    time: Array
    window: Array
    alpha: Array
    level: Array
    """At the nodes, each of shape (nodes,)."""

    @property
    def end(self) -> Point:
        """The last node."""
        arrays = (self.time, self.window, self.alpha, self.level)
        return Point(*(float(array[-1]) for array in arrays))

    def value(self, values: Array, tau: float) -> float:
        """Interpolate values at the nodes to a tau between 0 and `duration`."""
        coefficients = _TO_COEFFICIENTS @ values
        return float(chebyshev.chebval(2 * tau / self.duration - 1, coefficients))

    def root(self, values: Array, last: int) -> float:
        """The tau at which values at the nodes cross 0 between nodes last - 1 and last."""
        coefficients = _TO_COEFFICIENTS @ values
        low, high = _POINTS[last - 1], _POINTS[last]
        if values[last] == 0:
            return self.duration * float(NODES[last])
        if values[last - 1] == 0:
            return self.duration * float(NODES[last - 1])
        at = brentq(lambda x: chebyshev.chebval(x, coefficients), low, high, xtol=1e-15)
        return self.duration * (float(at) + 1) / 2


def piece(model: Fluid, start: Point, duration: float, marked: float, empty: bool) -> Piece:
    """Advance from `start` by `duration` (tau) under constant feedback."""
    s = duration * NODES
    integral = duration * INTEGRAL
    alpha = marked + (start.alpha - marked) * np.exp(-model.g * s)
    if marked:
        growth = np.exp((s + (start.alpha - 1) * -np.expm1(-model.g * s) / model.g) / 2)
        window = (start.window + integral @ growth) / growth
    else:
        window = start.window + s
    if empty:
        level = np.full_like(s, start.level)
    elif model.phantom:
        level = start.level + integral @ window / model.window - s
    elif model.clocked:
        level = window / model.window
    else:
        rise = np.exp(s)
        level = (start.level + integral @ (rise * window) / model.window) / rise
    time = start.time + (s if model.phantom else integral @ level)
    return Piece(duration, marked, empty, time, window, alpha, level)


@dataclass(frozen=True)
class Trajectory:
    """A solution of the model: its pieces, and when q crossed 0."""

    model: Fluid
    pieces: tuple[Piece, ...]
    rises: tuple[float, ...]
    """Times of upward crossings of q = 0."""
    falls: tuple[float, ...]
    """Times of downward crossings of q = 0."""

    def _joined(self, name: str) -> Array:
        return np.concatenate([getattr(part, name) for part in self.pieces])

    @property
    def time(self) -> Array:
        """Times of all nodes, in R*; shape (n,), with both sides of each switch."""
        return self._joined("time")

    @property
    def window(self) -> Array:
        """Window of one flow at these times, packets, shape (n,)."""
        return self._joined("window")

    @property
    def alpha(self) -> Array:
        """Estimate of the marked fraction at these times, shape (n,)."""
        return self._joined("alpha")

    @property
    def queue(self) -> Array:
        """(Queue - K)/(C R*) at these times, shape (n,)."""
        return self._joined("level") - 1

    @property
    def end(self) -> Point:
        """The last instant."""
        return self.pieces[-1].end


def trajectory(
    model: Fluid,
    start: Point,
    *,
    marked: float = 0.0,
    until: float = math.inf,
    returns: bool = False,
    switches: tuple[tuple[float, float], ...] = (),
) -> Trajectory:
    """The model from `start` on, until a time or a downward crossing of q = 0 (`returns`).

    `marked` is the feedback at the start, `switches` the pending (time, feedback) pairs. An
    excursion from 0 and back between two neighbouring nodes is not detected.
    """
    pending = deque(switches)
    now, pieces = start, []
    rises: list[float] = []
    falls: list[float] = []
    above, empty = start.level > 1, False
    while now.time < until:
        horizon = min(pending[0][0] if pending else math.inf, until)
        part = piece(model, now, _PANEL, marked, empty)
        events = _events(model, part, horizon, above)
        if events:
            length, kind = min(events)
            part = piece(model, now, length, marked, empty)
        else:
            kind = ""
        if part.duration > 0:
            pieces.append(part)
            now = part.end
        if kind == "time":
            now = now._replace(time=horizon)
            if pending and pending[0][0] <= horizon:
                marked = pending.popleft()[1]
        elif kind == "cross":
            above = not above
            now = now._replace(level=1.0)
            pending.append((now.time + 1, float(above)))
            (rises if above else falls).append(now.time)
            if returns and not above:
                break
        elif kind == "empty":
            now, empty = now._replace(level=model.floor), True
        elif kind == "fill":
            empty = False
    return Trajectory(model, tuple(pieces), tuple(rises), tuple(falls))


def _events(model: Fluid, part: Piece, horizon: float, above: bool) -> list[tuple[float, str]]:
    """(tau, kind) of the first event of each kind in a piece."""
    level = part.level - 1
    watched = {
        "time": part.time - horizon,
        "cross": -level if above else level,
    }
    if part.empty:
        balance = model.window if model.phantom else model.window * model.floor
        watched["fill"] = part.window - balance
    else:
        watched["empty"] = model.floor - part.level
    found = []
    for kind, values in watched.items():
        beyond = values > 0
        beyond[0] = False
        if beyond.any():
            found.append((part.root(values, int(np.argmax(beyond))), kind))
    return found

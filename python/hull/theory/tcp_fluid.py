"""TCP's fluid model with RED (thesis 3.7; Misra, Gong and Towsley 2000) and its fixed point.

Units: packets, seconds, packets per second.

The marks of RED are spread out, so a window sees them one at a time: each marked ACK halves it, at
the rate W(t - R*)/R(t - R*) p(t - R*) (3.7). DCTCP's marks come in runs, which is why 3.3 has
another form. Equations 3.5 (the queue) and Misra's average of the queue complete the model.

Heun's method is used with a step that divides the delay R*, the round trip at the fixed point.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from hull.theory.assumptions import check_positive, require
from hull.theory.qcn_stability import rightmost

Array = NDArray[np.float64]

STEPS_A_DELAY = 200
"""Steps in one delay R*."""


@dataclass(frozen=True)
class Red:
    """RED's profile: from no marks at `low` to `most` of the packets at `high`, and all above."""

    low: float
    high: float
    """Average queue, packets."""
    most: float
    """max_p."""
    weight: float
    """w, weight of a packet's sample in the average."""
    uniform: bool = True
    """Whether distances between marks are uniform on 1 .. 1/p (Floyd and Jacobson 1993), which
    marks 2 p/(1 + p) of the packets, instead of p of them."""

    def __post_init__(self) -> None:
        require(0 <= self.low < self.high, "low", self.low, f"0 to below {self.high:g}", "RED")
        require(0 < self.most <= 1, "most", self.most, "above 0 and at most 1", "RED: max_p")
        require(0 < self.weight < 1, "weight", self.weight, "above 0 and below 1", "RED: w")

    def share(self, average: float) -> float:
        """Share of packets marked at an average queue."""
        if average >= self.high:
            return 1.0
        p = max(average - self.low, 0.0) / (self.high - self.low) * self.most
        return 2 * p / (1 + p) if self.uniform else p

    def slope(self, average: float) -> float:
        """Derivative of `share` between the thresholds, per packet."""
        rise = self.most / (self.high - self.low)
        p = (average - self.low) * rise
        return rise * 2 / (1 + p) ** 2 if self.uniform else rise


class FixedPoint(NamedTuple):
    """Where nothing changes: W^2 p = 2, N W = C d + Q."""

    window: float
    """W, packets."""
    queue: float
    """Q, packets."""
    marked: float
    """p, share of packets marked."""
    round_trip_s: float
    """R*, d + Q/C."""


@dataclass(frozen=True)
class Trajectory:
    """A solution of the model; all arrays have shape (n,)."""

    time: Array
    """Seconds."""
    window: Array
    queue: Array
    average: Array
    """RED's average of the queue, packets."""


@dataclass(frozen=True)
class TcpRed:
    """N TCP flows with ECN over one link with RED."""

    capacity_pps: float
    """C."""
    delay_s: float
    """d, round trip without queueing."""
    flows: int
    """N."""
    red: Red

    def __post_init__(self) -> None:
        check_positive("capacity", self.capacity_pps, "thesis 3.5: C")
        check_positive("delay", self.delay_s, "thesis 3.1: d")
        require(self.flows >= 1, "flows", self.flows, "1 or more", "thesis 3.5: N")

    def fixed_point(self) -> FixedPoint:
        """Raises UsageError if even marks at `high` do not hold the queue below it."""
        bdp = self.capacity_pps * self.delay_s

        def excess(queue: float) -> float:
            """Windows that the marks allow, above those that fill link and queue."""
            share = self.red.share(queue)
            return self.flows * math.sqrt(2 / share) - bdp - queue if share else math.inf

        top = self.red.high * (1 - 1e-12)
        require(
            excess(top) < 0,
            "flows",
            self.flows,
            "few enough that max_p holds the queue below max_th",
            "thesis 3.7",
        )
        bottom = self.red.low + (top - self.red.low) * 1e-12
        queue = float(brentq(excess, bottom, top, xtol=1e-12))
        window = (bdp + queue) / self.flows
        return FixedPoint(window, queue, 2 / window**2, self.delay_s + queue / self.capacity_pps)

    @property
    def averaging(self) -> float:
        """Rate at which the average follows the queue, -ln(1 - w) C, per second (Misra)."""
        return -math.log1p(-self.red.weight) * self.capacity_pps

    def linearised(self) -> tuple[Array, Array]:
        """Matrices A, B of dx/dt = A x(t) + B x(t - R*) at the fixed point, for x = W, q, average.

        As in Hollot et al. (2001), but W(t) and W(t - R*) are not taken as equal.
        """
        at = self.fixed_point()
        r, w, c = at.round_trip_s, at.window, self.capacity_pps
        n, k, slope = self.flows, self.averaging, self.red.slope(at.queue)
        # W' = 1/R - W W_late p_late / (2 R_late), q' = N W/R - C, x' = k (q - x).
        own, queue = -at.marked * w / (2 * r), -1 / (c * r * r)
        late_queue = w * w * at.marked / (2 * c * r * r)
        now = np.array([[own, queue, 0], [n / r, -1 / r, 0], [0, k, -k]])
        before = np.array([[own, late_queue, -w * w * slope / (2 * r)], [0, 0, 0], [0, 0, 0.0]])
        return now, before

    def growth(self) -> float:
        """Growth rate of a small oscillation about the fixed point, per second; stable below 0."""
        now, before = self.linearised()
        return rightmost(now, before, self.fixed_point().round_trip_s, nodes=40).real

    def run(self, duration_s: float, window: float, queue: float) -> Trajectory:
        """Solve from a window and a queue, which also is the average, both constant until then."""
        at = self.fixed_point()
        step = at.round_trip_s / STEPS_A_DELAY
        count = int(np.ceil(duration_s / step))
        state = np.array([window, queue, queue])
        states = np.empty((count + 1, 3))
        arrivals = np.zeros(count + 1)
        """Marked ACKs per second that the sources see one R* later."""
        for i in range(count + 1):
            states[i] = state
            trip = self.delay_s + state[1] / self.capacity_pps
            arrivals[i] = state[0] / trip * self.red.share(float(state[2]))
            told, heard = (arrivals[max(i - STEPS_A_DELAY + later, 0)] for later in (0, 1))
            first = self._slope(state, told)
            second = self._slope(state + step * first, heard)
            state = state + step * (first + second) / 2
            state[:2] = max(state[0], 1.0), max(state[1], 0.0)
        time: Array = step * np.arange(count + 1, dtype=np.float64)
        return Trajectory(time, *states.T)

    def _slope(self, state: Array, marked: float) -> Array:
        """d/dt of window, queue and average."""
        window, queue, average = state
        trip = self.delay_s + max(queue, 0.0) / self.capacity_pps
        filling = self.flows * window / trip - self.capacity_pps
        if queue <= 0:
            filling = max(filling, 0.0)
        return np.array(
            [1 / trip - window / 2 * marked, filling, self.averaging * (queue - average)]
        )

"""DCTCP's fluid model for flows with different round trips (thesis 3.36, 3.37, with 3.5 and 3.6).

Units: packets, seconds, packets per second. A group of flows has a constant round trip, as in the
thesis: the queue delays no packet of the model. All groups see the same marks, each a round trip of
its own later.

While the marks that a group sees are constant, its alpha is an exponential and its window has an
integrating factor. A piece without a change of marks is integrated by quadrature on Chebyshev
nodes, to rounding; the queue's crossings of K and of 0 are roots, not time steps.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy.optimize import brentq

from hull.theory.assumptions import check_gain, check_positive, require
from hull.theory.fluid import INTEGRAL, NODES

Array = NDArray[np.float64]

_PANEL = 0.5
"""Longest piece, in round trips of the shortest group."""
_TO_COEFFICIENTS = np.linalg.inv(chebyshev.chebvander(2 * NODES - 1, len(NODES) - 1))


@dataclass(frozen=True)
class Groups:
    """Groups of flows on one link with threshold marking."""

    capacity_pps: float
    """C."""
    threshold_packets: float
    """K."""
    g: float
    flows: tuple[int, ...]
    """Flows of each group."""
    round_trips_s: tuple[float, ...]
    """RTT_i of each group, without queueing."""

    def __post_init__(self) -> None:
        check_positive("capacity", self.capacity_pps, "thesis 3.5: C")
        check_positive("threshold", self.threshold_packets, "thesis 3.6: K")
        check_gain(self.g, "thesis 3.37")
        require(
            len(self.flows) == len(self.round_trips_s) > 0,
            "flows",
            f"{len(self.flows)} groups",
            f"as many as round trips, {len(self.round_trips_s)}, at least one",
            "thesis 3.36",
        )
        for flows, round_trip_s in zip(self.flows, self.round_trips_s, strict=True):
            require(flows >= 1, "flows", flows, "1 or more per group", "thesis 3.36")
            check_positive("rtt", round_trip_s, "thesis 3.36: RTT_i")

    @property
    def fair_window(self) -> float:
        """The window that fills the link if all flows have it: linear fairness (3.4.2)."""
        rates = sum(n / rtt for n, rtt in zip(self.flows, self.round_trips_s, strict=True))
        return self.capacity_pps / rates

    def run(self, duration_s: float, windows: Array, alphas: Array) -> "GroupsTrajectory":
        """Solve from these windows and alphas, each of shape (groups,), and an empty queue."""
        shape = (len(self.flows),)
        for name, values in (("windows", windows), ("alphas", alphas)):
            require(
                np.shape(values) == shape, name, f"shape {np.shape(values)}", f"{shape}", "3.36"
            )
        rtts = np.array(self.round_trips_s)
        piece = Piece(0.0, np.array(windows, float), np.array(alphas, float), 0.0, False)
        crossings: list[float] = []
        pieces: list[Arc] = []
        above, longest = False, _PANEL * float(rtts.min())
        while piece.time < duration_s:
            seen = [bisect_right(crossings, piece.time - rtt * (1 - 1e-12)) for rtt in rtts]
            marks = np.array([float(count % 2) for count in seen])
            ends = [
                crossings[count] + rtt
                for count, rtt in zip(seen, rtts, strict=True)
                if count < len(crossings)
            ]
            length = min([longest, duration_s - piece.time, *(end - piece.time for end in ends)])
            arc = self._arc(piece, max(length, 1e-15), marks)
            found = self._events(arc, above)
            if found:
                at, kind = min(found)
                arc = self._arc(piece, max(at, 1e-15), marks)
            else:
                kind = ""
            pieces.append(arc)
            piece = arc.end
            if kind == "cross":
                above = not above
                crossings.append(piece.time)
                piece = replace(piece, queue=self.threshold_packets)
            elif kind == "empty":
                piece = replace(piece, queue=0.0, empty=True)
            elif kind == "fill":
                piece = replace(piece, empty=False)
        return GroupsTrajectory(self, tuple(pieces), tuple(crossings))

    def _arc(self, start: "Piece", length: float, marks: Array) -> "Arc":
        """Advance by `length` under constant marks."""
        rtt = np.array(self.round_trips_s)[:, None]
        s = length * NODES[None, :] / rtt
        integral = length * INTEGRAL
        alpha0, window0, u = start.alphas[:, None], start.windows[:, None], marks[:, None]
        alpha = u + (alpha0 - u) * np.exp(-self.g * s)
        # exp of the integral of alpha/2 over s where marked; 1 where not.
        growth = np.exp(u * (s + (alpha0 - 1) * -np.expm1(-self.g * s) / self.g) / 2)
        window = (window0 + (growth / rtt) @ integral.T) / growth
        arrivals = (np.array(self.flows)[:, None] * window / rtt).sum(axis=0)
        net = arrivals - self.capacity_pps
        queue = start.queue + (0 * net if start.empty else integral @ net)
        time = start.time + length * NODES
        return Arc(start, length, marks, time, window, alpha, queue, net)

    def _events(self, arc: "Arc", above: bool) -> list[tuple[float, str]]:
        """(seconds, kind) of the first event of each kind in an arc."""
        from_k = arc.queue - self.threshold_packets
        watched = {"cross": -from_k if above else from_k}
        if arc.start.empty:
            watched["fill"] = arc.net
        else:
            watched["empty"] = -arc.queue
        found = []
        for kind, values in watched.items():
            beyond = values > 0
            beyond[0] = False
            if beyond.any():
                found.append((arc.root(values, int(np.argmax(beyond))), kind))
        return found


@dataclass(frozen=True)
class Piece:
    """State between two arcs."""

    time: float
    windows: Array
    alphas: Array
    queue: float
    empty: bool


@dataclass(frozen=True)
class Arc:
    """An arc of constant marks: values at the nodes."""

    start: Piece
    length: float
    """Seconds."""
    marks: Array
    """p(t - RTT_i), shape (groups,)."""
    time: Array
    window: Array
    alpha: Array
    """Shape (groups, nodes)."""
    queue: Array
    net: Array
    """Arrivals less capacity, packets per second."""

    @property
    def end(self) -> Piece:
        """The last node."""
        return replace(
            self.start,
            time=float(self.time[-1]),
            windows=self.window[:, -1],
            alphas=self.alpha[:, -1],
            queue=float(self.queue[-1]),
        )

    def root(self, values: Array, last: int) -> float:
        """Seconds from the start at which `values` cross 0 between nodes last - 1 and last."""
        low, high = float(NODES[last - 1]), float(NODES[last])
        if values[last - 1] == 0:
            return self.length * low
        coefficients = _TO_COEFFICIENTS @ values

        def at(x: float) -> float:
            return float(chebyshev.chebval(2 * x - 1, coefficients))

        if at(low) * at(high) > 0:  # 0 but for rounding
            return self.length * low
        return self.length * float(brentq(at, low, high, xtol=1e-15))


@dataclass(frozen=True)
class GroupsTrajectory:
    """A solution of the model."""

    model: Groups
    arcs: tuple[Arc, ...]
    crossings: tuple[float, ...]
    """Seconds at which the queue crossed K, upward first."""

    @property
    def time(self) -> Array:
        """Seconds at all nodes, shape (n,)."""
        return np.concatenate([arc.time for arc in self.arcs])

    @property
    def windows(self) -> Array:
        """Windows at these times, packets, shape (groups, n)."""
        return np.concatenate([arc.window for arc in self.arcs], axis=1)

    @property
    def alphas(self) -> Array:
        """Alphas at these times, shape (groups, n)."""
        return np.concatenate([arc.alpha for arc in self.arcs], axis=1)

    @property
    def queue(self) -> Array:
        """Queue at these times, packets, shape (n,)."""
        return np.concatenate([arc.queue for arc in self.arcs])

    def mean_windows(self, start_s: float) -> Array:
        """Windows averaged from a time on, packets, shape (groups,)."""
        arcs = [arc for arc in self.arcs if arc.start.time >= start_s]
        require(bool(arcs), "start", f"{start_s:g} s", "before the end of the solution", "3.36")
        total = sum(arc.window @ INTEGRAL[-1] * arc.length for arc in arcs)
        return np.asarray(total / sum(arc.length for arc in arcs))

    def mean_rates(self, start_s: float) -> Array:
        """Packets per second of a flow of each group from a time on, shape (groups,)."""
        return np.asarray(self.mean_windows(start_s) / np.array(self.model.round_trips_s))


def exponent(ratio: float, times: float) -> float:
    """theta of throughput ~ RTT^-theta, for the ratio of two throughputs and of their RTTs."""
    require(times > 1, "times", f"{times:g}", "above 1", "thesis 3.4")
    check_positive("ratio", ratio, "thesis 3.4")
    return math.log(ratio) / math.log(times)

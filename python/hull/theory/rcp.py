"""RCP as a fluid model with constant delay (thesis 5.5.3), and its stability boundary.

On one link, sources send at the rate offered a round trip ago: y(t) = N R(t - round trip).
Every T the link sets R <- R (1 + T / d0 F) with F = (alpha (C - y) - beta q / d0) / C (5.37, 5.38),
with y the mean over the last T and q the current queue; AP-RCP, AP2-RCP and PD-RCP are as in
`hull.theory.averaging`. Rates are constant between changes, so `follow` is exact.

In equilibrium the queue is empty. The weight beta acts on a small deviation only while it is above
the link's rate: the loop is linear on either side, and deviations of any size grow or decay by the
same factor. `growth` is this factor per second, `boundary` the round trip at which it reaches 1.
Neither linear half determines it; `linear_radius` is for a queue that may be negative.

Rates are fractions of the link's rate C, for all N flows together; queues are in s at C, times in
s.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hull.theory.averaging import Controller

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rcp:
    """The settings of a link."""

    alpha: float
    beta: float
    interval: float
    """T."""
    held_round_trip: float
    """d0, independent of the round trip."""
    averages: int = 0
    """0 RCP, 1 AP-RCP, 2 AP2-RCP."""
    derivative: bool = False
    """PD-RCP."""
    factor: float = 0.5
    """Fraction by which an averaging change moves back (remark 5.4)."""

    @property
    def gain(self) -> float:
        """T / d0."""
        return self.interval / self.held_round_trip

    def error(self, spare: float, queue: float) -> float:
        """F, for the spare rate and a queue."""
        return self.alpha * spare - self.beta * queue / self.held_round_trip


MOST = 10.0
"""A flow is offered at most the link's rate, ten flows together at most ten times that."""

THESIS = Rcp(alpha=0.1, beta=1.0, interval=0.05, held_round_trip=0.02)
"""The settings of figure 5.13; ten flows at 2.4 Gbps."""


@dataclass(frozen=True)
class Trace:
    """The link's rate after each change, and its queue at the end of each interval."""

    times: Array
    rates: Array
    queue: Array

    def between(self, start: float, end: float) -> Array:
        """The rates in an interval."""
        first = max(0, int(np.searchsorted(self.times, start, "right")) - 1)
        return self.rates[first : int(np.searchsorted(self.times, end))]

    def swing(self, start: float, end: float) -> float:
        """Range of the rate in an interval."""
        return float(np.ptp(self.between(start, end)))


def follow(rcp: Rcp, round_trip: float, duration: float, start: float = 0.5) -> Trace:
    """Follow the link from an empty queue, all sources having long sent at the rate `start`."""
    return _follow(rcp, round_trip, duration, start, small=False)


def growth(rcp: Rcp, round_trip: float, duration: float = 60.0) -> float:
    """Growth of small deviations per second, over the second half of an interval."""
    trace = _follow(rcp, round_trip, duration, -1.0, small=True)
    span = duration / 8
    early = np.abs(trace.between(4 * span, 5 * span)).max()
    late = np.abs(trace.between(7 * span, 8 * span)).max()
    # What comes near the smallest number falls fast.
    return float((late / early) ** (1 / (3 * span))) if early > 1e-200 else 0.0


def boundary(rcp: Rcp, low: float, high: float, precision: float = 1e-4) -> float:
    """The round trip above which small deviations grow, between a stable and an unstable one."""
    if not growth(rcp, low) < 1 <= growth(rcp, high):
        raise ValueError(f"not stable at {low} s and unstable at {high} s")
    while high - low > precision:
        middle = (low + high) / 2
        low, high = (middle, high) if growth(rcp, middle) < 1 else (low, middle)
    return (low + high) / 2


def linear_radius(rcp: Rcp, round_trip: float) -> float:
    """Spectral radius over an interval of small deviations, with a queue that may be negative.

    Without a weight of the queue (beta = 0) the loop is linear in the same way.
    """
    parts = rcp.averages + 1
    waits = math.ceil(round_trip / rcp.interval) * parts + 2 * parts
    size = waits + 4
    rate, before, queue, error = waits, waits + 1, waits + 2, waits + 3
    matrix = np.eye(size)
    segments = _segments(rcp, round_trip)
    # Rates in force, the latest last; an interval adds `parts` of them.
    for part in range(parts):
        change = np.eye(size)
        if part == 0:
            arrivals = np.zeros(size)
            for age, span in segments:
                arrivals[waits - age] += span
            moved = np.eye(size)
            moved[queue] += arrivals
            feedback = -rcp.alpha * arrivals / rcp.interval
            feedback -= rcp.beta / rcp.held_round_trip * moved[queue]
            change[before] = np.eye(size)[rate]
            change[queue] = moved[queue]
            change[error] = feedback
            if rcp.derivative:
                feedback = 0.75 * feedback - 0.25 * np.eye(size)[error]
            change[rate] += rcp.gain * feedback
        else:
            change[rate, rate], change[rate, before] = 1 - rcp.factor, rcp.factor
        shift = np.eye(size)
        shift[:waits] = 0.0
        shift[: waits - 1, 1:waits] = np.eye(waits - 1)
        shift[waits - 1, rate] = 1.0
        matrix = shift @ change @ matrix
    if rcp.beta == 0:  # a sum that nothing reads would stand still for ever
        matrix = np.delete(np.delete(matrix, queue, 0), queue, 1)
    return float(np.max(np.abs(np.linalg.eigvals(matrix))))


def _segments(rcp: Rcp, round_trip: float) -> list[tuple[int, float]]:
    """The arrivals of an interval, in order: how many changes ago their rate was offered (1: the
    last), and how long they lasted."""
    parts = rcp.averages + 1
    part = rcp.interval / parts
    whole, rest = divmod(round_trip / part, 1.0)
    whole, rest = (whole + 1, 0.0) if rest > 1 - 1e-9 else (whole, rest)
    segments = []
    for place in range(parts):
        # The oldest comes first; of two, the later change has what the rest leaves.
        age = parts - place + int(whole)
        segments += [(age + 1, rest * part), (age, (1 - rest) * part)]
    return [(age, span) for age, span in segments if span > 0]


def _follow(rcp: Rcp, round_trip: float, duration: float, start: float, *, small: bool) -> Trace:
    parts = rcp.averages + 1
    segments = _segments(rcp, round_trip)
    oldest = max(age for age, _ in segments)
    rates = [start] * (oldest + parts)
    base = len(rates) - parts
    controller = Controller(rcp.gain, derivative=rcp.derivative)
    rest = 0.0 if small else 1.0
    queue, last_error, current = 0.0, 0.0, start
    queues = [0.0]
    for _ in range(math.ceil(duration / rcp.interval)):
        arrived = 0.0
        for age, span in segments:
            rate = rates[-age]
            arrived += rate * span
            queue = max(0.0, queue + (rate - rest) * span)
        error = rcp.error(rest - arrived / rcp.interval, queue)
        change = controller.feedback(error, last_error)
        last_error, before = error, current
        current += change if small else current * change
        if not small:
            current = min(max(current, 2.0**-16), MOST)
        rates.append(current)
        for _ in range(parts - 1):
            current += rcp.factor * (before - current)
            rates.append(current)
        queues.append(queue)
    kept = np.array(rates[base:])
    times = (np.arange(len(kept)) - parts) * rcp.interval / parts
    return Trace(times + rcp.interval, kept, np.array(queues))


def versions(rcp: Rcp) -> dict[str, Rcp]:
    """RCP, AP-RCP, AP2-RCP and PD-RCP with the same settings."""
    return {
        "rcp": rcp,
        "ap_rcp": replace(rcp, averages=1),
        "ap2_rcp": replace(rcp, averages=2),
        "pd_rcp": replace(rcp, derivative=True),
    }

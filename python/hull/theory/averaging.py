"""The Averaging Principle (thesis 5.5.1 and 5.5.2): a sampled loop around any plant with any delay.

The error e = r - y is sampled every T. A sample reaches the controller after `delay` and changes
the plant's input, which is constant between changes:

- standard: u <- u + K e (5.24);
- AP: the same, and halfway to the next change u <- (u + previous u) / 2. Remark 5.4 allows other
  factors, places and numbers of changes; `equivalent` gives the equivalent PD controller;
- PD: u <- u + K w with w(nT) = e(nT) / 2 + (e(nT) - e((n - 1) T)) / 4 (figure 5.10).

`response` computes a loop in time, exactly: between two changes the plant is linear with constant
input. `period_matrix` is one period as a matrix; the loop is stable if its spectral radius is below
1. Times in s, other quantities in the units of the plant.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm
from scipy.signal import tf2ss

Array = NDArray[np.float64]
Kind = Literal["sample", "feedback", "average"]


@dataclass(frozen=True)
class Plant:
    """A transfer function, strictly proper: coefficients from the highest power of s down."""

    numerator: tuple[float, ...]
    denominator: tuple[float, ...]

    @cached_property
    def matrices(self) -> tuple[Array, Array]:
        """d(x, u)/dt = first (x, u), with a constant input u; y = second x."""
        if len(self.numerator) >= len(self.denominator):
            raise ValueError("a plant's numerator must have a lower degree than its denominator")
        a, b, c, _ = tf2ss(self.numerator, self.denominator)
        order = len(a)
        whole = np.zeros((order + 1, order + 1))
        whole[:order, :order], whole[:order, order:] = a, b
        return whole, np.asarray(c[0])


@dataclass(frozen=True)
class Controller:
    """How a sample changes the input."""

    gain: float
    averages: int = 0
    """Averaging changes per period, evenly spaced: 0 standard, 1 AP, 2 AP2."""
    derivative: bool = False
    """Whether the feedback is PD instead of the error alone."""
    factor: float = 0.5
    """Fraction by which an averaging change moves back (remark 5.4)."""
    places: tuple[float, ...] | None = None
    """Times of the averaging changes, as fractions of a period; None: evenly spaced."""
    shares: tuple[float, float] = (0.5, 0.25)
    """PD's weights of the error and of its change since the last sample."""

    def __post_init__(self) -> None:
        if not 0 < self.factor < 1:
            raise ValueError("an averaging change takes a share above 0 and below 1")
        if self.places is not None and len(self.places) != self.averages:
            raise ValueError("each averaging change needs a place")
        within = all(0 < place < 1 for place in self.at)
        if not within or list(self.at) != sorted(set(self.at)):
            raise ValueError("places must grow, above 0 and below 1")

    @property
    def at(self) -> tuple[float, ...]:
        """Times of the averaging changes, as fractions of a period."""
        if self.places is not None:
            return self.places
        parts = self.averages + 1
        return tuple(part / parts for part in range(1, parts))

    def feedback(self, error: float, before: float) -> float:
        """The change of the input for an error sample, given the previous sample."""
        if self.derivative:
            proportional, derivative = self.shares
            return self.gain * (proportional * error + derivative * (error - before))
        return self.gain * error


@dataclass(frozen=True)
class Loop:
    """A plant, its controller, the period and the delay."""

    plant: Plant
    controller: Controller
    period: float
    delay: float

    def __post_init__(self) -> None:
        if self.period <= 0 or self.delay < 0:
            raise ValueError("a loop needs a period above 0 and a delay of at least 0")

    def changes(self) -> list[tuple[float, Kind]]:
        """Changes of one period by time within it, once samples arrive."""
        rest = math.fmod(self.delay, self.period)
        found: list[tuple[float, Kind]] = [(0.0, "sample"), (rest, "feedback")]
        for place in self.controller.at:
            found.append((math.fmod(rest + place * self.period, self.period), "average"))
        return sorted(found, key=lambda change: change[0])


EXAMPLE = Plant((1.0, 1.0), (1.0, 1.6, 0.8, 0.6))
"""The example of thesis 5.5.1; K = 1/8, T = 1 s."""
EXAMPLE_GAIN, EXAMPLE_PERIOD = 0.125, 1.0


def response(loop: Loop, duration: float, step: float) -> tuple[Array, Array]:
    """The unit step response from rest: times and outputs, every `step`."""
    flow, output = loop.plant.matrices
    state = np.zeros(len(flow))
    under_way: deque[float] = deque()
    before, target, now, at = 0.0, 0.0, 0.0, 0
    times = np.arange(0.0, duration + step / 2, step)
    outputs = np.zeros(len(times))
    moves: dict[float, Array] = {}

    def move(time: float) -> None:
        """Advance the plant to the time `until`."""
        nonlocal now, state
        span = round(time - now, 12)
        if span > 0:
            if span not in moves:
                moves[span] = expm(flow * span)
            state = moves[span] @ state
        now = time

    for time, kind in _schedule(loop):
        while at < len(times) and times[at] < time:
            move(times[at])
            outputs[at] = output @ state[:-1]
            at += 1
        if at == len(times):
            return times, outputs
        move(time)
        if kind == "sample":
            under_way.append(1.0 - float(output @ state[:-1]))
        elif kind == "feedback":
            error = under_way.popleft()
            target = state[-1]
            state[-1] += loop.controller.feedback(error, before)
            before = error
        else:
            state[-1] += loop.controller.factor * (target - state[-1])
    raise AssertionError("a schedule does not end")


def _schedule(loop: Loop) -> Iterator[tuple[float, Kind]]:
    """Samples and input changes in order of time, from time 0 on."""
    places = loop.controller.at
    for period in count():
        start = period * loop.period
        for time, kind in loop.changes():
            at = start + time
            # Nothing is fed back before the first sample has come through.
            if kind == "feedback" and at < loop.delay - 1e-9:
                continue
            if kind == "average" and at < loop.delay + places[0] * loop.period - 1e-9:
                continue
            yield at, kind


def period_matrix(loop: Loop) -> Array:
    """One period of the loop without reference, from sample to sample: the matrix on (plant, input,
    input before the last feedback, the errors under way, the error before them)."""
    flow, output = loop.plant.matrices
    order = len(output)
    waits = math.floor(loop.delay / loop.period + 1e-12)
    size = order + 2 + waits + 2
    current, target, first = order, order + 1, order + 2
    matrix = np.eye(size)
    now = 0.0
    for time, kind in [*loop.changes(), (loop.period, None)]:
        move = np.eye(size)
        move[: order + 1, : order + 1] = expm(flow * (time - now))
        matrix, now = move @ matrix, time
        change = np.eye(size)
        if kind == "sample":
            change[first:] = 0.0
            change[first, :order] = -output
            change[first + 1 :, first:-1] = np.eye(waits + 1)
        elif kind == "feedback":
            change[target] = change[current]
            error, before = np.eye(size)[first + waits], np.eye(size)[first + waits + 1]
            controller = loop.controller
            change[current] += controller.feedback(1.0, 0.0) * error
            change[current] += controller.feedback(0.0, 1.0) * before
        elif kind == "average":
            factor = loop.controller.factor
            change[current, current], change[current, target] = 1 - factor, factor
        matrix = change @ matrix
    return matrix


def spectral_radius(loop: Loop) -> float:
    """Asymptotic growth of a deviation per period: below 1 the loop is stable."""
    return float(np.max(np.abs(np.linalg.eigvals(period_matrix(loop)))))


def growth(loop: Loop, periods: int = 400) -> float:
    """The growth per period, measured in the time response: the mean factor from the second
    quarter to the last."""
    times, outputs = response(loop, periods * loop.period, loop.period / 4)
    deviation = np.abs(outputs - 1.0)
    half = len(times) // 2
    early, late = (deviation[end - half // 2 : end].max() for end in (half, 2 * half))
    return float((late / early) ** (loop.period / times[half]))


def largest_delay(loop_at: Callable[[float], Loop], upper: float, step: float) -> float:
    """The largest delay, on a grid, below which the loop is stable; `upper` if it always is."""
    for steps in range(math.ceil(upper / step) + 1):
        if spectral_radius(loop_at(steps * step)) >= 1:
            return (steps - 1) * step
    return upper


def equivalent(controller: Controller) -> Controller:
    """The PD controller equivalent to an AP controller up to a zero-mean ripple (theorem 5.4,
    remark 5.4).

    After j averaging changes by a factor a the input is u + (1 - a)^j K e. Its mean over a period
    changes by r K e(nT) + (c - r) K (e(nT) - e((n - 1) T)), where r is the fraction of the change
    left at the end of a period and c its mean over the period.
    """
    edges = (0.0, *controller.at, 1.0)
    left = [(1 - controller.factor) ** changes for changes in range(controller.averages + 1)]
    mean = sum(part * (b - a) for part, a, b in zip(left, edges, edges[1:], strict=False))
    return Controller(controller.gain, derivative=True, shares=(left[-1], mean - left[-1]))


def averaged(errors: Array, gain: float, start: float = 0.0) -> Array:
    """Controller 1 (5.25, 5.26): rows u_1(nT), u_2(nT) for a sequence of errors e(nT)."""
    found = np.empty((len(errors), 2))
    second = start
    for n, error in enumerate(errors):
        first = second + gain * error
        second = (first + second) / 2
        found[n] = first, second
    return found


def proportional_derivative(errors: Array, gain: float, start: float = 0.0) -> Array:
    """Controller 2 (5.28 to 5.31): rows of the input in both halves of each period, e(-T) = 0."""
    before = np.concatenate([[0.0], errors[:-1]])
    mean = start + np.cumsum(gain * (errors / 2 + (errors - before) / 4))
    ripple = gain / 4 * errors
    return np.column_stack([mean + ripple, mean - ripple])

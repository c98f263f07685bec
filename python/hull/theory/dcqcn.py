"""Fluid model of DCQCN and the number of flows for which its equilibrium is stable.

Source: Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (SIGCOMM 2015), section
5, and Y. Zhu et al., "ECN or Delay" (CoNEXT 2016), section 3.1. Neither was readable here: the
equations are from memory, and the equilibrium agrees with packets (docs/algorithms/dcqcn.md).

N flows share a link. A flow has a rate R_C, a target R_T and alpha; the link has a queue q and
marks with the probability p(q). What marks cause at time t follows p and R_C at t - delay. Rates
are packets/s, sizes packets, times seconds.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

Array = npt.NDArray[np.float64]

_STEP = 1e-6
"""Relative step of the derivatives."""
_MOST = 700.0
"""Largest exponent of a number."""
_NODES = 24
"""Chebyshev nodes over the delay."""


@dataclass(frozen=True)
class Dcqcn:
    """Parameters; defaults are the paper's, on 40 Gbps with packets of 1000 bytes."""

    capacity: float = 5e6
    """Rate of the link."""
    delay: float = 4e-6
    """Time from a mark to its effect."""
    threshold: float = 5.0
    """Queue from which packets are marked."""
    max_threshold: float = 200.0
    """Queue at which the probability is `max_probability`."""
    max_probability: float = 0.01
    """Probability at `max_threshold`; beyond it all packets are marked."""
    gain: float = 1 / 256
    """g of alpha."""
    notification: float = 50e-6
    """Time between two notifications, tau."""
    alpha_timer: float = 55e-6
    """Time after which alpha decays, tau'."""
    increase_timer: float = 55e-6
    """Time of a cycle of increase, T."""
    byte_counter: float = 1e4
    """Packets of a cycle of increase, B."""
    recovery: float = 5.0
    """Cycles of fast recovery, F."""
    additive: float = 5e3
    """Increase of the target in a cycle, R_AI."""

    def marking(self, queue: float) -> float:
        """Marking probability at a queue, without its jump to 1."""
        return (queue - self.threshold) * self._slope

    @property
    def _slope(self) -> float:
        return self.max_probability / (self.max_threshold - self.threshold)

    def derivative(self, state: Array, delayed: Array, flows: float) -> Array:
        """d/dt of (R_C, R_T, alpha, q), given the state a delay ago."""
        rate, target, alpha, _ = state
        before, p = delayed[0], self.marking(delayed[3])
        keep = np.log1p(-p)
        marked = -np.expm1(keep * self.notification * before)
        by_bytes = p / np.expm1(min(-keep * self.byte_counter, _MOST))
        by_timer = p / np.expm1(min(-keep * self.increase_timer * before, _MOST))
        additive = np.exp(keep * self.recovery * self.byte_counter) * by_bytes
        additive += np.exp(keep * self.recovery * self.increase_timer * before) * by_timer
        cuts = marked / self.notification
        decayed = -np.expm1(keep * self.alpha_timer * before) - alpha
        return np.array(
            [
                -rate * alpha / 2 * cuts + (target - rate) / 2 * before * (by_bytes + by_timer),
                -(target - rate) * cuts + self.additive * before * additive,
                self.gain / self.alpha_timer * decayed,
                flows * rate - self.capacity,
            ]
        )


def equilibrium(model: Dcqcn, flows: float) -> Array | None:
    """(R_C, R_T, alpha, q) with equal rates; None if its probability is above `max_probability`."""
    rate = model.capacity / flows

    def at(p: float) -> Array:
        """The state in which target and alpha rest."""
        queue = model.threshold + p / model._slope
        alpha = -np.expm1(np.log1p(-p) * model.alpha_timer * rate)
        state = np.array([rate, rate, alpha, queue])
        moved = model.derivative(state, state, flows)
        cuts = -np.expm1(np.log1p(-p) * model.notification * rate) / model.notification
        state[1] += moved[1] / cuts
        return state

    def change(log_p: float) -> float:
        state = at(float(np.exp(log_p)))
        return float(model.derivative(state, state, flows)[0])

    low, high = np.log(1e-9), np.log(0.5)
    if change(low) * change(high) > 0:
        return None
    p = float(np.exp(brentq(change, low, high)))
    return at(p) if p <= model.max_probability else None


def growth(model: Dcqcn, flows: float) -> float | None:
    """Largest real part of the roots of the linearized model, 1/s: below 0 it is stable.

    None without equilibrium. The delay is resolved at Chebyshev nodes (spectral collocation).
    """
    state = equilibrium(model, flows)
    if state is None:
        return None
    now, ago = _jacobians(model, state, flows)
    nodes, difference = _chebyshev(_NODES)
    size = len(state)
    matrix = np.kron(difference * (2 / model.delay), np.eye(size))
    matrix[:size] = 0
    matrix[:size, :size] = now
    matrix[:size, -size:] = ago
    # Scaling of the states by their equilibrium keeps the eigenvalues accurate.
    scale = np.tile(state, len(nodes))
    return float(np.max(np.linalg.eigvals(matrix * scale / scale[:, None]).real))


def unstable_flows(model: Dcqcn, most: int = 100) -> list[int]:
    """Numbers of flows, up to `most`, with an equilibrium that is not stable."""
    found = ((flows, growth(model, flows)) for flows in range(1, most + 1))
    return [flows for flows, rate in found if rate is not None and rate >= 0]


def largest_delay(model: Dcqcn, flows: float) -> float | None:
    """Delay up to which the equilibrium is stable, s; None if there is none up to 10 ms."""

    def at(log_delay: float) -> float:
        found = growth(replace(model, delay=float(np.exp(log_delay))), flows)
        return -1.0 if found is None else found

    delays = np.log(np.geomspace(1e-7, 1e-2, 41))
    rates = [at(delay) for delay in delays]
    above = next((i for i, rate in enumerate(rates) if rate > 0), None)
    if above is None:
        return None
    if above == 0:
        return 0.0
    return float(np.exp(brentq(at, delays[above - 1], delays[above])))


def _jacobians(model: Dcqcn, state: Array, flows: float) -> tuple[Array, Array]:
    """Derivatives by the state now and a delay ago, by central differences."""

    def of(delayed: bool) -> Array:
        columns = []
        for i, value in enumerate(state):
            moved = np.zeros_like(state)
            moved[i] = _STEP * value
            sides = [
                model.derivative(state, state + way * moved, flows)
                if delayed
                else model.derivative(state + way * moved, state, flows)
                for way in (1, -1)
            ]
            columns.append((sides[0] - sides[1]) / (2 * moved[i]))
        return np.stack(columns, axis=1)

    return of(False), of(True)


def _chebyshev(count: int) -> tuple[Array, Array]:
    """Nodes from 1 to -1, and the matrix that differentiates a polynomial through them."""
    nodes = np.cos(np.pi * np.arange(count + 1) / count)
    weights = np.ones(count + 1)
    weights[[0, -1]] = 2
    weights *= (-1.0) ** np.arange(count + 1)
    apart = nodes[:, None] - nodes + np.eye(count + 1)
    matrix = weights[:, None] / weights / apart
    return nodes, matrix - np.diag(matrix.sum(axis=1))

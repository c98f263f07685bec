"""Local stability of DCTCP's limit cycle (thesis 3.2.2, theorem 3.1, figure 3.5; appendix A).

The cycle is stable if and only if the spectral radius of Z1 Z2, the Jacobian of the Poincare map,
is below 1. The thesis writes Z1 and Z2 with exp(integral of J_F dt). That describes the growth of a
small deviation only if J_F at different times commutes, which it does not. `jacobian` uses the
deviation's transition matrix instead; `printed_jacobian` follows the thesis.

States are (window in packets, alpha, q), matrices of shape (3, 3).
"""

import numpy as np
from scipy.linalg import expm

from hull.theory.fluid import INTEGRAL, NODES, Array, Fluid, Piece
from hull.theory.limit_cycle import LimitCycle, limit_cycle

_C = np.array([0.0, 0.0, 1.0])


def spectral_radius(window: float, g: float) -> float:
    """rho(Z1 Z2) for an average window (packets, above 2) and a gain, as in figure 3.5."""
    return radius(jacobian(limit_cycle(Fluid(window, g))))


def radius(matrix: Array) -> float:
    """Largest absolute value of an eigenvalue."""
    return float(np.max(np.abs(np.linalg.eigvals(matrix))))


def jacobian(cycle: LimitCycle) -> Array:
    """Z1 Z2 with transition matrices; for a cycle without floor (psi is None)."""
    below, above = _halves(cycle)
    z2 = _onto_plane(cycle.model, below[-1]) @ _transition(cycle.model, below)
    z1 = _onto_plane(cycle.model, above[-1]) @ _transition(cycle.model, above)
    return np.asarray(z1 @ z2)


def printed_jacobian(cycle: LimitCycle) -> Array:
    """Z1 Z2 as printed, with the exponential of the integral of J_F, entry by entry."""
    below, above = _halves(cycle)
    z2 = _onto_plane(cycle.model, below[-1]) @ expm(_integral_of_derivative(cycle.model, below))
    z1 = _onto_plane(cycle.model, above[-1]) @ expm(_integral_of_derivative(cycle.model, above))
    return np.asarray(z1 @ z2)


def _halves(cycle: LimitCycle) -> tuple[list[Piece], list[Piece]]:
    """The pieces before and after q rises through 0."""
    pieces = cycle.path.pieces
    first = next(i for i, part in enumerate(pieces) if part.time[0] >= cycle.below)
    return list(pieces[:first]), list(pieces[first:])


def _onto_plane(model: Fluid, last: Piece) -> Array:
    """I - F c / (c F) at a crossing of q = 0: moves a deviation along the flow back onto q = 0."""
    end = last.end
    flow = model.derivative(end.window, end.alpha, 0.0, last.marked)
    return np.asarray(np.eye(3) - np.outer(flow, _C) / flow[2])


def _transition(model: Fluid, pieces: list[Piece]) -> Array:
    """d(state at the end) / d(state at the start) over the pieces."""
    matrix = np.eye(3)
    for part in pieces:
        matrix = _piece_transition(model, part) @ matrix
    return matrix


def _piece_transition(model: Fluid, part: Piece) -> Array:
    """The transition of one piece: at constant tau, then moved along the flow to constant time."""
    s = part.duration * NODES
    integral = part.duration * INTEGRAL
    decay = np.exp(-model.g * s)
    by_alpha = part.marked * -np.expm1(-model.g * s) / (2 * model.g)
    change = float(part.alpha[0]) - part.marked
    growth = np.exp(part.marked * s / 2 + change * by_alpha)
    zero = np.zeros_like(s)
    # Rows: by the window, by alpha, by q at the start.
    window = np.array(
        [1 / growth, (integral @ (by_alpha * growth)) / growth - by_alpha * part.window, zero]
    )
    rise = np.exp(s)
    level = (window * rise) @ integral.T / model.window / rise
    level[2] = 1 / rise
    time = level @ integral[-1]
    state = np.array([window[:, -1], [0.0, decay[-1], 0.0], level[:, -1]])
    end = part.end
    flow = model.derivative(end.window, end.alpha, end.level - 1, part.marked)
    return state - np.outer(flow, time)


def _integral_of_derivative(model: Fluid, pieces: list[Piece]) -> Array:
    """Integral of J_F dt over the pieces; dt = (1 + q) d tau."""
    total = np.zeros((3, 3))
    for part in pieces:
        y, w, a, u = part.level, part.window, part.alpha, part.marked
        zero, one = np.zeros_like(y), np.ones_like(y)
        entries = np.array(
            [
                [-u * a / 2, -u * w / 2, -(1 - u * w * a / 2) / y],
                [zero, -model.g * one, -model.g * (u - a) / y],
                [one / model.window, zero, -w / (model.window * y)],
            ]
        )
        total += part.duration * (entries @ INTEGRAL[-1])
    return total

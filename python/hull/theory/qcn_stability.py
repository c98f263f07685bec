"""Feedback delay that QCN's control loop tolerates: theorems 5.1 to 5.3, and the exact margins.

Thesis 5.4, appendices D to F. Units: seconds, radians per second.

The loop is 1 + G(s) = 0 with
G(s) = exp(-s tau) a_3 (s + b)(s + gamma) / (s (s^2 + beta s + alpha)) for QCN and
exp(-s tau) a_3 (s + gamma) / (s (s + a)) for QCN-AIMD. Theorem 5.1 bounds the crossover frequency
and the phase. The exact margin uses the frequencies at which abs(G) = 1, the roots of a polynomial
in omega^2. An independent check is the rightmost root of 1 + G at a given delay, from the delay
equation's generator on Chebyshev nodes.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hull.theory.assumptions import require
from hull.theory.qcn import Qcn

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Loop:
    """A loop gain without its delay: numerator and denominator in s, and the delay equation.

    The state x obeys dx/dt = now x(t) + before x(t - tau).
    """

    numerator: Array
    denominator: Array
    """Coefficients, highest power first."""
    now: Array
    before: Array
    """Shape (states, states)."""

    def gain(self, omega: float) -> complex:
        """G(j omega) without delay."""
        s = 1j * omega
        return complex(np.polyval(self.numerator, s) / np.polyval(self.denominator, s))

    def crossovers(self) -> list[float]:
        """The frequencies at which abs(G) = 1, rising."""
        squares = np.roots(np.polysub(_squared(self.denominator), _squared(self.numerator)))
        return sorted(
            math.sqrt(square.real)
            for square in squares
            if square.real > 0 and abs(square.imag) < 1e-9 * abs(square)
        )

    def margin_s(self) -> float:
        """The smallest delay at which a root is on the imaginary axis; stable below it."""
        delays = []
        for omega in self.crossovers():
            phase = math.remainder(float(np.angle(self.gain(omega))), 2 * math.pi)
            # exp(-j omega tau) turns what is left to -pi.
            delays.append(((phase + math.pi) % (2 * math.pi)) / omega)
        return min(delays)

    def rightmost(self, delay_s: float, nodes: int = 20) -> complex:
        """The characteristic root with the largest real part at a delay, 1/s."""
        return rightmost(self.now, self.before, delay_s, nodes)


def rightmost(now: Array, before: Array, delay_s: float, nodes: int = 20) -> complex:
    """The rightmost root of dx/dt = now x(t) + before x(t - delay), 1/s."""
    size = len(now)
    if delay_s == 0:
        roots = np.linalg.eigvals(now + before)
        return complex(roots[np.argmax(roots.real)])
    grid = np.cos(np.pi * np.arange(nodes + 1) / nodes)
    generator = np.kron(_differentiation(grid) * 2 / delay_s, np.eye(size))
    generator[:size] = 0
    generator[:size, :size] = now
    generator[:size, -size:] += before
    roots = np.linalg.eigvals(generator)
    return complex(roots[np.argmax(roots.real)])


def _squared(polynomial: Array) -> Array:
    """|P(j omega)|^2 as a polynomial in omega^2."""
    mirrored = polynomial * (-1.0) ** np.arange(len(polynomial) - 1, -1, -1)
    even = np.polymul(polynomial, mirrored)[::2]
    # s^2 = -omega^2.
    return np.asarray(even * (-1.0) ** np.arange(len(even) - 1, -1, -1))


def _differentiation(grid: Array) -> Array:
    """The derivative on Chebyshev nodes, shape (nodes, nodes)."""
    ends = np.ones(len(grid))
    ends[0] = ends[-1] = 2
    scale = ends * (-1.0) ** np.arange(len(grid))
    distance = grid[:, None] - grid[None, :] + np.eye(len(grid))
    matrix = np.outer(scale, 1 / scale) / distance
    return np.asarray(matrix - np.diag(matrix.sum(axis=1)))


def qcn_loop(model: Qcn) -> Loop:
    """QCN linearised (5.10 to 5.14); the states are R_C, R_T and Q."""
    beta, alpha = model.b + model.a1, model.b * (model.a1 - model.a2)
    return Loop(
        numerator=np.array([1, model.b + model.gamma, model.b * model.gamma]) * model.a3,
        denominator=np.array([1, beta, alpha, 0.0]),
        now=np.array(
            [[-model.a1, model.a2, 0], [model.b, -model.b, 0], [float(model.flows), 0, 0]]
        ),
        before=np.array([[-model.a3, 0, -model.a4], [0, 0, 0], [0, 0, 0.0]]),
    )


def aimd_loop(model: Qcn) -> Loop:
    """QCN-AIMD linearised (E.1 and E.2); the states are R_C and Q."""
    return Loop(
        numerator=model.a3 * np.array([1, model.gamma]),
        denominator=np.array([1, model.a_hat, 0.0]),
        now=np.array([[-model.a_hat, 0], [float(model.flows), 0]]),
        before=np.array([[-model.a3, -model.a4], [0, 0.0]]),
    )


def omega_star(model: Qcn) -> float:
    """Equation 5.16: above QCN's crossover frequency."""
    square = model.a3**2
    return math.sqrt(square / 2 + math.sqrt(square**2 / 4 + model.gamma**2 * square))


def tau_star_s(model: Qcn) -> float:
    """Theorem 5.1: a delay up to which the linear QCN is stable (5.15)."""
    omega, beta = omega_star(model), model.b + model.a1
    angles = math.atan(omega / model.b) - math.atan(omega / beta) + math.atan(omega / model.gamma)
    return angles / omega


def omega_hat(model: Qcn) -> float:
    """Equation 5.21, with the second root inside the first, as appendix F uses it."""
    square = model.a3**2 - model.a_hat**2
    return math.sqrt(square / 2 + math.sqrt(square**2 / 4 + (model.gamma * model.a3) ** 2))


def tau_hat_s(model: Qcn) -> float:
    """Theorem 5.2: the linear QCN-AIMD is stable below this delay only (5.20)."""
    omega = omega_hat(model)
    return (math.atan(omega / model.gamma) + math.atan(model.a_hat / omega)) / omega


def conditions(model: Qcn) -> tuple[float, float]:
    """The left sides of 5.22 and 5.23, which theorem 5.3 requires below 0.1 and 0.2."""
    eta, sampling, gain = model.eta, model.sampling, model.decrease
    largest = max(
        eta**2 / sampling / gain,
        (2 * eta + 4 * sampling) / gain,
        eta * model.weight / sampling,
    )
    share = model.increase_pps / model.capacity_pps
    return share * largest, share * model.flows


def check_theorem_5_3(model: Qcn) -> None:
    """UsageError where theorem 5.3 does not imply that averaging widens the margin."""
    first, second = conditions(model)
    require(first < 0.1, "R_AI/C times the largest of 5.22", f"{first:.3g}", "below 0.1", "5.22")
    require(second < 0.2, "N R_AI/C", f"{second:.3g}", "below 0.2", "5.23")

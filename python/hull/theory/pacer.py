"""The pacer's rate filter, R <- (1 - eta) R + eta M/T + beta Q every T (paper 4.2, equation 4).

Between two updates the backlog Q changes by arrivals less departures, Q <- Q + M - R T, but not
below 0. While it is above 0 the two equations are linear, with trace 2 - eta - beta T and
determinant 1 - eta. Units: bytes, seconds, bytes per second; beta per second.
"""

import cmath
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hull.theory.assumptions import check_positive, require

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RateFilter:
    """Equation 4 with its parameters; UsageError for parameters with which it does not converge."""

    interval_s: float
    """T_r, s."""
    eta: float
    beta: float
    """Per second."""

    def __post_init__(self) -> None:
        check_positive("update_interval", self.interval_s, "paper equation 4: T_r")
        require(0 < self.eta <= 1, "eta", f"{self.eta:g}", "above 0 and at most 1", "paper eq. 4")
        most = (4 - 2 * self.eta) / self.interval_s
        require(
            0 < self.beta < most,
            "beta",
            f"{self.beta:g}",
            f"above 0 and below (4 - 2 eta)/T_r = {most:.4g}, where the filter begins to swing up",
            "paper equation 4, linearised: both eigenvalues inside the unit circle",
        )

    @property
    def time_constant_s(self) -> float:
        """T_r/eta, s: how fast the rate follows, to be a few round trips (thesis 4.4.3)."""
        return self.interval_s / self.eta

    @property
    def backlog_time_constant_s(self) -> float:
        """eta/beta, s: how fast a backlog drains once the rate follows the arrivals."""
        return self.eta / self.beta

    @property
    def damping(self) -> float:
        """eta/(2 sqrt(beta T)): above 1 a step causes no oscillation (beta T and eta << 1)."""
        return self.eta / (2 * math.sqrt(self.beta * self.interval_s))

    @property
    def matrix(self) -> Array:
        """(R - R*, Q) from one update to the next, for Q > 0 and arrivals at R*; shape (2, 2)."""
        t = self.interval_s
        return np.array([[1 - self.eta - self.beta * t, self.beta], [-t, 1.0]])

    def gain(self, frequency_hz: float) -> complex:
        """Gain R / (M/T) for sinusoidal arrivals while the backlog stays above 0."""
        z = cmath.exp(2j * math.pi * frequency_hz * self.interval_s)
        pull = self.beta * self.interval_s * z
        return (self.eta * (z - 1) + pull) / ((z - 1 + self.eta) * (z - 1) + pull)

    def response(
        self, arrivals: ArrayLike, rate: float, backlog: float = 0.0
    ) -> tuple[Array, Array]:
        """Rates (bytes/s) and backlogs (bytes) after each update, each of the shape of `arrivals`.

        `arrivals` are the bytes of each interval, shape (n,); `rate` and `backlog` those at the
        start. The backlog is a fluid: it does not wait for whole packets.
        """
        rates, backlogs = [], []
        for arrived in np.asarray(arrivals, dtype=float):
            backlog = max(0.0, backlog + arrived - rate * self.interval_s)
            offered = arrived / self.interval_s
            rate = (1 - self.eta) * rate + self.eta * offered + self.beta * backlog
            rates.append(rate)
            backlogs.append(backlog)
        return np.array(rates), np.array(backlogs)

    def step_backlog(self, step: float) -> float:
        """Largest backlog, bytes, after the arrival rate jumps by `step` bytes/s."""
        state, largest = np.array([-step, 0.0]), 0.0
        for _ in range(math.ceil(20 * self.time_constant_s / self.interval_s)):
            state = self.matrix @ state
            if state[1] < largest:
                break
            largest = float(state[1])
        return largest

    def burst_rate(self, mean: float, burst: float) -> float:
        """The rate at which equation 4 settles, bytes/s, for bursts of `burst` bytes at `mean`.

        The paper's fixed point (R = M/T, Q = 0) holds for a constant stream. A burst of B drains at
        R, which averaged over time gives Q = B M/(2 R). Equation 4 is stationary where eta (R - M)
        = beta Q: R^2 - M R = beta B M/(2 eta). Derived here, for bursts that are closer together
        than T_r/eta and drain over several T_r.
        """
        return (mean + math.sqrt(mean**2 + 2 * self.beta * burst * mean / self.eta)) / 2

    def burst_backlog(self, mean: float, burst: float) -> float:
        """Backlog averaged over time, bytes, at that rate: B M/(2 R)."""
        return burst * mean / (2 * self.burst_rate(mean, burst))

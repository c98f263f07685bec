"""The Hybrid Model of DCTCP's convergence (thesis 3.3.1, 3.3.2 and appendix C, 3.17 to 3.25).

N synchronized flows: windows grow by one packet per round trip until their sum is W_max, and each
is then cut by half its alpha. Units: windows in packets, time in round trips.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from hull.theory.assumptions import check_gain, check_positive, require

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Episode:
    """A congestion event."""

    time: float
    """T_k, round trips."""
    windows: Array
    """W_i(T_k) before the cut, packets, shape (flows,)."""
    alphas: Array
    """alpha_i(T_k), shape (flows,)."""


def episodes(windows: ArrayLike, alphas: ArrayLike, g: float) -> Iterator[Episode]:
    """The endless sequence of congestion events (3.17 to 3.19).

    `windows` (packets) and `alphas` belong to the first event, each of shape (flows,); the sum of
    the windows is W_max throughout. Raises UsageError for another shape, or g outside (0, 1].
    """
    check_gain(g, "thesis 3.19")
    window, alpha = np.array(windows, dtype=float), np.array(alphas, dtype=float)
    require(
        window.ndim == 1 and window.shape == alpha.shape,
        "alphas",
        f"shape {alpha.shape}",
        f"one for each window, shape {window.shape}",
        "thesis 3.18",
    )
    time = 0.0
    while True:
        yield Episode(time, window, alpha)
        cut = window * alpha / 2
        epoch = 1 + float(cut.mean())
        window = window - cut + (epoch - 1)
        alpha = np.exp(-g * epoch) * (math.expm1(g) + alpha)
        time += epoch


def steady_alpha(window: float, g: float) -> float:
    """alpha*, the fixed point of 3.21, for W* packets per flow.

    Raises UsageError below 2 packets (3.20: W_max >= 2 N) or for g outside (0, 1].
    """
    check_gain(g, "thesis 3.21")
    require(window >= 2, "window", f"{window:g} packets", "2 or more", "thesis 3.20: W_max >= 2N")

    def distance(alpha: float) -> float:
        return math.exp(-g * (1 + window * alpha / 2)) * (math.expm1(g) + alpha) - alpha

    return float(brentq(distance, 0.0, 1.0, xtol=1e-15))


def alpha_bounds(window: float, g: float) -> tuple[float, float]:
    """The bounds of alpha* in theorem C.1, for W* >= 2 packets."""
    check_gain(g, "thesis C.1")
    require(window >= 2, "window", f"{window:g} packets", "2 or more", "thesis 3.20: W_max >= 2N")
    center = math.sqrt(2 / window)
    return center / 2 - g, center + g


@dataclass(frozen=True)
class Convergence:
    """Theorem 3.2: W_i(T_n) is within 2 W_max (1 + g^6 n^2) exp(-beta (T_n - T_P2)) of W*."""

    max_window: float
    """W_max, packets."""
    g: float
    alpha: float
    """alpha* of 3.21."""
    gamma: float
    """Rate at which the windows converge once the alphas have, per round trip."""
    beta: float
    """min(g, gamma), per round trip (3.23)."""
    second_phase: float
    """T_P2, round trips (3.24)."""

    @property
    def is_proven(self) -> bool:
        """Whether 3.3.4 proves the factor 1 + g^6 n^2.

        Its last step needs (1 + g) / (1 - alpha*/2) times the sum of k below n, n (n - 1)/2, to be
        at most n^2 for every n: alpha* <= 1 - g. Printed is (1 - alpha*/2)(1 + g) instead.
        """
        return self.alpha <= 1 - self.g

    def bound(self, n: int, time: float) -> float:
        """Right side of 3.22 for the n-th event at T_n = `time`: packets."""
        growth = 1 + self.g**6 * n**2
        return 2 * self.max_window * growth * math.exp(-self.beta * (time - self.second_phase))


def convergence(flows: int, max_window: float, g: float) -> Convergence:
    """Theorem 3.2 for N flows. Raises UsageError where an assumption of 3.20 fails."""
    require(flows >= 2, "flows", flows, "2 or more", "thesis 3.20: N >= 2")
    check_positive("window", max_window, "thesis 3.20: W_max")
    require(
        max_window >= 2 * flows,
        "window",
        f"{max_window:g} packets for {flows} flows",
        f"{2 * flows} or more",
        "thesis 3.20: W_max >= 2N",
    )
    most = 1 / math.sqrt(max_window)
    require(0 < g <= most, "g", f"{g:g}", f"above 0 and at most {most:.4g}", "thesis 3.20")
    window = max_window / flows
    alpha = steady_alpha(window, g)
    gamma = window_rate(window, alpha)
    return Convergence(
        max_window=max_window,
        g=g,
        alpha=alpha,
        gamma=gamma,
        beta=min(g, gamma),
        second_phase=(math.log(2 * window) - 6 * math.log(g)) / g + 2 + window,
    )


def window_rate(window: float, alpha: float) -> float:
    """gamma = -ln(1 - alpha/2) / (1 + W* alpha/2), per round trip (3.23)."""
    check_positive("window", window, "thesis 3.23: W*")
    require(0 < alpha <= 1, "alpha", f"{alpha:g}", "above 0 and at most 1", "thesis 3.21")
    return -math.log1p(-alpha / 2) / (1 + window * alpha / 2)


def tcp_rate(window: float) -> float:
    """beta_TCP = ln 2 / (1 + W*/2), per round trip: `window_rate` for alpha = 1."""
    return window_rate(window, 1.0)


def convergence_time(
    windows: Sequence[float], alphas: Sequence[float], g: float, within: float = 0.1
) -> float:
    """Round trips until every window is within a fraction of the fair share (thesis 3.3.3).

    From the first congestion event with these `windows` (packets) and `alphas`. A window counts at
    the events, where it is largest.
    """
    fair = sum(windows) / len(windows)
    for episode in episodes(windows, alphas, g):
        if np.all(np.abs(episode.windows - fair) <= within * fair):
            return episode.time
    raise AssertionError("episodes have no end")

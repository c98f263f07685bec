"""The Sawtooth model of DCTCP: synchronized flows, alpha constant (thesis 2.2.3, 2.3 to 2.13).

Units: packets; periods in round trips. W* is the window of one flow at which marking begins.
"""

import math
from dataclasses import dataclass

from scipy.optimize import brentq

from hull.theory.assumptions import check_positive, require
from hull.theory.bottleneck import Bottleneck


def packets_sent(low: float, high: float) -> float:
    """S(W1, W2): packets sent while a window grows from `low` to `high` packets (2.4)."""
    return (high**2 - low**2) / 2


def alpha(window: float) -> float:
    """Marked fraction for W* packets per flow: the solution of 2.6 as it stands.

    Raises UsageError below one packet, where no fraction up to 1 solves it.
    """
    require(window >= 1, "window", f"{window:g} packets", "1 or more", "thesis 2.6: alpha <= 1")
    right = (2 * window + 1) / (window + 1) ** 2
    return float(brentq(lambda a: a * a * (1 - a / 4) - right, 0.0, 2.0, xtol=1e-15))


def alpha_for_large_windows(window: float) -> float:
    """sqrt(2 / W*), what 2.6 becomes for W* much above 1 and small alpha."""
    check_positive("window", window, "thesis 2.6: W*")
    return math.sqrt(2 / window)


@dataclass(frozen=True)
class Sawtooth:
    """The sawtooth of window and queue, with the exact alpha of 2.6."""

    alpha: float
    """Marked fraction."""
    window_amplitude: float
    """D, packets (2.7)."""
    queue_amplitude: float
    """A = N D, packets (2.8)."""
    period_rtts: float
    """T_C = D, round trips (2.9)."""
    queue_max: float
    """Q_max = K + N, packets (2.10)."""
    queue_min: float
    """Q_min = Q_max - A, packets (2.11); below zero where the link would run empty."""


def sawtooth(link: Bottleneck) -> Sawtooth:
    """The sawtooth of a bottleneck by 2.6, 2.7 and 2.10, without their approximations."""
    marked = alpha(link.window)
    amplitude = (link.window + 1) * marked / 2
    queue_max = link.threshold_packets + link.flows
    return Sawtooth(
        alpha=marked,
        window_amplitude=amplitude,
        queue_amplitude=link.flows * amplitude,
        period_rtts=amplitude,
        queue_max=queue_max,
        queue_min=queue_max - link.flows * amplitude,
    )


def sawtooth_for_large_windows(link: Bottleneck) -> Sawtooth:
    """The same by the approximations on the right of 2.8, 2.9 and 2.11."""
    amplitude = math.sqrt(2 * link.max_window / link.flows) / 2
    queue_max = link.threshold_packets + link.flows
    return Sawtooth(
        alpha=alpha_for_large_windows(link.window),
        window_amplitude=amplitude,
        queue_amplitude=link.flows * amplitude,
        period_rtts=amplitude,
        queue_max=queue_max,
        queue_min=queue_max - link.flows * amplitude,
    )


def lowest_queue(bdp_packets: float, threshold_packets: float) -> float:
    """Q*_min = (7 K - C RTT)/8: Q_min of 2.11 at its worst N = (C RTT + K)/8."""
    return (7 * threshold_packets - bdp_packets) / 8


def least_threshold(bdp_packets: float) -> float:
    """C RTT/7: K above which the queue never runs empty (2.12)."""
    return bdp_packets / 7


def largest_gain(max_window: float) -> float:
    """2 ln 2 / sqrt(2 (C RTT + K)): g below which alpha spans a congestion event (2.13)."""
    return 2 * math.log(2) / math.sqrt(2 * max_window)


def largest_gain_exact(max_window: float) -> float:
    """The same from (1 - g)^T_C > 1/2 itself; 2.13 is an upper bound of it."""
    period = math.sqrt(2 * max_window) / 2
    return -math.expm1(-math.log(2) / period)

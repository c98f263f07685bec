"""Rate variance of N flows and the buffer that falls with the root of N (thesis 5.6).

Units: packets; deviations relative to the mean. A flow whose window is cut by a fraction of itself
has a relative deviation that does not depend on the window: it follows from when cuts happen. The
sum of N independent flows has 1/sqrt(N) of it, and so does the buffer that absorbs the sum's dips
(Appenzeller, Keslassy and McKeown 2004, which the thesis cites). Flows that cut together do not
have this benefit.
"""

import math

from hull.theory.assumptions import check_positive, require

_FACTORS = 200
"""Factors of an infinite product; the k-th differs from 1 by the (1 + 2 k)-th power of what a cut
leaves."""
_LEAST_CUT = 0.01
"""Smallest cut for which that many factors are exact to 1e-3."""


def _check_cut(cut: float) -> None:
    expected = f"{_LEAST_CUT:g} to below 1"
    require(_LEAST_CUT <= cut < 1, "cut", f"{cut:g}", expected, "thesis 5.6")


def periodic_deviation(cut: float = 0.5) -> float:
    """Relative deviation of a window that is cut by this fraction whenever it reaches a maximum.

    Such a sawtooth is uniform between (1 - cut) and 1 of the maximum: a lone flow with a buffer
    that drops packets when it is full. 0.192 for TCP.
    """
    _check_cut(cut)
    return cut / (math.sqrt(3) * (2 - cut))


def random_deviation(cut: float = 0.5) -> float:
    """Relative deviation of a window that independent losses of single packets cut.

    For dW = 1 per round trip and cuts at the rate p W per round trip, the moments obey
    k E W^(k-1) = p (1 - c^k) E W^(k+1) with c = 1 - cut (Ott, Kemperman and Mathis 1996). Their
    solution has E W = `random_mean` / sqrt(p) and E W^2 = 1 / (p cut). 0.407 for TCP.
    """
    mean = random_mean(cut)
    return math.sqrt(1 / (cut * mean * mean) - 1)


def random_mean(cut: float = 0.5) -> float:
    """Mean window times the root of the loss probability; 1.310 for TCP."""
    _check_cut(cut)
    left = 1 - cut
    product = 1.0
    for k in range(_FACTORS):
        product *= (1 - left ** (2 + 2 * k)) / (1 - left ** (1 + 2 * k))
    return math.sqrt(2 / math.pi) * product


def aggregate_deviation(single: float, flows: int) -> float:
    """Relative deviation of the sum of N independent flows, over one flow's (thesis 5.6).

    With means of C/N instead of C each flow's deviation is an N-th, and variances add.
    """
    check_positive("single", single, "thesis 5.6: stdev(R)")
    require(flows >= 1, "flows", flows, "1 or more", "thesis 5.6: N")
    return single / math.sqrt(flows)


def buffer_packets(bdp_packets: float, flows: int) -> float:
    """C RTT/sqrt(N), the buffer for N independent TCP flows; the rule of thumb for one (5.6)."""
    check_positive("bdp", bdp_packets, "thesis 5.6: C RTT")
    require(flows >= 1, "flows", flows, "1 or more", "thesis 5.6: N")
    return bdp_packets / math.sqrt(flows)

"""Queueing by constant-rate senders that do not exceed the link: N D/D/1, in which each of N
senders sends one packet per period, with independent phases. Equation 5 of the paper (6.1) is about
the queue in excess of it. Times and queues are in packets on the link.

The workload of n such senders is a known sum (Roberts, Mocci, Virtamo, "Broadband Network
Teletraffic", 1996) over the packets that arrived within as many transmission times.
"""

import math

from hull.theory.assumptions import require

_STEPS = 100
"""Steps of the integral for each packet of workload."""


def workload_tail(senders: int, load: float, x: float) -> float:
    """Probability of a workload above `x` packets, for senders with a total `load`."""
    period = senders / load
    return math.fsum(
        math.comb(senders, k)
        * ((k - x) / period) ** k
        * (1 - (k - x) / period) ** (senders - k)
        * (period - senders + x)
        / (period - k + x)
        for k in range(math.floor(x) + 1, senders + 1)
    )


def waiting(senders: int, load: float) -> float:
    """Mean number of waiting packets, without the one in transmission.

    A packet waits for the other senders' workload. Raises UsageError for a load that is not above 0
    and below 1.
    """
    require(senders >= 1, "senders", senders, "1 or more", "N D/D/1: N")
    require(0 < load < 1, "load", f"{load:g}", "above 0 and below 1", "N D/D/1: stable below 1")
    others = senders - 1
    if others == 0:
        return 0.0
    of_others = load * others / senders
    places = ((step + 0.5) / _STEPS for step in range(others * _STEPS))
    wait = math.fsum(workload_tail(others, of_others, x) for x in places) / _STEPS
    return load * wait

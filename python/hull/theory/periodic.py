"""Queueing that senders of constant rate cause without exceeding the link: N D/D/1, the N senders
that each send a packet once a period, at times that know nothing of each other. Equation 5 of the
paper (6.1) is about the queue beyond it. Times and queues in packets on the link.

The workload that n such senders leave is a known sum (Roberts, Mocci, Virtamo, "Broadband Network
Teletraffic", 1996): over how many packets came within just so many transmission times.
"""

import math

from hull.theory.assumptions import require

_STEPS = 100
"""Steps of the integral for each packet of workload."""


def workload_tail(senders: int, load: float, x: float) -> float:
    """Probability that more than `x` packets of work wait, of senders with `load` together."""
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
    """Mean number of packets that wait, the one in transmission not counted.

    A packet waits for the work that the other senders have left. Raises UsageError for a load
    that is not above 0 and below 1.
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

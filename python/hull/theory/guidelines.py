"""Guidelines for DCTCP's two parameters (thesis chapter 3, 3.1 and 3.2; 3.15, 3.16 and 3.26), and
for the phantom queue's threshold (paper table 3, and hull's own experiments).

Units: packets.
"""

import math

from hull.theory.assumptions import check_positive, require

PART_OF_BDP = 0.17
"""K / (C d) of 3.1 and 3.15, as printed."""
WORST_UNDERSHOOT = 0.15
"""abs(Q_min) of figure 3.6 from which 3.15 follows, as printed."""


def threshold(bdp_packets: float) -> float:
    """K, about 0.17 C d, above which DCTCP loses no throughput (3.1)."""
    check_positive("bdp", bdp_packets, "thesis 3.1: C d")
    return PART_OF_BDP * bdp_packets


PHANTOM_LEAST, PHANTOM_MOST = 2 / 3, 8.0
"""Packets. The least is table 3's 1 KB for packets of 1500 bytes."""
PHANTOM_PART = 1 / 40
"""Of C d. Found by experiment (docs/theory/design.md)."""


def phantom_threshold(bdp_packets: float) -> float:
    """The phantom queue's threshold: C d / 40, from 2/3 of a packet to 8 packets.

    At 1 Gbps and 300 us, 25 packets, it is the paper's 1 KB (table 3). With more packets in flight
    the bursts of small flows pass 1 KB, and large flows lose up to a third of the rate to marks.
    """
    check_positive("bdp", bdp_packets, "thesis 3.1: C d")
    return min(max(PHANTOM_PART * bdp_packets, PHANTOM_LEAST), PHANTOM_MOST)


def threshold_for_undershoot(bdp_packets: float, undershoot: float = WORST_UNDERSHOOT) -> float:
    """K from K > abs(Q_min) C R* with R* = d + K/C solved for K, from which 3.15 is rounded.

    With the printed 0.15 it is 0.15/0.85 = 0.176 of C d, not 0.17.
    """
    check_positive("bdp", bdp_packets, "thesis 3.15: C d")
    require(0 <= undershoot < 1, "undershoot", undershoot, "0 to 1", "thesis 3.2.3: abs(Q_min)")
    return undershoot / (1 - undershoot) * bdp_packets


def gain_range(max_window: float) -> tuple[float, float]:
    """5/(C d + K) and 1/sqrt(C d + K), between which g should be (3.2).

    Above the upper bound queues oscillate more, below the lower one convergence takes longer. The
    range is empty below 25 packets.
    """
    check_positive("window", max_window, "thesis 3.2: C d + K")
    return 5 / max_window, 1 / math.sqrt(max_window)

"""Guidelines for DCTCP's two parameters (thesis chapter 3, 3.1 and 3.2; 3.15, 3.16 and 3.26).

Units: packets.
"""

import math

from hull.theory.assumptions import check_positive, require

PART_OF_BDP = 0.17
"""K / (C d) of 3.1 and 3.15, as printed."""
WORST_UNDERSHOOT = 0.15
"""abs(Q_min) of figure 3.6 from which 3.15 follows, as printed."""


def threshold(bdp_packets: float) -> float:
    """K, about 0.17 C d, above which throughput is whole (3.1)."""
    check_positive("bdp", bdp_packets, "thesis 3.1: C d")
    return PART_OF_BDP * bdp_packets


def threshold_for_undershoot(bdp_packets: float, undershoot: float = WORST_UNDERSHOOT) -> float:
    """K from K > abs(Q_min) C R* with R* = d + K/C solved for K, from which 3.15 is rounded.

    With the printed 0.15 it is 0.15/0.85 = 0.176 of C d, not 0.17.
    """
    check_positive("bdp", bdp_packets, "thesis 3.15: C d")
    require(0 <= undershoot < 1, "undershoot", undershoot, "0 to 1", "thesis 3.2.3: abs(Q_min)")
    return undershoot / (1 - undershoot) * bdp_packets


def gain_range(max_window: float) -> tuple[float, float]:
    """5/(C d + K) and 1/sqrt(C d + K), between which g should be (3.2).

    Above the upper one queues oscillate more, below the lower one convergence takes longer. The
    range is empty below 25 packets.
    """
    check_positive("window", max_window, "thesis 3.2: C d + K")
    return 5 / max_window, 1 / math.sqrt(max_window)

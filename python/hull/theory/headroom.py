"""The headroom that N flows need for an empty queue (paper 6.1, equation 5).

Each flow's rate grows by one packet per round trip, for the one round trip until a mark takes
effect. Headroom is 1 - gamma, a fraction of the line rate; C RTT is in packets.
"""

from hull.theory.assumptions import check_positive, require


def least_headroom(flows: int, bdp_packets: float) -> float:
    """N/(C RTT), which 1 - gamma must exceed (equation 5).

    Raises UsageError if that is the whole link.
    """
    check_positive("bdp", bdp_packets, "paper equation 5: C RTT")
    require(flows >= 1, "flows", flows, "1 or more", "paper equation 5: N")
    require(
        flows < bdp_packets,
        "flows",
        flows,
        f"fewer than C RTT, {bdp_packets:.4g} packets, beyond which no headroom is enough",
        "paper equation 5: 1 - gamma > N/(C RTT)",
    )
    return flows / bdp_packets


def most_flows(headroom: float, bdp_packets: float) -> float:
    """(1 - gamma) C RTT: the number of flows for which a headroom suffices (equation 5)."""
    check_positive("bdp", bdp_packets, "paper equation 5: C RTT")
    require(0 <= headroom < 1, "headroom", headroom, "0 to 1", "paper equation 5: 1 - gamma")
    return headroom * bdp_packets

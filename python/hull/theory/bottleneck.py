"""The bottleneck common to all models of the thesis: N equal flows over one link.

Thesis 2.2.3 and 3.1. Units: packets, seconds, packets per second. Where the thesis writes RTT in
chapter 2 and d in chapter 3, both are the round trip without queueing.
"""

from dataclasses import dataclass

from hull.theory.assumptions import check_positive, require


@dataclass(frozen=True)
class Bottleneck:
    """N flows with the same round trip through one queue that marks above K packets."""

    capacity_pps: float
    """C, packets per second."""
    delay_s: float
    """d, the round trip without queueing, in seconds."""
    threshold_packets: float
    """K."""
    flows: int
    """N."""

    def __post_init__(self) -> None:
        check_positive("capacity", self.capacity_pps, "thesis 3.5: C")
        check_positive("rtt", self.delay_s, "thesis 3.3: windows change once per R = d + q/C")
        k = self.threshold_packets
        require(k >= 0, "threshold", f"{k:g} packets", "0 or more", "thesis 3.6: K")
        require(self.flows >= 1, "flows", self.flows, "1 or more", "thesis 3.5: N")

    @property
    def bdp_packets(self) -> float:
        """C d, the packets that fill the link without a queue."""
        return self.capacity_pps * self.delay_s

    @property
    def max_window(self) -> float:
        """W_max = C d + K, the sum of all windows at which marking begins (thesis 3.3.1)."""
        return self.bdp_packets + self.threshold_packets

    @property
    def window(self) -> float:
        """W* = (C d + K)/N, packets per flow: the average window (w-bar of thesis 3.2.1)."""
        return self.max_window / self.flows

    @property
    def round_trip_s(self) -> float:
        """R* = d + K/C, the round trip with the queue at K (thesis 3.1)."""
        return self.delay_s + self.threshold_packets / self.capacity_pps

    @property
    def psi(self) -> float:
        """K / (C d), the threshold as a fraction of the bandwidth-delay product (thesis 3.2.3)."""
        return self.threshold_packets / self.bdp_packets

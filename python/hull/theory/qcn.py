"""QCN's parameters, the fixed points of its fluid models and their linearisations.

Thesis 5.3, 5.4 and appendices D and E. Units: packets, seconds, packets per second; F_b in packets.
"""

from dataclasses import dataclass
from typing import NamedTuple

from hull.theory.assumptions import check_positive, require

PACKET_BITS = 12_000
"""A packet of 1500 bytes."""
CYCLE_PACKETS = 100
"""Packets per cycle of the byte counter: 150 KB."""
RECOVERY_CYCLES = 5
"""Cycles of Fast Recovery."""


class FixedPoint(NamedTuple):
    """The fixed point of a fluid model."""

    current: float
    """R_C*, packets per second."""
    target: float
    """R_T*, packets per second; for QCN-AIMD equal to R_C*."""
    queue: float
    """Q*, packets."""


@dataclass(frozen=True)
class Qcn:
    """N sources of QCN or QCN-AIMD with one feedback delay over one link (thesis 5.3)."""

    capacity_pps: float = 10e9 / PACKET_BITS
    """C."""
    flows: int = 10
    """N."""
    sampling: float = 0.01
    """p_s, the probability with which a packet is sampled."""
    weight: float = 2.0
    """w, the weight of the queue's change."""
    decrease: float = 1 / 128
    """G_d, for F_b in packets."""
    increase_pps: float = 5e6 / PACKET_BITS
    """R_AI."""
    equilibrium: float = 22.0
    """Q_eq, packets."""

    def __post_init__(self) -> None:
        check_positive("capacity", self.capacity_pps, "thesis 5.5: C")
        check_positive("weight", self.weight, "thesis 5.6: w")
        check_positive("decrease", self.decrease, "thesis 5.2: G_d")
        check_positive("increase", self.increase_pps, "thesis 5.4: R_AI")
        require(self.flows >= 1, "flows", self.flows, "1 or more", "thesis 5.5: N")
        require(
            0 < self.sampling < 1,
            "sampling",
            f"{self.sampling:g}",
            "above 0 and below 1",
            "thesis 5.7: p_s",
        )
        require(
            self.equilibrium >= 0,
            "equilibrium",
            f"{self.equilibrium:g} packets",
            "0 or more",
            "thesis 5.6: Q_eq",
        )

    @property
    def eta(self) -> float:
        """p_s over the expected number of samples in a rate increase's wait (thesis 5.4)."""
        return self.sampling / ((1 - self.sampling) ** -CYCLE_PACKETS - 1)

    @property
    def zeta(self) -> float:
        """The same for increases after Fast Recovery (thesis 5.4)."""
        recovery = CYCLE_PACKETS * RECOVERY_CYCLES
        return float((1 - self.sampling) ** recovery * self.eta)

    @property
    def rate(self) -> float:
        """C/N, the rate of each source at the fixed points."""
        return self.capacity_pps / self.flows

    def fixed_point(self) -> FixedPoint:
        """QCN's (thesis 5.4)."""
        above = self.zeta * self.increase_pps / self.sampling
        cut = 2 * self.sampling**2 * self.decrease * self.capacity_pps
        queue = self.eta * self.zeta * self.flows * self.increase_pps / cut
        return FixedPoint(self.rate, self.rate + above, self.equilibrium + queue)

    def fixed_point_aimd(self) -> FixedPoint:
        """QCN-AIMD's (appendix E)."""
        cut = self.sampling * self.decrease * self.capacity_pps
        queue = self.eta * self.flows * self.increase_pps / cut
        return FixedPoint(self.rate, self.rate, self.equilibrium + queue)

    @property
    def a1(self) -> float:
        """Decrease of R_C with R_C (thesis 5.10), per second."""
        probing = self.eta * self.zeta * self.increase_pps / (2 * self.sampling)
        return self.a2 + probing

    @property
    def a2(self) -> float:
        """Increase of R_C with R_T (thesis 5.10), per second."""
        return self.eta * self.rate / 2

    @property
    def a3(self) -> float:
        """Decrease of R_C with the delayed rate (thesis 5.10), per second."""
        return self.decrease * self.weight * self.rate

    @property
    def a4(self) -> float:
        """Decrease of R_C with the delayed queue (thesis 5.10), per square second."""
        return self.sampling * self.decrease * self.rate**2

    @property
    def b(self) -> float:
        """Rate at which R_T follows R_C (thesis 5.11), per second."""
        return self.sampling * self.rate

    @property
    def gamma(self) -> float:
        """The zero of the feedback, N a_4 / a_3 = C p_s / w (thesis 5.14), per second."""
        return self.capacity_pps * self.sampling / self.weight

    @property
    def a_hat(self) -> float:
        """Decrease of QCN-AIMD's rate with itself (thesis E.1), per second."""
        return self.eta * self.increase_pps

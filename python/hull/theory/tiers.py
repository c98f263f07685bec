"""Thresholds by class of port: all ports of one rate, from hosts' links to uplinks.

K is thesis 3.1, 0.17 C d, with the rate C of the port and the round trip d of the network, so ports
of 100 Gbps need four times the bytes of ports of 25 Gbps. A phantom queue drains at the same share
of each rate. Rates in bit/s, sizes in bytes.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hull.theory import guidelines


@dataclass(frozen=True)
class PortClass:
    """The ports of a rate."""

    rate_bps: float
    ports: str
    """Where they are, such as "to hosts"."""
    k_bytes: int
    """DCTCP's threshold on the queue."""
    drain_bps: float
    """Of HULL's phantom queue."""
    phantom_bytes: int
    """Threshold of the phantom queue."""
    mtu_bytes: int

    @property
    def k_packets(self) -> float:
        """K in full packets."""
        return self.k_bytes / self.mtu_bytes

    @property
    def phantom_packets(self) -> float:
        """Threshold of the phantom queue, in full packets."""
        return self.phantom_bytes / self.mtu_bytes

    @property
    def name(self) -> str:
        """Such as "25 Gbps"."""
        return f"{self.rate_bps / 1e9:g} Gbps"

    def as_json(self) -> dict[str, Any]:
        """With the thresholds in packets."""
        packets = {"k_packets": self.k_packets, "phantom_packets": self.phantom_packets}
        return {**asdict(self), **packets}


def port_classes(
    rates_bps: Sequence[float],
    host_rates_bps: Sequence[float],
    *,
    rtt_s: float,
    mtu_bytes: int,
    gamma: float,
    most_packets: float | None = None,
) -> tuple[PortClass, ...]:
    """The classes of a network whose switches have ports of these rates, slowest first.

    `host_rates_bps`: rates of the links into hosts; `gamma`: drain rate as a share of the rate;
    `most_packets`: the largest K for which marks take effect before the buffer is full (thesis
    2.10).
    """
    found = []
    for rate_bps in sorted(set(rates_bps)):
        bdp_packets = rate_bps * rtt_s / (8 * mtu_bytes)
        phantom = guidelines.phantom_threshold(bdp_packets)
        k_bytes = port_threshold(rate_bps, rtt_s, mtu_bytes)
        if most_packets is not None:
            k_bytes = min(k_bytes, int(most_packets * mtu_bytes))
        found.append(
            PortClass(
                rate_bps,
                _ports(rate_bps, rates_bps, host_rates_bps),
                k_bytes=k_bytes,
                drain_bps=gamma * rate_bps,
                phantom_bytes=round(phantom * mtu_bytes),
                mtu_bytes=mtu_bytes,
            )
        )
    return tuple(found)


def port_threshold(rate_bps: float, rtt_s: float, mtu_bytes: int) -> int:
    """K of ports of a rate: a packet at least, as a lower threshold marks each packet."""
    bdp_packets = rate_bps * rtt_s / (8 * mtu_bytes)
    return max(mtu_bytes, round(guidelines.threshold(bdp_packets) * mtu_bytes))


def _ports(rate_bps: float, rates_bps: Sequence[float], host_rates_bps: Sequence[float]) -> str:
    if set(rates_bps) <= set(host_rates_bps):
        return "all ports" if len(set(rates_bps)) == 1 else "all ports of this rate"
    return "to hosts" if rate_bps in host_rates_bps else "between switches"

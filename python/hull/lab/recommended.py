"""The settings that go with a link speed, a round trip, a packet size and a number of flows.

K, drain and threshold are as in `hull design` (thesis 3.15, paper equation 5 and table 3); buffer,
pause threshold and slow motion are the lab's own. Numbers in SI base units; shares as parts of 1.
"""

import math
from typing import Any

from hull.lab.model import PARAMETERS
from hull.theory.design import LEAST_HEADROOM
from hull.theory.guidelines import phantom_threshold, threshold

_LEAST_K = 2
"""Packets; below it every packet that finds another one is marked."""
_BUFFER_PER_GBPS, _LEAST_BUFFER = 20e3, 300e3
"""Bytes: a port's share of a shared-memory switch."""
_PAUSE_PER_GBPS = 2e3
"""Bytes: what a link may hold of a switch's memory before it pauses."""
_ROUND_TRIPS_PER_SECOND = 50
"""On the clock: 200 in the four seconds that the charts show."""
_HOPS_PER_SECOND = 1e6
"""Packet-hops of a scheme, on the clock: several schemes share half of the processors."""
_HOPS = 4
"""Of a packet and its acknowledgment over two links."""


_NETWORKS = ((10e9, 100e-6), (25e9, 40e-6), (100e9, 20e-6), (400e9, 12e-6))
"""Link speeds (bit/s) and round trips (s) of the examples."""


def networks() -> list[dict[str, Any]]:
    """Each with its values for packets of 1500 bytes and two long flows."""
    return [
        {"rate": rate, "rtt": rtt, "values": recommended(rate, rtt, 1500, 2)}
        for rate, rtt in _NETWORKS
    ]


def recommended(rate: float, rtt: float, mtu: float, flows: float) -> dict[str, float]:
    """Values by parameter, each inside its range."""
    bdp_packets = max(rate * rtt / (8 * mtu), 1.0)
    k = max(threshold(bdp_packets), _LEAST_K) * mtu
    headroom = max(LEAST_HEADROOM, flows / bdp_packets)
    buffer = max(_LEAST_BUFFER, _BUFFER_PER_GBPS * rate / 1e9, 2 * k)
    hops_per_second = _HOPS * rate / (8 * mtu)
    speed = min(_ROUND_TRIPS_PER_SECOND * rtt, _HOPS_PER_SECOND / hops_per_second)
    found = {
        "drain": math.floor(200 * (1 - headroom) + 1e-9) / 200,
        "threshold": _digits(phantom_threshold(bdp_packets) * mtu),
        "k": _digits(k),
        "buffer": _digits(buffer),
        "xoff": _digits(max(_PAUSE_PER_GBPS * rate / 1e9, 2 * mtu)),
        "speed": _digits(speed),
    }
    return {id_: within(id_, value) for id_, value in found.items()}


def within(id_: str, value: float) -> float:
    """The nearest value in a parameter's range."""
    return min(max(value, PARAMETERS[id_].min), PARAMETERS[id_].max)


def _digits(value: float) -> float:
    """Two digits, as sliders have them."""
    return float(f"{value:.1e}")

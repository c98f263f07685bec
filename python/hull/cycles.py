"""DCTCP's limit cycle in simulations: settings by window and threshold, and what is measured of it.

The shipped scenario thesis-cycle has eight flows at 1 Gbps with packets of 1500 bytes. As in the
thesis the queue is in units of C R* above K, time in R* = d + K/C, windows in packets.
"""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hull.experiment import Variant
from hull.measured import Results

if TYPE_CHECKING:
    from hull.theory.limit_cycle import LimitCycle

SCHEME = "dctcp"
PER_ACK = "dctcp_rtt_fair"
"""DCTCP with thesis 3.35, which cuts by each marked ACK."""
SCHEMES = (SCHEME, PER_ACK)
FLOWS = 8
_PACKET_S = 12e-6
_ON_WIRE_S = 2 * 1540 * 8e-9
"""A packet and its ACK, each over two links."""
_JITTER = 0.002
"""Mean of what a stack adds, over the round trip, which has four of it."""


@dataclass(frozen=True)
class Cycle:
    """The two numbers of the normalised model, and K/(C d)."""

    window: float
    """Average window of a flow, packets."""
    g: float
    psi: float

    @property
    def name(self) -> str:
        """Of the condition in the results."""
        return f"g={self.g:g}/window={self.window:g}/psi={self.psi:g}"

    @property
    def packets(self) -> float:
        """C R* = C d + K."""
        return self.window * FLOWS

    @property
    def threshold(self) -> float:
        """K, packets."""
        return self.packets * self.psi / (1 + self.psi)

    @property
    def round_trip_s(self) -> float:
        """R*."""
        return self.packets * _PACKET_S

    def variant(self) -> Variant:
        """The scenario with this round trip, threshold and gain."""
        rtt = (self.packets - self.threshold) * _PACKET_S
        jitter = _JITTER * rtt
        delay = f"{(rtt - _ON_WIRE_S) / 4 - jitter:.9f}s"
        return Variant(
            {"": self.name},
            overrides=(
                f"host.delay={delay}",
                f"switch.delay={delay}",
                f"host.stack_jitter.exponential={jitter:.9f}s",
                f"switch.marking.threshold={round(self.threshold * 1500)}B",
                f"transport.dctcp.g={self.g:g}",
                f"measure.sample_interval={self.round_trip_s / 25:.9f}s",
            ),
        )

    def model(self) -> "LimitCycle":
        """The cycle of the fluid model with a floor."""
        from hull.theory.fluid import Fluid
        from hull.theory.limit_cycle import limit_cycle

        return limit_cycle(Fluid(self.window, self.g, self.psi))


@dataclass(frozen=True)
class Measured:
    """Means over the periods and seeds of a simulation."""

    period: float
    """In R*."""
    undershoot: float
    overshoot: float


@cache
def measured(results: Results, cycle: Cycle, scheme: str = SCHEME) -> Measured:
    """Period and extremes of the queue, each averaged over the periods."""
    found = []
    for part in results.parts(cycle.name, scheme):
        samples = results.table("latency", cycle.name, scheme, part["seed"]).drop_nulls(
            "queue_bytes"
        )
        times = samples["time_ps"].to_numpy() * 1e-12
        queue = (samples["queue_bytes"].to_numpy() / 1500 - cycle.threshold) / cycle.packets
        falls = _falls(queue)
        periods = [queue[a:b] for a, b in pairwise(falls)]
        length = float(np.mean(np.diff(times[falls]))) / cycle.round_trip_s
        found.append(
            (length, np.mean([p.min() for p in periods]), np.mean([p.max() for p in periods]))
        )
    return Measured(*(float(value) for value in np.mean(found, axis=0)))


def _falls(queue: NDArray[np.float64]) -> list[int]:
    """Where the queue comes from the upper third of its range into the lower third."""
    low, high = np.percentile(queue, [2, 98])
    found, above = [], False
    for i, value in enumerate(queue):
        if value > high - (high - low) / 3:
            above = True
        elif above and value < low + (high - low) / 3:
            found.append(i)
            above = False
    return found

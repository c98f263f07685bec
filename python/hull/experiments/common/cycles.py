"""DCTCP's limit cycle in simulations: settings by window and threshold, and its measurements.

The shipped scenario thesis-cycle has eight flows at 1 Gbps with packets of 1500 bytes. As in the
thesis the queue is in units of C R* above K, time in R* = d + K/C, windows in packets.
"""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from hull.experiments.common.experiment import Variant
from hull.experiments.common.measured import Results
from hull.experiments.common.swings import swing
from hull.report.schemes import ORANGE, Scheme

if TYPE_CHECKING:
    from hull.theory.limit_cycle import LimitCycle

LOOKS = (Scheme("dctcp_rtt_fair", "DCTCP, cut per marked ACK", ORANGE, (6, 2, 1, 2), "v"),)

SCHEME = "dctcp"
PER_ACK = "dctcp_rtt_fair"
"""DCTCP with thesis 3.35, which cuts on each marked ACK."""
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
        """The name of the condition in the results."""
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

    def model(self, *, clocked: bool = False) -> "LimitCycle":
        """The cycle of the fluid model with a floor; `clocked`: with 2.3 in place of 3.5."""
        from hull.theory.fluid import Fluid
        from hull.theory.limit_cycle import limit_cycle

        return limit_cycle(Fluid(self.window, self.g, self.psi, clocked=clocked))


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
    found = swing(results, cycle.name, scheme)
    return Measured(
        found.period_s / cycle.round_trip_s,
        (found.low - cycle.threshold) / cycle.packets,
        (found.high - cycle.threshold) / cycle.packets,
    )


GAINS = (0.0625, 0.4)
WINDOWS = (6, 8, 11, 14, 20, 40, 100)
CYCLES = {g: tuple(Cycle(w, g, 0.6) for w in WINDOWS) for g in GAINS}
ALL = tuple(cycle for cycles in CYCLES.values() for cycle in cycles)
SMALL, LARGE = GAINS

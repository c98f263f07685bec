"""What is to be deployed: the recommended scheme with its numbers, as hosts and switches need them.

Rates in bit/s, sizes in bytes, times in s.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hull.ask.question import Question, hull_name, percent
from hull.ask.verdict import Advice
from hull.theory.tiers import PortClass, port_classes

EXAMPLE_PREFIX = "10.0.0.0/8"
"""Stands for the data centre where its prefixes are not known."""


@dataclass(frozen=True)
class Rollout:
    """A scheme for hosts and switches."""

    scheme: str
    """cubic, bbr, dctcp or hull."""
    label: str
    today: str
    expected: str
    """The recommendation, a sentence."""
    ports: tuple[PortClass, ...]
    """With the thresholds that were simulated."""
    host_rate_bps: float
    racks: int
    """Switches with hosts."""
    prefixes: tuple[str, ...]
    g: float
    part: float
    """The share of the rate that HULL gives up."""
    phantom_bytes: int
    pacer: Mapping[str, float]
    host_queue: str
    """The queue of the simulated hosts, such as fair."""

    @property
    def control(self) -> str:
        """Linux's name of the congestion control."""
        return "dctcp" if self.marks else self.scheme

    @property
    def marks(self) -> bool:
        """Whether hosts need ECN."""
        return self.scheme in ("dctcp", "hull")

    @property
    def marked_ports(self) -> tuple[PortClass, ...]:
        """The ports that a switch has to mark at: with HULL, those that no host is behind."""
        if not self.marks:
            return ()
        if self.scheme == "dctcp":
            return self.ports
        return tuple(one for one in self.ports if self.racks > 1 and one.ports != "to hosts")


def rollout_of(question: Question, advice: Advice, prefixes: Sequence[str]) -> Rollout | None:
    """The rollout of a recommendation; None if nothing is to be changed."""
    if advice.scheme is None or advice.scheme == question.today[0]:
        return None
    network, settings = question.network, question.settings
    labels = {scheme.name: scheme.label for scheme in question.looks}
    part = next((p for p in question.give_up if hull_name(p) == advice.scheme), 0.0)
    ports = port_classes(
        network.rates_bps,
        [host.in_bps for host in network.hosts],
        rtt_s=network.round_trip_s,
        mtu_bytes=network.mtu_bytes,
        gamma=1 - part,
    )
    return Rollout(
        scheme="hull" if part else advice.scheme,
        label=f"HULL with {percent(part)} of the rate given up" if part else labels[advice.scheme],
        today=labels[question.today[0]],
        expected=advice.sentence,
        ports=tuple(replace(one, k_bytes=settings.thresholds[one.rate_bps]) for one in ports),
        host_rate_bps=network.rate_bps,
        racks=len(network.racks),
        prefixes=tuple(prefixes) or (EXAMPLE_PREFIX,),
        g=settings.g,
        part=part,
        phantom_bytes=settings.phantom_threshold_bytes,
        pacer=settings.pacer,
        host_queue=str(network.resolved["host"]["queue"]),
    )

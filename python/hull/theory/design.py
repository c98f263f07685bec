"""Settings for a network: what the guidelines recommend and the models predict, for N flows.

The settings are for DCTCP alone (a threshold K on the queue) and for HULL (phantom queue, pacer).
`SOURCES` has the equation behind each value and how far it can be trusted. Rates count bits on the
wire.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from hull import _core
from hull.theory import guidelines, hybrid
from hull.theory.assumptions import check_positive, check_window, require
from hull.theory.bottleneck import Bottleneck
from hull.theory.fluid import Fluid
from hull.theory.headroom import least_headroom
from hull.theory.limit_cycle import limit_cycle
from hull.theory.pacer import RateFilter
from hull.theory.slowdown import check_load, slowdown
from hull.theory.sources import SOURCES
from hull.theory.stability import spectral_radius
from hull.theory.tiers import PortClass, port_classes

LEAST_HEADROOM = 0.05
"""1 - gamma of the paper's table 3 and of its 10 Gbps simulations (paper 6.3)."""


@dataclass(frozen=True)
class Setting:
    """The network for which settings are recommended."""

    rate_bps: float
    """C."""
    rtt_s: float
    """Round trip without queueing."""
    flows: int
    """N, the large flows that share a port."""
    load: float
    """Long-term offered load, as a fraction of the rate."""
    mtu_bytes: float = 1500
    buffer_bytes: float | None = None
    """Buffer of a port; None: more than needed."""

    def __post_init__(self) -> None:
        check_positive("rate", self.rate_bps, "thesis 3.5: C")
        check_positive("rtt", self.rtt_s, "thesis 3.3: windows change once per R = d + q/C")
        check_positive("mtu", self.mtu_bytes, "thesis 3.1: C is in packets per second")
        require(self.flows >= 1, "flows", self.flows, "1 or more", "thesis 3.5: N")
        check_load(self.load, 1.0)

    @property
    def capacity_pps(self) -> float:
        """C, packets per second."""
        return self.rate_bps / (8 * self.mtu_bytes)

    @property
    def bdp_packets(self) -> float:
        """C d, packets."""
        return self.capacity_pps * self.rtt_s


@dataclass(frozen=True)
class Pacer:
    """The pacer's parameters (paper table 3)."""

    update_interval_s: float
    """T_r."""
    eta: float
    beta: float
    """Per second."""
    association_probability: float
    """p_a."""
    association_timeout_s: float
    """T_i."""
    bucket_bytes: float
    fifo_bytes: float


@dataclass(frozen=True)
class Design:
    """Recommendations for a setting, and the expected performance."""

    setting: Setting
    k_packets: float
    g_min: float
    g_max: float
    g: float
    """The value for which the predictions are made: the geometric mean of the two above."""
    drain_bps: float
    threshold_bytes: float
    pacer: Pacer
    predicted: dict[str, float | None]
    """By name as in `SOURCES`; None if there is nothing to predict."""
    notes: tuple[str, ...]
    ports: tuple[PortClass, ...] = ()
    """Thresholds by rate, of a network's ports."""

    @property
    def gamma(self) -> float:
        """The phantom queue's drain rate as a fraction of the line rate."""
        return self.drain_bps / self.setting.rate_bps

    @property
    def link(self) -> Bottleneck:
        """The bottleneck with DCTCP's threshold."""
        here = self.setting
        return Bottleneck(here.capacity_pps, here.rtt_s, self.k_packets, here.flows)

    def as_json(self) -> dict[str, Any]:
        """What `hull design --format json` writes."""
        content = asdict(self)
        return {
            "setting": content.pop("setting"),
            **content,
            "ports": [one.as_json() for one in self.ports],
            "sources": {name: asdict(source) for name, source in SOURCES.items()},
        }


def design(setting: Setting) -> Design:
    """Recommend settings and predict their performance.

    Raises UsageError where an assumption of the theory fails: windows of 2 packets or fewer, a
    buffer that N flows overflow, more flows than packets in flight, a load beyond the capacity that
    headroom and rate variations leave.
    """
    notes: list[str] = []
    k = _threshold(setting, notes)
    link = Bottleneck(setting.capacity_pps, setting.rtt_s, k, setting.flows)
    check_window(link.window)
    g_min, g_max = _gains(link.max_window, notes)
    g = math.sqrt(g_min * g_max)
    gamma = 1 - max(LEAST_HEADROOM, least_headroom(setting.flows, setting.bdp_packets))
    threshold_bytes = guidelines.phantom_threshold(setting.bdp_packets) * setting.mtu_bytes
    pacer = recommended_pacer(setting.rate_bps, setting.rtt_s, setting.mtu_bytes)
    predicted = {
        **_predict_dctcp(link, g),
        **_predict_hull(setting, gamma, threshold_bytes, g),
    }
    return Design(
        setting=setting,
        k_packets=k,
        g_min=g_min,
        g_max=g_max,
        g=g,
        drain_bps=gamma * setting.rate_bps,
        threshold_bytes=threshold_bytes,
        pacer=pacer,
        predicted=predicted,
        notes=tuple(notes),
    )


def with_ports(
    found: Design, rates_bps: Sequence[float], host_rates_bps: Sequence[float]
) -> Design:
    """The design with thresholds for each rate of a network's ports, as `port_classes` has them."""
    here = found.setting
    room = None if here.buffer_bytes is None else here.buffer_bytes / here.mtu_bytes - here.flows
    ports = port_classes(
        rates_bps,
        host_rates_bps,
        rtt_s=here.rtt_s,
        mtu_bytes=round(here.mtu_bytes),
        gamma=found.gamma,
        most_packets=room,
    )
    return replace(found, ports=ports)


def _threshold(setting: Setting, notes: list[str]) -> float:
    wanted = guidelines.threshold(setting.bdp_packets)
    if setting.buffer_bytes is None:
        return wanted
    room = setting.buffer_bytes / setting.mtu_bytes
    require(
        room > setting.flows,
        "buffer",
        f"{room:.4g} packets",
        f"more than {setting.flows}, as the queue reaches K + N packets",
        "thesis 2.10",
    )
    if wanted + setting.flows <= room:
        return wanted
    k = room - setting.flows
    notes.append(
        f"K is {k:.4g} packets instead of {wanted:.4g}, so that K + N fit into the buffer (thesis "
        "2.10); the predicted throughput includes the cost."
    )
    return k


def _gains(max_window: float, notes: list[str]) -> tuple[float, float]:
    low, high = guidelines.gain_range(max_window)
    if low <= high:
        return low, high
    notes.append(
        f"The range of g (thesis 3.2) is empty below C d + K = 25 packets, found {max_window:.4g}; "
        "g is its upper end: a steady queue, but slower convergence."
    )
    return high, high


def recommended_pacer(rate_bps: float, rtt_s: float, mtu_bytes: float) -> Pacer:
    """The pacer's parameters for a host's rate and a round trip: the defaults of a scenario's
    `[pacer]` (docs/algorithms/pacer.md)."""
    found = Pacer(**json.loads(_core.pacer_settings(rate_bps, rtt_s, mtu_bytes)))
    RateFilter(found.update_interval_s, found.eta, found.beta)
    return found


def _predict_dctcp(link: Bottleneck, g: float) -> dict[str, float | None]:
    cycle = limit_cycle(Fluid(link.window, g, link.psi))

    def delay(queue: float) -> float:
        return (link.threshold_packets + queue * link.max_window) / link.capacity_pps

    return {
        "dctcp_throughput": min(cycle.throughput, 1.0),
        "dctcp_queueing_delay_mean_s": delay(cycle.mean_queue),
        "dctcp_queueing_delay_max_s": delay(cycle.overshoot),
        "dctcp_convergence_s": _convergence(link.flows, link.max_window, g, link.round_trip_s),
        "dctcp_stability_margin": 1 - spectral_radius(link.window, g),
    }


def _predict_hull(
    setting: Setting, gamma: float, threshold_bytes: float, g: float
) -> dict[str, float | None]:
    drained = gamma * setting.bdp_packets
    window = drained / setting.flows
    check_window(window, "gamma C d/N")
    psi = threshold_bytes / setting.mtu_bytes / drained
    usable = gamma * limit_cycle(Fluid(window, g, psi, phantom=True)).throughput
    check_load(setting.load, usable)
    return {
        "hull_throughput": usable,
        "hull_queueing_delay_p99_s": (setting.flows - 1) / setting.capacity_pps,
        "hull_convergence_s": _convergence(setting.flows, drained, g, setting.rtt_s),
        "hull_slowdown": slowdown(setting.load, usable),
    }


def _convergence(flows: int, max_window: float, g: float, round_trip_s: float) -> float | None:
    """One flow joins with a window of 1 and alpha 1, the others share the rest with alpha 0."""
    if flows < 2:
        return None
    others = flows - 1
    windows = [(max_window - 1) / others] * others + [1.0]
    return hybrid.convergence_time(windows, [0.0] * others + [1.0], g) * round_trip_s

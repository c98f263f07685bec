"""Predictions of `hull.theory` for a state, drawn beside the simulation.

The models have N long flows over one link. Small requests take their load of the link, and the rest
is C. If no model applies, the value is None and `why` states the reason. Units: bytes, bit/s, s,
packets, parts of 1.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from hull.errors import RunError, UsageError
from hull.lab.lossless import is_lossless
from hull.lab.model import PARAMETERS, SCHEMES, STANDARD, State
from hull.lab.own_cells import is_own
from hull.lab.scenario import ACK, round_trip
from hull.theory.bottleneck import Bottleneck
from hull.theory.fluid import Fluid
from hull.theory.headroom import least_headroom
from hull.theory.limit_cycle import limit_cycle
from hull.theory.sawtooth import alpha
from hull.theory.sources import SOURCES

_G = 1 / 16
"""DCTCP's gain in the lab's scenarios: the default (thesis chapter 2)."""

_NAMES = {
    "queue_mean": ("Mean queue", "byte"),
    "queue_max": ("Largest queue", "byte"),
    "phantom_mean": ("Mean phantom queue", "byte"),
    "throughput": ("Throughput", "bit/s"),
    "window": ("Window of a flow", "packet"),
    "alpha": ("alpha", ""),
    "latency_mean": ("Mean queueing latency", "s"),
    "latency_p99": ("99th percentile of the queueing latency", "s"),
    "headroom": ("Headroom that the flows need", "share"),
}
_OF_SCHEME = {
    "dctcp": ("queue_mean", "queue_max", "throughput", "window", "alpha", "latency_mean"),
    "phantom": (
        "queue_max",
        "phantom_mean",
        "throughput",
        "window",
        "alpha",
        "latency_p99",
        "headroom",
    ),
    "other": ("queue_mean", "throughput", "window"),
}


@dataclass(frozen=True)
class Prediction:
    """One number, or why there is none."""

    name: str
    title: str
    unit: str
    value: float | None
    source: str = ""
    why: str = ""


Found = dict[str, tuple[float, str]]
"""Values by name, with their equations."""


def predictions(state: State) -> dict[str, Any]:
    """The predictions for each scheme, and notes on the state."""
    schemes, more = (
        [{"id": id_, "predictions": _of_scheme(_what_matters(state, id_))} for id_ in ids]
        for ids in (state.schemes, state.more)
    )
    return {"schemes": schemes, "more": more, "notes": list(_notes(state))}


def _what_matters(state: State, id_: str) -> State:
    """The state with that scheme only, and defaults for irrelevant settings: a limit cycle takes
    some milliseconds, so a change of another control must not recompute it.
    """
    matter = {
        "rate",
        "rtt",
        "mtu",
        "flows",
        "load",
        "buffer",
        "burst",
        *(() if is_own(id_) else SCHEMES[id_].parameters),
    }
    others = {p.id: p.default for p in PARAMETERS.values() if p.id not in matter}
    return replace(state, schemes=(id_,), more=(), queue=STANDARD.queue, **others)


@lru_cache(maxsize=512)
def _of_scheme(state: State) -> list[dict[str, Any]]:
    (id_,) = state.schemes
    settings = _settings(id_)
    kind, found, why = "other", dict[str, tuple[float, str]](), ""
    if "dctcp" in settings:
        kind = "phantom" if "phantom_queue" in settings else "dctcp"
        try:
            found = _phantom(state) if kind == "phantom" else _dctcp(state)
        except (UsageError, RunError) as error:
            why = str(error)
        if kind == "phantom" and "pacer" not in settings and state.burst > state.mtu:
            for name in ("queue_max", "latency_p99"):
                found.pop(name, None)
            why = why or "unpaced bursts add to the N - 1 simultaneous packets of the model"
    else:
        why = "hull.theory has no model of this scheme"
        if is_own(id_):
            why = "hull.theory models long flows through one port, not a scenario's own network"
    return [
        asdict(
            Prediction(name, *_NAMES[name], *found[name])
            if name in found
            else Prediction(name, *_NAMES[name], None, why=why)
        )
        for name in _OF_SCHEME[kind]
    ]


def _dctcp(state: State) -> Found:
    """DCTCP with a threshold K on the queue (thesis 2.2.3, 3.2)."""
    capacity_bps = _for_flows(state, 1.0)
    if state.k >= state.buffer:
        raise UsageError("k: not below the buffer; the models mark before packets are dropped")
    here = Bottleneck(
        capacity_bps / (8 * state.mtu), round_trip(state), state.k / state.mtu, _flows(state)
    )
    rest_bps = state.load * state.rate
    if here.window <= 2:
        queue = max(2.0 * here.flows - here.bdp_packets, 0.0)
        part = min(2.0 * here.flows / here.bdp_packets, 1.0)
        source = "thesis 3.13: windows stay at 2 packets, the queue at 2N - C d"
        return {
            "queue_mean": (queue * state.mtu, source),
            "queue_max": (queue * state.mtu, source),
            "throughput": (part * capacity_bps + rest_bps, source),
            "window": (2.0, source),
            "alpha": (1.0, source),
            "latency_mean": (8 * state.mtu * queue / state.rate, source),
        }
    cycle = limit_cycle(Fluid(here.window, _G, here.psi))
    mean = (here.threshold_packets + cycle.mean_queue * here.max_window) * state.mtu
    largest = (here.threshold_packets + cycle.overshoot * here.max_window) * state.mtu
    part = min(cycle.throughput, 1.0)
    return {
        "queue_mean": (mean, SOURCES["dctcp_queueing_delay_mean_s"].equation),
        "queue_max": (largest, SOURCES["dctcp_queueing_delay_max_s"].equation),
        "throughput": (
            part * capacity_bps + rest_bps,
            SOURCES["dctcp_throughput"].equation,
        ),
        "window": (here.window, "thesis 3.2.1: (C d + K)/N"),
        "alpha": (alpha(here.window), "thesis 2.6: whole windows marked"),
        "latency_mean": (8 * mean / state.rate, SOURCES["dctcp_queueing_delay_mean_s"].equation),
    }


def _phantom(state: State) -> Found:
    """DCTCP with a phantom queue: the model without queueing delay, the drain rate for C."""
    capacity_bps = _for_flows(state, state.drain)
    flows = _flows(state)
    drained = capacity_bps * round_trip(state) / (8 * state.mtu)
    window = drained / flows
    bdp = state.rate * round_trip(state) / (8 * state.mtu)
    if state.drain >= 1:
        raise UsageError("no headroom: a phantom queue that drains as fast as the link never fills")
    if flows >= bdp:
        raise UsageError(f"{flows} flows, C RTT is {bdp:.3g} packets: no headroom is enough")
    if window <= 2:
        raise UsageError(f"windows of {window:.4g} packets; the model has more than 2")
    needed = least_headroom(flows, bdp)
    cycle = limit_cycle(Fluid(window, _G, state.threshold / state.mtu / drained, phantom=True))
    phantom = state.threshold + cycle.mean_queue * drained * state.mtu
    meet = (flows - 1) * state.mtu
    source = SOURCES["hull_queueing_delay_p99_s"].equation
    return {
        "queue_max": (meet, source),
        "phantom_mean": (phantom, SOURCES["hull_throughput"].equation),
        "throughput": (
            cycle.throughput * capacity_bps + state.load * state.rate,
            SOURCES["hull_throughput"].equation,
        ),
        "window": (window, "thesis 3.2.1 without queueing delay: gamma C d/N"),
        "alpha": (alpha(window), "thesis 2.6: whole windows marked, of gamma C d/N"),
        "latency_p99": (8 * meet / state.rate, source),
        "headroom": (needed, "paper 6.1, equation 5: N/(C RTT)"),
    }


def _settings(id_: str) -> tuple[str, ...]:
    """What the table of a scheme of the star holds; nothing is known of the file's."""
    return () if is_own(id_) else SCHEMES[id_].settings


def _flows(state: State) -> int:
    flows = int(state.flows)
    if flows < 1:
        raise UsageError("flows: 0; the models have 1 or more long flows")
    return flows


def _for_flows(state: State, share: float) -> float:
    """The rest of a share of the link after small requests, bit/s."""
    if state.load >= share:
        raise UsageError(f"load: {state.load:g}; the models need less than {share:g} of the link")
    return (share - state.load) * state.rate


def _notes(state: State) -> Iterator[str]:
    stars = [id_ for id_ in state.all_schemes if not (is_own(id_) or is_lossless(id_))]
    if not stars:
        return
    rtt = round_trip(state)
    if rtt > state.rtt:
        least = 1e6 * rtt
        yield (
            f"A packet of {state.mtu:.0f} bytes and its acknowledgment of {ACK} take {least:.3g} "
            f"us over two links of {state.rate / 1e9:g} Gbps, which is the round trip used here."
        )
    if state.load > 0 and state.flows:
        yield (
            f"The models have long flows only: small requests take {100 * state.load:.3g}% of the "
            "link, and C is the rest. The models ignore their bursts, which fill a phantom queue "
            "too and cost throughput."
        )
    uses_phantom = any("phantom_queue" in _settings(id_) for id_ in stars)
    bdp = state.rate * rtt / (8 * state.mtu)
    headroom = 1 - state.drain
    if uses_phantom and state.flows and state.flows / bdp > headroom + 1e-9:
        yield (
            f"{int(state.flows)} flows need a headroom of {100 * state.flows / bdp:.3g}% "
            f"(paper equation 5), {100 * headroom:.3g}% are available: the queue may not stay "
            "empty."
        )
    marks = any("marking" in _settings(id_) for id_ in stars)
    if marks and state.k >= state.buffer:
        yield "K is not below the buffer: packets are dropped before any is marked."
    elif marks and state.k + state.flows * state.mtu > state.buffer:
        yield "K and a packet of each flow do not fit into the buffer: packets are dropped as well."
    if state.burst > state.mtu:
        yield "The models assume hosts without segmentation offload and ignore their bursts."

"""The scenario of a state of the lab, which the page shows and `hull run` runs.

The network is a star: host 0 receives, with a host for each long flow, and servers for the small
requests. The round trip without queueing is for a full packet and its acknowledgment over the two
links, transmission included, as in `hull design`. The hosts' stack delays vary by 1/200 of the
remaining delay; otherwise some flows would get all marks. The sampling interval gives the page 200
samples per second of wall time. A run lasts 10,000 round trips, after 200 in which flows converge,
or ten minutes of wall time if that is less.
"""

import json
import math
from dataclasses import dataclass
from typing import Any

import tomli_w

from hull import __version__, _core
from hull.lab.model import SCHEMES, State
from hull.theory.design import Pacer, recommended_pacer
from hull.theory.scenario import pacer_table, time_text

ACK = 40
"""Bytes of an acknowledgment, and of the headers of a packet."""
SAMPLES_PER_SECOND = 200
"""On the clock."""
SHOWN_FLOWS = 4
_SERVERS, _CONNECTIONS = 8, 16
"""Connections to each server, as on the paper's testbed (5.2)."""
_WARMUP, _WHOLE = 200, 10_200
"""Round trips."""
_MOST_SECONDS = 600
"""Of a run, on the clock."""
_JITTER = 0.005
_LEAST_DELAY = 100e-9
"""Of a link: a few metres and a little of a switch."""
_LEAST_INTERVAL = 1e-6


def round_trip(state: State) -> float:
    """The round trip, s: the state's, or the transmission time if that is longer."""
    on_wire = 2 * 8 * (state.mtu + ACK) / state.rate
    return max(state.rtt, on_wire + 4 * _LEAST_DELAY)


def sample_interval(state: State) -> float:
    """Simulated time between two samples, s, in whole ns."""
    return max(round(state.speed / SAMPLES_PER_SECOND, 9), _LEAST_INTERVAL)


def warmup(state: State) -> float:
    """Simulated time after which statistics begin, s."""
    return round(min(_WARMUP * round_trip(state), duration(state) / 10), 9)


def duration(state: State) -> float:
    """Simulated time of a run, warm-up counted in, s."""
    return round(min(_WHOLE * round_trip(state), _MOST_SECONDS * state.speed), 9)


def pacer(state: State) -> Pacer:
    """The pacer's parameters, as `hull design` recommends them for rate and round trip."""
    return recommended_pacer(state.rate, round_trip(state), state.mtu)


def first_flow(state: State) -> int:
    """Number of the first long flow: connections of the small requests come before."""
    return 2 * _SERVERS * _CONNECTIONS if state.load > 0 else 0


def shown_flows(state: State) -> int:
    """How many long flows are shown."""
    return min(int(state.flows), SHOWN_FLOWS)


def edges(state: State) -> list[float]:
    """The latencies at which the distribution is sampled, s: 0, and from a tenth of a packet's time
    to a full buffer's.
    """
    low, high = 0.1 * 8 * state.mtu / state.rate, 8 * max(state.buffer, 2 * state.mtu) / state.rate
    count = 72
    between = (low * (high / low) ** (i / (count - 1)) for i in range(count))
    return [0.0, *(float(f"{edge:.4g}") for edge in between)]


def scenario(state: State) -> dict[str, Any]:
    """The scenario file's content."""
    rtt = round_trip(state)
    slack = rtt - 2 * 8 * (state.mtu + ACK) / state.rate
    jitter = _JITTER * slack
    link = {"rate": f"{state.rate / 1e9:g}Gbps", "delay": time_text(slack / 4 - jitter)}
    segment = state.mtu - ACK
    window = math.ceil(2 * (state.rate * rtt / 8 + state.buffer) / segment) + 64
    flows = int(state.flows)
    burst = round(state.burst)
    return {
        "name": "lab",
        "title": f"hull lab: {', '.join(SCHEMES[id_].title for id_ in state.all_schemes)}",
        "source": f"hull {__version__}, {state.query()}",
        "run": {
            "duration": time_text(duration(state) - warmup(state)),
            "warmup": time_text(warmup(state)),
            "seed": int(state.seed),
        },
        "topology": {"star": {"hosts": 1 + flows + _SERVERS}},
        "host": {
            **link,
            "queue": state.queue,
            "stack_jitter": {"exponential": time_text(jitter)},
            **({"offload": f"{burst}B"} if burst > state.mtu else {}),
        },
        "switch": {**link, "buffer": f"{round(state.buffer)}B"},
        "transport": {
            "mtu": f"{round(state.mtu)}B",
            "header": f"{ACK}B",
            "ack_every": 1,
            "max_window": window,
            "receive_window": window,
            "initial_rto": "10ms",
            **({"tso_win_divisor": 3} if burst > state.mtu else {}),
        },
        "workload": _workload(state),
        "measure": {
            "sample_interval": time_text(sample_interval(state)),
            "ports": ["switch->h0"],
            **_followed(state),
        },
        "schemes": {id_: _scheme(state, SCHEMES[id_].settings) for id_ in state.all_schemes},
    }


def toml(state: State) -> str:
    """The scenario as a file."""
    return tomli_w.dumps(scenario(state))


@dataclass(frozen=True)
class Cell:
    """One scheme, as the simulator takes it."""

    scheme: str
    scenario: dict[str, Any]
    """Every default filled in."""
    resolved: _core.Resolved
    """The same for the simulator."""
    first_flow: int
    """Number of the first flow whose window is shown."""
    shown_flows: int
    long_flows: int
    """From the first flow on: those whose goodput is the plane's bandwidth; 0: the port's
    throughput is."""
    classes: tuple[str, ...]
    """The two smallest size classes with completion times."""
    first_long: int | None = None
    """Number of the first long flow, if it is not the first whose window is shown."""

    def live(self, seed: int, average: float, edges: list[float]) -> _core.Live:
        """Its run, with throughput as the mean of `average` seconds, and the share of time with at
        most each latency of `edges` (s).
        """
        first = self.first_flow if self.first_long is None else self.first_long
        shown, long = (self.first_flow, self.shown_flows), (first, self.long_flows)
        return _core.Live(self.resolved, seed, shown, long, average, edges)


def cells(state: State) -> list[Cell]:
    """The schemes of a state in its order."""
    if not state.all_schemes:
        return []
    flows = first_flow(state), shown_flows(state), int(state.flows)
    classes = ("1 KB requests", "20 KB requests") if state.load > 0 else ()
    return cells_of_text(toml(state), flows, classes)


def cells_of_text(
    text: str,
    flows: tuple[int, int, int],
    classes: tuple[str, ...],
    first_long: int | None = None,
) -> list[Cell]:
    """The schemes of a scenario of the lab, with the flows that are shown and that are long."""
    found, resolved = _core.expand(text, "lab", [], [], False)
    return [
        Cell(cell["scheme"], cell["scenario"], read, *flows, classes, first_long)
        for cell, read in zip(json.loads(found), resolved, strict=True)
    ]


def _workload(state: State) -> dict[str, Any]:
    flows = int(state.flows)
    workload: dict[str, Any] = {}
    if flows:
        source = 1 if flows == 1 else f"1-{flows}"
        workload["long_lived"] = {"flows": [{"src": source, "dst": 0}]}
    if state.load > 0 or not flows:
        workload["requests"] = {
            "load": share(state.load),
            "servers": f"{flows + 1}-{flows + _SERVERS}",
            "connections_per_server": _CONNECTIONS,
            "pick": "random_idle",
            "classes": [{"size": "1KB", "share": "50%"}, {"size": "20KB", "share": "50%"}],
        }
    return workload


def _followed(state: State) -> dict[str, Any]:
    if not state.flows:
        return {}
    interval = sample_interval(state)
    if state.load > 0:
        # The connections of the requests are followed as well: once in a round trip will do.
        interval *= math.ceil(round_trip(state) / interval)
    count = first_flow(state) + int(state.flows)
    return {"flows": {"count": count, "interval": time_text(interval)}}


def _scheme(state: State, settings: tuple[str, ...]) -> dict[str, Any]:
    """The table of a scheme, by its content."""
    transport: dict[str, Any] = {}
    switch: dict[str, Any] = {}
    table: dict[str, Any] = {}
    if "cubic" in settings or "vegas" in settings:
        transport = {"congestion_control": settings[0]}
    if "ecn" in settings:
        transport = {"ecn": True}
    if "dctcp" in settings:
        transport = {"congestion_control": "dctcp", "ecn": True}
    # At a full buffer no packet is left to mark.
    if "marking" in settings and round(state.k) < round(state.buffer):
        switch["marking"] = {"threshold": f"{round(state.k)}B"}
    if "phantom_queue" in settings:
        switch["phantom_queue"] = phantom_queue(state)
    if "pacer" in settings:
        table["pacer"] = pacer_table(pacer(state))
    return {
        **({"transport": transport} if transport else {}),
        **({"switch": switch} if switch else {}),
        **table,
    }


def phantom_queue(state: State) -> dict[str, str]:
    """`switch.phantom_queue`."""
    return {"drain": share(state.drain), "threshold": f"{round(state.threshold)}B"}


def share(value: float) -> str:
    """A part of 1 as scenario files have it."""
    return f"{round(100 * value, 6):.12g}%"

"""The lab's lossless network: two switches that pause (priority flow control), an incast, a victim.

Host 0 at switch s1 receives from all senders of the incast; every second one is at s0. Host 1 at s0
sends to host 2 at s1: the victim shares no congested port (thesis 5.1). The link between the
switches has as much as the hosts behind it send, up to hull's fastest link. The round trip is
between hosts of different switches. Marks as DCQCN's switches make them: none at K, up to 20% at
four times K, each packet above.
"""

import json
from collections.abc import Iterable
from typing import Any

import tomli_w

from hull import __version__
from hull.lab import scenario
from hull.lab.model import SCHEMES, State
from hull.theory.scenario import time_text

VICTIM = 0
"""Number of its flow; the incast's flows follow."""
_LINKS = 3
"""Between hosts of different switches."""
_LEAST_DELAY = 100e-9
"""Of a link, s."""
_FASTEST = 6.4e12
"""Of a link, bit/s."""
_SENDER = 3
"""Number of the first host of the incast."""
_MOST_MARKED = {"max_probability": "20%", "on": "dequeue"}
_RED = 4
"""RED's upper threshold over K."""


def is_lossless(id_: str) -> bool:
    """Whether a scheme runs on this network."""
    return id_ in SCHEMES and SCHEMES[id_].lossless


def content(state: State, ids: Iterable[str]) -> dict[str, Any]:
    """The scenario file's content, with these schemes."""
    on_wire = _LINKS * 8 * (state.mtu + scenario.ACK) / state.rate
    delay = max((state.rtt - on_wire) / (2 * _LINKS), _LEAST_DELAY)
    link = {"rate": f"{state.rate / 1e9:g}Gbps", "delay": time_text(delay)}
    flows = int(state.flows)
    between = min((1 + len(_at_first(flows))) * state.rate, _FASTEST)
    interval = time_text(scenario.sample_interval(state))
    ids = tuple(ids)
    incast = f"{_SENDER}-{_SENDER + flows - 1}" if flows > 1 else _SENDER
    return {
        "name": "lab-lossless",
        "title": f"hull lab: {', '.join(SCHEMES[id_].title for id_ in ids)}",
        "source": f"hull {__version__}, {state.query()}",
        "run": {
            "duration": time_text(scenario.duration(state) - scenario.warmup(state)),
            "warmup": time_text(scenario.warmup(state)),
            "seed": int(state.seed),
        },
        "topology": {
            "graph": {"text": json.dumps(_graph(flows))},
            "links": [{"link": "s0--s1", "rate": f"{between / 1e9:g}Gbps"}],
        },
        "host": {**link, "queue": "fair"},
        "switch": {**link, "pfc": {"xoff": f"{round(state.xoff)}B"}},
        "transport": {"mtu": f"{round(state.mtu)}B", "header": f"{scenario.ACK}B"},
        "workload": {
            "long_lived": {
                "flows": [
                    {"src": 1, "dst": 2},
                    *([{"src": incast, "dst": 0}] if flows else []),
                ]
            }
        },
        "measure": {
            "sample_interval": interval,
            "ports": ["s1->h0"],
            "flows": {"count": 1 + flows, "interval": interval},
        },
        "schemes": {id_: _scheme(state, SCHEMES[id_].settings) for id_ in ids},
    }


def cells(state: State, ids: Iterable[str]) -> list[scenario.Cell]:
    """These schemes in their order."""
    chosen = content(state, ids)
    if not chosen["schemes"]:
        return []
    flows = int(state.flows)
    shown = min(1 + flows, scenario.SHOWN_FLOWS)
    numbers = (VICTIM, shown, flows)
    text = tomli_w.dumps(chosen)
    return scenario.cells_of_text(text, numbers, (), first_long=VICTIM + 1)


def _at_first(flows: int) -> range:
    """Hosts of the incast at s0."""
    return range(_SENDER, _SENDER + flows, 2)


def _graph(flows: int) -> dict[str, Any]:
    hosts = [f"h{number}" for number in range(_SENDER + flows)]
    first = {1, *_at_first(flows)}
    ends = [(name, "s0" if number in first else "s1") for number, name in enumerate(hosts)]
    return {
        "nodes": [
            *({"id": name, "kind": "host"} for name in hosts),
            *({"id": name, "kind": "switch"} for name in ("s0", "s1")),
        ],
        "edges": [{"source": a, "target": b} for a, b in [*ends, ("s0", "s1")]],
    }


def _scheme(state: State, settings: tuple[str, ...]) -> dict[str, Any]:
    """The table of a scheme, by its content."""
    control, *rest = settings
    table: dict[str, Any] = {"transport": {"congestion_control": control}}
    if control == "dcqcn":
        table["transport"]["ecn"] = True
    if "red" in rest:
        marking = {"threshold": f"{round(state.k)}B", "max_threshold": f"{round(_RED * state.k)}B"}
        table["switch"] = {"marking": {**marking, **_MOST_MARKED}}
    if "phantom_queue" in rest:
        table["switch"] = {"phantom_queue": scenario.phantom_queue(state)}
    if "telemetry" in rest:
        table["switch"] = {"telemetry": {}}
    return table

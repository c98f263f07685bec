"""The network that is asked about: hosts in racks and the links that they share.

From a short form of a leaf-spine (`2x20@25G,2x100G`), a shipped scenario, a scenario file or a
graph. Rates in bit/s, times in s.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import tomli_w

from hull import _core, scenarios
from hull.errors import UsageError, shown
from hull.runs.plan import expand, read_scenario

FORM = "2x20@25G,2x100G (2 leaves of 20 hosts at 25 Gbps, 2 spines with links of 100 Gbps), \
20@10G (one switch), a name of `hull scenarios`, a scenario file, or a graph file"
_STACKS_S = 20e-6
"""What the hosts' stacks take of a round trip at least, where `--rtt` is not given."""
LINK_DELAY = "500ns"
"""Of a link where the form has none: 100 m of fibre."""
ROUND_TRIP_S = 30e-6
"""Between two idle hosts with the kernel's stack, where `--rtt` is not given."""
BUFFER_PER_GBPS = 20_000
"""Default buffer of a port per Gbit/s of its hosts' rate: a share of the total memory of current
switches.
"""
_LEAST_BUFFER = 300_000
_SHORT = re.compile(
    r"(?:(?P<leaves>\d+)x)?(?P<hosts>\d+)@(?P<rate>[\d.]+\s*[a-zA-Z/]+)"
    r"(?:,(?P<spines>\d+)x(?P<uplink>[\d.]+\s*[a-zA-Z/]+))?"
)
_OF_SWITCHES = ("rate", "delay", "latency", "buffer", "memory", "cut_through", "count_in_service")
"""The switch keys kept from a scenario; hull chooses the marking."""
_OF_TRANSPORT = ("mtu", "header", "framing")


@dataclass(frozen=True)
class Host:
    """A host by its link."""

    name: str
    switch: str
    out_bps: float
    in_bps: float


@dataclass(frozen=True)
class Network:
    """A network, before anything is chosen for it."""

    name: str
    """As it was asked for."""
    tables: Mapping[str, Any]
    """`topology`, `host`, `switch` and `transport` of a scenario."""
    guessed: tuple[str, ...]
    """What was not given, as sentences."""

    @cached_property
    def _cell(self) -> dict[str, Any]:
        """The scenario of the network alone."""
        content = {
            "name": "network",
            "run": {"duration": "1ms"},
            "workload": {"long_lived": {"flows": [{"src": 0, "dst": 1}]}},
            **self.tables,
        }
        return expand(tomli_w.dumps(content), "--topology", [], [])[0]

    @property
    def resolved(self) -> dict[str, Any]:
        """The scenario of the network alone, every default filled in."""
        scenario: dict[str, Any] = self._cell["scenario"]
        return scenario

    @cached_property
    def _links(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._cell["read"].network())
        return found

    @cached_property
    def hosts(self) -> tuple[Host, ...]:
        """In the order of their numbers."""
        return tuple(Host(**host) for host in self._links["hosts"])

    @cached_property
    def racks(self) -> dict[str, list[int]]:
        """The hosts at each switch, by its name."""
        found: dict[str, list[int]] = {}
        for number, host in enumerate(self.hosts):
            found.setdefault(host.switch, []).append(number)
        return found

    def uplink_bps(self, switch: str) -> tuple[float, float]:
        """Rates of a switch's links to other switches together: out, in."""
        rates = self._links["uplinks"][switch]
        return rates["out_bps"], rates["in_bps"]

    @cached_property
    def rate_bps(self) -> float:
        """Of the hosts' links: the slowest."""
        return min(min(host.out_bps, host.in_bps) for host in self.hosts)

    @cached_property
    def round_trip_s(self) -> float:
        """The longest between two idle hosts."""
        round_trip_s: float = self._cell["read"].round_trip()
        return round_trip_s

    @property
    def rates_bps(self) -> tuple[float, ...]:
        """Of the links out of switches, each once."""
        return tuple(self._links["rates_bps"])

    @property
    def mtu_bytes(self) -> int:
        """Of a packet, headers included."""
        return int(_core.quantity("size", str(self.resolved["transport"]["mtu"])))


def read_network(form: str, rtt: str | None = None, buffer: str | None = None) -> Network:
    """The network of `--topology`, with the round trip of `--rtt` and the room of ports of
    `--buffer` where its form leaves them open.
    """
    short = _SHORT.fullmatch(form.replace(" ", ""))
    if short is not None:
        return _of_short(form, short, rtt, buffer)
    for option, given in (("--rtt", rtt), ("--buffer", buffer)):
        if given is not None:
            raise UsageError(
                f"{option}: {given} is given with a network that has its own; expected it with a "
                "short form, such as 2x20@25G,2x100G"
            )
    if form in scenarios.names():
        return _of_scenario(form, scenarios.text(form), form)
    path = Path(form)
    if path.suffix in _core.graph_endings():
        return _of_graph(form)
    if path.suffix == ".toml" or path.exists():
        text, label = read_scenario(path)
        return _of_scenario(form, text, label)
    raise UsageError(f"--topology: {shown(form)} is invalid; expected {FORM}")


def is_short(form: str) -> bool:
    """Whether a network is in short form, as 2x20@25G,2x100G."""
    return _SHORT.fullmatch(form.replace(" ", "")) is not None


def read_rate(text: str, option: str) -> float:
    """A rate such as 25G, 25Gbps or 25 Gbit/s, bit/s."""
    try:
        rate_bps = _core.quantity("rate", text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None
    if not 1e6 <= rate_bps <= 6.4e12:
        raise UsageError(
            f"{option}: {shown(text)} is invalid; expected a rate from 1Mbps to 6.4Tbps, such as "
            "25G"
        )
    return rate_bps


def _of_short(form: str, short: re.Match[str], rtt: str | None, room: str | None) -> Network:
    leaves, hosts = int(short["leaves"] or 1), int(short["hosts"])
    rate_bps = read_rate(short["rate"], "--topology")
    if leaves == 1 and short["spines"]:
        raise UsageError(
            f"--topology: {shown(form)}: spines without leaves; expected two leaves or more, "
            "as 2x20@25G,2x100G"
        )
    if leaves > 1 and not short["spines"]:
        raise UsageError(
            f"--topology: {shown(form)}: {leaves} leaves without spines; expected them with their "
            f"links, as {leaves}x{hosts}@{short['rate']},2x100G"
        )
    if leaves == 0 or hosts == 0 or leaves * hosts < 2:
        raise UsageError(f"--topology: {shown(form)} is invalid; expected two hosts or more")
    topology: dict[str, Any] = {"star": {"hosts": hosts}}
    if leaves > 1:
        uplink_bps = read_rate(short["uplink"], "--topology")
        topology = {
            "leaf_spine": {
                "leaves": leaves,
                "spines": int(short["spines"]),
                "hosts_per_leaf": hosts,
                "uplink_rate": f"{uplink_bps:.0f}bps",
                "uplink_delay": LINK_DELAY,
            }
        }
    wanted_s = ROUND_TRIP_S if rtt is None else _core.quantity("time", rtt)
    if room is None:
        buffer = max(_LEAST_BUFFER, BUFFER_PER_GBPS * rate_bps / 1e9)
    else:
        buffer = _core.quantity("size", room)
    link = {"rate": f"{rate_bps:.0f}bps", "delay": LINK_DELAY}
    tables = {
        "topology": topology,
        "host": link,
        "switch": {**link, "buffer": f"{buffer:.0f}B"},
    }
    without_s = Network(form, tables, ()).round_trip_s
    if rtt is None:
        wanted_s = max(ROUND_TRIP_S, without_s + _STACKS_S)
    elif without_s > wanted_s:
        raise UsageError(
            f"--rtt: {rtt} is below the {without_s * 1e6:.4g} us that packets take over the links; "
            "expected more"
        )
    stack_ps = round((wanted_s - without_s) / 4 * 1e12)
    tables["host"] = {**link, "stack_delay": f"{stack_ps}ps"}
    guessed = [
        f"Each link is {LINK_DELAY} long, 100 m of fibre.",
        "Hosts have a queue per flow; with one FIFO small flows also wait in their own host.",
    ]
    if room is None:
        guessed.append(
            f"Each port has {buffer / 1e6:.3g} MB of buffer, which decides how long CUBIC's queues "
            "get; --buffer sets it."
        )
    if rtt is None:
        guessed.append(
            f"A round trip between idle hosts takes {wanted_s * 1e6:.4g} us, links and stacks "
            "together; --rtt sets it (ping between idle hosts measures it)."
        )
    return Network(form, tables, tuple(guessed))


def _of_scenario(form: str, text: str, label: str) -> Network:
    found = expand(text, label, [], [])
    scenario = found[0]["scenario"]
    switch = {key: scenario["switch"].get(key) for key in _OF_SWITCHES}
    transport = {key: scenario["transport"].get(key) for key in _OF_TRANSPORT}
    tables = {
        "topology": _without_nothing(scenario["topology"]),
        "host": _without_nothing(scenario["host"]),
        "switch": _without_nothing(switch),
        "transport": _without_nothing(transport),
    }
    note = f"Marks, transport and pacer of {form} are not taken over, only its network and hosts."
    queue = f'Hosts have the queue "{scenario["host"]["queue"]}" of {form}.'
    return Network(form, tables, (note, queue))


def _of_graph(form: str) -> Network:
    tables = {
        "topology": {"file": {"path": form}},
        "host": {"rate": "25Gbps", "delay": LINK_DELAY},
        "switch": {"rate": "25Gbps", "delay": LINK_DELAY, "buffer": f"{_LEAST_BUFFER}B"},
    }
    note = (
        f"Links of the graph without a rate have 25 Gbps, those without a delay {LINK_DELAY}; each "
        f"port has {_LEAST_BUFFER / 1e6:.3g} MB of buffer."
    )
    return Network(form, tables, (note,))


def _without_nothing(value: Any) -> Any:
    """A table for TOML, without keys that have no value."""
    if isinstance(value, dict):
        kept = {key: _without_nothing(inner) for key, inner in value.items()}
        return {key: inner for key, inner in kept.items() if inner is not None and inner != {}}
    return value

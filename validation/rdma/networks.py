"""Networks of the recorded RDMA runs, as graphs that hull reads.

A run names its switches and ports by number: hosts come first, and a switch numbers its ports from
1 in the order of its links. `Network.port` gives the port of a recorded queue hull's name.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hull.errors import UsageError


@dataclass(frozen=True)
class Link:
    """A link between two nodes: its rate in Gbps and its delay in ns."""

    ends: tuple[int, int]
    gbps: float
    delay_ns: float


@dataclass(frozen=True)
class Network:
    """Hosts 0 to `hosts` - 1, the switches after them, and the links in their order."""

    hosts: int
    links: list[Link]

    def name(self, node: int) -> str:
        """hull's name of a node."""
        return f"h{node}" if node < self.hosts else f"s{node}"

    def ports(self, switch: int) -> int:
        """Number of a switch's ports."""
        return sum(switch in link.ends for link in self.links)

    def port(self, switch: int, port: int) -> str:
        """hull's name of a switch's port."""
        of_switch = [link for link in self.links if switch in link.ends]
        a, b = of_switch[port - 1].ends
        return f"{self.name(switch)}->{self.name(b if a == switch else a)}"

    def graph(self, rate: "dict[float, str]") -> dict[str, Any]:
        """Node-link form; `rate` gives the rate of a link of so many Gbps."""
        nodes = sorted({node for link in self.links for node in link.ends})
        return {
            "directed": False,
            "nodes": [
                {"id": self.name(n), "kind": "host" if n < self.hosts else "switch"} for n in nodes
            ],
            "links": [
                {
                    "source": self.name(link.ends[0]),
                    "target": self.name(link.ends[1]),
                    "rate": rate[link.gbps],
                    "delay": f"{link.delay_ns:g}ns",
                }
                for link in self.links
            ],
        }


def star(rates: list[float]) -> Network:
    """Hosts with links of these rates at one switch."""
    switch = len(rates)
    return Network(switch, [Link((n, switch), rate, 1000) for n, rate in enumerate(rates)])


def dumbbell(each: int) -> Network:
    """So many hosts at each of two switches, with one link between them."""
    left, right = 2 * each, 2 * each + 1
    links = [Link((n, left if n < each else right), 100, 1000) for n in range(2 * each)]
    return Network(2 * each, [*links, Link((left, right), 100, 1000)])


def leaf_spine() -> Network:
    """Four leaves of eight hosts and four spines."""
    links = [Link((n, 32 + n // 8), 100, 1000) for n in range(32)]
    links += [Link((leaf, spine), 100, 1000) for leaf in range(32, 36) for spine in range(36, 40)]
    return Network(32, links)


def of_file(path: Path) -> Network:
    """The network of a topology file of HPCC's form."""
    lines = path.read_text(encoding="utf-8").split("\n")
    nodes, switches, *_, count = map(int, lines[0].split())  # PowerTCP's has the ToRs between
    links = []
    for line in lines[2 : 2 + count]:
        a, b, rate, delay, _ = line.split()
        bps = float(rate.removesuffix("Gbps")) * (1e9 if "Gbps" in rate else 1)
        links.append(Link((int(a), int(b)), bps / 1e9, float(delay.removesuffix("us")) * 1000))
    return Network(nodes - switches, links)


def network(name: str, scenarios: dict[str, Any], formats: Path) -> Network:
    """The network of a recorded scenario."""
    text = str(scenarios[name]["links"])
    while found := re.fullmatch(r"as (\S+)", text):
        text = str(scenarios[found[1]]["links"])
    if "topology-256" in text:
        return of_file(formats / "hpcc" / "powertcp-topology-256.txt")
    if "at 25 Gbps, switch" in text:
        return star([100, 25])
    if text.startswith("star"):
        switch = re.search(r"switch (\d+)", text)
        return star([100.0] * int(switch[1])) if switch else star([])
    if "spines" in text:
        return leaf_spine()
    if middle := re.search(r"one link (\d+)-(\d+)", text):
        return dumbbell(int(middle[1]) // 2)
    raise UsageError(f"scenario.{name}.links: {text!r} is unknown; expected one of the recorded")

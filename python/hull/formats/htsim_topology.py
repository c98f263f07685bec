"""Topologies of htsim (`.topo`): fat trees of three tiers and leaf-spines of two, tier by tier.

The link from tier t down to tier t - 1 has the speed and delay of tier t, in both directions; tier
0 is the ToR, whose downlinks go to hosts.
"""

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from hull.formats.numbered_lines import Lines

_GLOBAL = ("nodes", "tiers", "podsize")
_NEEDED = ("downlink_speed_gbps", "downlink_latency_ns", "radix_down")
_WHOLE = ("radix_down", "radix_up", "queue_up", "queue_down", "oversubscribed", "bundle")
_TIER = (*_NEEDED, "switch_latency_ns", *_WHOLE[1:])


@dataclass(frozen=True)
class Tier:
    """A tier of switches; radixes count links, `bundle` of them to each switch below."""

    downlink_speed_gbps: float
    downlink_latency_ns: float
    radix_down: int
    radix_up: int
    switch_latency_ns: float
    oversubscribed: int
    bundle: int
    queue_up: int | None
    queue_down: int | None


@dataclass(frozen=True)
class Topology:
    """The content of a file, and derived quantities."""

    nodes: int
    podsize: int
    tiers: tuple[Tier, ...]

    @property
    def pods(self) -> int:
        """Pods; 1 with two tiers."""
        return self.nodes // self.podsize

    @property
    def tors_per_pod(self) -> int:
        """ToRs in a pod; all leaves with two tiers."""
        return self.podsize // self.tiers[0].radix_down

    @property
    def uplinked(self) -> int:
        """Switches above the ToRs of a pod: aggregation switches, or spines with two tiers."""
        return self.tiers[0].radix_up // self.tiers[1].bundle

    @property
    def cores(self) -> int:
        """Core switches; 0 with two tiers."""
        if len(self.tiers) < 3:
            return 0
        return self.tiers[1].radix_up * self.uplinked // self.tiers[2].bundle

    @property
    def diameter(self) -> int:
        """Links between the hosts that are farthest apart."""
        return 2 * len(self.tiers)


def read(path: Path) -> Topology:
    """Reads a file; UsageError names the line that cannot be read."""
    lines = Lines(path)
    header: dict[str, int] = {}
    tiers: dict[int, dict[str, float]] = {}
    places: dict[tuple[int, str], int] = {}
    tier = -1
    for words in lines.words():
        key = words[0].lower()
        value = words[1] if len(words) > 1 and not words[1].startswith("#") else ""
        rest = words[2:]
        if not value or (rest and not rest[0].startswith("#")):
            lines.refuse(" ".join(words), "`KEY VALUE`")
        if key == "tier":
            tier = lines.whole("Tier", value, 0, 2)
            if tier in tiers:
                lines.refuse(f"Tier {tier}", "each tier once")
            tiers[tier] = {}
            places[tier, "tier"] = lines.number
        elif tier < 0:
            if key not in _GLOBAL or key in header:
                lines.refuse(words[0], "Nodes, Tiers and Podsize, once each, and then `Tier 0`")
            most = 3 if key == "tiers" else 2**31 - 1
            header[key] = lines.whole(words[0], value, 2 if key == "tiers" else 1, most)
            places[-1, key] = lines.number
        else:
            if key not in _TIER:
                lines.refuse(words[0], f"one of {', '.join(name.capitalize() for name in _TIER)}")
            if key in tiers[tier]:
                lines.refuse(words[0], f"{words[0]} once in tier {tier}")
            places[tier, key] = lines.number
            if key in _WHOLE:
                tiers[tier][key] = lines.whole(words[0], value, 1, 2**31 - 1)
            else:
                above = key == "downlink_speed_gbps"
                tiers[tier][key] = lines.number_of(words[0], value, above_zero=above)
    for key in _GLOBAL:
        if key not in header:
            lines.refuse("the header", f"a line `{key.capitalize()} NUMBER` before `Tier 0`", 1)
    count = header["tiers"]
    for number in range(max(count, len(tiers))):
        if number not in tiers:
            lines.refuse(f"Tiers {count}", f"a section `Tier {number}`", places[-1, "tiers"])
        if number >= count:
            lines.refuse(f"Tier {number}", f"{count} tiers, from 0", places[number, "tier"])
        top = number == count - 1
        needed = _NEEDED if top else (*_NEEDED, "radix_up")
        for key in needed:
            if key not in tiers[number]:
                expected = f"a line `{key.capitalize()} NUMBER` in it"
                lines.refuse(f"Tier {number}", expected, places[number, "tier"])
        if top and "radix_up" in tiers[number]:
            found = f"Radix_Up of tier {number}, the top one,"
            lines.refuse(found, "no such key", places[number, "radix_up"])
    topology = Topology(
        header["nodes"], header["podsize"], tuple(_tier(tiers[i]) for i in range(count))
    )
    _check(lines, topology, places)
    return topology


def _tier(given: dict[str, float]) -> Tier:
    def whole(key: str, default: int) -> int:
        return int(given.get(key, default))

    return Tier(
        downlink_speed_gbps=given["downlink_speed_gbps"],
        downlink_latency_ns=given["downlink_latency_ns"],
        radix_down=whole("radix_down", 0),
        radix_up=whole("radix_up", 0),
        switch_latency_ns=given.get("switch_latency_ns", 0.0),
        oversubscribed=whole("oversubscribed", 1),
        bundle=whole("bundle", 1),
        queue_up=int(given["queue_up"]) if "queue_up" in given else None,
        queue_down=int(given["queue_down"]) if "queue_down" in given else None,
    )


def _check(lines: Lines, topology: Topology, places: dict[tuple[int, str], int]) -> None:
    """The numbers of links fit each other."""

    def need(holds: bool, found: str, expected: str, place: tuple[int, str]) -> None:
        if not holds:
            lines.refuse(found, expected, places.get(place, 1))

    nodes, podsize, tiers = topology.nodes, topology.podsize, topology.tiers
    tor, above = tiers[0], tiers[1]
    down = f"Radix_Down {tor.radix_down}"
    if len(tiers) == 2:
        same = f"{nodes}, as Nodes, with two tiers"
        need(podsize == nodes, f"Podsize {podsize}", same, (-1, "podsize"))
    need(nodes % podsize == 0, f"Podsize {podsize}", f"a divisor of {nodes}", (-1, "podsize"))
    need(podsize % tor.radix_down == 0, down, f"a divisor of {podsize}", (0, "radix_down"))
    need(
        tor.radix_up % above.bundle == 0,
        f"Radix_Up {tor.radix_up}",
        f"a multiple of the bundle of tier 1, {above.bundle}",
        (0, "radix_up"),
    )
    links = topology.tors_per_pod * above.bundle
    found = f"Radix_Down {above.radix_down}"
    need(above.radix_down == links, found, f"{links}, a bundle to each ToR", (1, "radix_down"))
    ratio = Fraction(tor.radix_down, tor.radix_up)
    speeds = Fraction(tor.downlink_speed_gbps) / Fraction(above.downlink_speed_gbps)
    need(
        tor.oversubscribed in (ratio, ratio * speeds),
        f"Oversubscribed {tor.oversubscribed}",
        f"{ratio}, Radix_Down over Radix_Up",
        (0, "oversubscribed"),
    )
    if len(tiers) < 3:
        return
    core = tiers[2]
    need(
        above.radix_up % core.bundle == 0,
        f"Radix_Up {above.radix_up}",
        f"a multiple of the bundle of tier 2, {core.bundle}",
        (1, "radix_up"),
    )
    links = topology.pods * core.bundle
    found = f"Radix_Down {core.radix_down}"
    need(core.radix_down == links, found, f"{links}, a bundle to each pod", (2, "radix_down"))


def scenario_topology(topology: Topology) -> dict[str, Any]:
    """The `[topology]` of a scenario with this network: `leaf_spine` or `tree`, or a graph where
    links are bundled. Host i has the number i; `host` and `switch` describe the links of tier 0."""
    wires = [
        {"rate": f"{tier.downlink_speed_gbps:g}Gbps", "delay": f"{tier.downlink_latency_ns:g}ns"}
        for tier in topology.tiers
    ]
    bundles = [tier.bundle for tier in topology.tiers]
    if any(bundle > 1 for bundle in bundles):
        return {"graph": {"text": _graph(topology, wires)}}
    up = {"uplink_rate": wires[1]["rate"], "uplink_delay": wires[1]["delay"]}
    if len(topology.tiers) == 2:
        shape = {
            "leaves": topology.tors_per_pod,
            "spines": topology.uplinked,
            "hosts_per_leaf": topology.tiers[0].radix_down,
        }
        return {"leaf_spine": {**shape, **up}}
    shape = {
        "pods": topology.pods,
        "tors_per_pod": topology.tors_per_pod,
        "hosts_per_tor": topology.tiers[0].radix_down,
        "aggs_per_pod": topology.uplinked,
        "cores": topology.cores,
    }
    core = {"core_rate": wires[2]["rate"], "core_delay": wires[2]["delay"]}
    return {"tree": {**shape, **up, **core}}


def _graph(topology: Topology, wires: list[dict[str, str]]) -> str:
    """The network in node-link JSON, with the names of `leaf_spine` and `tree`."""
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    two = len(topology.tiers) == 2

    def switch(name: str, tier: int) -> str:
        nodes.append({"id": name, "kind": "switch", "tier": tier})
        return name

    def join(below: str, upper: str, tier: int) -> None:
        links = topology.tiers[tier].bundle
        edges.extend(
            {"source": below, "target": upper, "key": i, **wires[tier]} for i in range(links)
        )

    cores = [switch(f"core{i}", 3) for i in range(topology.cores)]
    group = topology.cores // topology.uplinked if cores else 0
    host = 0
    for pod in range(topology.pods):
        names = [f"spine{i}" if two else f"agg{pod}_{i}" for i in range(topology.uplinked)]
        uppers = [switch(name, 2) for name in names]
        for i, upper in enumerate(uppers):
            for core in cores[i * group : (i + 1) * group]:
                join(upper, core, 2)
        for i in range(topology.tors_per_pod):
            tor = switch(f"leaf{i}" if two else f"tor{pod}_{i}", 1)
            for upper in uppers:
                join(tor, upper, 1)
            for _ in range(topology.tiers[0].radix_down):
                nodes.append({"id": f"h{host}", "kind": "host"})
                edges.append({"source": f"h{host}", "target": tor, "key": 0, **wires[0]})
                host += 1
    graph = {"directed": False, "multigraph": True, "nodes": nodes, "edges": edges}
    return json.dumps(graph)

"""A rough estimate of the processor time of a run: its packet-hops over a usual speed.

A packet-hop is one packet on one link (`packet_hops` in summary.json). What the hosts offer is
bounded by the rates of their links. Losses, idle times and what a congestion control leaves unused
are not known before the run.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hull import _core
from hull.warnings.workload import MOST_HOSTS, chosen_hosts, number_of_hosts

HOPS_PER_S = 10e6
"""Packet-hops per second of processor time: docs/speed.md has 10 to 44 million, by scenario."""
_HOPS = {"star": 2.0, "dumbbell": 3.0, "multihop": 3.0, "leaf_spine": 4.0, "tree": 6.0}
_HOPS |= {"fat_tree": 6.0, "two_datacentres": 7.0, "rail_optimized": 4.0, "dual_tor": 4.0}
_OF_GRAPHS = 4.0
"""Links of a usual path."""
_MEANS = {"websearch": 1.6e6, "datamining": 7.4e6}
"""Mean sizes of shipped distributions, bytes."""
_SLOWER = 2.0
"""Completion time over that at the full rate."""
_MOST_BYTES = 20_000_000
"""Of a flow list that is read."""

Hosts = Sequence[Mapping[str, Any]]
Network = Callable[[], Mapping[str, Any]]


def rough_time(seconds: float) -> str:
    """A rough time for people."""
    for unit, factor in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * factor:
            return f"{seconds / factor:.2g} {unit}"
    return f"{max(seconds, 1):.2g} s"


def processor_time_s(scenario: Mapping[str, Any], network: Network) -> float | None:
    """Seconds of a run; None for traffic that is not estimated, and for large networks."""
    if number_of_hosts(scenario["topology"]) > MOST_HOSTS:
        return None
    hops = packet_hops(scenario, network)
    return None if hops is None else hops / HOPS_PER_S


def packet_hops(scenario: Mapping[str, Any], network: Network) -> float | None:
    """Packet-hops of a run; None for traffic that is not estimated."""
    run, topology, transport = (scenario[key] for key in ("run", "topology", "transport"))
    hosts: Hosts = network()["hosts"]
    lasts_s = sum(_core.quantity("time", run[key]) for key in ("warmup", "duration"))
    workload = {
        kind: of for kind, of in scenario["workload"].items() if kind != "high_priority_below"
    }
    lasts_s = min(lasts_s, _ends_s(workload, hosts))
    offered = 0.0
    for kind, of in workload.items():
        found = _OFFERED[kind](of, hosts, lasts_s) if kind in _OFFERED else None
        if found is None:
            return None
        offered += found
    mtu, header = (_core.quantity("size", transport[key]) for key in ("mtu", "header"))
    carried = min(offered, _carried_most(scenario, hosts) * lasts_s / 8)
    acks = 1 / transport["ack_every"]
    shape = next((name for name in _HOPS if name in topology), None)
    hops = _OF_GRAPHS if shape is None or "links" in topology else _HOPS[shape]
    return float(carried / (mtu - header) * (1 + acks) * hops)


def _ends_s(workload: Mapping[str, Any], hosts: Hosts) -> float:
    """Time after which the workloads with a fixed number of flows are done, if the run ends with
    them: long-lived flows do not prolong it.
    """
    ends = [0.0]
    for kind, of in workload.items():
        if kind == "incast" and "queries" in of:
            rate_bps = float(hosts[0]["in_bps"])
            bits = 8 * of["queries"] * _core.quantity("size", of["total"])
        elif kind in ("permutation", "all_to_all"):
            rate_bps = sum(float(host["out_bps"]) for host in hosts)
            bits = 8 * (_OFFERED[kind](of, hosts, 0.0) or 0.0)
        elif kind == "long_lived":
            continue
        else:
            return float("inf")
        started_s = _core.quantity("time", of.get("start", "0s"))
        ends.append(started_s + bits / rate_bps * _SLOWER)
    return max(ends) if len(ends) > 1 else float("inf")


def _carried_most(scenario: Mapping[str, Any], hosts: Hosts) -> float:
    """Rate that the network may carry, bit/s."""
    dumbbell = scenario["topology"].get("dumbbell")
    if dumbbell is None:
        return sum(float(host["out_bps"]) for host in hosts)
    return _core.quantity("rate", dumbbell.get("bottleneck_rate", scenario["switch"]["rate"]))


# What each kind offers: payload bytes of a run with these hosts and this length.


def _requests(of: Mapping[str, Any], hosts: Hosts, lasts_s: float) -> float:
    client = min(chosen_hosts(of.get("client", 0), hosts), default=0)
    return _core.quantity("share", of["load"]) * float(hosts[client]["in_bps"]) * lasts_s / 8


def _flows(of: Any, hosts: Hosts, lasts_s: float) -> float | None:
    if isinstance(of, str):
        return _listed(Path(of))
    if "load" not in of:
        return None
    sources = chosen_hosts(of.get("sources"), hosts)
    rate_bps = sum(float(hosts[host]["out_bps"]) for host in sources)
    offered = _core.quantity("share", of["load"]) * rate_bps * lasts_s / 8
    if "count" not in of:
        return offered
    sizes = of["sizes"]
    mean = sizes.get("fixed", sizes.get("pareto", {}).get("mean"))
    size = _MEANS.get(sizes.get("csv", "")) if mean is None else _core.quantity("size", mean)
    return None if size is None else min(offered, of["count"] * size)


def _listed(path: Path) -> float | None:
    """Bytes of a flow list in CSV."""
    try:
        state = path.stat()
        return _bytes_of(path.absolute(), state.st_size, state.st_mtime_ns)
    except OSError:
        return None


@cache
def _bytes_of(path: Path, size: int, _changed_ns: int) -> float | None:
    """The same of a file in this state."""
    if size > _MOST_BYTES:
        return None
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(line for line in file if not line.startswith("#"))
            return sum(float(row["bytes"]) for row in rows)
    except (OSError, ValueError, KeyError, TypeError):
        return None  # Parquet, or one that is rejected


def _long_lived(of: Mapping[str, Any], hosts: Hosts, lasts_s: float) -> float:
    left = {number: float(host["in_bps"]) for number, host in enumerate(hosts)}
    total = 0.0
    for flows in of["flows"]:
        sources, destinations = (chosen_hosts(flows[key], hosts) for key in ("src", "dst"))
        started_s = _core.quantity("time", flows.get("start", "0s"))
        ends_s = _core.quantity("time", flows["stop"]) if "stop" in flows else lasts_s
        rate_bps = min(
            sum(float(hosts[host]["out_bps"]) for host in sources),
            sum(left.get(host, 0.0) for host in destinations),
        )
        offered = rate_bps * max(min(ends_s, lasts_s) - started_s, 0.0) / 8
        if "size" in flows:
            offered = min(offered, _core.quantity("size", flows["size"]) * len(sources))
        else:
            left |= dict.fromkeys(destinations, 0.0)
        total += offered
    return total


def _bulk(of: Mapping[str, Any], hosts: Hosts, lasts_s: float) -> float:
    most = float(hosts[0]["in_bps"]) * lasts_s / 8
    return min(most, of["flows"] * _core.quantity("size", of["size"])) if "size" in of else most


def _incast(of: Mapping[str, Any], hosts: Hosts, lasts_s: float) -> float:
    most = max(float(host["in_bps"]) for host in hosts) * lasts_s / 8
    if of.get("all_to_all"):
        most *= len(hosts)
    each = _core.quantity("size", of["total"]) * (len(hosts) if of.get("all_to_all") else 1)
    return min(most, of["queries"] * each) if "queries" in of else most


def _partition_aggregate(of: Mapping[str, Any], hosts: Hosts, lasts_s: float) -> float:
    queries = lasts_s / _core.quantity("time", of["interval"])
    servers = chosen_hosts(of.get("servers"), hosts)
    sizes = (_core.quantity("size", of[key]) for key in ("request_size", "response_size"))
    return queries * len(servers) * sum(sizes)


def _aggregation_tree(of: Mapping[str, Any], hosts: Hosts, lasts_s: float) -> float:
    queries = lasts_s / _core.quantity("time", of["interval"])
    each, rounds = 0.0, 1
    for level in of["levels"]:
        rounds *= level["iterations"]
        sizes = (_core.quantity("size", level[key]) for key in ("request_size", "response_size"))
        each += rounds * len(chosen_hosts(level["hosts"], hosts)) * sum(sizes)
    return min(queries, float(of.get("queries", queries))) * each


def _each_to_all(of: Mapping[str, Any], hosts: Hosts, _lasts_s: float) -> float:
    number = len(chosen_hosts(of.get("hosts"), hosts))
    return _core.quantity("size", of["size"]) * number * (number - 1)


def _permutation(of: Mapping[str, Any], hosts: Hosts, _lasts_s: float) -> float:
    return _core.quantity("size", of["size"]) * len(hosts)


_OFFERED: dict[str, Callable[[Any, Hosts, float], float | None]] = {
    "requests": _requests,
    "flows": _flows,
    "long_lived": _long_lived,
    "bulk": _bulk,
    "incast": _incast,
    "partition_aggregate": _partition_aggregate,
    "aggregation_tree": _aggregation_tree,
    "all_to_all": _each_to_all,
    "permutation": _permutation,
}

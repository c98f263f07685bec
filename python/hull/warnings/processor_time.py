"""A rough estimate of the processor time of a run: its packet-hops over a usual speed.

A packet-hop is one packet on one link (`packet_hops` in summary.json). What the hosts offer is
bounded by the rates of their links. Losses, idle times and what a congestion control leaves unused
are not known before the run.
"""

from collections.abc import Mapping
from typing import Any

from hull import _core
from hull.warnings.traffic import KINDS, Hosts, Network
from hull.warnings.workload import MOST_HOSTS, number_of_hosts

HOPS_PER_S = 10e6
"""Packet-hops per second of processor time: docs/speed.md has 10 to 44 million, by scenario."""
HOPS = {"star": 2.0, "dumbbell": 3.0, "multihop": 3.0, "leaf_spine": 4.0, "tree": 6.0}
HOPS |= {"fat_tree": 6.0, "two_datacentres": 7.0, "rail_optimized": 4.0, "dual_tor": 4.0}
_OF_GRAPHS = 4.0
"""Links of a usual path."""
_SLOWER = 2.0
"""Completion time over that at the full rate."""


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
        found = KINDS[kind].offered(of, hosts, lasts_s)
        if found is None:
            return None
        offered += found
    mtu, header = (_core.quantity("size", transport[key]) for key in ("mtu", "header"))
    carried = min(offered, _carried_most(scenario, hosts) * lasts_s / 8)
    acks = 1 / transport["ack_every"]
    shape = next((name for name in HOPS if name in topology), None)
    hops = _OF_GRAPHS if shape is None or "links" in topology else HOPS[shape]
    return float(carried / (mtu - header) * (1 + acks) * hops)


def _ends_s(workload: Mapping[str, Any], hosts: Hosts) -> float:
    """Time after which the workloads with a fixed number of flows are done, if the run ends with
    them: long-lived flows do not prolong it.
    """
    ends = [0.0]
    for kind, of in workload.items():
        full_rate_s = KINDS[kind].takes_s
        if full_rate_s is None:
            continue
        takes_s = full_rate_s(of, hosts)
        if takes_s == float("inf"):
            return takes_s
        started_s = _core.quantity("time", of.get("start", "0s"))
        ends.append(started_s + takes_s * _SLOWER)
    return max(ends) if len(ends) > 1 else float("inf")


def _carried_most(scenario: Mapping[str, Any], hosts: Hosts) -> float:
    """Rate that the network may carry, bit/s."""
    dumbbell = scenario["topology"].get("dumbbell")
    if dumbbell is None:
        return sum(float(host["out_bps"]) for host in hosts)
    return _core.quantity("rate", dumbbell.get("bottleneck_rate", scenario["switch"]["rate"]))

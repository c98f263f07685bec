"""Warnings that follow from the workload of a resolved scenario: retransmission timeouts far above
the round trip, and loads above the capacity of a tier.

Each function returns sentences that begin with a key.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from math import prod
from typing import Any

from hull import _core
from hull.warnings.controls import matters
from hull.warnings.marking import RoundTrip, Scenario, longest_queue, mtu_of, rate_text, time_text
from hull.warnings.random_loss import loses_at_random
from hull.warnings.traffic import KINDS, Network, chosen_hosts

LONG_TIMEOUT = 100
"""Ratio of the minimum RTO to the round trip from which on a timeout decides an incast."""
MORE = 1.001
"""Factor between two overloads that are not equal."""
MOST_HOSTS = 20_000
"""Hosts of a network that is read for its loads: more take seconds."""
_OF_PACKETS = ("mtu", "header", "framing")


def workload_warnings(scenario: Scenario, network: Network, round_trip: RoundTrip) -> Iterator[str]:
    """The sentences of all kinds."""
    return chain(long_timeouts(scenario, network, round_trip), overloads(scenario, network))


def long_timeouts(scenario: Scenario, network: Network, round_trip: RoundTrip) -> Iterator[str]:
    """A minimum RTO far above the round trip, where many senders may fill a buffer at once."""
    switch = scenario["switch"]
    for kind, traffic in KINDS.items():
        of = scenario["workload"].get(kind)
        if of is None or traffic.burst is None or "trimming" in switch:
            continue
        key, transport = _transport_of(scenario, of)
        if not matters("min_rto", transport):
            continue
        room, limit = longest_queue(switch, "switch.buffer", switch["buffer"], mtu_of(scenario))
        if not loses_at_random(scenario) and traffic.burst(of, network) <= room:
            continue
        min_rto, round_trip_s = transport["min_rto"], round_trip()
        ratio = _core.quantity("time", min_rto) / round_trip_s
        if ratio >= LONG_TIMEOUT:
            yield (
                f"{key}.min_rto: {min_rto} is {ratio:.0f} times the round trip of "
                f"{time_text(round_trip_s)}; after drops ({limit}), timeouts decide how long "
                f"workload.{kind} takes"
            )


def overloads(scenario: Scenario, network: Network) -> Iterator[str]:
    """A load of the sources' links that another tier of the network cannot carry."""
    flows = scenario["workload"].get("flows")
    if not isinstance(flows, Mapping) or "load" not in flows:
        return
    if number_of_hosts(scenario["topology"]) > MOST_HOSTS:
        return
    hosts = network()["hosts"]
    ends = (flows.get(key) for key in ("sources", "destinations"))
    sources, destinations = (chosen_hosts(end, hosts) for end in ends)
    if not sources or not destinations:
        return
    transport, load = scenario["transport"], _core.quantity("share", flows["load"])
    mtu, header, framing = (_core.quantity("size", transport[k]) for k in _OF_PACKETS)
    on_wire = load * (mtu + framing) / (mtu - header)
    # Each source's rate to each destination.
    to_each = {
        host: on_wire * hosts[host]["out_bps"] / max(len(destinations) - (host in destinations), 1)
        for host in sources
    }
    total = sum(to_each.values())
    worst, place, worst_bps = 1.0, "", 0.0
    for name, above, members, rates_bps in _tiers(scenario, network()):
        inside = sum(to_each[host] for host in members & sources)
        receivers = len(members & destinations)
        # Flows between two hosts of a group do not use these links.
        offered = (inside * (len(destinations) - receivers), (total - inside) * receivers)
        ways = (f"from {name} to {above}", f"from {above} to {name}")
        for offered_bps, rate_bps, way in zip(offered, rates_bps, ways, strict=True):
            if rate_bps and offered_bps > worst * rate_bps * MORE:
                worst, place, worst_bps = offered_bps / rate_bps, way, rate_bps
    if place:
        yield (
            f"workload.flows.load: {flows['load']} offers the links {place} {worst:.3g} times "
            f"their rate, {rate_text(worst_bps)}, headers included; they carry "
            f"{100 * load / worst:.3g}%"
        )


def number_of_hosts(topology: Mapping[str, Any]) -> int:
    """Number of hosts of the topologies that can have many; 0 for others."""
    numbers = (number(topology[name]) for name, number in HOSTS_OF.items() if name in topology)
    return next(numbers, 0)


def _product(*factors: str) -> Callable[[Mapping[str, Any]], int]:
    return lambda of: prod(of[factor] for factor in factors)


def _few(_of: Mapping[str, Any]) -> int:
    return 0


HOSTS_OF: dict[str, Callable[[Mapping[str, Any]], int]] = {
    "star": _few,
    "dumbbell": _product("pairs"),
    "multihop": _few,
    "leaf_spine": _product("leaves", "hosts_per_leaf"),
    "tree": _product("pods", "tors_per_pod", "hosts_per_tor"),
    "fat_tree": lambda of: int(of["k"] ** 3 // 4),
    "two_datacentres": lambda of: int(of["k"] ** 3 // 2),
    "rail_optimized": _product("groups", "hosts_per_group"),
    "dual_tor": _product("racks", "hosts_per_rack"),
}
"""Number of hosts of each topology that is not a graph; 0 for one that is always read."""


def _tiers(
    scenario: Scenario, network: Mapping[str, Any]
) -> Iterator[tuple[str, str, set[int], tuple[float, float]]]:
    """Groups of hosts, what they are connected to, and the total rates of these links both ways."""
    hosts, racks = network["hosts"], dict[str, set[int]]()
    for number, host in enumerate(hosts):
        yield host["name"], host["switch"], {number}, (host["out_bps"], host["in_bps"])
        racks.setdefault(host["switch"], set()).add(number)
    if network["nics"] > len(hosts):
        return  # the rule that chooses NICs decides what each switch carries
    for name, members in racks.items():
        uplinks = network["uplinks"][name]
        yield name, "other switches", members, (uplinks["out_bps"], uplinks["in_bps"])
    tree = scenario["topology"].get("tree")
    if tree is not None and "links" not in scenario["topology"]:
        rate = _core.quantity("rate", tree.get("core_rate", scenario["switch"]["rate"]))
        size = len(hosts) // tree["pods"]
        for pod in range(tree["pods"]):
            members = set(range(pod * size, (pod + 1) * size))
            yield f"pod {pod}", "the cores", members, (tree["cores"] * rate, tree["cores"] * rate)


def _transport_of(scenario: Scenario, workload: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Key and content of the transport of a workload's flows."""
    name = workload.get("transport")
    if name is None:
        return "transport", scenario["transport"]
    own = scenario["transports"][name]
    key = f"transports.{name}" if "min_rto" in own else "transport"
    return key, {**scenario["transport"], **own}

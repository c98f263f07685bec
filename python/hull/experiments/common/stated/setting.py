"""Settings of a resolved scenario: its keys by path, and quantities that follow from several keys.

Round trips are for one full packet and its ACK in an idle network, in us; host delays are means.
"""

from collections.abc import Callable
from typing import Any

from hull import _core

_ACK_BYTES = 40
Scenario = dict[str, Any]


def setting(scenario: Scenario, key: str) -> str:
    """The value of a derived quantity or of a key such as "switch.marking.threshold"; "none" if
    absent. Numbers in a path are indices into a list.
    """
    if key in DERIVED:
        return DERIVED[key](scenario)
    found: Any = scenario
    for name in key.split("."):
        if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        elif isinstance(found, dict) and name in found:
            found = found[name]
        else:
            return "none"
    if isinstance(found, dict):
        return "present"
    return str(found).lower() if isinstance(found, bool) else str(found)


def _round_trip(scenario: Scenario) -> str:
    host, switch, topology = (scenario[name] for name in ("host", "switch", "topology"))
    rates = [_rate(host["rate"]), _rate(switch["rate"])]
    if "star" in topology:
        links = _time(host["delay"]) + _time(switch["delay"])
        propagation = 2 * links
    elif "dumbbell" in topology:
        rates.insert(1, _rate(topology["dumbbell"].get("bottleneck_rate", switch["rate"])))
        propagation = _time(topology["dumbbell"]["rtts"][-1])
    else:  # from pod to pod: up over ToR and aggregation to a core switch, and down again
        rates += 4 * [rates[1]]
        propagation = 2 * (_time(host["delay"]) + 5 * _time(switch["delay"]))
    bits = 8 * (_size(scenario["transport"]["mtu"]) + _ACK_BYTES)
    transmission = sum(bits / rate for rate in rates)
    jitter = host.get("stack_jitter", {})
    stack = _time(host.get("stack_delay", "0s")) + sum(
        _time(jitter.get(name, "0s")) for name in ("offset", "exponential")
    )
    return f"{1e6 * (propagation + transmission + 4 * stack):.6g}us"


def _first_round_trip(scenario: Scenario) -> str:
    """The round trip of a dumbbell's first pair, if pairs differ."""
    topology = {"dumbbell": {"rtts": scenario["topology"]["dumbbell"]["rtts"][:1]}}
    return _round_trip({**scenario, "topology": topology})


def _hosts(scenario: Scenario) -> str:
    topology = scenario["topology"]
    if "star" in topology:
        return str(topology["star"]["hosts"])
    if "tree" in topology:
        tree = topology["tree"]
        return str(tree["pods"] * tree["tors_per_pod"] * tree["hosts_per_tor"])
    return str(2 * topology["dumbbell"]["pairs"])


def _switches(scenario: Scenario) -> str:
    tree = scenario["topology"]["tree"]
    return str(tree["pods"] * (tree["tors_per_pod"] + tree["aggs_per_pod"]) + tree["cores"])


def _oversubscription(scenario: Scenario) -> str:
    tree = scenario["topology"]["tree"]
    return str(tree["hosts_per_tor"] / tree["aggs_per_pod"])


def _flows(scenario: Scenario) -> str:
    entries = scenario["workload"]["long_lived"]["flows"]
    return str(sum(_count(entry["src"]) for entry in entries))


def _servers(scenario: Scenario) -> str:
    """Servers that answer one incast query."""
    incast = scenario["workload"]["incast"]
    if "fan_in" in incast:
        return str(incast["fan_in"])
    if "servers" in incast:
        return str(_count(incast["servers"]))
    return str(int(_hosts(scenario)) - 1)


def _senders_to_r1(scenario: Scenario) -> str:
    multihop = scenario["topology"]["multihop"]
    return str(multihop["s1"] + multihop["s3"])


def _rack_servers(scenario: Scenario) -> str:
    """Servers of the production benchmark beside the one outside of the rack."""
    return str(scenario["workload"]["production"]["outside"])


def _query_responses(scenario: Scenario) -> str:
    """Responses to one query of the production benchmark, from the rack's servers."""
    return str(int(_rack_servers(scenario)) - 1)


def _query_total(scenario: Scenario) -> str:
    """Total size of the responses to one query of the production benchmark."""
    production = scenario["workload"]["production"]
    if "response_total" in production:
        return str(production["response_total"])
    return f"{int(_query_responses(scenario)) * _size(production['response_size']):g}B"


def _queries(scenario: Scenario) -> str:
    """Queries of all seeds together."""
    return str(scenario["workload"]["incast"]["queries"] * scenario["run"]["seeds"])


def _share_of_memory(scenario: Scenario) -> str:
    """The part of a shared memory that one busy port may fill, KB: alpha / (1 + alpha)."""
    memory = scenario["switch"]["memory"]
    alpha = _core.quantity("share", memory["alpha"])
    return f"{_memory_bytes(memory) * alpha / (1 + alpha) / 1e3:.0f}KB"


def _memory(scenario: Scenario) -> str:
    return f"{_memory_bytes(scenario['switch']['memory']) / 1e6:g}MB"


def _background(scenario: Scenario) -> str:
    """Load of the requests on the client's link."""
    load = _core.quantity("share", scenario["workload"]["requests"]["load"])
    return f"{load * _rate(scenario['switch']['rate']) / 1e6:g}Mbps"


def _service_mean(scenario: Scenario) -> str:
    service = scenario["workload"]["partition_aggregate"]["service"]
    gamma = service.get("gamma")
    mean = gamma["shape"] * _time(gamma["scale"]) if gamma else 0.0
    return f"{1e6 * (mean + _time(service['offset'])):.6g}us"


def _occupancy(scenario: Scenario) -> str:
    """Fraction of time that a server works on queries."""
    interval = _time(scenario["workload"]["partition_aggregate"]["interval"])
    return f"{100 * _time(_service_mean(scenario)) / interval:.4g}%"


def _response_traffic(scenario: Scenario) -> str:
    """Payload of all responses to queries on the client's link."""
    workload = scenario["workload"]["partition_aggregate"]
    bits = 8 * _size(workload["response_size"]) * int(_workers(scenario))
    return f"{bits / _time(workload['interval']) / 1e6:.4g}Mbps"


def _expected_queries(scenario: Scenario) -> str:
    """Mean number of queries per run, for Poisson arrivals."""
    interval = _time(scenario["workload"]["partition_aggregate"]["interval"])
    return f"{_time(scenario['run']['duration']) / interval:.0f}"


def _small_share(scenario: Scenario) -> str:
    """Share of the requests for less than 10 KB."""
    classes = scenario["workload"]["requests"]["classes"]
    shares = [_core.quantity("share", c["share"]) for c in classes if _size(c["size"]) < 10_000]
    return f"{100 * sum(shares):g}%"


def _drain_rate(scenario: Scenario) -> str:
    """Drain rate of a phantom queue, from its fraction of the link's rate."""
    share = _core.quantity("share", scenario["switch"]["phantom_queue"]["drain"])
    return f"{share * _rate(scenario['switch']['rate']) / 1e9:g}Gbps"


def _bandwidth_delay_packets(scenario: Scenario) -> float:
    seconds = _time(_round_trip(scenario))
    return seconds * _rate(scenario["switch"]["rate"]) / 8 / _size(scenario["transport"]["mtu"])


def _threshold_packets(scenario: Scenario) -> float:
    return _size(scenario["switch"]["marking"]["threshold"]) / _size(scenario["transport"]["mtu"])


def _average_window(scenario: Scenario) -> str:
    """(C d + K) / N, packets (thesis 3.2.1)."""
    packets = _bandwidth_delay_packets(scenario) + _threshold_packets(scenario)
    return f"{packets / int(_flows(scenario)):.4g}"


def _psi(scenario: Scenario) -> str:
    """K / (C d) (thesis 3.2.3)."""
    return f"{_threshold_packets(scenario) / _bandwidth_delay_packets(scenario):.4g}"


def _workers(scenario: Scenario) -> str:
    """Servers of a star with one client."""
    return str(int(_hosts(scenario)) - 1)


def _payload(scenario: Scenario) -> str:
    transport = scenario["transport"]
    return f"{_size(transport['mtu']) - _size(transport['header']):g}B"


DERIVED: dict[str, Callable[[Scenario], str]] = {
    "round_trip": _round_trip,
    "hosts": _hosts,
    "switches": _switches,
    "oversubscription": _oversubscription,
    "flows": _flows,
    "servers": _servers,
    "query_responses": _query_responses,
    "queries": _queries,
    "memory": _memory,
    "share_of_memory": _share_of_memory,
    "background": _background,
    "service_mean": _service_mean,
    "workers": _workers,
    "payload": _payload,
    "first_round_trip": _first_round_trip,
    "senders_to_r1": _senders_to_r1,
    "rack_servers": _rack_servers,
    "query_total": _query_total,
    "occupancy": _occupancy,
    "response_traffic": _response_traffic,
    "expected_queries": _expected_queries,
    "small_share": _small_share,
    "drain_rate": _drain_rate,
    "average_window": _average_window,
    "psi": _psi,
}


def _memory_bytes(memory: dict[str, Any]) -> float:
    sizes = {"triumph": 4e6, "scorpion": 4e6, "cat4948": 16e6}
    return _size(memory["size"]) if "size" in memory else sizes[memory["preset"]]


def _count(hosts: Any) -> int:
    """Number of hosts in "2-5", 7 or a list of these."""
    if isinstance(hosts, list):
        return sum(map(_count, hosts))
    first, dash, last = str(hosts).partition("-")
    return int(last) - int(first) + 1 if dash else 1


def _rate(text: str) -> float:
    return _core.quantity("rate", text)


def _time(text: str) -> float:
    return _core.quantity("time", text)


def _size(text: str) -> float:
    return _core.quantity("size", text)

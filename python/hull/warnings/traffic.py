"""What each table of `[workload]` asks of a network: the bytes that it offers, the time that they
take, and the burst at one host. A new table needs an entry in `KINDS`.
"""

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from hull import _core

Network = Callable[[], Mapping[str, Any]]
"""Returns the hosts and links, as `_core.Resolved.network` does: reading them takes time."""
Hosts = Sequence[Mapping[str, Any]]

_MEANS = {"websearch": 1.6e6, "datamining": 7.4e6}
"""Mean sizes of shipped distributions, bytes."""
_MOST_BYTES = 20_000_000
"""Of a flow list that is read."""


@dataclass(frozen=True)
class Kind:
    """How a table of `[workload]` is estimated."""

    offered: Callable[[Any, Hosts, float], float | None]
    """Payload bytes of a run with these hosts and this length, s; None if they are unknown."""
    takes_s: Callable[[Any, Hosts], float] | None
    """Seconds at the full rate, infinite if flows start until the run ends; None if the run does
    not wait for the flows."""
    burst: Callable[[Mapping[str, Any], Network], float] | None
    """Bytes that many senders may send to the port of one host together; None if none do."""


def chosen_hosts(value: Any, hosts: Sequence[Mapping[str, Any]]) -> set[int]:
    """Numbers of the hosts that a key names, all if it is unset; empty if they cannot be read."""
    if value is None:
        return set(range(len(hosts)))
    names = {host["name"]: number for number, host in enumerate(hosts)}
    chosen: set[int] = set()
    for entry in value if isinstance(value, list) else [value]:
        first, _, last = str(entry).partition("-")
        if entry in names:
            chosen.add(names[entry])
        elif first.isdigit() and (last or first).isdigit():
            chosen |= set(range(int(first), int(last or first) + 1))
        else:
            return set()
    return chosen & set(range(len(hosts)))


def number_of(hosts: Any, network: Network) -> int:
    """Number of hosts in a list of numbers, names and ranges ("3-6"); all hosts without a list."""
    if hosts is None:
        return len(network()["hosts"])
    items = hosts if isinstance(hosts, list) else [hosts]
    ranges = (re.fullmatch(r"(\d+)-(\d+)", str(item)) for item in items)
    return sum(int(found[2]) - int(found[1]) + 1 if found else 1 for found in ranges)


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


def _unknown(_of: Any, _hosts: Hosts, _lasts_s: float) -> None:
    """Bytes of a table without an estimate."""


def _until_the_end(_of: Any, _hosts: Hosts) -> float:
    """Seconds of flows that start until the run ends."""
    return float("inf")


def _queries_s(of: Mapping[str, Any], hosts: Hosts) -> float:
    """Seconds of a fixed number of queries at the rate of the first host."""
    if "queries" not in of:
        return float("inf")
    bits = 8 * of["queries"] * _core.quantity("size", of["total"])
    return float(bits / float(hosts[0]["in_bps"]))


def _at_all_hosts(
    offered: Callable[[Any, Hosts, float], float],
) -> Callable[[Any, Hosts], float]:
    """Seconds of these bytes at the rate of all hosts together."""
    return lambda of, hosts: (
        8 * offered(of, hosts, 0.0) / sum(float(host["out_bps"]) for host in hosts)
    )


def _incast_burst(of: Mapping[str, Any], network: Network) -> float:
    total: float = _core.quantity("size", of["total"])
    if "batch" not in of:
        return total
    asked = of.get("fan_in") or number_of(of.get("servers"), network)
    at_once: float = min(1, of["batch"] / asked)
    return total * at_once


def _tree_burst(of: Mapping[str, Any], network: Network) -> float:
    numbers = [number_of(level["hosts"], network) for level in of["levels"]]
    each = [below / above for above, below in pairwise((1, *numbers))]
    sizes = (_core.quantity("size", level["response_size"]) for level in of["levels"])
    return max(number * size for number, size in zip(each, sizes, strict=True))


def _responses_burst(of: Mapping[str, Any], network: Network) -> float:
    return _core.quantity("size", of["response_size"]) * number_of(of.get("servers"), network)


def _shuffle_burst(of: Mapping[str, Any], network: Network) -> float:
    return _core.quantity("size", of["size"]) * number_of(of.get("hosts"), network)


KINDS = {
    "requests": Kind(_requests, _until_the_end, None),
    "bulk": Kind(_bulk, _until_the_end, None),
    "long_lived": Kind(_long_lived, None, None),
    "flows": Kind(_flows, _until_the_end, None),
    "list": Kind(_unknown, _until_the_end, None),
    "incast": Kind(_incast, _queries_s, _incast_burst),
    "partition_aggregate": Kind(_partition_aggregate, _until_the_end, _responses_burst),
    "aggregation_tree": Kind(_aggregation_tree, _until_the_end, _tree_burst),
    "all_to_all": Kind(_each_to_all, _at_all_hosts(_each_to_all), _shuffle_burst),
    "job": Kind(_unknown, None, None),
    "permutation": Kind(_permutation, _at_all_hosts(_permutation), None),
    "production": Kind(_unknown, _until_the_end, None),
}
"""All tables of `[workload]`, in the order of the schema."""

"""Nodes and interfaces of a run's network with the numbers that HPCC's simulator gives them.

In a network from a file of HPCC's node 17 is called `n17`, and 17 is its id. In any other, hosts
come before switches: hosts called `h0`, `h1`, ... in the order of their numbers, other nodes in the
order in which `links.parquet` names them. A node's interfaces are numbered from 1 in the order of
its links; interface 0 is the loopback of ns-3.
"""

import re
from collections import Counter
from dataclasses import dataclass

import polars as pl

_ID = re.compile(r"n(\d+)")
_HOST = re.compile(r"h(\d+)")


@dataclass(frozen=True)
class Interface:
    """Sending end of a link."""

    node: int
    """Id."""
    is_of_switch: bool
    number: int
    """Number at its node, from 1."""


def interfaces(links: pl.DataFrame) -> list[Interface]:
    """The interface that sends over each row of `links.parquet`."""
    ends = [*links.select("from", "to", "tier").iter_rows()]
    hosts = dict.fromkeys(start for start, _, tier in ends if tier.startswith("host-"))
    switches = dict.fromkeys(start for start, _, _ in ends if start not in hosts)
    ids = _ids([*hosts], [*switches])
    counts: Counter[str] = Counter()
    found = []
    for start, _, _ in ends:
        counts[start] += 1
        found.append(Interface(ids[start], start in switches, counts[start]))
    return found


def _ids(hosts: list[str], switches: list[str]) -> dict[str, int]:
    """Ids by name."""
    named = {name: _ID.fullmatch(name) for name in (*hosts, *switches)}
    if all(named.values()):
        return {name: int(match[1]) for name, match in named.items() if match}
    numbers = {name: match for name in hosts if (match := _HOST.fullmatch(name))}
    if len(numbers) == len(hosts):
        hosts = sorted(hosts, key=lambda name: int(numbers[name][1]))
    return {name: number for number, name in enumerate((*hosts, *switches))}

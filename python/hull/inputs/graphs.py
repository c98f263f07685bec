"""NetworkX graphs as the topology of a scenario, with the attributes of docs/topologies.md only.

NetworkX is not imported: any object with its graphs' nodes, edges and is_directed works.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable
from operator import index
from typing import Any, SupportsFloat, SupportsIndex

from hull import _core
from hull.errors import UsageError

_OF_NODES = ("kind", "name", "tier")
_OF_LINKS = ("rate", "delay")


def is_graph(value: object) -> bool:
    """Whether a value is a graph with NetworkX's interface."""
    return all(callable(getattr(value, name, None)) for name in ("nodes", "edges", "is_directed"))


def topology_from_networkx(graph: Any) -> dict[str, Any]:
    """The `topology` of a scenario from a NetworkX graph: `{"graph": {"text": ...}}`.

    Attributes as in a file: `kind` (host or switch), `name` and `tier` of nodes, `rate` and `delay`
    of links. Others are ignored unless they mean a missing `rate` or `delay`, as `bandwidth` does.
    Raises UsageError that names the node or the edge.
    """
    if not is_graph(graph):
        raise UsageError(f"topology: {graph!r} is invalid; expected a graph of NetworkX")
    ids = {node: _id(node) for node in graph.nodes()}
    texts = Counter(str(node) for node in ids.values())
    for node in ids.values():
        if texts[str(node)] > 1:
            raise UsageError(
                f"topology: node {node!r}: another node has the same name; expected unique names"
            )
    content = {
        "directed": bool(graph.is_directed()),
        "nodes": [
            {"id": ids[node], **_attributes(f"node {node!r}", found, _OF_NODES)}
            for node, found in graph.nodes(data=True)
        ],
        "edges": [
            {
                "source": ids[source],
                "target": ids[target],
                **_of_link(f"edge {source!r} to {target!r}", found),
            }
            for source, target, found in graph.edges(data=True)
        ],
    }
    return {"graph": {"text": json.dumps(content, ensure_ascii=False)}}


def with_graphs(scenario: dict[str, Any]) -> dict[str, Any]:
    """A scenario in TOML's types, with a topology that may be a graph or have one as `graph`."""
    topology = scenario.get("topology")
    if is_graph(topology):
        return {**scenario, "topology": topology_from_networkx(topology)}
    if isinstance(topology, dict) and is_graph(topology.get("graph")):
        made = topology_from_networkx(topology["graph"])
        return {**scenario, "topology": {**topology, **made}}
    return scenario


def _id(node: object) -> str | int:
    if isinstance(node, str):
        return node
    number = _whole(node)
    if number is not None and 0 <= number < 2**63:
        return number
    kind = f"found {type(node).__name__}; " if number is None else ""
    raise UsageError(
        f"topology: node {node!r}: {kind}expected a text or a whole number from 0 to 2^63 - 1 "
        "(networkx.relabel_nodes(G, str) makes texts)"
    )


def _of_link(place: str, found: dict[str, Any]) -> dict[str, Any]:
    kept = _attributes(place, found, _OF_LINKS)
    given = (name for name, value in found.items() if isinstance(name, str) and value is not None)
    for name in sorted(given):
        meant = _core.meant_attribute(name)
        if meant is not None and meant not in kept:
            raise UsageError(
                f"topology: {place}: {name}: there is no such attribute; did you mean {meant}? It "
                f"is ignored only on links that have {meant}"
            )
    return kept


def _attributes(place: str, found: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    kept = {}
    for name in names:
        value = found.get(name)
        if value is not None:
            kept[name] = _text_or_number(f"{place}: {name}", value)
    return kept


def _text_or_number(place: str, value: object) -> str | int | float:
    if isinstance(value, str):
        return str(value)
    whole = _whole(value)
    if whole is not None:
        return whole
    if isinstance(value, SupportsFloat) and not isinstance(value, bool):
        number = float(value)
        if math.isfinite(number):
            return number
    raise UsageError(f"topology: {place}: {value!r} is invalid; expected a text or a number")


def _whole(value: object) -> int | None:
    """A whole number of any kind, such as numpy's; a truth value is none."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        return None
    return index(value)

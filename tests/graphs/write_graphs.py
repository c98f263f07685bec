"""Writes the graphs of this folder with NetworkX 3.6, for the tests of hull-sim's topologies.

NetworkX is no dependency of hull: `pip install networkx` beside it, then run this file.
"""

import json
from pathlib import Path
from typing import Any

import networkx as nx

FOLDER = Path(__file__).parent


def two_leaves(graph: Any, both_ways: bool) -> Any:
    """Four hosts, two leaves, two spines; texts and numbers, attributes that hull does not read."""
    for leaf in ("leaf0", "leaf1"):
        graph.add_node(leaf, kind="switch", tier=1, colour="blue")
    for spine in ("spine0", "spine1"):
        graph.add_node(spine, kind="switch")
    for host in range(4):
        graph.add_node(f"h{host}", kind="host")

    def join(a: str, b: str, out: dict[str, Any], back: dict[str, Any]) -> None:
        graph.add_edge(a, b, **out)
        if both_ways:
            graph.add_edge(b, a, **back)

    for host in range(4):
        attributes = {"rate": "10Gbps", "delay": "200ns"}
        join(f"h{host}", f"leaf{host // 2}", attributes, attributes | {"rate": "9Gbps"})
    for leaf in ("leaf0", "leaf1"):
        join(leaf, "spine0", {"rate": 4e10, "delay": 3e-7}, {"rate": 2.5e10, "delay": 5e-7})
        join(leaf, "spine1", {"weight": 3.0}, {"weight": 3.0})
    return graph


def numbered() -> Any:
    """Numbers as ids, and two links side by side: 2 and 3 are switches, 0, 1 and 4 hosts."""
    graph = nx.MultiGraph()
    for node, kind in enumerate(["host", "host", "switch", "switch", "host"]):
        graph.add_node(node, kind=kind)
    graph.nodes[4]["name"] = "store"
    graph.add_edge(0, 2)
    graph.add_edge(1, 2)
    graph.add_edge(2, 3, rate=10_000_000_000)
    graph.add_edge(2, 3, rate=10_000_000_000)
    graph.add_edge(4, 3, delay="1us")
    return graph


def write_json(name: str, graph: Any, edges: str) -> None:
    data = nx.node_link_data(graph, edges=edges)
    (FOLDER / name).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    undirected, directed = two_leaves(nx.Graph(), False), two_leaves(nx.DiGraph(), True)
    nx.write_graphml(undirected, FOLDER / "two_leaves.graphml")
    nx.write_graphml(directed, FOLDER / "two_leaves_directed.graphml")
    nx.write_graphml(numbered(), FOLDER / "numbered.graphml")
    write_json("two_leaves_edges.json", undirected, "edges")
    write_json("two_leaves_links.json", undirected, "links")
    write_json("two_leaves_directed.json", directed, "edges")
    write_json("numbered.json", numbered(), "edges")

"""Interoperability: NetworkX graphs as topologies, results in pandas and DuckDB."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hull

nx = pytest.importorskip("networkx", reason="needs networkx (pip install networkx)")


def two_leaves(directed: bool = False) -> Any:
    graph = nx.DiGraph() if directed else nx.Graph()
    for spine in range(2):
        graph.add_node(f"spine{spine}", kind="switch", tier=2, colour="red")
    for leaf in range(2):
        graph.add_node(leaf, kind="switch")
        for spine in range(2):
            graph.add_edge(leaf, f"spine{spine}", rate=1e9, delay="1us")
        for host in range(2):
            graph.add_node(f"h{leaf}{host}", kind="host")
            graph.add_edge(f"h{leaf}{host}", leaf, rate="500Mbps", delay=2e-6, weight=3)
    if directed:
        graph.add_edges_from([(b, a, dict(found)) for a, b, found in graph.edges(data=True)])
    return graph


def scenario(topology: Any) -> dict[str, Any]:
    return {
        "name": "graph",
        "run": {"duration": "10ms", "warmup": "1ms"},
        "topology": topology,
        "host": {"rate": "1Gbps", "delay": "500ns"},
        "switch": {"rate": "1Gbps", "delay": "500ns", "buffer": "100KB"},
        "workload": {"requests": {"load": "30%", "classes": [{"size": "10KB", "share": "100%"}]}},
    }


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> hull.Result:
    return hull.run(scenario(two_leaves()), tmp_path_factory.mktemp("graph") / "o")


@pytest.mark.parametrize("directed", [False, True])
def test_graph_equals_its_file(result: hull.Result, directed: bool, tmp_path: Path) -> None:
    """A graph gives the same tables as its GraphML file: numeric ids, attributes, directions."""
    file = tmp_path / "network.graphml"
    nx.write_graphml(two_leaves(directed), file)
    over_file = hull.run(scenario({"file": {"path": str(file)}}), tmp_path / "file")
    given = hull.topology_from_networkx(two_leaves(directed))
    over_graph = hull.run(scenario(given), tmp_path / "graph")
    assert set(result.links["from"]) >= {"spine0", "n0", "n1", "h00"}
    assert set(result.links["rate_bps"]) == {10**9, 5 * 10**8}
    for other in (over_file, over_graph):
        assert other.flows.equals(result.flows)
        assert other.links.equals(result.links)


def test_the_graph_is_part_of_the_scenario(result: hull.Result, tmp_path: Path) -> None:
    """The saved scenario runs without the graph, and a different graph is a different run."""
    file = result.folder / "parts" / "base" / "base" / "seed-1" / "scenario.toml"
    assert hull.run(file, tmp_path / "again").flows.equals(result.flows)
    slower = two_leaves()
    slower.edges["h00", 0]["rate"] = "100Mbps"
    with pytest.raises(hull.UsageError, match="another"):
        hull.run(scenario(slower), result.folder)


def test_hosts_with_several_links(tmp_path: Path) -> None:
    """Each host has a NIC in each of two planes, and traffic uses all of them."""
    graph = nx.Graph()
    for plane in range(2):
        graph.add_node(f"s{plane}", kind="switch")
        for host in range(4):
            graph.add_node(f"h{host}", kind="host")
            graph.add_edge(f"h{host}", f"s{plane}", rate="1Gbps")
    links = hull.run(scenario(graph), tmp_path / "o").links
    out = links.filter(pl.col("tier") == "host-tor")
    assert sorted(out.select("from", "to").iter_rows()) == [
        (f"h{host}", f"s{plane}") for host in range(4) for plane in range(2)
    ]
    assert (out["bytes"] > 0).all()


def test_single_links_with_a_graph(tmp_path: Path) -> None:
    links = [{"link": "n0--spine0", "rate": "2Gbps"}]
    topology = {"graph": two_leaves(), "links": links}
    assert 2 * 10**9 in set(hull.run(scenario(topology), tmp_path / "o").links["rate_bps"])


def broken(change: str) -> Any:
    graph = two_leaves()
    match change:
        case "kind":
            graph.nodes["h00"]["kind"] = "router"
        case "none":
            del graph.nodes[1]["kind"]
        case "rate":
            graph.edges["h00", 0]["rate"] = "fast"
        case "list":
            graph.edges["h00", 0]["delay"] = [1]
        case "tuple":
            graph.add_node((0, 1), kind="switch")
        case "below":
            graph.add_node(-1, kind="switch")
        case "half":
            graph.add_node("\ud800", kind="switch")
        case "twice":
            graph.add_node("0", kind="switch")
        case "apart":
            graph.remove_edge("h00", 0)
    return graph


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("kind", r'topology.graph.text: .*node "h00": found kind "router"; expected "host" or'),
        ("none", r'node "1": found no kind; expected'),
        ("rate", r'link "0" to "h00": rate: "fast" is invalid'),
        ("list", r"topology: edge 0 to 'h00': delay: \[1\] is invalid; expected a text or a numb"),
        ("tuple", r"topology: node \(0, 1\): found tuple; expected a text or a whole number"),
        ("below", r"topology: node -1: expected a text or a whole number from 0"),
        ("half", r"'.*\\ud800' is invalid; expected text that UTF-8 can hold"),
        ("twice", r"topology: node 0: another node has the same name"),
        ("apart", r'"h00"'),
    ],
)
def test_bad_graphs(change: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=says):
        hull.run(scenario(broken(change)), tmp_path / "o")
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Rate", "rate"),
        ("capacity", "rate"),
        ("bw", "rate"),
        ("Delay", "delay"),
        ("latency", "delay"),
    ],
)
def test_attribute_that_means_another(name: str, meant: str, tmp_path: Path) -> None:
    """The same from Python and from a file; beside the right one it is ignored."""
    graph, beside = two_leaves(), two_leaves()
    for _, _, found in graph.edges(data=True):
        found[name] = found.pop(meant)
    nx.write_graphml(graph, tmp_path / "other.graphml")
    topologies = (graph, {"file": {"path": str(tmp_path / "other.graphml")}})
    says = f"{name}: there is no such attribute; did you mean {meant}\\?"
    for topology in topologies:
        with pytest.raises((hull.UsageError, hull.ScenarioError), match=says):
            hull.run(scenario(topology), tmp_path / "o")
    assert not (tmp_path / "o").exists()
    for _, _, found in beside.edges(data=True):
        found[name] = 7
    assert hull.topology_from_networkx(beside) == hull.topology_from_networkx(two_leaves())


def test_not_a_graph() -> None:
    with pytest.raises(hull.UsageError, match="expected a graph of NetworkX"):
        hull.topology_from_networkx({"a": "b"})


def test_pandas(result: hull.Result) -> None:
    """Both ways of docs/python.md work: through polars, or from the file."""
    pandas = pytest.importorskip("pandas", reason="needs pandas (pip install pandas pyarrow)")
    pytest.importorskip("pyarrow", reason="needs pyarrow (pip install pandas pyarrow)")
    frame = result.flows.to_pandas()
    assert len(frame) == result.flows.height > 10
    assert frame["fct_ps"].mean() == pytest.approx(result.flows["fct_ps"].mean())
    read = pandas.read_parquet(result.folder / "flows.parquet")
    assert read["fct_ps"].equals(frame["fct_ps"])
    assert list(read.columns) == result.flows.columns


def test_duckdb(result: hull.Result) -> None:
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb (pip install duckdb)")
    query = f"""
        select src, count(*) as flows, quantile_disc(fct_ps, 0.5) as median
        from '{result.folder}/flows.parquet' group by src order by src
    """
    found = duckdb.sql(query).fetchall()
    expected = result.flows.group_by("src").agg(
        pl.len(), pl.col("fct_ps").quantile(0.5, "lower").cast(pl.Int64)
    )
    assert found == expected.sort("src").rows()

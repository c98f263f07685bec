"""Readers of htsim's connection matrices and topologies: small files here, and the public ones of
`shared/formats` where present."""

import tomllib
from pathlib import Path

import pytest

from hull.errors import UsageError
from hull.formats import htsim_connections, htsim_topology
from hull.formats.htsim_connections import Failure, FlowRow

SHARED = [folder / "shared" / "formats" for folder in Path(__file__).parents[3:6]]
FORMATS = next((folder for folder in SHARED if folder.is_dir()), None)

HEADER = "Nodes 4\nConnections 2\n"
TREE = """\
# a comment
nodes 16
Tiers 3
PODSIZE 8

Tier 0
Downlink_speed_Gbps 100
Downlink_Latency_ns 500
Radix_Down 4
Radix_Up 2
Oversubscribed 2

Tier 1
Downlink_speed_Gbps 200
Downlink_Latency_ns 1000
Radix_Down 2
Radix_Up 2

Tier 2
Downlink_speed_Gbps 200
Downlink_Latency_ns 1000
Radix_Down 2
"""


def connections(tmp_path: Path, text: str) -> htsim_connections.Connections:
    file = tmp_path / "some.cm"
    file.write_bytes(text.encode())
    return htsim_connections.read(file)


def topology(tmp_path: Path, text: str) -> htsim_topology.Topology:
    file = tmp_path / "some.topo"
    file.write_text(text, encoding="utf-8")
    return htsim_topology.read(file)


def test_flows_triggers_and_failures(tmp_path: Path) -> None:
    read = connections(
        tmp_path,
        "# made by hand\r\nConnections 4\r\nTriggers 2\r\nNodes 4\r\nFailures 1\r\n\r\n"
        "0->1 id 1 start 2.5 size 5000000000 send_done_trigger 7\r\n"
        "trigger id 7 oneshot\r\n"
        "2->3 id 2 start 0 size 10 prio 1 send_done_trigger 9\r\n"
        "1->9 id 3 trigger 7 size 20 send_done_trigger 9\r\n"
        "3->0 id 4 trigger 9 size 30\r\n"
        "trigger id 9 barrier count 2\r\n"
        "failure switch_type AGG switch_id 3 link_id 1",
    )
    assert read.nodes == 4
    assert read.hosts() == 10
    assert read.failures == (Failure("AGG", 3, 1),)
    assert htsim_connections.flow_rows(read, 1_000_000) == [
        FlowRow(2_500_000, 0, 1, 5_000_000_000, None, ()),
        FlowRow(0, 2, 3, 10, None, ()),
        FlowRow(0, 1, 9, 20, None, (1,)),
        FlowRow(0, 3, 0, 30, None, (2, 3)),
    ]


def test_messages_of_one_connection(tmp_path: Path) -> None:
    text = f"{HEADER}0->1 id 1 msg start 0 size 5\n0->1 id 1 msg 4 start 3 size 6\n"
    read = connections(tmp_path, text)
    assert [flow.message for flow in read.flows] == [None, 4]
    rows = htsim_connections.flow_rows(read, 1_000_000)
    assert [(row.start_ps, row.connection) for row in rows] == [(0, 1), (3_000_000, 1)]


@pytest.mark.parametrize(
    ("text", "line", "found", "expected"),
    [
        (f"{HEADER}0->1 start 0 size 5\n", 2, "Connections 2", "1, as many as there are entries"),
        ("Connections 1\n0->1 start 0 size 5\n", 1, "the header", "`Nodes NUMBER`"),
        ("Nodes x\n", 1, "Nodes x", "a whole number at least 1"),
        ("Nodes 2 3\n", 1, "Nodes 2 3", "`Nodes NUMBER`, once"),
        (f"{HEADER}0->0 start 0 size 5\n", 3, "0->0", "two different hosts"),
        (f"{HEADER}0-1 start 0 size 5\n", 3, "0-1", "`SRC->DST ...`"),
        (f"{HEADER}a->1 start 0 size 5\n", 3, "host a", "a whole number"),
        (f"{HEADER}0->1 start 0 size 0\n", 3, "size 0", "at least 1"),
        (f"{HEADER}0->1 start -1 size 5\n", 3, "start -1", "a number not below 0"),
        (f"{HEADER}0->1 start nan size 5\n", 3, "start nan", "a number not below 0"),
        (f"{HEADER}0->1 start 0\n", 3, "0->1 start 0", "`size BYTES`"),
        (f"{HEADER}0->1 size 5\n", 3, "0->1 size 5", "one of `start TIME` and `trigger ID`"),
        (f"{HEADER}0->1 start 0 size 5 colour 3\n", 3, "colour", "one of msg, id, start"),
        (f"{HEADER}0->1 start 0 size\n", 3, "size", "`size VALUE`"),
        (f"{HEADER}0->1 start 0 size 5 size 6\n", 3, "size 6", "size once"),
        (f"{HEADER}0->1 trigger 1 size 5\n", 3, "0->1 trigger 1 size 5", "`id NUMBER`"),
        (f"{HEADER}trigger id 1 sometimes\n", 3, "trigger id 1 sometimes", "oneshot|multishot"),
        (f"{HEADER}failure TOR 1\n", 3, "failure TOR 1", "`failure switch_type TOR|AGG|CORE"),
        (
            f"{HEADER}0->1 id 1 start 0 size 5\n1->0 id 2 trigger 8 size 5\n",
            4,
            "trigger 8",
            "a trigger that the file declares",
        ),
        (
            f"{HEADER}0->1 id 1 start 0 size 5\n1->2 id 1 start 0 size 5\n",
            4,
            "id 1",
            "another id than line 3",
        ),
        (
            f"{HEADER}0->1 id 1 msg start 0 size 5\n1->2 id 1 msg start 0 size 5\n",
            4,
            "1->2",
            "0->1, as in line 3",
        ),
    ],
)
def test_bad_connections_are_reported(
    tmp_path: Path, text: str, line: int, found: str, expected: str
) -> None:
    with pytest.raises(UsageError) as told:
        connections(tmp_path, text)
    start = f"{tmp_path}/some.cm, line {line}: {found} is invalid; expected "
    assert str(told.value).startswith(start)
    assert expected in str(told.value)


def test_triggers_a_flow_list_cannot_express(tmp_path: Path) -> None:
    text = (
        "Nodes 3\nConnections 3\nTriggers 1\n0->1 id 1 start 0 size 5 send_done_trigger 1\n"
        "1->2 id 2 start 0 size 5 send_done_trigger 1\n2->0 id 3 trigger 1 size 5\n"
        "trigger id 1 oneshot\n"
    )
    read = connections(tmp_path, text)
    with pytest.raises(UsageError, match="line 6: trigger 1, which 2 flows fire, is invalid"):
        htsim_connections.flow_rows(read, 1)


def test_missing_file_and_binary_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        htsim_connections.read(tmp_path / "none.cm")
    (tmp_path / "some.topo").write_bytes(b"Nodes \xff\n")
    with pytest.raises(UsageError, match="expected UTF-8 text"):
        htsim_topology.read(tmp_path / "some.topo")


def test_a_tree(tmp_path: Path) -> None:
    read = topology(tmp_path, TREE)
    assert (read.pods, read.tors_per_pod, read.uplinked, read.cores) == (2, 2, 2, 4)
    shape = htsim_topology.scenario_topology(read)["tree"]
    assert shape["hosts_per_tor"] == 4
    assert (shape["core_rate"], shape["uplink_delay"]) == ("200Gbps", "1000ns")


def test_bundles_become_a_graph(tmp_path: Path) -> None:
    text = TREE.replace("Tier 2\n", "Tier 2\nBundle 2\n").replace(
        "Latency_ns 1000\nRadix_Down 2\n", "Latency_ns 1000\nRadix_Down 4\n"
    )
    # That line also occurs in tier 1.
    text = text.replace("Radix_Down 4\nRadix_Up 2\n\nTier 2", "Radix_Down 2\nRadix_Up 2\n\nTier 2")
    read = topology(tmp_path, text)
    assert read.cores == 2
    graph = htsim_topology.scenario_topology(read)["graph"]["text"]
    assert graph.count('"target": "core0"') == 2 * 2
    assert graph.count('"kind": "host"') == 16


@pytest.mark.parametrize(
    ("old", "new", "found", "expected"),
    [
        ("PODSIZE 8", "PODSIZE 6", "Podsize 6", "a divisor of 16"),
        ("PODSIZE 8\n", "", "the header", "`Podsize NUMBER`"),
        ("Tiers 3", "Tiers 4", "Tiers 4", "a whole number from 2 to 3"),
        ("Tier 2\n", "Tier 1\n", "Tier 1", "each tier once"),
        ("Tier 2\n", "\n", "Downlink_speed_Gbps", "Downlink_speed_Gbps once in tier 1"),
        ("Oversubscribed 2", "Oversubscribed 3", "Oversubscribed 3", "2, Radix_Down over Radix_Up"),
        ("Oversubscribed 2", "Colour 2", "Colour", "one of Downlink_speed_gbps"),
        ("Radix_Up 2\nOver", "Over", "Tier 0", "`Radix_up NUMBER`"),
        ("Gbps 100", "Gbps 0", "Downlink_speed_Gbps 0", "a number above 0"),
        ("Gbps 100", "Gbps", "Downlink_speed_Gbps", "`KEY VALUE`"),
        ("Radix_Down 2\n\nTier 2", "", "Radix_Down 2", ""),
    ],
)
def test_bad_topologies_are_reported(
    tmp_path: Path, old: str, new: str, found: str, expected: str
) -> None:
    if not expected:
        old, new = TREE, TREE + "Radix_Up 2\n"
        found, expected = "Radix_Up of tier 2, the top one,", "no such key"
    with pytest.raises(UsageError) as told:
        topology(tmp_path, TREE.replace(old, new, 1))
    assert f": {found} is invalid; expected " in str(told.value)
    assert expected in str(told.value)


@pytest.mark.skipif(FORMATS is None, reason="shared/formats is not there")
def test_public_files_have_the_counts_of_the_manifest() -> None:
    assert FORMATS is not None
    manifest = tomllib.loads((FORMATS / "MANIFEST.toml").read_text(encoding="utf-8"))
    files = [entry for entry in manifest["file"] if entry["file"].startswith("htsim-")]
    assert files
    for entry in files:
        file = FORMATS / entry["file"]
        if file.parent.name == "htsim-topo":
            network = htsim_topology.read(file)
            assert set(htsim_topology.scenario_topology(network)) <= {"leaf_spine", "tree", "graph"}
            continue
        read, told = htsim_connections.read(file), entry["own_count"]
        rows = htsim_connections.flow_rows(read, 1)
        assert len(rows) == told["flow_lines"], file
        assert sum(row.bytes for row in rows) == told["total_bytes"], file
        assert len({row.dst for row in rows}) == told["dests"], file
        assert len(read.triggers) == told.get("triggers", 0), file

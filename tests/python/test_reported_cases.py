"""Small scenarios that once went wrong without a word, each as it was reported, and its right end.

Others of the kind have tests of their own: traces in `ask/test_cases.py` and `ask/test_storage.py`,
a threshold above the memory in `test_scenario_warnings.py`, runs above the memory in
`test_memory.py`, RED's two draws also in `red_draw.rs` of hull-sim.
"""

import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hull
from conftest import Hull

CASES = Path(__file__).parent / "cases"
TENS = '{ rate = "10Gbps", delay = "500ns" }'


@pytest.fixture
def reported(tmp_path: Path) -> Any:
    """Runs a scenario text with overrides; returns the result."""

    def call(text: str, *overrides: str) -> hull.Result:
        path = tmp_path / "case.toml"
        path.write_text(text, encoding="utf-8")
        out = tmp_path / f"out-{len(list(tmp_path.iterdir()))}"
        return hull.run(path, set=overrides, out=out)

    return call


def parts(result: hull.Result) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = result.summary["parts"]
    return found


FAILED_LINK = """
name = "min"
run = { duration = "20ms" }
topology.star.hosts = 2
topology.failures = [{ link = "switch--h0", at = "5ms", until = "6ms" }]
host = { rate = "1Gbps", delay = "50us" }
switch = { rate = "1Gbps", delay = "50us" }
workload.long_lived.flows = [{ src = 1, dst = 0 }]
"""
NO_ROUTE = f"""
name = "noroute"
run = {{ duration = "1ms", warmup = "0s", drain = "5ms" }}
topology.dumbbell.pairs = 2
topology.failures = [{{ link = "left--right", at = "100us", until = "600us" }}]
host = {TENS}
switch = {{ rate = "10Gbps", delay = "500ns", buffer = "100pkts" }}
transport = {{ congestion_control = "nscc", ecn = true }}
workload.long_lived.flows = [{{ src = 0, dst = 2, size = "1MB" }}]
"""


@pytest.mark.parametrize(("text", "link"), [(FAILED_LINK, "h0--switch"), (NO_ROUTE, "left--right")])
def test_places_of_drops_add_up(reported: Any, text: str, link: str) -> None:
    """Also with packets that have no route; the failed link is named, and no NIC blamed."""
    result = reported(text)
    (part,) = parts(result)
    places = part["drops_by_place"]
    assert part["drops"] == sum(places.values()) > 0
    assert part["failure_drops"] == {link: places["failed_links"]}
    assert places["no_route"] > 0
    assert places["nic"] == places["pacer"] == 0
    assert any(f"lost on failed links: {link} (" in text for text in result.summary["warnings"])


def test_one_mistake_in_transport_is_one_message(hull: Hull, place: Path) -> None:
    (place / "mini.toml").write_text("""
name = "mini"
run.duration = "10ms"
topology.star.hosts = 3
host = { rate = "10Gbps", delay = "1us" }
switch = { rate = "10Gbps", delay = "1us", buffer = "500pkts", marking.threshold = "65pkts" }
transport = { congestion_control = "dctcp" }
workload.long_lived.flows = [{ src = [1, 2], dst = 0 }]
""")
    done = hull("check", "mini.toml")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("hull: error: mini.toml:7:")
    assert "transport.ecn: not given, and its default, false, does not fit" in line


RED = """
name = "w"
run = { duration = "1.6ms", warmup = "0s", seeds = 20 }
topology.star.hosts = 3
host = { rate = "10Gbps", delay = "100ns" }
transport.congestion_control = "constant_rate"
transport.constant_rate.rate = "10Gbps"
transport.ecn = true
transport.mtu = "1000B"
workload.long_lived.flows = [{ src = [1, 2], dst = 0 }]
measure = { ports = ["switch->h0"], queue_changes = true }
[switch]
rate = "10Gbps"
delay = "100ns"
buffer = "2010KB"
red = { min = "500KB", max = "2000KB", max_probability = "5%", weight = "100%" }
"""


def test_red_as_published_and_as_switches_draw(reported: Any) -> None:
    """The queue grows by one packet in two arrivals, from 500 to 2,000 KB in 3,000 of them, with a
    mean probability of 2.5%: 75 marks in independent draws, with a variance of at most 75. Floyd's
    marks are spaced: at a probability p the gap is uniform up to 1/p, on average half as long.
    """
    marks = {}
    for draw in ("spaced", "independent"):
        found = [part["marks"] for part in parts(reported(RED, f"switch.red.draw={draw}"))]
        assert len(found) == 20
        marks[draw] = sum(found) / 20
    assert marks["independent"] == pytest.approx(75, abs=4 * (75 / 20) ** 0.5)
    assert marks["spaced"] == pytest.approx(145, abs=2)
    assert marks["spaced"] == sum(part["marks"] for part in parts(reported(RED))) / 20


POISSON_INCAST = """
name = "pi"
run = { duration = "20ms", warmup = "1ms", seeds = 1 }
host = { rate = "25Gbps", delay = "1us" }
[switch]
rate = "25Gbps"
delay = "1us"
buffer = "1MB"
marking.threshold = "65pkts"
[transport]
congestion_control = "dctcp"
ecn = true
initial_window = 10
min_rto = "5ms"
max_window = 200
[topology.leaf_spine]
leaves = 4
spines = 4
hosts_per_leaf = 16
uplink_rate = "100Gbps"
[workload.flows]
load = 0.3
sizes.csv = "hadoop"
[workload.incast]
fan_in = 60
total = "300KB"
"""
"""The total was 30 MB, of which 20 ms have few queries."""


def test_incast_as_a_poisson_process_to_random_receivers(reported: Any) -> None:
    """At 2% of 64 links of 25 Gbps, 300 KB a query: 13,333 queries per second."""
    queries = reported(POISSON_INCAST, "workload.incast.load=2%").queries
    expected = 0.02 * 64 * 25e9 / (8 * 300e3) * 20e-3
    # Four standard deviations of a Poisson count.
    assert queries.height == pytest.approx(expected, abs=4 * expected**0.5)
    # Gaps of a Poisson process are as long as they vary, within four standard errors.
    gaps = queries["start_ps"].sort().diff().drop_nulls().to_numpy()
    assert gaps.std() / gaps.mean() == pytest.approx(1, abs=4 / len(gaps) ** 0.5)
    # A host is no receiver with a probability of exp(-queries / 64), so one of 64 is expected.
    clients = queries["client"].unique()
    assert 56 <= len(clients) <= 64
    assert queries["bytes"].unique().to_list() == [300_000]
    assert queries["servers"].unique().to_list() == [60]
    # Without the key the incast is as it was: one client, query after query.
    alone = reported(POISSON_INCAST, "workload.incast.queries=50").queries
    assert alone["client"].unique().to_list() == [0]
    ends = (alone["start_ps"] + alone["completion_ps"]).to_list()
    assert all(start >= end for start, end in zip(alone["start_ps"][1:], ends, strict=False))


def test_attributes_like_rate_and_delay_are_no_decoration(hull: Hull, place: Path) -> None:
    edges = "".join(
        f'<edge source="{one}" target="{other}"><data key="d1">10Gbps</data>'
        '<data key="d2">50us</data></edge>\n'
        for one, other in (("l0", "l1"), ("l0", "h0"), ("l1", "h1"))
    )
    nodes = "".join(
        f'<node id="{name}"><data key="d0">{kind}</data></node>\n'
        for name, kind in (("l0", "switch"), ("l1", "switch"), ("h0", "host"), ("h1", "host"))
    )
    graph = (
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        '<key id="d2" for="edge" attr.name="Delay" attr.type="string" />\n'
        '<key id="d1" for="edge" attr.name="Rate" attr.type="string" />\n'
        '<key id="d0" for="node" attr.name="kind" attr.type="string" />\n'
        f'<graph edgedefault="undirected">\n{nodes}{edges}</graph></graphml>\n'
    )
    (place / "t.toml").write_text("""
name = "t"
run = { duration = "5ms" }
topology.file.path = "capitals.graphml"
host = { rate = "100Gbps", delay = "500ns" }
switch = { rate = "100Gbps", delay = "500ns" }
workload.permutation.size = "1MB"
""")
    (place / "capitals.graphml").write_text(graph)
    done = hull("check", "t.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Rate: there is no such attribute; did you mean rate?" in done.stderr
    (place / "capitals.graphml").write_text(graph.replace("Rate", "rate"))
    assert (
        "Delay: there is no such attribute; did you mean delay?" in hull("check", "t.toml").stderr
    )
    (place / "capitals.graphml").write_text(graph.replace("Rate", "rate").replace("Delay", "delay"))
    assert "10Gbps, 50us one way" in hull("check", "t.toml").stdout


BUFFER = f"""
name = "buf"
run = {{ duration = "1ms", warmup = "0s" }}
topology.star.hosts = 6
host = {TENS}
switch = {{ rate = "10Gbps", delay = "500ns", buffer = "10pkts" }}
transport = {{ initial_window = 100 }}
workload.bulk = {{ flows = 5, size = "140KB" }}
measure = {{ ports = ["switch->h0"], queue_changes = true }}
"""


@pytest.mark.parametrize("overrides", [(), ("switch.priorities=2",)])
def test_a_buffer_of_ten_packets_holds_ten(reported: Any, overrides: tuple[str, ...]) -> None:
    result = reported(BUFFER, *overrides)
    assert result.queues["packets"].max() == 10
    assert parts(result)[0]["drops_by_place"]["switch-host"] > 0


def test_a_flow_with_lost_packets_ends(reported: Any) -> None:
    text = f"""
name = "rccc-stuck"
run = {{ duration = "1ms", warmup = "0s", drain = "1s" }}
topology.star.hosts = 2
host = {TENS}
switch = {{ rate = "10Gbps", delay = "500ns", loss = "20%" }}
transport = {{ congestion_control = "rccc", ecn = true, mtu = "1500B" }}
workload.bulk = {{ flows = 1, size = "1B" }}
"""
    result = reported(text, "workload.bulk.size=100KB", "run.seed=6")
    (part,) = parts(result)
    assert part["drops"] > 0
    assert [(one["count"], one["unfinished"]) for one in part["fct"]] == [(1, 0)]
    assert result.flows["bytes"].to_list() == [100_000]


def test_a_slow_receiver_is_not_flooded(reported: Any) -> None:
    """4 MB of payload take 3.2 ms at 10 Gbps, and headers another 2 to 3%. Each of the four senders
    starts with a window, which is all that the switch trims.
    """
    text = """
name = "slowhost"
run = { duration = "20ms", warmup = "0s", drain = "300ms" }
topology.star.hosts = 5
topology.links = [{ link = "h0--switch", rate = "10Gbps" }]
host = { rate = "100Gbps", delay = "500ns" }
switch = { rate = "100Gbps", delay = "500ns", buffer = "100pkts", trimming = {} }
transport = { congestion_control = "rccc", ecn = true, mtu = "1500B" }
workload.bulk = { flows = 4, size = "1MB" }
"""
    (part,) = parts(reported(text))
    assert 3200 < part["last_flow"]["bulk"]["completion_us"] < 1.04 * 3200
    assert part["retransmissions"] < 100


def test_messages_beside_tcp(reported: Any) -> None:
    """`[transport]`'s own table of messages is not one that [transports.tcp] has written."""
    text = f"""
name = "mixed"
run = {{ duration = "1ms", warmup = "0s" }}
topology.star.hosts = 4
host = {TENS}
switch = {{ rate = "10Gbps", delay = "500ns", buffer = "100pkts", trimming = {{}} }}
transport = {{ congestion_control = "nscc", ecn = true, message.timeout = "100us" }}
transports.tcp = {{ congestion_control = "newreno", ecn = false }}
[[workload.long_lived.flows]]
src = 1
dst = 0
size = "10KB"
[[workload.long_lived.flows]]
src = 2
dst = 0
size = "10KB"
transport = "tcp"
"""
    result = reported(text)
    assert result.flows.select(pl.col("bytes").sum()).item() == 20_000
    assert sorted(result.flows["transport"].unique().to_list()) == ["default", "tcp"]


def test_a_damaged_flow_list_is_one_message(hull: Hull, place: Path) -> None:
    """A changed byte of this list made the reader of Parquet panic."""
    shutil.copy(CASES / "flip820.parquet", place)
    (place / "flip820.toml").write_text(f"""
name = "flip820"
run = {{ duration = "2ms", warmup = "0s" }}
topology.star.hosts = 6
host = {TENS}
switch = {TENS}
workload.flows = "flip820.parquet"
""")
    done = hull("run", "flip820.toml")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.endswith("flip820.parquet: cannot be read: its content is damaged")

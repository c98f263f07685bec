"""Single pauses: their sums are the run's counts, their times match a recorded simulator's."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hull
from hull.cli import looking
from hull.results.hpcc_nodes import Interface, interfaces
from hull.results.hpcc_pauses import pfc_text
from hull.results.hpcc_queues import qlen_text

LINK = ["from", "to", "class"]
# 2,000 packets of each sender into one receiver: `P/pfc2.none.static50k` of the recorded RDMA runs.
# That simulator cuts the transmission of a packet to 83 ns, so the links have the rate of 83 ns.
RATE = "101012048193bps"
RECORDED: dict[str, Any] = {
    "name": "pfc2",
    "run": {"duration": "1ms", "drain": "1ms"},
    "topology": {"star": {"hosts": 3}},
    "host": {"rate": RATE, "delay": "1us", "queue": "fifo"},
    "switch": {
        "rate": RATE,
        "delay": "1us",
        "pfc": {"reaction": "0s", "headroom": "37500B", "hysteresis": "2496B", "xoff": "50000B"},
    },
    "transport": {
        "congestion_control": "constant_rate",
        "mtu": "1048B",
        "header": "48B",
        "framing": "0B",
        "constant_rate": {"rate": RATE},
    },
    "workload": {
        "long_lived": {"flows": [{"src": src, "dst": 2, "stop": "166us"} for src in (0, 1)]}
    },
    "measure": {"pauses": True},
}
INCAST: dict[str, Any] = {
    "name": "incast",
    "run": {"duration": "2ms", "drain": "0s"},
    "topology": {"leaf_spine": {"leaves": 2, "spines": 2, "hosts_per_leaf": 3}},
    "host": {"rate": "10Gbps", "delay": "1us"},
    "switch": {"rate": "10Gbps", "delay": "1us", "priorities": 2, "pfc": {"classes": [0, 1]}},
    "transport": {"congestion_control": "constant_rate", "constant_rate": {"rate": "10Gbps"}},
    "transports": {"high": {"priority": 0}},
    "workload": {
        "long_lived": {
            "flows": [
                {"src": [1, 2, 3], "dst": 0},
                {"src": [4, 5], "dst": 0, "transport": "high"},
            ]
        }
    },
}
FAILURE = 'topology.failures=[{link="leaf1--spine0",at="300us",until="700us"}]'
PFC = "switch.pfc"


def lasted_ps(events: pl.DataFrame, end_ps: int) -> int:
    """Time between the begin and the end of each pause, of one link and class."""
    total, since = 0, None
    for time_ps, event in events.select("time_ps", "event").iter_rows():
        if event == "begin":
            assert since is None
            since = time_ps
        elif event == "end":
            assert since is not None
            total, since = total + time_ps - since, None
        else:
            assert (since is None) == (event == "ignored")
    return total if since is None else total + end_ps - since


@pytest.mark.parametrize(
    ("settings", "kinds"),
    [
        ([], {"begin", "renewal", "end"}),
        ([f"{PFC}.whole_link=true"], {"begin", "renewal", "end"}),
        ([f"{PFC}.renewal=expiry", f"{PFC}.quanta=100"], {"begin", "end"}),
        ([FAILURE], {"begin", "renewal", "end"}),
        (
            [f'{PFC}.watchdog={{detection="100us",restoration="200us",action="forward"}}'],
            {"begin", "renewal", "ignored", "end"},
        ),
        (["host.receive={ring=2000,xoff=100,packet_cost='3us'}"], {"begin", "renewal", "end"}),
    ],
    ids=["plain", "link", "expiry", "failure", "watchdog", "receiver"],
)
def test_sums_are_the_counts(settings: list[str], kinds: set[str], tmp_path: Path) -> None:
    asked = ["measure.pauses=true", *settings]
    result = hull.run(INCAST, out=tmp_path / "run", set=asked)
    events, links = result.pause_events, result.links
    assert events["time_ps"].is_sorted()
    assert set(events["event"]) == kinds
    assert result.pauses["received"].sum() > 20
    for row in result.pauses.iter_rows(named=True):
        mine = events.filter(pl.all_horizontal(pl.col(key) == row[key] for key in LINK))
        frames = mine.filter(pl.col("event") != "end").height
        assert (frames, lasted_ps(mine, 2 * 10**9)) == (row["received"], row["paused_ps"])
    for link, start, end in events.select("link", "from", "to").unique().iter_rows():
        assert links.select("from", "to").row(link) == (start, end)


def test_a_run_that_asks_differs_in_nothing_else(tmp_path: Path) -> None:
    def run(name: str, *settings: str) -> dict[str, bytes]:
        folder = hull.run(INCAST, out=tmp_path / name, set=list(settings)).folder
        return {path.name: path.read_bytes() for path in folder.glob("parts/*/*/*/*.parquet")}

    bare, asked = run("bare"), run("asked", "measure.pauses=true")
    divided = run("divided", "measure.pauses=true", "run.threads=2")
    assert divided == asked
    assert asked.keys() - bare.keys() == {"pause_events.parquet"}
    assert all(asked[name] == content for name, content in bare.items())


def test_times_are_those_of_a_recorded_simulator(tmp_path: Path) -> None:
    """It records these times at which the first three pauses reach each host, ns, and a pause of
    4,554 ns in each period of 8,964 ns. Its first pause comes a packet of 83 ns earlier, and its
    frame has 43 bytes, of 3 ns, where hull's has 64.
    """
    recorded = {0: [9888, 18780, 27744], 1: [9805, 18697, 27661]}
    hull.run(RECORDED, out=tmp_path / "run")
    looking.export(tmp_path / "run", looking.Program.HPCC)
    lines = (tmp_path / "run-hpcc/pfc.txt").read_text().splitlines()
    rows = [[int(word) for word in line.split()] for line in lines]
    assert {tuple(row[1:4]) for row in rows} == {(0, 0, 1), (1, 0, 1)}
    for host, begin in recorded.items():
        mine = [(time, event) for time, node, _, _, event in rows if node == host]
        assert [event for _, event in mine] == [1, 0] * 36
        begins, ends = [time for time, _ in mine[::2]], [time for time, _ in mine[1::2]]
        assert begins[0] == pytest.approx(begin[0] + 83, abs=3)
        periods = {later - time for time, later in pairwise(begins[1:34])}
        assert periods == {begin[2] - begin[1]} == {8964}
        paused = [end - time for time, end in zip(begins[1:34], ends[1:34], strict=True)]
        assert paused == pytest.approx([4554] * 33, abs=3)


def test_interfaces_by_hand() -> None:
    ends = [("n0", "n2", "host-tor"), ("n2", "n0", "tor-host"), ("n1", "n2", "host-tor")]
    ends += [("n2", "n1", "tor-host"), ("n2", "n3", "tor-agg"), ("n3", "n2", "agg-tor")]
    links = pl.DataFrame(ends, schema=["from", "to", "tier"], orient="row")
    expected = [(0, 0, 1), (2, 1, 1), (1, 0, 1), (2, 1, 2), (2, 1, 3), (3, 1, 1)]
    found = [(one.node, one.is_of_switch, one.number) for one in interfaces(links)]
    assert found == expected
    # Any other network: hosts by number, switches behind them.
    names = {"n0": "h1", "n1": "h0", "n2": "tor", "n3": "agg"}
    renamed = links.with_columns(pl.col("from", "to").replace(names))
    assert [one.node for one in interfaces(renamed)] == [1, 2, 0, 2, 2, 3]


def test_lines_by_hand() -> None:
    events = pl.DataFrame({"time_ps": [1999, 5000, 7000], "link": [1, 0, 1]})
    events = events.with_columns(event=pl.Series(["begin", "renewal", "end"]))
    ends = [Interface(17, False, 1), Interface(320, True, 5)]
    assert pfc_text(events, ends) == "1 320 1 5 1\n5 17 0 1 1\n7 320 1 5 0\n"
    # From 50 ns on 999 bytes, from 120 ns on 2,000, from 300 ns on 0: readings at 100, 200 and 300
    # to 900 ns.
    ports = {"s->h": Interface(4, True, 2), "s->g": Interface(4, True, 1)}
    queues = pl.DataFrame(
        {"time_ps": [50_000, 120_000, 130_000, 300_000], "bytes": [999, 700, 2000, 0]}
    ).with_columns(port=pl.lit("s->h"))
    expected = "time: 1000\n4 1\n4 2 {}\n"
    changes = qlen_text(queues, ports, 1_000_000, changes=True)
    assert changes == expected.format("8 0 1")
    assert qlen_text(queues, ports, 1_000_000, changes=False) == expected.format("3 0 1")


def test_queues_are_exported(tmp_path: Path) -> None:
    asked = 'measure={ports=["switch->h2","h0->switch"],queue_changes=true}'
    result = hull.run(RECORDED, out=tmp_path / "run", set=[asked])
    looking.export(tmp_path / "run", looking.Program.HPCC)
    assert not (tmp_path / "run-hpcc/pfc.txt").exists()
    time, *lines = (tmp_path / "run-hpcc/qlen.txt").read_text().splitlines()
    (port,) = ([int(word) for word in line.split()] for line in lines)
    assert (time, port[:2]) == ("time: 1000000", [3, 3])
    counts = port[2:]
    assert sum(counts) == 10_000
    # The mean of the readings is between the queue's mean and a KB less, and one reading's share.
    mean_us = result.summary["parts"][0]["queues"]["switch->h2"]["mean_us"]
    mean_kb = mean_us * 101.012 / 8
    read_kb = sum(kb * count for kb, count in enumerate(counts)) / 10_000
    assert mean_kb - 1 <= read_kb <= mean_kb + 0.1

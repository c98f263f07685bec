"""Where small flows spend their time, from a summary, on the terminal and in a report."""

import json
from pathlib import Path
from typing import Any

import pytest

import hull
from conftest import Hull
from hull.results.waits import MOVING, SENDER, waits_of

PLAN: dict[str, Any] = {
    "name": "waits",
    "run": {"duration": "20ms", "drain": "1s", "seeds": 2},
    "topology": {
        "leaf_spine": {"leaves": 2, "spines": 2, "hosts_per_leaf": 3, "uplink_rate": "10Gbps"}
    },
    "host": {"rate": "1Gbps", "delay": "1us"},
    "switch": {"rate": "10Gbps", "delay": "1us"},
    "workload": {
        "long_lived": {"flows": [{"src": 0, "dst": 5}]},
        "flows": {"load": "10%", "sizes": {"fixed": "1KB"}, "sources": [0, 1]},
    },
    "schemes": {"fair": {}, "fifo": {"host": {"queue": "fifo"}}},
}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> hull.Result:
    return hull.run(PLAN, out=tmp_path_factory.mktemp("waits") / "out")


def test_places_add_up_to_the_completion_time(result: hull.Result) -> None:
    for one in waits_of(result.summary):
        cells = result.summary["cells"]
        of_scheme = next(cell for cell in cells if cell["scheme"] == one.scheme)
        fct = next(entry for entry in of_scheme["fct"] if entry["class"] == one.flows)
        assert sum(one.mean_us.values()) == pytest.approx(fct["mean_us"]["mean"], rel=1e-9)
        assert sum(one.tail_us.values()) >= 0.99 * fct["p99_us"]["mean"]


def test_a_fifo_moves_the_wait_to_the_host(result: hull.Result) -> None:
    fair, fifo = waits_of(result.summary)
    assert (fair.scheme, fifo.scheme) == ("fair", "fifo")
    assert fifo.longest()[0] == SENDER
    assert fifo.mean_us[SENDER] > 10 * fair.mean_us[SENDER]
    assert fifo.mean_us[MOVING] == pytest.approx(fair.mean_us[MOVING], rel=0.1)


def test_terminal_and_report_have_a_row_for_each_scheme(result: hull.Result, hull: Hull) -> None:
    told = hull("show", str(result.folder)).stdout
    where = told.index("flows spend their time, us: mean, and mean beyond the p99")
    rows = told[where:].splitlines()
    assert rows[1].split() == ["scheme", "sending", "host", "moving"]
    assert [row.split()[0] for row in rows[2::2]] == ["fair", "fifo"]
    page = result.report().read_text(encoding="utf-8")
    assert "flows spend their time: mean; below it" in page
    assert '<th scope="col">sending host (µs)</th>' in page


def test_a_run_warns_of_the_hosts_own_queue(result: hull.Result) -> None:
    _, share = waits_of(result.summary)[1].longest()
    assert result.summary["warnings"] == [
        'fifo: host.queue = "fifo": (0, 10KB] flows beyond the 99th percentile wait '
        f"{100 * share:.0f}% of their time in the sending host's queue, which decides that "
        "percentile"
    ]


def test_the_warning_names_a_queue_by_default(tmp_path: Path) -> None:
    host = {**PLAN["host"], "nic_queues": 2}
    plan = {**PLAN, "host": host, "schemes": {"unset": {}, "set": {"host": {"queue": "fifo"}}}}
    unset, given = hull.run(plan, out=tmp_path / "out").summary["warnings"]
    assert unset.startswith('unset: host.queue = "fifo", the default: (0, 10KB] flows')
    assert given.startswith('set: host.queue = "fifo": (0, 10KB] flows')


def test_a_flow_alone_waits_for_its_own_packets_only(tmp_path: Path) -> None:
    flow = {"src": 0, "dst": 5, "size": "10KB"}
    plan = {**PLAN, "workload": {"long_lived": {"flows": [flow]}}, "schemes": {"fair": {}}}
    plan["transport"] = {"initial_window": 10}
    result = hull.run(plan, out=tmp_path / "out")
    place, share = waits_of(result.summary)[0].longest()
    assert place == SENDER
    assert share > 0.5
    assert result.summary["warnings"] == []


def test_results_of_an_earlier_version_have_none(result: hull.Result) -> None:
    summary = json.loads((Path(result.folder) / "summary.json").read_text(encoding="utf-8"))
    for part in summary["parts"]:
        del part["waits"]
    assert waits_of(summary) == []

"""The estimate of a run's packet-hops and processor time, beside runs."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

import hull as hull_package
from conftest import Hull
from hull import _core, scenarios
from hull.runs.plan import make_plan, read_scenario
from hull.warnings.processor_time import HOPS, HOPS_PER_S, packet_hops, rough_time
from hull.warnings.scenario import times_of, warnings_before
from hull.warnings.traffic import KINDS
from hull.warnings.workload import HOSTS_OF

RUNS = {
    "table4": ["run.duration=2s", "run.warmup=200ms"],
    "epfl-fig4": ["run.duration=1s", "run.warmup=100ms"],
    "static": ["run.duration=500ms", "run.warmup=100ms"],
    "thesis-multihop": ["run.duration=100ms", "run.warmup=20ms"],
    "thesis-fairness": ["run.duration=20ms", "run.warmup=10ms"],
    "fat-tree1024": ["workload.flows.count=100"],
    "hull-incast": ["workload.incast.queries=10"],
    "uno-workload": ["run.duration=4ms"],
    "sharing": ["run.duration=50ms", "run.warmup=10ms"],
    "thesis-qcn": ["run.duration=40ms", "run.warmup=10ms"],
}


def estimated(scenario: dict[str, Any]) -> float | None:
    resolved = _core.Resolved(json.dumps(scenario))
    return packet_hops(scenario, lambda: json.loads(resolved.network()))


@pytest.mark.parametrize("name", list(RUNS))
def test_estimate_within_a_factor_of_three(name: str, tmp_path: Path) -> None:
    content = tomllib.loads(scenarios.text(name))
    content.pop("sweep", None)
    schemes = list(content.get("schemes", {}))[:1]
    plan = make_plan(*read_scenario(content), RUNS[name], 1, schemes=schemes)
    hops = estimated(plan.cells[0].scenario)
    assert hops is not None
    result = hull_package.run(content, tmp_path / "out", set=RUNS[name], seeds=1, schemes=schemes)
    assert 1 / 3 < hops / result.summary["parts"][0]["packet_hops"] < 3


def star(workload: dict[str, Any], **run: str) -> dict[str, Any]:
    content = {
        "name": "star",
        "run": {"duration": "1s", **run},
        "topology": {"star": {"hosts": 5}},
        "host": {"rate": "12Gbps", "delay": "1us"},
        "switch": {"rate": "12Gbps", "delay": "1us"},
        "transport": {"mtu": "1520B", "header": "20B", "ack_every": 1},
        "workload": workload,
    }
    return make_plan(*read_scenario(content), []).cells[0].scenario


@pytest.mark.parametrize(
    ("workload", "hops"),
    [
        # A link carries 1e6 packets of 1500 bytes a second (the estimate ignores headers); each,
        # and its ACK, takes two hops.
        ({"long_lived": {"flows": [{"src": [1, 2], "dst": 0}]}}, 4e6),
        ({"long_lived": {"flows": [{"src": 1, "dst": 0}, {"src": 2, "dst": 0}]}}, 4e6),
        ({"long_lived": {"flows": [{"src": 1, "dst": 0, "start": "750ms"}]}}, 1e6),
        ({"long_lived": {"flows": [{"src": 1, "dst": 0, "size": "15MB"}]}}, 4e4),
        ({"bulk": {"flows": 2, "size": "1.5MB"}}, 8e3),
        ({"flows": {"load": "50%", "sizes": {"fixed": "15KB"}}}, 1e7),
        ({"flows": {"load": "50%", "count": 100, "sizes": {"fixed": "15KB"}}}, 4e3),
        ({"permutation": {"size": "1.5MB"}}, 2e4),
        ({"all_to_all": {"size": "1.5MB"}}, 8e4),
        ({"incast": {"total": "1.5MB", "queries": 10}}, 4e4),
        # The long-lived flow ends with the queries, after twice the 10 ms of 15 MB.
        (
            {
                "incast": {"total": "1.5MB", "queries": 10},
                "long_lived": {"flows": [{"src": 1, "dst": 2}]},
            },
            4e4 + 8e4,
        ),
    ],
)
def test_hops_by_hand(workload: dict[str, Any], hops: float) -> None:
    assert estimated(star(workload)) == pytest.approx(hops)


def test_a_flow_list_in_csv(place: Path) -> None:
    rows = "# x\nstart_ps,src,dst,bytes\n0,1,0,1500000\n5,2,0,1500000\n"
    Path("list.csv").write_text(rows, encoding="utf-8")
    assert estimated(star({"flows": "list.csv"})) == pytest.approx(8e3)


def test_a_long_run_warns(hull: Hull, place: Path) -> None:
    text = scenarios.text("table4")
    assert warnings_before(make_plan(text, "t", [])) == []
    plan = make_plan(text, "t", ["run.duration=50000s"], 2)
    total_s = 2 * sum(filter(None, times_of(plan)))
    assert total_s > 3600
    assert warnings_before(plan) == [
        f"run.duration: the 24 runs together take about {rough_time(total_s)} of processor time, a "
        "rough estimate; a shorter duration, fewer seeds or --scheme take less"
    ]
    found = json.loads(hull("check", "scenario.toml", "--format", "json").stdout)
    times = times_of(make_plan(scenarios.text("epfl-table2"), "t", []))
    assert found["processor_seconds"] == pytest.approx(max(filter(None, times)))
    assert 1e6 < HOPS_PER_S < 1e8


def test_times_for_people() -> None:
    texts = [rough_time(seconds) for seconds in (0.01, 42, 100, 7200, 864000)]
    assert texts == ["1 s", "42 s", "1.7 min", "2 h", "10 days"]


def keys_of(section: str) -> set[str]:
    return set(json.loads(_core.schema())["$defs"][section]["properties"])


def test_each_workload_and_topology_has_an_estimate() -> None:
    assert set(KINDS) == keys_of("Workload") - {"high_priority_below"}
    shapes = keys_of("Topology") - {"file", "graph", "links", "failures"}
    assert set(HOPS) == shapes
    assert set(HOSTS_OF) == shapes

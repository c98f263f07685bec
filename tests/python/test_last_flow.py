"""The completion of the last flow, by hand: from a list on disk to the printed line."""

import json
from pathlib import Path
from typing import Any

import pytest

import hull
from conftest import Hull

SCENARIO: dict[str, Any] = {
    "name": "last",
    "run": {"duration": "10ms", "drain": "0s"},
    "topology": {"star": {"hosts": 3}},
    "host": {"rate": "1Gbps", "delay": "1us"},
    "switch": {"rate": "1Gbps", "delay": "1us"},
    "transport": {"framing": "0B"},
}


def run(place: Path, rows: str, **workload: Any) -> hull.Result:
    flows = place / "list.csv"
    flows.write_text(f"start_ps,src,dst,bytes\n{rows}", encoding="utf-8")
    scenario = SCENARIO | {"workload": {"list": str(flows), **workload}}
    return hull.run(scenario, seeds=2, out=place / "out")


def essentials(hull: Hull, folder: Path) -> dict[str, float]:
    lines = json.loads(hull("show", str(folder), "--format", "json").stdout)
    return {line["what"]: line["value"]["mean"] for line in lines if "last flow" in line["what"]}


def test_last_of_two_packets(tmp_path: Path, hull: Hull) -> None:
    """1,500 bytes take 12 us on each link, which is 1 us long. The second starts after 1 ms."""
    result = run(tmp_path, "1000000,1,0,1460\n1001000000,2,0,1460\n")
    for part in result.summary["parts"]:
        last = {"flows": 2, "unfinished": 0, "completion_us": pytest.approx(1026)}
        assert part["last_flow"] == {"list": last}
    assert essentials(hull, tmp_path / "out") == {"last flow completes": pytest.approx(1026)}
    assert "last flow" in hull("show", str(tmp_path / "out")).stdout


def test_missing_flows_are_counted(tmp_path: Path, hull: Hull) -> None:
    """The second flow is cut by the end of the run, the third is after it."""
    result = run(tmp_path, "0,1,0,1460\n9990000000,2,0,1460\n20000000000,1,0,1460\n")
    last = {"flows": 3, "unfinished": 2, "completion_us": None}
    assert [part["last_flow"]["list"] for part in result.summary["parts"]] == [last] * 2
    assert essentials(hull, tmp_path / "out") == {"last flow missing: unfinished": 2.0}


def test_two_workloads_and_an_endless_one(tmp_path: Path, hull: Hull) -> None:
    poisson = {"load": "10%", "sizes": {"fixed": "1KB"}}
    incast = {"total": "2KB", "queries": 2, "queries_per_second": 2000}
    result = run(tmp_path, "0,1,0,1460\n", flows=poisson, incast=incast)
    part = result.summary["parts"][0]
    assert list(part["last_flow"]) == ["list", "incast"]
    queries = result.queries.filter(result.queries["seed"] == part["seed"])
    starts = queries["start_ps"].to_list()
    ends = map(sum, zip(starts, queries["completion_ps"].to_list(), strict=True))
    span_us = (max(ends) - min(starts)) / 1e6
    assert part["last_flow"]["incast"]["completion_us"] == pytest.approx(span_us)
    assert list(essentials(hull, tmp_path / "out")) == [
        "last flow of list completes",
        "last flow of incast completes",
    ]

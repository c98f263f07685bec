"""Flows that have not ended when the run does are counted, shown and warned about, and statistics
that they could change are called lower bounds; against the rows of a run that waits for them."""

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import Hull
from hull import run

SCENARIO: dict[str, Any] = {
    "name": "unfinished",
    "run": {"duration": "10ms", "warmup": "1ms", "drain": "0s"},
    "topology": {"star": {"hosts": 5}},
    "host": {"rate": "1Gbps", "delay": "1us"},
    "switch": {"rate": "1Gbps", "delay": "1us", "buffer": "50pkts"},
    "transport": {"initial_rto": "5ms", "min_rto": "5ms"},
    "groups": {"small": "bytes<=10KB"},
    "workload": {
        "flows": {
            "load": "40%",
            "sizes": {"pareto": {"shape": 1.2, "mean": "30KB", "cut": "1MB"}},
            "class_bounds": ["10KB", "100KB"],
        },
        "long_lived": {"flows": [{"src": 1, "dst": 0}]},
    },
}
PER_MILLE = {"p50": 500, "p90": 900, "p99": 990, "p999": 999, "max": 1000}


def rank(values: list[float], per_mille: int) -> float:
    """The smallest value with at least that share at or below it."""
    return sorted(values)[max(math.ceil(len(values) * per_mille / 1000), 1) - 1]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], pl.DataFrame]:
    """A run that ends with its measured time, and the rows of one that waits for all flows."""
    folder = tmp_path_factory.mktemp("unfinished")
    found = run(SCENARIO, out=folder / "short").summary
    waits = {**SCENARIO, "run": {**SCENARIO["run"], "drain": "10s"}}
    run(waits, out=folder / "long")
    rows = pl.read_parquet(next((folder / "long").rglob("flows.parquet")))
    return folder / "short", found, rows


def test_counts_and_bounds_match_a_run_that_waits(
    parts: tuple[Path, dict[str, Any], pl.DataFrame],
) -> None:
    _, summary, rows = parts
    part = summary["parts"][0]
    end_ps = 11_000_000_000
    bounds = 0
    for entry in part["fct"]:
        of_class = rows.filter(pl.col("class") == entry["class"])
        ended = pl.col("start_ps") + pl.col("fct_ps") < end_ps
        done = of_class.filter(ended)["fct_ps"].to_list()
        late = of_class.filter(~ended).height
        assert (entry["count"], entry["unfinished"]) == (len(done), late)
        if not late or not done:
            assert "lower_bound" not in entry
            continue
        expected = {
            name: int(rank(done + [math.inf] * late, of) > rank(done, of))
            for name, of in PER_MILLE.items()
        }
        assert entry["lower_bound"] == {"mean": 1, **expected}
        bounds += 1
    assert bounds > 0
    total = sum(entry["unfinished"] for entry in part["fct"])
    of_groups = [entry for of in part["groups"].values() for entry in of["fct"]]
    assert sum(entry["unfinished"] for entry in of_groups) == total > 0


def test_they_are_shown_and_warned_about(
    hull: Hull, parts: tuple[Path, dict[str, Any], pl.DataFrame]
) -> None:
    folder, summary, _ = parts
    unfinished = sum(entry["unfinished"] for entry in summary["parts"][0]["fct"])
    started = unfinished + sum(entry["count"] for entry in summary["parts"][0]["fct"])
    told = f"{unfinished} of {started} flows per seed did not complete"
    assert any(told in text for text in summary["warnings"])
    shown = hull("show", str(folder)).stdout
    assert "unfinished" in shown
    assert "≥ " in shown
    lines = json.loads(hull("show", str(folder), "--format", "json").stdout)
    line = next(line for line in lines if line["what"] == "unfinished flows")
    assert (line["value"]["mean"], line["count"]) == (unfinished, started)
    assert {line["lower_bound"] for line in lines if line["unit"] == "us"} == {True}
    rows = csv.DictReader(io.StringIO(hull("show", str(folder), "--format", "csv").stdout))
    assert {row["lower_bound"] for row in rows} == {"true", "false"}
    hull("report", str(folder))
    page = (folder / "report.html").read_text()
    assert told in page
    assert "unfinished per seed" in page
    assert "≥ " in page


def test_a_run_that_waits_has_none(hull: Hull, tmp_path: Path) -> None:
    waits = {**SCENARIO, "run": {**SCENARIO["run"], "drain": "10s"}}
    summary = run(waits, out=tmp_path / "run").summary
    part = summary["parts"][0]
    assert all(entry["unfinished"] == 0 for entry in part["fct"])
    assert all("lower_bound" not in entry for entry in part["fct"] + part["slowdown"])
    assert not any("did not complete" in text for text in summary["warnings"])
    assert "unfinished" not in hull("show", str(tmp_path / "run")).stdout

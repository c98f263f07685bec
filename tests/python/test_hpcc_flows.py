"""Results in HPCC's columns: addresses and times by hand, and the slowdown as its script has it."""

from pathlib import Path

import polars as pl
import pytest
import tomli_w

import hull
from conftest import Hull
from hull.cli import looking
from hull.results.hpcc_flows import address, fct_text
from hull.runs.plan import make_plan
from hull.warnings.scenario import warnings_before

SCENARIO = {
    "name": "export",
    "run": {"duration": "100us"},
    "topology": {"star": {"hosts": 3}},
    "host": {"rate": "100Gbps", "delay": "1us"},
    "switch": {"rate": "100Gbps", "delay": "1us"},
    "workload": {"long_lived": {"flows": [{"src": [1, 2], "dst": 0, "size": "100KB"}]}},
}


@pytest.mark.parametrize(
    ("node", "text"), [(0, "0b000001"), (1, "0b000101"), (255, "0b00ff01"), (256, "0b010001")]
)
def test_addresses_are_those_of_nodes(node: int, text: str) -> None:
    assert f"{address(node):08x}" == text


def test_flows_by_hand() -> None:
    flows = pl.DataFrame(
        {
            "start_ps": [5_000_000, 1_999, 0, 7_000_000],
            "fct_ps": [9_000_000, 20_000_999, 1_000_000, 1],
            "bytes": [1000, 2000, 3000, 4000],
            "src": [2, 2, 1, 1],
            "dst": [0, 0, 0, 0],
            "ideal_ps": [3_000_000, 10_000_000, 1_000_000, None],
        }
    )
    assert fct_text(flows).splitlines() == [
        "0b000101 0b000001 10000 100 3000 0 1000 1000",
        "0b000201 0b000001 10000 100 1000 5000 9000 3000",
        "0b000201 0b000001 10001 100 2000 1 20000 10000",
    ]


def test_the_command(tmp_path: Path) -> None:
    result = hull.run(SCENARIO, out=tmp_path / "run")
    tables = (tmp_path / "run").rglob("flows.parquet")
    [table] = (path for path in tables if path.parent != tmp_path / "run")
    slowdowns = sorted(pl.read_parquet(table)["slowdown"])
    assert len(result.summary["parts"]) == 1
    looking.export(tmp_path / "run", looking.Program.HPCC)
    rows = [line.split() for line in (tmp_path / "run-hpcc/fct.txt").read_text().splitlines()]
    assert sorted(int(row[6]) / int(row[7]) for row in rows) == pytest.approx(slowdowns, rel=1e-3)


def test_flows_beyond_the_announced_ones_are_skipped_with_a_warning(tmp_path: Path) -> None:
    rows = ["0 2 3 100 100000 0", "1 2 3 100 100000 0.00001", "", "2 1 3 5000 0.0001"]
    list_ = tmp_path / "flow.txt"
    scenario = {**SCENARIO, "workload": {"flows": str(list_)}}
    text = tomli_w.dumps(scenario)
    list_.write_text("\n".join(["2", *rows[:2], "notes: src dst group port bytes seconds", ""]))
    assert warnings_before(make_plan(text, "mine.toml", [])) == []
    list_.write_text("\n".join(["1", *rows, "five words that are none"]))
    (said,) = warnings_before(make_plan(text, "mine.toml", []))
    assert said.startswith(
        f"workload.flows: {list_} announces 1 flows, up to line 2; 2 more behind"
    )
    assert hull.run(scenario, out=tmp_path / "run").flows.height == 1


def test_an_unknown_program(hull: Hull, tmp_path: Path) -> None:
    done = hull("export", str(tmp_path), "--as", "omnet")
    assert done.returncode == 2
    assert "--as" in done.stderr
    assert "hpcc" in done.stderr

"""The Python types of a scenario match its schema and accept the shipped scenarios."""

import runpy
import tomllib
from pathlib import Path

import hull
from hull import scenarios

ROOT = Path(__file__).resolve().parents[2]


def test_types_are_up_to_date() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "make_types.py"))
    written = (ROOT / "python" / "hull" / "inputs" / "scenario_types.py").read_text(
        encoding="utf-8"
    )
    assert written == tool["source"](), "make types"


def test_a_typed_scenario_runs(tmp_path: Path) -> None:
    scenario: hull.Scenario = {
        "name": "typed",
        "run": {"duration": "5ms"},
        "topology": {"star": {"hosts": 3}},
        "host": {"rate": "1Gbps", "delay": "1us"},
        "switch": {"rate": "1Gbps", "delay": "1us", "marking": {"threshold": "30KB"}},
        "transport": {"congestion_control": "dctcp", "ecn": True},
        "workload": {"bulk": {"flows": 2}},
    }
    result = hull.run(scenario, tmp_path / "out")
    assert result.summary["parts"][0]["throughput"]["utilization"] > 0.5


def test_shipped_scenarios_have_known_tables() -> None:
    for name in scenarios.names():
        keys = tomllib.loads(scenarios.text(name)).keys()
        assert keys <= hull.Scenario.__annotations__.keys()

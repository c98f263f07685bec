"""The queue of hosts: scenarios of documents name it; a user's starts from today's default."""

import importlib
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

import hull
from hull import ScenarioError, scenarios
from hull.lab import scenario as lab
from hull.lab.model import read_state
from hull.runs.plan import make_plan, read_scenario

ROOT = Path(__file__).parents[2]
OTHERS = [*ROOT.glob("benches/**/*.toml"), *ROOT.glob("validation/**/scenarios/**/*.toml")]
OWN: dict[str, Any] = {
    "name": "own",
    "run": {"duration": "1ms"},
    "topology": {"star": {"hosts": 3}},
    "host": {"rate": "10Gbps", "delay": "1us"},
    "switch": {"rate": "10Gbps", "delay": "1us"},
    "workload": {"bulk": {"flows": 2, "size": "10KB"}},
}


def of(scenario: dict[str, Any], *settings: str) -> dict[str, Any]:
    """The resolved hosts of a scenario."""
    text, file = read_scenario(scenario)
    host: dict[str, Any] = make_plan(text, file, list(settings)).cells[0].scenario["host"]
    return host


def test_every_shipped_scenario_names_its_queue() -> None:
    texts = {name: scenarios.text(name) for name in scenarios.names()}
    texts |= {str(path): path.read_text(encoding="utf-8") for path in OTHERS}
    assert len(texts) > 50
    hosts = {name: tomllib.loads(text).get("host", {"queue": ""}) for name, text in texts.items()}
    assert [name for name, host in hosts.items() if "queue" not in host] == []


def test_a_users_scenario_has_a_queue_for_each_flow() -> None:
    assert of(OWN)["queue"] == "fair"
    assert of(OWN, "host.queue=fq")["queue"] == "fq"


def test_transmit_queues_are_those_of_a_fifo() -> None:
    assert of(OWN, "host.nic_queues=4")["queue"] == "fifo"
    with pytest.raises(ScenarioError, match=r"host\.nic_queues: 4 is invalid; expected 1 unless"):
        of(OWN, "host.nic_queues=4", "host.queue=fair")


def test_the_queue_decides_how_long_small_flows_take(tmp_path: Path) -> None:
    """A bulk flow and a small one of the same host: behind a FIFO the small one waits for the
    window of the other, in its own queue for a packet at most.
    """
    plan: dict[str, Any] = {
        **OWN,
        "workload": {
            "long_lived": {
                "flows": [{"src": 1, "dst": 0}, {"src": 1, "dst": 2, "start": "9ms", "size": "1KB"}]
            }
        },
        "run": {"duration": "10ms"},
    }
    took = {}
    for queue in ("fifo", "fair", "fq", "fq_codel"):
        plan["host"] = {**OWN["host"], "queue": queue}
        [fct_ps] = hull.run(plan, out=tmp_path / queue).flows["fct_ps"]
        took[queue] = fct_ps / 1e6
    assert took["fifo"] > 100
    assert all(took[queue] < 8 for queue in ("fair", "fq", "fq_codel")), took


def test_the_figure_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    figure = importlib.import_module("host_queues")
    kept = json.loads(figure.TABLE.read_text(encoding="utf-8"))
    assert figure.measured() == kept
    page = (ROOT / "docs" / "host.md").read_text(encoding="utf-8")
    for scheme, queues in kept.items():
        for queue, points in queues.items():
            row = " | ".join(map(str, points.values()))
            assert f"| {figure.SCHEMES[scheme]} | `{queue}` | {row} |" in page


def test_the_lab_starts_with_the_hosts_of_today() -> None:
    assert lab.scenario(read_state({}))["host"]["queue"] == "fair"
    assert lab.scenario(read_state({"queue": "fifo"}))["host"]["queue"] == "fifo"

"""Memory: the estimate against the peak of a process, and what exceeds the available memory."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hull
from conftest import COMMAND
from hull import ScenarioError, _core
from hull.lab import scenario as lab
from hull.lab.model import read_state
from hull.process.memory import fitting_jobs
from hull.runs.plan import make_plan, read_scenario

BASE: dict[str, Any] = {
    "name": "memory",
    "run": {"duration": "1ms", "warmup": "0s"},
    "topology": {"fat_tree": {"k": 4}},
    "host": {"rate": "10Gbps", "delay": "500ns"},
    "switch": {"rate": "10Gbps", "delay": "500ns"},
    "workload": {"bulk": {"flows": 5, "size": "100KB"}},
}
FQ = {"switch": {**BASE["switch"], "fq_codel": {"flows": 65536}}}
NICQ = {"host": {**BASE["host"], "nic_queues": 8191}}
BUCKETS = {"pacer": {"buckets": 1000}}


def fat_tree(k: int) -> dict[str, Any]:
    return {"topology": {"fat_tree": {"k": k}}}


SIZED = {
    # Scenarios that took more than 5 GB without a word with k = 32 and 64.
    "switch.fq_codel.flows": FQ,
    "host.nic_queues": {**fat_tree(16), **NICQ},
    "pacer.buckets": {**fat_tree(16), **BUCKETS},
    "transport.message.paths": {
        **fat_tree(8),
        "transport": {"congestion_control": "nscc", "ecn": True, "message": {"paths": 4096}},
        "workload": {"all_to_all": {"size": "1KB", "hosts": "0-49"}},
    },
    "workload.bulk": {"workload": {"bulk": {"flows": 300_000, "size": "1KB"}}},
    "topology": fat_tree(48),
    "measure.sample_interval": {
        "topology": {"star": {"hosts": 3}},
        "run": {"duration": "3s", "warmup": "0s"},
        "measure": {"sample_interval": "1us"},
        "workload": {"long_lived": {"flows": [{"src": 1, "dst": 0}]}},
    },
}


def checked(scenario: dict[str, Any]) -> Any:
    """What `hull check` says of the memory."""
    text, file = read_scenario(scenario)
    [cell] = make_plan(text, file, []).cells
    return cell.memory


@pytest.mark.parametrize("key", SIZED)
def test_the_estimate_is_near_the_peak(tmp_path: Path, key: str) -> None:
    scenario = {**BASE, **SIZED[key]}
    estimate = checked(scenario)
    assert estimate["needs"][0]["key"] == key
    # The peak is per process, so each scenario has a process of its own.
    code = "import hull, json, sys; hull.run(json.loads(sys.argv[1]), out='out')"
    subprocess.run(
        [sys.executable, "-c", code, json.dumps(scenario)], cwd=tmp_path, check=True, timeout=300
    )
    [summary] = (tmp_path / "out").rglob("seed-1/summary.json")
    peak = json.loads(summary.read_text(encoding="utf-8"))["peak_rss_bytes"]
    assert estimate["bytes"] == pytest.approx(peak, rel=0.25)


LARGE = {
    "switch.fq_codel.flows": {**fat_tree(32), **FQ},
    "host.nic_queues": {**fat_tree(64), **NICQ},
    "pacer.buckets": {**fat_tree(64), **BUCKETS},
}


@pytest.mark.parametrize("key", LARGE)
@pytest.mark.parametrize("command", ["check", "run", "sweep"])
def test_more_than_is_available(tmp_path: Path, key: str, command: str) -> None:
    text, _ = read_scenario({**BASE, **LARGE[key]})
    (tmp_path / "large.toml").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [*COMMAND, command, "large.toml"],
        cwd=tmp_path,
        env={**os.environ, "HULL_MEMORY_LIMIT": "4GB"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f" {key}: " in done.stderr
    assert "of memory; expected at most the 4.0 GB that HULL_MEMORY_LIMIT allows" in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["large.toml"]


def test_python_and_the_lab_refuse_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HULL_MEMORY_LIMIT", "50MB")
    with pytest.raises(ScenarioError, match="50 MB that HULL_MEMORY_LIMIT allows"):
        hull.run(BASE, out=tmp_path / "out")
    with pytest.raises(ScenarioError, match="50 MB that HULL_MEMORY_LIMIT allows"):
        lab.cells(read_state({}))
    assert not any(tmp_path.iterdir())


def test_the_variable_is_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HULL_MEMORY_LIMIT", "much")
    with pytest.raises(ScenarioError, match='HULL_MEMORY_LIMIT: "much" is invalid; expected a'):
        checked(BASE)
    monkeypatch.setenv("HULL_MEMORY_LIMIT", "2GiB")
    assert _core.available_memory() == 2 << 30


def test_check_prints_the_estimate(tmp_path: Path) -> None:
    text, _ = read_scenario({**BASE, **FQ})
    (tmp_path / "fq.toml").write_text(text, encoding="utf-8")
    command = [*COMMAND, "check", "fq.toml"]
    told = subprocess.check_output(command, cwd=tmp_path, text=True)
    [line] = [line for line in told.splitlines() if line.startswith("memory ")]
    assert "MB for a run, of which" in line
    assert line.endswith("for switch.fq_codel.flows: 65536 queues at each of 80 ports")
    found = json.loads(subprocess.check_output([*command, "--format", "json"], cwd=tmp_path))
    assert found["memory"] == checked({**BASE, **FQ})


def test_jobs_share_the_memory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HULL_MEMORY_LIMIT", "4GB")
    gb = 1_000_000_000
    assert [fitting_jobs(8, [gb] * 4), fitting_jobs(8, []), fitting_jobs(1, [9 * gb])] == [8, 8, 1]
    assert capsys.readouterr().err == ""
    assert fitting_jobs(8, [gb] * 3 + [2 * gb] * 2) == 2
    told = "2 of 8 jobs at once: a run needs about 2.0 GB of memory, and 4.0 GB are available"
    assert told in capsys.readouterr().err


def test_results_do_not_depend_on_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    many = hull.run(BASE, seeds=3, jobs=3, out=tmp_path / "many")
    monkeypatch.setenv("HULL_MEMORY_LIMIT", "150MB")
    few = hull.run(BASE, seeds=3, jobs=3, out=tmp_path / "few")
    assert "2 of 3 jobs at once" in capsys.readouterr().err
    assert many.flows.equals(few.flows)


def test_the_estimate_of_a_large_network_is_quick() -> None:
    text, _ = read_scenario({**BASE, **fat_tree(64)})
    code = (
        "import sys, time; from hull.runs.plan import make_plan; begun = time.process_time();"
        "make_plan(sys.argv[1], 'x.toml', []); print(time.process_time() - begun)"
    )
    assert float(subprocess.check_output([sys.executable, "-c", code, text])) < 3

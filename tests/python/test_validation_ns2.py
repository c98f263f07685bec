"""validation/ns2: the readers of ns-2's files, the replayed requests, and one run beside ns-2."""

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

import hull

ROOT = Path(__file__).parents[2]
NO_NS2 = shutil.which("ns") is None


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import a module of validation/ns2, which belongs to no package."""
    for folder in ("ns3", "ns2"):
        monkeypatch.syspath_prepend(str(ROOT / "validation" / folder))
    return importlib.import_module(name)


def test_queue_monitor_gives_latency_and_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = load("readings", monkeypatch)
    lines = [
        f"{0.01 * i} 0 1 {1250 * i}.0 1.0 9 9 0 0 {sent} 0" for i, sent in enumerate((0, 8, 3))
    ]
    queue = readings.parse_queue("\n".join(lines))
    assert [one.queue_bytes for one in queue] == [0, 1250, 2500]
    # 1250 bytes take 10 us at 1 Gbit/s.
    latency = readings.queueing((one.queue_bytes for one in queue), 1e9)
    assert latency["queue, mean, us"] == pytest.approx(10)
    assert latency["queue, 99%, us"] == pytest.approx(19.8)
    assert readings.sent_bytes(queue) == 8 + 2**32 - 5, "the counter has wrapped around once"
    with pytest.raises(ValueError, match="expected 11 fields"):
        readings.parse_queue("0.01 0 1 5.0")


def test_query_ends_with_its_last_response(monkeypatch: pytest.MonkeyPatch) -> None:
    readings, requests_of = (load(name, monkeypatch) for name in ("readings", "requests_of"))
    sizes = (100, 100, 0.0)
    asked = [requests_of.Request(1.0, "query", i, *sizes) for i in range(2)]
    asked.append(requests_of.Request(2.0, "900B", 0, *sizes))
    asked += [requests_of.Request(3.0, "query", i, *sizes) for i in range(2)]
    text = "0 1.0 1.5\n1 1.0 1.25\n2 2.0 2.125\n3 3.0 3.5\n"
    done = list(readings.parse_done(text, asked))
    assert done == [("900B", 2.0, 0.125), ("query", 1.0, 0.5)], "the second query is incomplete"
    assert readings.completion(done, 1.5) == {
        "900B, completed": 1,
        "900B, mean, us": 125000,
        "900B, 99%, us": 125000,
    }


def test_requests_are_those_of_hull(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests_of = load("requests_of", monkeypatch)
    scenario = alone()
    result = hull.run(scenario, tmp_path / "out")
    found = requests_of.requests(scenario, next((tmp_path / "out").glob("parts/**/seed-1")))
    assert len(found) == 3 * result.queries.height
    assert [row.start_s for row in found[::3]] == sorted(result.queries["start_ps"] * 1e-12)
    assert {row[3:5] for row in found} == {(3500, 2800)}
    assert [row.service_s for row in found] == pytest.approx([1e-4] * len(found))


@pytest.mark.skipif(NO_NS2, reason="ns-2 is not installed")
def test_uncontended_queries_take_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings, compare = (load(name, monkeypatch) for name in ("readings", "compare"))
    hull.run(alone(), tmp_path / "out")
    part = next((tmp_path / "out").glob("parts/**/seed-1"))
    options, asked = compare.prepare(part, compare.CASES["fig4"])
    compare.run_ns2(part / "ns2", options | {"end": 2})
    # The first query opens ns-2's connections.
    from_s = asked[0].start_s + 1e-6
    ns2 = readings.completion(readings.parse_done((part / "ns2.done").read_text(), asked), from_s)
    ours = readings.of_hull(part, 1e9, from_s)
    assert ns2["query, completed"] == ours["query, completed"] > 10
    # Two earlier requests (29.28 us each), the third (47.2), its service, its response (41.28).
    assert ours["query, mean, us"] == pytest.approx(2 * 29.28 + 47.2 + 100 + 41.28)
    assert ns2["query, mean, us"] == pytest.approx(ours["query, mean, us"])


@pytest.mark.skipif(NO_NS2, reason="ns-2 is not installed")
def test_rules_of_hull_without_a_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readings, compare = (load(name, monkeypatch) for name in ("readings", "compare"))
    hull.run(alone(), tmp_path / "out")
    part = next((tmp_path / "out").glob("parts/**/seed-1"))
    options, asked = compare.prepare(part, compare.CASES["fig4"])
    compare.run_ns2(part / "ns2", options | {"end": 2, "ack_first": 1, "keep_timer": "query"})
    done = readings.parse_done((part / "ns2.done").read_text(), asked)
    ns2 = readings.completion(done, asked[0].start_s + 1e-6)
    # The time above and the 6 us for which the answer waits; a timer that is kept changes nothing.
    assert ns2["query, mean, us"] == pytest.approx(247.04 + 6)


def test_responses_behind_one_timeout_are_one_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = load("readings", monkeypatch)
    (tmp_path / "summary.json").write_text(json.dumps({"timeouts": 5}))
    pl.DataFrame({"timeouts": [1, 0, 2]}).write_parquet(tmp_path / "flows.parquet")
    assert readings.query_timeouts(tmp_path) == 0, "without queries"
    pl.DataFrame({"timeouts": [7, 7]}).write_parquet(tmp_path / "queries.parquet")
    assert readings.query_timeouts(tmp_path) == 2


def alone() -> dict[str, object]:
    """Queries of 3500 and 2800 bytes to three servers that take 100 us, and nothing else."""
    return {
        "name": "alone",
        "title": "Queries",
        "source": "none",
        "run": {"duration": "1s", "seed": 1},
        "topology": {"star": {"hosts": 4}},
        "host": {"queue": "fifo", "rate": "1Gbps", "delay": "5us", "nic_buffer": "1000pkts"},
        "switch": {"rate": "1Gbps", "delay": "5us", "buffer": "500pkts"},
        "transport": {"mtu": "990B", "initial_window": 4, "receive_window": 1256, "ack_every": 1},
        "workload": {
            "partition_aggregate": {
                "interval": "50ms",
                "request_size": "3500B",
                "response_size": "2800B",
                "service": {"offset": "100us"},
            }
        },
    }


@pytest.mark.skipif(NO_NS2, reason="ns-2 is not installed")
def test_unknown_key_is_rejected() -> None:
    command = ["ns", str(ROOT / "validation/ns2/star.tcl"), "sped=1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert '"sped=1" is invalid' in done.stderr


def test_unknown_case_is_rejected() -> None:
    command = [sys.executable, str(ROOT / "validation/ns2/compare.py"), "fig9"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT / "validation/ns3")},
    )
    assert done.returncode == 1
    assert "no case fig9" in done.stderr

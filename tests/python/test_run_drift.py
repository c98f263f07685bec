"""Runs whose second half differs from the first: more load than the uplinks carry warns."""

from pathlib import Path

import pytest

import hull

SCENARIO = """
name = "drift"
run = { duration = "40ms", seeds = 5 }
topology.leaf_spine = { leaves = 2, spines = 1, hosts_per_leaf = 4, uplink_rate = "10Gbps" }
host = { rate = "10Gbps", delay = "1us" }
switch = { rate = "10Gbps", delay = "1us", buffer = "1MB", marking.threshold = "65pkts" }
transport = { congestion_control = "dctcp", ecn = true, min_rto = "10ms", max_window = 100 }
[workload.flows]
load = 0.4
sizes = { fixed = "100KB" }
"""


@pytest.mark.parametrize(("load", "expected"), [("0.2", False), ("0.6", True)])
def test_a_growing_backlog_is_said(tmp_path: Path, load: str, expected: bool) -> None:
    scenario = tmp_path / "drift.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    result = hull.run(scenario, out=tmp_path / "out", set=[f"workload.flows.load={load}"])
    found = [text for text in result.summary["warnings"] if "second half" in text]
    assert bool(found) is expected
    if expected:
        assert "run.duration: the mean completion time of" in found[0]
    for part in result.summary["parts"]:
        for halves, flows in zip(part["halves"], part["fct"], strict=True):
            both = [half for half in (halves["first"], halves["second"]) if half["flows"]]
            assert halves["class"] == flows["class"]
            assert sum(half["flows"] for half in both) == flows["count"]
            whole = sum(half["flows"] * half["mean_us"] for half in both)
            if both:
                assert whole / flows["count"] == pytest.approx(flows["mean_us"], rel=1e-9)

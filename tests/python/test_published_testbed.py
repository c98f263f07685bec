"""Quick forms of experiments on the testbed against the paper: table 2 and table 5.

What deviates more has its cause in docs/experiments.
"""

import json
import subprocess

import pytest

from conftest import COMMAND


def ratios(experiment: str, factory: pytest.TempPathFactory) -> dict[tuple[str, ...], float]:
    """Measured over published, by condition, scheme, metric and statistic."""
    arguments = ["reproduce", experiment, "--quick", "--format", "json"]
    done = subprocess.run(
        [*COMMAND, *arguments, "--out", str(factory.mktemp(experiment))],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    keys = ("condition", "scheme", "metric", "statistic")
    return {tuple(row[key] for key in keys): row["ratio"] for row in json.loads(done.stdout)}


def test_interrupt_coalescing(tmp_path_factory: pytest.TempPathFactory) -> None:
    found = ratios("fig3-table2", tmp_path_factory)
    bounds = {"cpu_pct": 1.3, "throughput_gbps": 1.03, "ack_ratio_kb": 1.6}
    for (_, scheme, metric, _), ratio in found.items():
        bound = bounds[metric]
        assert 1 / bound <= ratio <= bound, (scheme, metric, ratio)


def test_hull_and_priorities(tmp_path_factory: pytest.TempPathFactory) -> None:
    found = ratios("table5", tmp_path_factory)
    for buffer in ("large", "small"):
        for statistic in ("mean", "p90", "p99"):
            ratio = found[buffer, "dctcp_pq950_pacer", "fct_1kb_us", statistic]
            assert 0.85 <= ratio <= 1.15, (buffer, statistic, ratio)
    small, large = (
        found[buffer, "dctcp_pq950_pacer", "fct_10mb_ms", "mean"] for buffer in ("small", "large")
    )
    assert small == pytest.approx(large, rel=0.05)

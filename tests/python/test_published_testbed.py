"""Quick forms of testbed experiments against the paper: table 2 and table 5.

docs/experiments explains larger deviations.
"""

import json
from pathlib import Path

import pytest


def ratios(experiment: str, everything: Path) -> dict[tuple[str, ...], float]:
    """Measured over published, by condition, scheme, metric and statistic."""
    rows = json.loads((everything / "all-quick" / "comparison.json").read_text(encoding="utf-8"))
    keys = ("condition", "scheme", "metric", "statistic")
    return {
        tuple(row[key] for key in keys): row["ratio"]
        for row in rows
        if row["experiment"] == experiment
    }


def test_interrupt_coalescing(everything: Path) -> None:
    found = ratios("fig3-table2", everything)
    assert found
    bounds = {"cpu_pct": 1.3, "throughput_gbps": 1.03, "ack_ratio_kb": 1.6}
    for (_, scheme, metric, _), ratio in found.items():
        bound = bounds[metric]
        assert 1 / bound <= ratio <= bound, (scheme, metric, ratio)


def test_hull_and_priorities(everything: Path) -> None:
    found = ratios("table5", everything)
    for buffer in ("large", "small"):
        for statistic in ("mean", "p90", "p99"):
            ratio = found[buffer, "dctcp_pq950_pacer", "fct_1kb_us", statistic]
            assert 0.85 <= ratio <= 1.15, (buffer, statistic, ratio)
    small, large = (
        found[buffer, "dctcp_pq950_pacer", "fct_10mb_ms", "mean"] for buffer in ("small", "large")
    )
    assert small == pytest.approx(large, rel=0.05)

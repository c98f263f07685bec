"""Quick forms of the experiments of thesis 2.3 against its published results.

docs/experiments explains larger deviations: TCP in table 2.2, the benchmark scaled by ten.
"""

import json
from pathlib import Path

import pytest

from hull.experiments import thesis_fig2_16, thesis_fig2_17, thesis_fig2_22, thesis_table2_2
from hull.experiments.common.incast import FAN_INS, first_timeouts, timeout_share
from hull.experiments.common.measured import Results


def results(everything: Path, experiment: str) -> Results:
    folder = everything / f"{experiment}-quick"
    return Results(folder, json.loads((folder / "summary.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("floor", ["10ms", "300ms"])
def test_incast_with_a_fixed_buffer(everything: Path, floor: str) -> None:
    found = results(everything, "thesis-fig2-18")
    assert 7 <= first_timeouts(found, f"tcp_{floor}") <= 13
    assert 30 <= first_timeouts(found, f"dctcp_{floor}") <= 40


def test_incast_with_shared_memory(everything: Path) -> None:
    found = results(everything, "thesis-fig2-19")
    assert all(timeout_share(found, servers, "dctcp") == 0 for servers in FAN_INS)


def test_all_to_all(everything: Path) -> None:
    found = results(everything, "thesis-fig2-20")
    assert timeout_share(found, "", "dctcp") == 0
    assert timeout_share(found, "", "tcp") > 0.4


@pytest.mark.parametrize(("group", "fair_mbps"), [("s1", 50), ("s2", 475), ("s3", 50)])
def test_two_bottlenecks(everything: Path, group: str, fair_mbps: float) -> None:
    found = thesis_fig2_17.goodput(results(everything, "thesis-fig2-17"), group, "dctcp")
    assert found is not None
    assert found.mean == pytest.approx(fair_mbps, rel=0.1)


def test_fairness(everything: Path) -> None:
    parts = results(everything, "thesis-fig2-16").summary["parts"]
    indices = {
        part["condition"]: part["fairness"]["jain"]
        for part in parts
        if part["scheme"] == "dctcp" and part["condition"] != thesis_fig2_16.COME_AND_GO
    }
    assert set(indices) == {"5 flows", "20 flows", "50 flows", "90 flows"}
    assert min(indices.values()) >= 0.98


def test_queue_buildup(everything: Path) -> None:
    found = results(everything, "thesis-fig2-22")
    assert found.mean("", "dctcp", thesis_fig2_22.MEDIAN_MS) < 1
    assert found.mean("", "tcp", thesis_fig2_22.MEDIAN_MS) >= 8


def test_buffer_pressure(everything: Path) -> None:
    found = results(everything, "thesis-table2-2")
    alone, loaded = (
        thesis_table2_2.p95_ms(found, condition, "dctcp")
        for condition in thesis_table2_2.CONDITIONS
    )
    assert loaded == pytest.approx(alone, rel=0.05)

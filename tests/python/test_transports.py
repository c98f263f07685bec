"""Several transports in one run, as results and sweeps show them."""

from pathlib import Path

import polars as pl
import pytest

import hull
from test_measurements import scenario

TWO = {
    "bulk": {"flows": 2, "transport": "cubic"},
    "flows": {"flows_per_second": 20_000.0, "sizes": {"fixed": "10KB"}},
}
CUBIC = {"congestion_control": "cubic", "ecn": False}


def mixed() -> dict[str, object]:
    table = scenario(TWO)
    table["transport"] |= {"congestion_control": "dctcp", "ecn": True}
    table["switch"] |= {"marking": {"threshold": "30KB"}}
    return {**table, "transports": {"cubic": CUBIC}}


def test_results_are_by_transport(tmp_path: Path) -> None:
    result = hull.run(mixed(), tmp_path / "out", seeds=2)
    [cell] = result.summary["cells"]
    of = cell["transports"]
    assert list(of) == ["default", "cubic"]
    assert of["cubic"]["marks"]["mean"] == 0
    assert of["default"]["marks"]["mean"] > 0
    total = cell["throughput"]["total_goodput_bps"]["mean"]
    both = sum(transport["goodput_bps"]["mean"] for transport in of.values())
    assert both == pytest.approx(total)
    assert result.flows["transport"].unique().to_list() == ["default"]
    counts = [size["count"]["mean"] for size in of["default"]["fct"]]
    assert sum(counts) == result.flows.height / 2


def test_one_transport_has_no_column(tmp_path: Path) -> None:
    table = scenario({"bulk": {"flows": 2, "size": "10KB"}})
    result = hull.run(table, tmp_path / "out")
    assert "transport" not in result.flows.columns
    assert "transports" not in result.summary["cells"][0]


def test_keys_of_a_transport_can_be_swept(tmp_path: Path) -> None:
    frame = hull.sweep(
        mixed(),
        over={"transports.cubic.initial_window": [2, 20]},
        set=["run.duration=5ms"],
        store=tmp_path / "store",
    )
    assert set(frame["transports.cubic.initial_window"]) == {2, 20}
    goodput = frame.filter(pl.col("statistic") == "transports.cubic.goodput")
    assert goodput["unit"].to_list() == ["bit/s", "bit/s"]
    with pytest.raises(hull.UsageError, match=r"transports\.reno\.initial_window"):
        hull.sweep(mixed(), over={"transports.reno.initial_window": [2]}, store=tmp_path / "s")


def test_an_unknown_transport_is_refused(tmp_path: Path) -> None:
    table = {**mixed(), "transports": {"vegas": CUBIC}}
    with pytest.raises(hull.ScenarioError, match=r'workload.bulk.transport: "cubic" is invalid'):
        hull.run(table, tmp_path / "out")
    assert not (tmp_path / "out").exists()

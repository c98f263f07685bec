"""Slowdown by flow size: bins against a manual count, and the values in a run and its figure."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_hex
from PIL import Image

import hull
from hull.figures.slowdown import COLUMN_INCHES
from hull.report.labels import size_label
from hull.report.schemes import schemes
from hull.results.slowdown import slowdown_by_size
from hull.results.statistics import mean_ci95

SCENARIO: dict[str, Any] = {
    "name": "slowdown",
    "run": {"duration": "8ms", "seeds": 3},
    "topology": {"leaf_spine": {"leaves": 2, "spines": 2, "hosts_per_leaf": 4}},
    "host": {"rate": "10Gbps", "delay": "1us"},
    "switch": {"rate": "10Gbps", "delay": "1us", "buffer": "500KB"},
    "transport": {"initial_window": 10},
    "workload": {"flows": {"load": "30%", "sizes": {"csv": "hadoop"}}},
    "schemes": {
        "tcp": {},
        "dctcp": {
            "transport": {"congestion_control": "dctcp", "ecn": True},
            "switch": {"marking": {"threshold": "65KB"}},
        },
    },
}


def table(rows: list[tuple[str, str, int, int, float | None]]) -> pl.DataFrame:
    columns = ["condition", "scheme", "seed", "bytes", "slowdown"]
    return pl.DataFrame(rows, schema=columns, orient="row")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> hull.Result:
    return hull.run(SCENARIO, out=tmp_path_factory.mktemp("run") / "out")


def test_bins_have_equal_flow_counts() -> None:
    flows = table([("", "one", 1, size, size / 10) for size in range(1000, 0, -1)])
    found = slowdown_by_size(flows, bins=4, percentiles=[50, 99, 99.9])
    assert found["bytes"].to_list() == [250, 500, 750, 1000]
    assert found["flows"].to_list() == [250] * 4
    assert found["share"].to_list() == [0.25, 0.5, 0.75, 1.0]
    # Ranks 125, 248 and 250 of 250.
    assert found["p50"].to_list() == [12.5, 37.5, 62.5, 87.5]
    assert found["p99"].to_list() == [24.8, 49.8, 74.8, 99.8]
    assert found["p999"].to_list() == [25, 50, 75, 100]
    assert found["p99_ci95"].null_count() == 4


def test_size_spanning_several_bins_gets_one() -> None:
    sizes = [1] * 70 + [2] * 25 + [3] * 5
    found = slowdown_by_size(table([("", "one", 1, size, float(size)) for size in sizes]))
    assert found["bytes"].to_list() == [1, 2, 3]
    assert found["share"].to_list() == [0.7, 0.9, 1.0]
    assert found["flows"].to_list() == [70, 25, 5]
    assert found["mean"].to_list() == [1, 2, 3]


def test_schemes_and_seeds_share_the_bins_of_their_condition() -> None:
    rows: list[tuple[str, str, int, int, float | None]] = [
        (condition, scheme, seed, size * (10 if condition == "b" else 1), float(seed * at))
        for condition in ("b", "a")
        for at, scheme in enumerate(("two", "one"), 1)
        for seed in (1, 2, 4)
        for size in range(1, 101)
    ]
    rows.append(("a", "two", 1, 10**9, None))  # slowdown unknown: in no bin
    found = slowdown_by_size(table(rows), bins=2, percentiles=[99])
    assert found["condition"].to_list() == ["b"] * 4 + ["a"] * 4
    assert found["scheme"].to_list() == ["two", "two", "one", "one"] * 2
    assert found["bytes"].to_list() == [500, 1000] * 2 + [50, 100] * 2
    assert found["flows"].to_list() == [150] * 8
    mean, ci95 = mean_ci95([1, 2, 4])
    assert found["p99"][0] == found["mean"][0] == pytest.approx(mean)
    assert found["p99_ci95"][2] == pytest.approx(2 * (ci95 or 0))


def test_percentiles_of_many_flows() -> None:
    """The product that gives the rank exceeds 32 bits."""
    count = 200_000
    flows = table([("", "one", 1, 7, float(n)) for n in range(1, count + 1)])
    found = slowdown_by_size(flows, percentiles=[99.9])
    assert found["p999"].to_list() == [0.999 * count]


@pytest.mark.parametrize("percentile", [0, 100, -1, math.nan])
def test_invalid_percentiles(percentile: float) -> None:
    with pytest.raises(hull.UsageError, match="expected above 0 and below 100"):
        slowdown_by_size(table([]), percentiles=[percentile])


def test_tables_of_earlier_versions_are_refused(result: hull.Result) -> None:
    with pytest.raises(hull.UsageError, match="no column slowdown"):
        slowdown_by_size(result.flows.drop("slowdown"))
    with pytest.raises(hull.UsageError, match="bins"):
        slowdown_by_size(result.flows, bins=0)


def test_columns_of_flows(result: hull.Result) -> None:
    flows = result.flows
    assert len(flows) > 1000
    assert (
        flows.select((pl.col("slowdown") * pl.col("ideal_ps") - pl.col("fct_ps")).abs().max())[0, 0]
        < 1
    )
    assert flows["slowdown"].min() == 1.0
    assert hull.Result.columns["flows"]["ideal_ps"]["unit"] == "ps"


def test_cells_have_the_bins(result: hull.Result) -> None:
    found = slowdown_by_size(result.flows).rows(named=True)
    for cell in result.summary["cells"]:
        mine = [row for row in found if row["scheme"] == cell["scheme"]]
        assert len(mine) == len(cell["slowdown_by_size"]) == 10
        for row, entry in zip(mine, cell["slowdown_by_size"], strict=True):
            assert [entry[key] for key in ("bytes", "share", "flows")] == [
                row[key] for key in ("bytes", "share", "flows")
            ]
            for key in ("mean", "p50", "p95", "p99", "p999"):
                assert entry[key] == {"mean": row[key], "ci95": row[f"{key}_ci95"]}
        flows = result.flows.filter(scheme=cell["scheme"])
        assert sum(entry["flows"] for entry in cell["slowdown_by_size"]) == len(flows)


def test_size_classes_have_the_slowdown(result: hull.Result) -> None:
    part = result.summary["parts"][0]
    flows = result.flows.filter(scheme=part["scheme"], seed=part["seed"])
    for entry in part["slowdown"]:
        of_class = flows.filter(pl.col("class") == entry["class"])["slowdown"].sort()
        assert entry["count"] == len(of_class)
        if len(of_class):
            at = -(-len(of_class) * 95 // 100) - 1
            assert entry["p95"] == pytest.approx(of_class[at], abs=1e-6)
            assert entry["mean"] == pytest.approx(of_class.mean(), abs=1e-6)
    report = result.report().read_text(encoding="utf-8")
    assert "<span>Slowdown, (0, 10KB]</span>" in report


def test_figure(result: hull.Result, tmp_path: Path) -> None:
    figure = result.plot_slowdown(tmp_path / "of.mine.pdf")
    assert {path.name for path in tmp_path.iterdir()} == {"of.mine.pdf", "of.mine.png"}
    with Image.open(tmp_path / "of.mine.png") as image:
        assert image.width == round(300 * COLUMN_INCHES)
    (axis,) = figure.axes
    assert axis.get_yscale() == "log"
    expected = {scheme.colour.lower() for scheme in schemes(["tcp", "dctcp"])}
    assert {to_hex(line.get_color()) for line in axis.get_lines()} == expected
    assert len(axis.collections) == 2  # bands
    assert [np.asarray(line.get_xdata()).tolist() for line in axis.get_lines()] == [
        list(range(1, 11))
    ] * 2
    sizes = [entry["bytes"] for entry in result.summary["cells"][0]["slowdown_by_size"]]
    assert [text.get_text() for text in axis.get_xticklabels()] == list(map(size_label, sizes))


def test_figure_with_other_bins_and_bad_arguments(result: hull.Result, tmp_path: Path) -> None:
    figure = result.plot_slowdown(percentile=50, bins=3)
    assert figure.axes[0].get_ylabel() == "Slowdown, median"
    assert np.size(figure.axes[0].get_lines()[0].get_xdata()) == 3
    with pytest.raises(hull.RunError, match="nowhere"):
        result.plot_slowdown(tmp_path / "nowhere" / "x")
    with pytest.raises(hull.UsageError, match="percentile"):
        result.plot_slowdown(percentile=100)


@pytest.mark.parametrize(
    ("size", "text"),
    [(1, "1 B"), (999, "999 B"), (1460, "1.46 KB"), (999_999, "1 MB"), (2_500_000_000, "2.5 GB")],
)
def test_labels(size: int, text: str) -> None:
    assert size_label(size) == text

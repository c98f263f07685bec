"""The page of a sweep: the charts it draws of a frame, and that the command writes it."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import vl_convert

from conftest import Hull
from hull.errors import RunError
from hull.report.lines import Mean, along, scale_of
from hull.results.changes import change, told
from hull.sweeps.comparison import changes_of, first_scheme
from hull.sweeps.page import (
    MOST_MAPS,
    MOST_PANELS,
    MOST_ROWS,
    Contents,
    frontier_axes,
    sweep_page,
    write_page,
)
from hull.sweeps.points import read_key, read_statistic, statistic_label
from test_report import Page, specs

SMALL, LARGE, GOODPUT = "fct.1KB.p99", "fct.10MB.mean", "throughput.total_goodput"
UNITS = {SMALL: "us", "fct.1KB.mean": "us", "fct.10MB.p99": "us", LARGE: "us", GOODPUT: "bit/s"}


def frame_of(
    axes: dict[str, list[Any]],
    schemes: tuple[str, ...] = ("tcp", "hull"),
    statistics: tuple[str, ...] = tuple(UNITS),
    seeds: int = 2,
) -> pl.DataFrame:
    """Return a frame as `hull.sweep` does: a mean is 100 times the place in the grid (from 1), and
    ten times that for large flows."""
    frame = pl.DataFrame({"scheme": schemes})
    for name, values in reversed(axes.items()):
        frame = pl.DataFrame({name: values}).join(frame, how="cross")
    frame = frame.with_row_index("place", offset=1)
    rows = pl.DataFrame(
        {
            "statistic": statistics,
            "unit": [UNITS.get(name, "1") for name in statistics],
            "factor": [1000.0 if "10MB" in name else 100.0 for name in statistics],
        }
    )
    frame = frame.join(pl.DataFrame({"seed": range(1, seeds + 1)}), how="cross")
    frame = frame.join(rows, how="cross")
    mean = pl.col("place") * pl.col("factor")
    ci95 = mean * 0.1 if seeds > 1 else pl.lit(None, pl.Float64)
    return frame.select(
        *axes,
        *("scheme", "seed", "statistic", "unit"),
        mean.alias("value"),
        mean.alias("mean"),
        ci95.alias("ci95"),
        pl.lit(seeds).alias("n"),
    )


def contents(axes: dict[str, list[Any]], **options: Any) -> Contents:
    return Contents("A sweep", frame_of(axes, **options), tuple(axes), (SMALL, LARGE))


def drawn(of: Contents) -> tuple[Page, dict[str, list[str]]]:
    """Return the page, and its charts' data by caption (the first of equal captions)."""
    text = sweep_page(of, "t.parquet")
    captions = re.findall("<figcaption>(.*?)</figcaption>", text)
    charts = specs(text)
    assert len(captions) == len(charts)
    found: dict[str, list[str]] = {}
    for caption, spec in zip(captions, charts, strict=True):
        assert vl_convert.vegalite_to_vega(spec)["marks"]
        found.setdefault(caption, spec["data"]["values"].splitlines()[1:])
    return Page(text), found


def headings(page: Page) -> list[str | None]:
    return [attrs["id"] for tag, attrs in page.tags if tag == "h2"]


def test_numeric_key_has_lines_and_a_frontier() -> None:
    page, charts = drawn(contents({"load": [0.2, 0.4, 0.6]}))
    assert headings(page) == ["frontier", "lines", "table"]
    assert list(charts) == [
        "All points",
        "FCT of 1KB flows, p99 (µs)",
        "FCT of 10MB flows, mean (µs)",
    ]
    # Scheme, value of the key, x, mean, ends of the interval, its half-width.
    assert charts["FCT of 1KB flows, p99 (µs)"] == [
        "TCP,0.2,0.2,100.0,90.0,110.0,10.0",
        "TCP,0.4,0.4,300.0,270.0,330.0,30.0",
        "TCP,0.6,0.6,500.0,450.0,550.0,50.0",
        "HULL,0.2,0.2,200.0,180.0,220.0,20.0",
        "HULL,0.4,0.4,400.0,360.0,440.0,40.0",
        "HULL,0.6,0.6,600.0,540.0,660.0,60.0",
    ]
    frontier = charts["All points"]
    assert frontier[0] == "TCP,0.2,0,0.2,1000.0,900.0,1100.0,100.0,90.0,110.0"
    assert [row.split(",")[3] for row in frontier] == ["0.2", "", "0.6"] * 2


def test_two_keys_have_heat_maps_and_a_panel_for_each_value() -> None:
    page, charts = drawn(contents({"drain": ["800Mbps", "900Mbps"], "load": [0.2, 0.4, 0.6]}))
    assert headings(page) == ["frontier", "lines", "maps", "table"]
    panels = ["drain = 800Mbps", "drain = 900Mbps"]
    maps = [
        f"{of}: {scheme}"
        for of in ("FCT of 1KB flows, p99 (ms)", "FCT of 10MB flows, mean (ms)")
        for scheme in ("TCP", "HULL")
    ]
    maps[:2] = [name.replace("ms", "µs") for name in maps[:2]]
    assert list(charts) == [*panels, *maps]
    assert charts[maps[0]][:4] == [
        "800Mbps,0.2,100.0",
        "800Mbps,0.4,300.0",
        "800Mbps,0.6,500.0",
        "900Mbps,0.2,700.0",
    ]


def test_text_key_has_no_lines() -> None:
    page, charts = drawn(contents({"control": ["cubic", "dctcp"]}))
    assert headings(page) == ["frontier", "table"]
    assert [row.split(",")[1] for row in charts["All points"]] == ["cubic", "dctcp"] * 2
    assert [row.split(",")[3] for row in charts["All points"]] == ["cubic", "dctcp"] * 2


def test_without_flows_there_is_no_frontier() -> None:
    of = contents({"load": [1, 2]}, statistics=("marks",))
    page, charts = drawn(dataclasses.replace(of, show=("marks",)))
    assert headings(page) == ["lines", "table"]
    assert list(charts) == ["marks"]


def test_one_seed_has_no_interval() -> None:
    page, charts = drawn(contents({"load": [1, 2]}, seeds=1))
    assert charts["FCT of 1KB flows, p99 (µs)"][0] == "TCP,1,1.0,100.0,100.0,100.0,0.0"
    [table] = page.tables.values()
    assert table[1] == ["TCP", "1", "100.0 (1)", "1,000 (1)"]
    assert table[2] == ["HULL", "1", "200.0 (1)2 times", "2,000 (1)2 times"]


def test_the_table_has_means_intervals_and_seeds() -> None:
    page, _ = drawn(contents({"load": [1, 2]}))
    caption = "Mean ± half the 95% interval, (seeds); below it, the change against TCP"
    table = page.tables[f"{caption} in the same seeds"]
    columns = ["FCT of 1KB flows, p99 (µs)", "FCT of 10MB flows, mean (µs)"]
    assert table[0] == ["Scheme", "load", *columns]
    assert table[2] == ["HULL", "1", "200.0 ± 20.0 (2)2 times", "2,000 ± 200.0 (2)2 times"]
    assert len(table) == 1 + 4


def test_one_scheme_has_no_changes() -> None:
    page, _ = drawn(contents({"load": [1, 2]}, schemes=("tcp",)))
    assert list(page.tables) == ["Mean ± half the 95% interval, (seeds)"]


def test_changes_are_those_of_the_same_seeds() -> None:
    frame = frame_of({"load": [0.2, 0.4]}, statistics=(SMALL, "marks"), seeds=5)
    is_hull = pl.col("scheme") == "hull"
    # Seeds differ by far more than schemes: only pairs show that HULL halves a value.
    of_seed = 10.0 ** pl.col("seed")
    halved = of_seed * pl.when(is_hull).then(0.5 + 0.01 * pl.col("seed")).otherwise(1.0)
    without = pl.when(is_hull & (pl.col("statistic") == "marks")).then(0.0).otherwise(halved)
    frame = frame.with_columns(value=without).filter(~(is_hull & (pl.col("seed") == 1)))
    found = changes_of(frame, ["load"], SMALL)
    ratios = [0.52, 0.53, 0.54, 0.55]
    expected = change(dict(enumerate(ratios)), dict.fromkeys(range(4), 1.0))
    assert expected is not None
    assert list(found) == [(("0.2",), "hull"), (("0.4",), "hull")]
    for of in found.values():
        assert (of.ratio, of.low, of.high) == pytest.approx(
            (expected.ratio, expected.low, expected.high)
        )
        assert told(of) == "-47% (-49 to -44%)"
    # A value of 0 has no ratio.
    assert changes_of(frame, ["load"], "marks") == {}
    assert first_scheme(frame.filter(is_hull)) is None


def test_limits_are_stated() -> None:
    text = sweep_page(contents({"a": list(range(20)), "b": list(range(25))}), "t.csv")
    assert f"The first {MOST_PANELS} of 20 values of the other keys" in text
    assert f"the first {MOST_ROWS} of 1000 rows" in text
    assert "1000 rows</summary>" in text
    assert "heat maps are drawn" not in text
    names = tuple(f"s{i}" for i in range(MOST_MAPS))
    text = sweep_page(contents({"a": [1, 2], "b": [1, 2]}, schemes=names), "t.csv")
    assert f"The first {MOST_MAPS} of {2 * MOST_MAPS} heat maps" in text
    assert len(text) < 3_000_000


def test_text_is_escaped() -> None:
    evil = "<img src=x>"
    of = contents({evil: [1, 2], f"{evil}2": [evil, "b"]}, schemes=(evil, "b"))
    text = sweep_page(dataclasses.replace(of, title=evil, warnings=(evil,)), f"{evil}.csv")
    assert evil not in text
    assert text.count("&lt;img src=x&gt;") > 10
    Page(text)
    for spec in specs(text):
        vl_convert.vegalite_to_vega(spec)


def test_line_without_schemes_is_named_base() -> None:
    _, charts = drawn(contents({"load": [1, 2]}, schemes=("",)))
    assert charts["All points"][0].startswith("base,1,")


@pytest.mark.parametrize(
    ("names", "axes"),
    [
        ([SMALL, "fct.1KB.mean", "fct.10MB.p99", LARGE], (LARGE, SMALL)),
        ([SMALL, "fct.1KB.acked.p99", "fct.1KB.mean", GOODPUT], (GOODPUT, SMALL)),
        (["queries.p99", GOODPUT], (GOODPUT, "queries.p99")),
        ([SMALL], None),
        (["marks"], None),
    ],
)
def test_frontier_axes(names: list[str], axes: tuple[str, str] | None) -> None:
    assert frontier_axes(names) == axes


@pytest.mark.parametrize(
    ("values", "numbers", "unit"),
    [
        ([1, 5], (1.0, 5.0), ""),
        (["800Mbps", "900Mbps"], (800.0, 900.0), "Mbps"),
        (["800Mbps", "1Gbps"], (8e8, 1e9), "bit/s"),
        (["30KB", "1MB"], (3e4, 1e6), "byte"),
        (["2us", "1ms"], (2e-6, 1e-3), "s"),
        (["20%", "40%"], (20.0, 40.0), "%"),
        (["30KB", "1ms"], None, ""),
        (["dctcp", "5"], None, ""),
    ],
)
def test_keys_as_numbers(values: list[Any], numbers: tuple[float, ...] | None, unit: str) -> None:
    key = read_key(pl.DataFrame({"k": values}), "k")
    assert key.numbers == (None if numbers is None else pytest.approx(numbers))
    assert key.unit == unit


def test_statistics_have_suitable_units() -> None:
    frame = frame_of({"load": [1]}).with_columns(pl.col("mean") * 1e6)
    goodput = read_statistic(frame, ["load"], GOODPUT)
    large = read_statistic(frame, ["load"], LARGE)
    assert goodput is not None
    assert large is not None
    assert (goodput.unit, large.unit) == ("Mbps", "ms")
    found = goodput.mean(("1",), "tcp")
    assert found is not None
    assert found.value == 100.0
    assert goodput.mean(("2",), "tcp") is None
    assert read_statistic(frame, ["load"], "marks") is None
    assert statistic_label("slowdown.(0, 1.5KB].p99") == "Slowdown of (0, 1.5KB] flows, p99"
    assert statistic_label("fct.1KB.acked.mean") == "fct.1KB.acked.mean"
    in_host = "Time of (0, 1.5KB] flows beyond p99, sending host"
    assert statistic_label("waits.(0, 1.5KB].tail.sender") == in_host
    assert statistic_label("waits.1KB.all.switch-host") == "Time of 1KB flows, switch-host"
    for name in ("waits.1KB.untraced", "waits.1KB.all.flows"):
        assert statistic_label(name) == name


def test_axes() -> None:
    assert along("k", [1, 1000]).log
    assert not along("k", [0.2, 0.6]).log
    assert along("k", [3.0]).low < 3 < along("k", [3.0]).high
    wide = scale_of("t", [Mean(10.0, 1e6), Mean(1000.0)], log=True)
    assert wide.log
    assert wide.high < 2000
    with_zero = scale_of("t", [Mean(0.0), Mean(10.0)], log=True)
    assert (with_zero.log, with_zero.low) == (False, 0.0)


def test_the_command_writes_the_page_beside_the_table(hull: Hull, place: Path) -> None:
    short = ["--set", "run.duration=50ms", "--set", "run.warmup=5ms", "--seeds", "2"]
    over = ["--over", "workload.load=0.2,0.4", "--show", "waits.900B.tail.switch-host"]
    done = hull("sweep", "scenario.toml", *over, *short, "--out", "out/load.csv")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["out/load.html", "out/load.csv"]
    text = Path("out/load.html").read_text(encoding="utf-8")
    assert "DCTCP-30K" in text
    assert "Along workload.load" in text
    assert "Time of 900B flows beyond p99, switch-host (µs)" in text
    assert "<code>load.csv</code>" in text
    assert json.dumps(specs(text))


def test_a_page_that_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "t.html").mkdir()
    with pytest.raises(RunError, match=r"t\.html: "):
        write_page(contents({"load": [1, 2]}), tmp_path / "t.parquet")

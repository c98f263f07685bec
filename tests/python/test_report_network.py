"""Report sections on a whole network: slowdown by flow size, links and measured ports. The report
omits charts of quantities that were not measured."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import vl_convert

from hull.report.charts import Chart
from hull.report.heat import heat_chart
from hull.report.links import MOST_LINKS, heat_maps, links_of
from hull.report.page import write_report
from hull.report.port_queues import MOST_DRAWN, port_envelopes, ports_by_queue
from hull.report.schemes import schemes
from hull.report.seed_means import cells
from hull.report.slowdown_charts import slowdown_chart, slowdown_table, slowdown_words
from synthetic_run import SyntheticRun, make_run
from test_report import Page, specs

TWO = ("tcp", "dctcp")
LINK = pl.Schema(
    {
        **dict.fromkeys(("condition", "scheme"), pl.String),
        "seed": pl.Int32,
        **dict.fromkeys(("from", "to", "tier"), pl.String),
        "utilization": pl.Float64,
    }
)


def lines(chart: Chart) -> list[list[str]]:
    """The rows of a chart's CSV data, without the header."""
    return [line.split(",") for line in chart.spec["data"]["values"].splitlines()[1:]]


def star(hosts: int) -> list[tuple[str, str, str]]:
    up = [(f"h{i}", "switch", "host-switch") for i in range(hosts)]
    return up + [("switch", f"h{i}", "switch-host") for i in range(hosts)]


def two_leaves() -> list[tuple[str, str, str]]:
    up = [(f"h{i}", f"leaf{i // 2}", "host-leaf") for i in range(4)]
    down = [(to, start, "leaf-host") for start, to, _ in up]
    return [*up, *down, ("leaf0", "spine", "leaf-spine"), ("spine", "leaf0", "spine-leaf")]


def write_links(folder: Path, links: list[tuple[str, str, str]], seeds: tuple[int, ...]) -> None:
    """Utilization is 0.01 times the list index for the first scheme and half of that for the
    second, plus 0.1 in the second seed."""
    rows = [
        ("", scheme, seed, *link, 0.01 * at / (1 + index) + 0.1 * (seed - 1))
        for index, scheme in enumerate(TWO)
        for seed in seeds
        for at, link in enumerate(links)
    ]
    pl.DataFrame(rows, schema=LINK, orient="row").write_parquet(folder / "links.parquet")


def write_queues(folder: Path, ports: list[str]) -> None:
    """The queue of port i holds i KB for 1 ms, then is empty."""
    rows = [
        ("", scheme, 1, time, port, 1000 * at if time < 10**9 else 0)
        for scheme in TWO
        for time in range(0, 2 * 10**9, 10**8)
        for at, port in enumerate(ports)
    ]
    names = ("condition", "scheme", "seed", "time_ps", "port", "bytes")
    pl.DataFrame(rows, schema=names, orient="row").write_parquet(folder / "queues.parquet")


def small_run(folder: Path, **options: Any) -> SyntheticRun:
    return make_run(folder, conditions=("",), schemes=TWO, samples=40, **options)


def with_ports(run: SyntheticRun, ports: list[str]) -> dict[str, Any]:
    """The run's summary, with occupancies proportional to the port's index."""
    for part in run.summary["parts"]:
        part["queues"] = {
            port: {"mean_us": float(at), "p99_us": 2.0 * at, "max_us": 3.0 * at}
            for at, port in enumerate(ports)
        }
    return run.summary


def bins(p99: float, ci95: float | None = 0.5, flows: int = 400) -> list[dict[str, Any]]:
    return [
        {
            "bytes": size,
            "share": share,
            "flows": flows,
            "p50": {"mean": 1.5, "ci95": ci95},
            "p99": {"mean": value, "ci95": ci95},
        }
        for size, share, value in ((900, 0.5, p99), (2_000_000, 1.0, 1.2))
    ]


def test_slowdown_has_a_line_for_each_scheme() -> None:
    chart = slowdown_chart({"tcp": bins(40.0), "dctcp": bins(8.0)}, schemes(TWO))
    assert lines(chart) == [
        ["TCP", "500", "900 B", "400", "1.5", "40.0", "39.5", "40.5"],
        ["TCP", "1000", "2 MB", "400", "1.5", "1.2", "1.0", "1.7"],
        ["DCTCP", "500", "900 B", "400", "1.5", "8.0", "7.5", "8.5"],
        ["DCTCP", "1000", "2 MB", "400", "1.5", "1.2", "1.0", "1.7"],
    ]
    assert "TCP 40.0 for the smallest flows" in chart.alt
    assert vl_convert.vegalite_to_vega(chart.spec)["marks"]
    axis = chart.spec["encoding"]["x"]["axis"]
    assert axis["values"] == [500, 1000]
    assert "'900 B', '2 MB'" in axis["labelExpr"]


def test_an_interval_of_two_seeds_does_not_stretch_the_axis() -> None:
    chart = slowdown_chart({"tcp": bins(40.0, ci95=4000.0)}, schemes(["tcp"]))
    [low, high] = chart.spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert (low, high) == (1.0, pytest.approx(126))


def test_slowdown_table_has_the_counts() -> None:
    page = Page(slowdown_table("All runs", {"tcp": bins(40.0), "dctcp": bins(8.0)}, schemes(TWO)))
    table = page.tables["All runs: slowdown by flow size"]
    assert table[2] == ["900 B", "50%", "400", "1.50± 0.50", "40.0± 0.50", "400", *table[2][6:]]
    assert "details" in [tag for tag, _ in page.tags]


def test_warns_of_few_flows() -> None:
    assert "largest value" not in slowdown_words({"tcp": bins(4.0)}, seeds=4)
    assert "has 399 flows" in slowdown_words({"tcp": bins(4.0, flows=399)}, seeds=4)


def test_page_with_slowdown(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    both = {"tcp": bins(40.0), "dctcp": bins(8.0)}
    summary = run.summary | {
        "cells": [{"condition": "", "scheme": s, "slowdown_by_size": b} for s, b in both.items()]
    }
    text = write_report(tmp_path, summary, title="t").read_text(encoding="utf-8")
    assert text.index("Slowdown by flow size") < text.index("Distributions")
    assert "All runs: slowdown by flow size" in Page(text).tables
    assert len(specs(text)) == 1 + 4 + 2


def test_heat_maps_are_means_over_seeds_by_tier(tmp_path: Path) -> None:
    write_links(tmp_path, two_leaves(), seeds=(1, 2))
    links = links_of(tmp_path, "")
    assert links.switches == {"leaf0", "leaf1", "spine"}
    assert links.client_port == "leaf0->h0"
    assert links.tier_of("leaf0->spine") == "leaf-spine"
    assert links.tier_of("leaf0->nowhere") == ""
    charts = heat_maps(links, schemes(TWO))
    titles = ["host-leaf: 4 links", "leaf-host: 4 links", "leaf-spine: 1 link"]
    assert [chart.title for chart in charts] == [*titles, "spine-leaf: 1 link"]
    assert lines(charts[0])[:2] == [["h3->leaf1", "TCP", "0.08"], ["h3->leaf1", "DCTCP", "0.065"]]
    assert "Busiest: h3->leaf1 with 8.0%" in charts[0].alt


def test_only_the_busiest_links_are_drawn(tmp_path: Path) -> None:
    write_links(tmp_path, [*star(300), ("switch", "h0", "switch-host")], seeds=(1,))
    charts = heat_maps(links_of(tmp_path, ""), schemes(TWO))
    assert [chart.title for chart in charts] == [
        "host-switch: the 30 busiest of 300 links",
        "switch-host: the 30 busiest of 301 links",
    ]
    assert sum(len(lines(chart)) for chart in charts) == len(TWO) * MOST_LINKS
    assert lines(charts[1])[0][0] == "switch->h0 (2)"


def test_heat_maps_show_numbers_if_they_fit() -> None:
    columns = [str(i) for i in range(9)]
    cells_of = [("row", column, 0.5) for column in columns]
    wide = heat_chart("t", "a", cells_of, columns=columns)
    narrow = heat_chart("t", "a", cells_of[:8], columns=columns[:8])
    assert [len(chart.spec["layer"]) for chart in (wide, narrow)] == [1, 2]
    assert wide.spec["layer"][0]["encoding"]["color"]["legend"] is not None


def test_busiest_ports_come_first(tmp_path: Path) -> None:
    ports = [f"leaf0->p{i}" for i in range(MOST_DRAWN + 3)]
    run = small_run(tmp_path, probes=False)
    summary = with_ports(run, ports)
    write_links(tmp_path, two_leaves(), seeds=(1, 2))
    write_queues(tmp_path, ports)
    here = {scheme: cell for (_, scheme), cell in cells(summary).items()}
    assert ports_by_queue(here) == ports[::-1]
    text = write_report(tmp_path, summary, title="t").read_text(encoding="utf-8")
    captions = re.findall("<figcaption>(.*?)</figcaption>", text)
    assert [name for name in captions if "-&gt;" in name] == [
        f"leaf0-&gt;p{i}" for i in reversed(range(3, MOST_DRAWN + 3))
    ]
    assert f"the {MOST_DRAWN} busiest of {len(ports)} ports" in text
    table = Page(text).tables["All runs: queue of measured ports (µs)"]
    assert table[1:3] == [["leaf0->p14"], ["mean", "14.0", "14.0"]]


def test_port_to_host_0_is_omitted_in_larger_networks(tmp_path: Path) -> None:
    run = small_run(tmp_path, probes=False)
    one = write_report(tmp_path, run.summary, title="t").read_text(encoding="utf-8")
    write_links(tmp_path, star(4), seeds=(1, 2))
    same = write_report(tmp_path, run.summary, title="t").read_text(encoding="utf-8")
    write_links(tmp_path, two_leaves(), seeds=(1, 2))
    many = write_report(tmp_path, run.summary, title="t").read_text(encoding="utf-8")
    write_queues(tmp_path, ["leaf0->h0"])
    asked = write_report(tmp_path, with_ports(run, ["leaf0->h0"]), title="t").read_text("utf-8")
    for text, has in ((one, True), (same, True), (many, False), (asked, True)):
        assert ("Switch latency" in text) == has
        assert ("Queue as sampled" in text) == has
    assert "the port to host 0, switch-&gt;h0" in same
    assert "Queue over time" not in many
    # Drawn once, from the table of the measured ports.
    assert "Queue over time" not in asked
    assert "leaf0-&gt;h0 (tier leaf-host)" in asked
    assert "Link utilization" not in one


def test_probes_add_the_switch_latency(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    write_links(tmp_path, two_leaves(), seeds=(1, 2))
    assert "Switch latency" in write_report(tmp_path, run.summary, title="t").read_text("utf-8")


def test_a_dumbbell_has_its_bottleneck(tmp_path: Path) -> None:
    run = small_run(tmp_path, probes=False)
    ends = [("sender0", "left", "host-switch"), ("right", "receiver0", "switch-host")]
    middle = [("left", "right", "switch-switch"), ("right", "left", "switch-switch")]
    write_links(tmp_path, [*ends, *middle], seeds=(1, 2))
    text = write_report(tmp_path, run.summary, title="t").read_text("utf-8")
    assert "the bottleneck port, left-&gt;right" in text


def test_names_of_ports_are_escaped(tmp_path: Path) -> None:
    evil = "<img src=x>"
    run = small_run(tmp_path, probes=False)
    ports = [f"{evil}->h0", "leaf0->h0"]
    write_links(tmp_path, [*two_leaves(), (evil, "h9", f"{evil}-host")], seeds=(1, 2))
    write_queues(tmp_path, ports)
    text = write_report(tmp_path, with_ports(run, ports), title="t").read_text("utf-8")
    assert evil not in text
    Page(text)
    for spec in specs(text):
        vl_convert.vegalite_to_vega(spec)


def test_a_queue_lasts_until_its_next_change(tmp_path: Path) -> None:
    """Rows as measure.queue_changes writes them: 8 KB for a tenth of the time, then 1 KB."""
    table = {"time_ps": [0, 10**11, 10**12], "bytes": [8000, 1000, 0]}
    pl.DataFrame(
        {"condition": "", "scheme": "s", "seed": 1, "port": "a->b", **table}
    ).write_parquet(tmp_path / "queues.parquet")
    path = tmp_path / "queues.parquet"
    [whole] = port_envelopes(path, "", ["a->b"], 1)["a->b"]
    assert whole.mean_kb == [pytest.approx(0.1 * 8 + 0.9 * 1)]
    assert (whole.low_kb, whole.high_kb) == ([0.0], [8.0])
    [halves] = port_envelopes(path, "", ["a->b"], 2)["a->b"]
    assert halves.time_s == [0.0, 0.5]
    assert halves.mean_kb == [pytest.approx(0.2 * 8 + 0.8 * 1), pytest.approx(1.0)]
    assert halves.low_kb == [1.0, 0.0]


def test_lines_without_schemes_are_named(tmp_path: Path) -> None:
    """Vega reads an empty string as null and draws no line for it."""
    run = make_run(tmp_path, conditions=("",), schemes=("",), samples=40)
    text = write_report(tmp_path, run.summary, title="t").read_text("utf-8")
    line = specs(text)[0]
    assert line["encoding"]["color"]["scale"]["domain"] == ["base"]
    assert line["data"]["values"].splitlines()[1].startswith("base,")

"""report.html is complete, self-contained and escaped, and shows the right numbers."""

from __future__ import annotations

import copy
import json
import math
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import vl_convert

from hull.experiments.common.published_tables import deviation
from hull.experiments.common.sections import sections
from hull.report import library
from hull.report.axis import log_domain, log_ticks, share_position, share_ticks
from hull.report.curves import LOG_FLOOR, fct_cdfs, probe_cdfs, queue_envelopes
from hull.report.labels import condition_label, metric_label, number
from hull.report.page import Section, write_report
from hull.report.schemes import schemes
from hull.report.seed_means import FlowClass, cells, flow_classes
from synthetic_run import SCHEMES, SyntheticRun, make_run, rows

VOID = {"meta", "line", "br"}


class Page(HTMLParser):
    """Checks that tags nest, and collects tables as lists of rows of cell texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._caption: str | None = None
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "caption":
            self._caption = ""
        elif tag == "tr":
            self.tables[self._caption or ""].append([])
        elif tag in ("td", "th"):
            self.tables[self._caption or ""][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag == "caption":
            self.tables[self._caption or ""] = []

    def handle_data(self, data: str) -> None:
        if "caption" in self.open:
            self._caption = (self._caption or "") + data
        elif "td" in self.open or "th" in self.open:
            line = self.tables[self._caption or ""][-1]
            line[-1] = (line[-1] + data).strip()


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> SyntheticRun:
    return make_run(tmp_path_factory.mktemp("full"), samples=400)


def comparison(of: list[dict[str, Any]]) -> list[Section]:
    return sections(Path("none"), {"comparison": of}, ())


@pytest.fixture(scope="module")
def full_page(full: SyntheticRun) -> str:
    path = write_report(
        full.folder, full.summary, title="A <b>title</b> & more", added=comparison(rows())
    )
    assert path == full.folder / "report.html"
    return path.read_text(encoding="utf-8")


def specs(page: str) -> list[dict[str, Any]]:
    found = re.search(r'<script type="application/json" id="charts">(.*?)</script>', page, re.S)
    assert found is not None
    loaded: list[dict[str, Any]] = json.loads(found[1])
    return loaded


def test_page_needs_no_network(full_page: str) -> None:
    own = re.sub(r"<script.*?</script>", "", full_page, flags=re.S)
    assert "http://" not in own
    assert "https://" not in own
    assert "default-src 'none'" in own
    assert not re.search(r"\b(src|srcset|data-src)=|@import|url\(", own)
    assert full_page.count("window.vegaEmbed") == 1
    assert len(full_page) < 4_000_000


def test_page_is_accessible_html(full_page: str) -> None:
    page = Page(full_page)
    tags = [tag for tag, _ in page.tags]
    assert ("html", {"lang": "en"}) in page.tags
    assert tags.count("h1") == 1
    assert tags.count("table") == tags.count("caption") == 1 + 3 + 3 + 3
    assert all(attrs.get("scope") for tag, attrs in page.tags if tag == "th")
    charts = [attrs for _, attrs in page.tags if "data-chart" in attrs]
    assert len(charts) == 3 * (2 + 2 + 4)
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in charts)
    targets = {attrs["href"] for tag, attrs in page.tags if tag == "a"}
    assert targets == {f"#{attrs['id']}" for tag, attrs in page.tags if tag == "h2"}


def test_text_from_files_is_escaped(tmp_path: Path) -> None:
    evil = '<img src=x onerror="alert(1)">'
    run = make_run(tmp_path, conditions=(evil,), schemes=(evil, "a,'b\"\n"), samples=50, seeds=(1,))
    strange = rows()
    strange[0] |= {"scheme": evil, "metric": evil, "unit": evil, "condition": evil}
    page = write_report(
        tmp_path, run.summary | {"name": evil}, title=evil, added=comparison(strange)
    )
    text = page.read_text(encoding="utf-8")
    assert "<img src=x" not in text
    assert "&lt;img src=x" in text
    assert "&lt;/script&gt;" in text
    Page(text)
    for spec in specs(text):
        vl_convert.vegalite_to_vega(spec)


def test_every_chart_compiles(full_page: str) -> None:
    for spec in specs(full_page):
        assert vl_convert.vegalite_to_vega(spec)["marks"]


def test_summary_table_holds_the_means_over_seeds(full: SyntheticRun, full_page: str) -> None:
    table = Page(full_page).tables["20% load: mean over 2 seeds, 95% intervals where they differ"]
    assert table[0] == ["Metric", "TCP drop-tail", "DCTCP-30K", "DCTCP-6K + pacer", "HULL (PQ 950)"]
    parts = [part for part in full.summary["parts"] if part["condition"] == "load=20%"]
    tcp = [part for part in parts if part["scheme"] == "tcp_droptail"]
    assert len(tcp) == 2

    def told(one: float, other: float) -> str:
        """Mean ± 95% interval: with one degree of freedom, Student's t is tan(0.475 pi)."""
        half = math.tan(0.475 * math.pi) * abs(one - other) / 2
        return number((one + other) / 2) + (f" ± {number(half)}" if half else "")

    at = table.index(["Switch latency, occupancy (µs)"])
    mean = told(*(part["switch_latency"]["occupancy"]["mean_us"] for part in tcp))
    assert "±" in mean
    assert table[at + 1][:2] == ["mean", mean]
    at = table.index(["FCT, 10MB (ms)"])
    large = told(*(part["fct"][1]["p99_us"] / 1000 for part in tcp))
    assert table[at + 2][:2] == ["p99", large]
    flows = sum(part["fct"][1]["count"] for part in tcp) / 2
    assert table[at + 3][0] == "flows per seed"
    assert table[at + 3][1].split(" ±")[0] == f"{flows:,.0f}"
    marks, timeouts = (next(row for row in table if row[0] == n) for n in ("marks", "timeouts"))
    assert [cell.split(" ±")[0] for cell in marks[1:]] == ["0", "54,322", "54,322", "54,322"]
    assert [cell.split(" ±")[0] for cell in timeouts[1:]] == ["2", "0", "0", "0"]


def test_run_table_states_the_speed(full: SyntheticRun, full_page: str) -> None:
    table = dict(Page(full_page).tables["What was run"])
    speed = round(full.summary["packet_hops"] / full.summary["cpu_seconds"])
    assert table["Packet-hops per CPU second"] == f"{speed:,}"
    assert table["Seeds"] == "1, 2"
    assert table["Peak memory"] == "123.5 MB"


def test_published_next_to_measured(tmp_path: Path) -> None:
    run = make_run(tmp_path, conditions=("",), samples=20, seeds=(1,))
    base = rows()[:3]
    for row, ratio in zip(base, (2.5, 0.25, None), strict=True):
        published = 10.0 if ratio else None
        row |= {"scheme": "dctcp_30k", "ratio": ratio, "published": published, "ci95": None}
        row |= {"measured": 10.0 * (ratio or 1)}
    base[0]["ci95"] = 0.5
    base[2]["statistic"] = "p90"
    path = write_report(tmp_path, run.summary, title="t", added=comparison(base))
    caption = (
        "Switch latency (µs); 2 of 3 values off by more than a factor of 2; "
        f"geometric mean of deviations: factor {math.sqrt(10):.2f}"
    )
    table = Page(path.read_text(encoding="utf-8")).tables[caption]
    assert table[0] == ["Scheme", "mean", "p90", "p99"]
    cells_mean = ["10.0", "25.0± 0.50", "2.50▲ over 2"]
    cells_p90 = ["-", "10.0", "-"]
    cells_p99 = ["10.0", "2.50", "0.25▼ under 1/2"]
    squeezed = [cell.replace(" ±", "±").replace(" ▲", "▲").replace(" ▼", "▼") for cell in table[3]]
    assert squeezed == ["DCTCP-30K", *cells_mean, *cells_p90, *cells_p99]


def test_deviation_is_the_geometric_mean_of_the_larger_ratio() -> None:
    assert deviation([{"ratio": 2.0}, {"ratio": 0.5}]) == pytest.approx(2.0)
    assert deviation([{"ratio": 8.0}, {"ratio": 1.0}, {"ratio": None}]) == pytest.approx(8**0.5)
    assert deviation([{"ratio": None}]) is None
    assert deviation([{"ratio": 0.0}, {"ratio": 1.0}]) == math.inf


def test_run_without_sweep_classes_and_probes(tmp_path: Path) -> None:
    names = ("mine", *SCHEMES[:1])
    run = make_run(
        tmp_path, conditions=("",), schemes=names, probes=False, classes=False, samples=30
    )
    text = write_report(tmp_path, run.summary, title="bare").read_text(encoding="utf-8")
    page = Page(text)
    assert "Published beside measured" not in text
    assert "Switch latency, probe" not in text
    essential = "Essential numbers; changes are against mine"
    seeds = "mean over 2 seeds, 95% intervals where they differ"
    assert list(page.tables) == [essential, f"All runs: {seeds}", "What was run"]
    assert len(specs(text)) == 2 + 2


def test_no_finished_flows_and_all_probes_lost(tmp_path: Path) -> None:
    run = make_run(tmp_path, conditions=("",), samples=30, seeds=(1,))
    summary = copy.deepcopy(run.summary)
    for part in summary["parts"]:
        for statistic in ("mean_us", "p50_us", "p90_us", "p99_us", "p999_us", "max_us"):
            del part["fct"][1][statistic]
            del part["switch_latency"]["probe"][statistic]
        part["fct"][1]["count"] = part["switch_latency"]["probe"]["samples"] = 0
    summary["peak_rss_bytes"] = None
    latency = run.latency.with_columns(probe_ps=pl.lit(None, pl.Int64))
    latency.write_parquet(tmp_path / "latency.parquet")
    run.flows.filter(pl.col("class") != "10MB").write_parquet(tmp_path / "flows.parquet")
    text = write_report(tmp_path, summary, title="t").read_text(encoding="utf-8")
    assert "FCT, 900B" in text
    assert "FCT, 10MB" not in text
    assert "Switch latency, probe" not in text
    assert len(specs(text)) == 2 + 1 + 4


def test_report_of_many_cells_stays_small(tmp_path: Path) -> None:
    conditions = tuple(f"load={load}%" for load in range(5, 95, 3))
    run = make_run(tmp_path, conditions=conditions, samples=700, seeds=(1,))
    path = write_report(tmp_path, run.summary, title="t")
    assert path.stat().st_size < 4_000_000


def test_writing_twice_gives_the_same_bytes(full: SyntheticRun, full_page: str) -> None:
    path = write_report(
        full.folder, full.summary, title="A <b>title</b> & more", added=comparison(rows())
    )
    assert path.read_text(encoding="utf-8") == full_page


def test_failed_write_leaves_the_old_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(tmp_path, conditions=("",), samples=20, seeds=(1,))
    (tmp_path / "report.html").write_text("old")

    def full_disk(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(OSError, match="No space"):
        write_report(tmp_path, run.summary, title="t")
    assert (tmp_path / "report.html").read_text() == "old"
    assert not (tmp_path / "report.html.partial").exists()


def test_cdf_points_are_exact_and_include_the_maximum() -> None:
    size = 10_000
    frame = pl.LazyFrame(
        {
            "condition": [""] * size,
            "scheme": ["s"] * size,
            "class": ["c"] * size,
            "fct_ps": [(i + 1) * 1_000_000 for i in reversed(range(size))],
        }
    )
    (curve,) = fct_cdfs(frame, FlowClass("c", "µs", 1.0), 200)
    assert len(curve.value) <= 200
    assert curve.value[-1] == size
    assert curve.value == sorted(curve.value)
    for value, share in zip(curve.value, curve.share, strict=True):
        assert share == pytest.approx((value - 0.5) / size)
    assert sum(share > 0.99 for share in curve.share) >= 40
    (in_ms,) = fct_cdfs(frame, FlowClass("c", "ms", 1000.0), 200)
    assert in_ms.value[-1] == size / 1000


def test_empty_queues_are_drawn_at_the_floor() -> None:
    frame = pl.LazyFrame(
        {"condition": [""] * 4, "scheme": ["s"] * 4, "probe_ps": [0, -5, 2_000_000, None]}
    )
    (curve,) = probe_cdfs(frame, 50)
    assert curve.value == [LOG_FLOOR, 2.0]
    assert curve.share == pytest.approx([1.5 / 3, 2.5 / 3])


def test_envelope_keeps_peaks_and_takes_the_first_seed() -> None:
    size = 5000
    queue = [1000] * size
    queue[1234] = 777_000
    frame = pl.LazyFrame(
        {
            "condition": [""] * 2 * size,
            "scheme": ["s"] * 2 * size,
            "seed": [3] * size + [4] * size,
            "time_ps": [i * 10**9 for i in range(size)] * 2,
            "queue_bytes": queue + [5_000_000] * size,
        }
    )
    (curve,) = queue_envelopes(frame, 600)
    assert curve.seed == 3
    assert len(curve.time_s) == 600
    assert max(curve.high_kb) == 777
    assert min(curve.low_kb) == 1
    assert curve.time_s[0] == 0
    assert curve.time_s[-1] < 5
    (short,) = queue_envelopes(frame.head(100), 600)
    assert short.low_kb == short.mean_kb == short.high_kb
    assert len(short.time_s) == 100


def test_cells_skip_missing_values() -> None:
    run_parts = [
        {
            "condition": "c",
            "scheme": "s",
            "switch_latency": {"occupancy": {"mean_us": value}, "probe": None},
            "fct": [],
            "throughput": {"goodput_bps": 1e6, "utilization": 0.5},
            "marks": marks,
            "drops": 0,
            "timeouts": 0,
            "retransmissions": 0,
        }
        for value, marks in ((1.0, 3), (None, 6))
    ]
    cell = cells({"parts": run_parts})[("c", "s")]
    assert cell.seeds == 2
    assert cell.get("switch_latency", "occupancy", "mean_us") == 1.0
    assert cell.get("marks") == 4.5
    assert cell.get("switch_latency", "probe", "mean_us") is None


def test_flow_classes_have_their_unit(full: SyntheticRun) -> None:
    assert flow_classes(full.summary) == [
        FlowClass("900B", "µs", 1.0),
        FlowClass("10MB", "ms", 1000.0),
    ]


def test_scheme_colours_do_not_depend_on_other_schemes() -> None:
    alone = schemes(["dctcp_pq950_pacer"])[0]
    together = schemes(["x", *SCHEMES, "y", "x"])
    assert alone in together
    assert [scheme.name for scheme in together] == ["x", *SCHEMES, "y"]
    assert len({scheme.colour for scheme in together}) == 6


@pytest.mark.parametrize(
    ("condition", "label"),
    [
        ("", "All runs"),
        ("load20", "20% load"),
        ("load=40%", "40% load"),
        ("load20_threshold_1500", "20% load, threshold 1500 B"),
        ("buffer=100KB", "buffer=100KB"),
    ],
)
def test_condition_labels(condition: str, label: str) -> None:
    assert condition_label(condition) == label


def test_metric_and_number_labels() -> None:
    assert metric_label("switch_latency_us", "us") == "Switch latency"
    assert metric_label("fct_10mb_ms", "ms") == "FCT of 10 MB flows"
    assert metric_label("utilization", "") == "utilization"
    shown = [number(value) for value in (None, 0, 0.304, 12.74, 241.9, 2284.4)]
    assert shown == ["-", "0", "0.30", "12.7", "241.9", "2,284"]


def test_ticks() -> None:
    assert log_ticks(0.1, 5000) == [0.1, 1, 10, 100, 1000]
    assert log_ticks(80, 900) == [100, 200, 500]
    assert log_ticks(30, 4000) == [30, 100, 300, 1000, 3000]
    low, high = log_domain([5.0, 5.0])
    assert low < 5 < high
    assert log_domain([]) == (0.1, 10.0)
    assert share_position(0.999) == pytest.approx(3)
    assert share_ticks(2.5) == pytest.approx([0, math.log10(2), 1, 2])


def test_truncated_library_is_rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def bundle(names: str) -> str:
        made.append(names)
        return "script"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    first = library.vega_library.__wrapped__()
    assert library.vega_library.__wrapped__() == first
    assert len(made) == 1
    [cached] = tmp_path.rglob("vega-*.js")
    cached.write_text("scr", encoding="utf-8")
    assert library.vega_library.__wrapped__() == first
    assert len(made) == 2


def test_library_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda name: "script")
    assert library.vega_library.__wrapped__().startswith("script")

"""The page: report.html, one file with its data, style and script inside.

The Vega libraries come out of vl-convert, so that neither writing nor opening needs a network;
the page's Content-Security-Policy forbids it to load anything. Everything that comes from files
is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from hull.output_file import write_text
from hull.report.charts import Chart, cdf_chart, latency_chart, occupancy_points, queue_chart
from hull.report.curves import (
    Cdf,
    Envelope,
    fct_cdfs,
    probe_cdfs,
    queue_cdfs,
    queue_envelopes,
)
from hull.report.document import document, figures, key_of
from hull.report.essentials import essentials
from hull.report.labels import condition_label, conditions_of
from hull.report.schemes import Looks, Scheme, schemes_of
from hull.report.seed_means import Cell, cells, flow_classes
from hull.report.tables import condition_table, run_table, warnings_list
from hull.report.transports import by_transport, transports_table

# Most data rows that a page holds, about 25 bytes each, and limits of one curve.
_ROWS = 80_000
_DRAWN = 8  # conditions; a longer sweep has tables only
_CDF_POINTS = (24, 200)
_QUEUE_BINS = (60, 600)
_WORDS_MEASURES = (
    "<p>Switch latency is measured twice. <strong>Occupancy</strong>: bytes waiting in the "
    "measured port divided by its rate, weighted by time. <strong>Probe</strong>: what probe "
    "packets sent at a fixed interval wait, their latency in the unloaded network "
    "subtracted. FCT is flow completion time. µs = microseconds, KB = 1000 bytes.</p>"
)
_WORDS_CDF = (
    "All seeds together. A value below 0.1 is drawn at the left edge, 0.1: the queue was empty "
    "or nearly so. The vertical axis is stretched towards 100% to show the tail. "
    "Dots are the 50, 90, 99 and 99.9% quantiles of occupancy, averaged over the seeds."
)
_WORDS_QUEUE = (
    "Bytes waiting in the measured port, sampled at a fixed interval. The line is the mean of each "
    "stretch of time, the band its minimum to maximum. The vertical axis is linear below 1 KB, "
    "logarithmic above, and the same for all schemes."
)


class Section(NamedTuple):
    """What a caller adds to the page, before the conditions."""

    anchor: str
    heading: str
    html: str


def write_report(
    folder: Path,
    summary: dict[str, Any],
    *,
    title: str,
    looks: Looks = (),
    added: Sequence[Section] = (),
) -> Path:
    """Writes folder/report.html from the summary and the folder's flows.parquet,
    latency.parquet and scenario.toml, and returns its path.

    `looks` are those declared for the run's schemes. The file appears whole or not at all.
    """
    page = _page(folder, summary, title, looks, added)
    path = folder / "report.html"
    write_text(path, page)
    return path


def _page(
    folder: Path, summary: dict[str, Any], title: str, looks: Looks, added: Sequence[Section]
) -> str:
    charts: list[Chart] = []
    sections = _condition_sections(folder, summary, schemes_of(summary, looks), charts)
    scenario = (folder / "scenario.toml").read_text(encoding="utf-8")
    body = f"""<h1>{escape(title)}</h1>
{warnings_list(summary)}
{essentials(summary, looks)}
{_contents(summary, added)}
{"".join(map(_section, added))}
{_WORDS_MEASURES if summary["parts"] else ""}
{sections}
<section><h2 id="run">Run</h2>{run_table(summary)}</section>
<section><h2 id="scenario">Scenario</h2>
<details><summary>The scenario as it was run</summary><pre>{escape(scenario)}</pre></details>
</section>"""
    return document(title, body, charts)


def _section(added: Section) -> str:
    return f'<section><h2 id="{added.anchor}">{added.heading}</h2>{added.html}</section>'


def _contents(summary: Mapping[str, Any], added: Sequence[Section]) -> str:
    links = [(section.anchor, section.heading) for section in added]
    links += [
        (f"condition-{index}", condition_label(condition))
        for index, condition in enumerate(conditions_of(summary))
    ]
    links += [("run", "Run"), ("scenario", "Scenario")]
    items = "".join(f'<li><a href="#{target}">{escape(text)}</a></li>' for target, text in links)
    return f'<nav aria-label="Contents"><ul>{items}</ul></nav>'


def _condition_sections(
    folder: Path, summary: dict[str, Any], looks: list[Scheme], charts: list[Chart]
) -> str:
    """Tables and charts of each condition; the charts' specifications go to `charts`."""
    if not summary["parts"]:
        return ""
    latency = pl.scan_parquet(folder / "latency.parquet", glob=False)
    flows = pl.scan_parquet(folder / "flows.parquet", glob=False)
    classes = flow_classes(summary)
    by_cell = cells(summary)
    each = _ROWS // max(1, len(by_cell))
    points = _clamp(each // (4 + 2 * len(classes)), _CDF_POINTS)
    bins = _clamp(each // 2, _QUEUE_BINS)
    # The curves of a long sweep would take gigabytes, and none is drawn.
    draw = len(conditions_of(summary)) <= _DRAWN
    probes = probe_cdfs(latency, points) if draw else []
    queues = queue_cdfs(latency, points) if draw else []
    envelopes = queue_envelopes(latency, bins) if draw else []
    each_transport = by_transport(flows) if draw else []
    fcts = [(c, of, fct_cdfs(some, c, points)) for c in classes for of, some in each_transport]

    text = ""
    for index, condition in enumerate(conditions_of(summary)):
        here = {scheme: cell for (c, scheme), cell in by_cell.items() if c == condition}
        shown = [scheme for scheme in looks if scheme.name in here]
        label = condition_label(condition)
        distributions = _latency_charts(condition, here, shown, probes, queues) if draw else []
        for flow_class, of, curves in fcts:
            if mine := [curve for curve in curves if curve.condition == condition]:
                title = f"FCT of {flow_class.name} flows{of}"
                distributions.append(cdf_chart(title, flow_class.unit, mine, shown))
        text += f'<section aria-labelledby="condition-{index}">'
        text += f'<h2 id="condition-{index}">{escape(label)}</h2>'
        text += condition_table(label, here, looks, classes)
        text += transports_table(label, condition, summary, shown, classes)
        if distributions:
            text += f"<h3>Distributions</h3>{key_of(shown)}"
            text += f"<p>{_WORDS_CDF}</p>{figures(distributions, charts)}"
        if over_time := _queue_charts(condition, shown, envelopes):
            seed = next(curve.seed for curve in envelopes if curve.condition == condition)
            text += f"<h3>Queue over time, seed {seed}</h3><p>{_WORDS_QUEUE}</p>"
            text += figures(over_time, charts)
        text += "</section>"
    return text


def _latency_charts(
    condition: str,
    here: Mapping[str, Cell],
    shown: list[Scheme],
    probes: list[Cdf],
    queues: list[Cdf],
) -> list[Chart]:
    occupancy = [points for cell in here.values() if (points := occupancy_points(cell)).value]
    found = []
    mine = [curve for curve in probes if curve.condition == condition]
    if mine or occupancy:
        found.append(latency_chart(mine, occupancy, shown))
    if sampled := [curve for curve in queues if curve.condition == condition]:
        found.append(cdf_chart("Queue as sampled", "KB", sampled, shown))
    return found


def _queue_charts(condition: str, shown: list[Scheme], envelopes: list[Envelope]) -> list[Chart]:
    mine = {curve.scheme: curve for curve in envelopes if curve.condition == condition}
    high_kb = max((max(curve.high_kb) for curve in mine.values()), default=0.0)
    return [
        queue_chart(mine[scheme.name], scheme, max(1.0, high_kb * 1.05))
        for scheme in shown
        if scheme.name in mine
    ]


def _clamp(value: int, limits: tuple[int, int]) -> int:
    return max(limits[0], min(limits[1], value))

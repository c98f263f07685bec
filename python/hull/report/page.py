"""The page: report.html, one file with its data, style and script inside.

The Vega libraries come out of vl-convert, so that neither writing nor opening needs a network;
the page's Content-Security-Policy forbids it to load anything. Everything that comes from files
is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from hull.files.output_file import write_text
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
from hull.report.groups import groups_table
from hull.report.labels import condition_label, conditions_of
from hull.report.links import DUMBBELL_PORT, Links, heat_maps, links_of, tiers_table
from hull.report.port_queues import (
    MOST_DRAWN,
    drawn_words,
    first_seed,
    port_charts,
    ports_by_queue,
    ports_table,
)
from hull.report.schemes import Looks, Scheme, named, schemes_of
from hull.report.seed_means import Cell, FlowClass, cells, flow_classes
from hull.report.slowdown_charts import bins_of, slowdown_chart, slowdown_table, slowdown_words
from hull.report.tables import condition_table, run_table, warnings_list
from hull.report.transports import by_transport, transports_table

# Most data rows that a page holds, about 25 bytes each, and limits of one curve.
_ROWS = 80_000
_DRAWN = 8  # conditions; a longer sweep has tables only
_CDF_POINTS = (24, 200)
_QUEUE_BINS = (60, 600)
_PORT_BINS = (30, 300)
_READ_ONCE = 500_000  # rows; 300,000 flows take 26 MB
_WORDS_LATENCY = (
    "<p>Switch latency is measured at {port}. <strong>Occupancy</strong>: bytes waiting in the "
    "port divided by its rate, weighted by time. "
)
_WORDS_PROBE = (
    "<strong>Probe</strong>: waiting time of probe packets sent at a fixed interval, without their "
    "latency in the unloaded network. "
)
_WORDS_DOTS = (
    "Dots are the 50, 90, 99 and 99.9% quantiles of occupancy, averaged over the seeds. "
    "A value below 0.1 is drawn at the left edge, 0.1: the queue was empty or nearly so.</p>"
)
_WORDS_CDF = (
    "All seeds together. FCT is flow completion time, measured at the receiver. The vertical axis "
    "is stretched towards 100% to show the tail. µs = microseconds, KB = 1000 bytes."
)
_WORDS_WAIT = (
    "A wait is the time from a packet's arrival at a port to the start of its transmission, mean "
    "over the packets of the measured time; their sum over a path's tiers is its queueing latency. "
    "It excludes the time in a host's pacer, before the port."
)
_WORDS_LINKS = (
    "The maps show the share of a link's rate that packets with their headers used in the "
    "measured time, mean over the seeds; each direction is a row. A tier is named by the kinds of "
    "nodes at its ends, sender first; its busiest link comes first."
)
_WORDS_QUEUE = (
    "Bytes waiting in {port}, sampled at a fixed interval. The line is the mean of each "
    "time bin, the band its minimum to maximum. The vertical axis is linear below 1 KB, "
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

    `looks` are those declared for the run's schemes. The file is written atomically.
    """
    page = _page(folder, summary, title, looks, added)
    path = folder / "report.html"
    write_text(path, page)
    return path


def _page(
    folder: Path, summary: dict[str, Any], title: str, looks: Looks, added: Sequence[Section]
) -> str:
    charts: list[Chart] = []
    sections = _condition_sections(folder, summary, named(schemes_of(summary, looks)), charts)
    # One that was damaged is shown with its bytes as escapes.
    scenario = (folder / "scenario.toml").read_text(encoding="utf-8", errors="backslashreplace")
    body = f"""<h1>{escape(title)}</h1>
{warnings_list(summary)}
{essentials(summary, looks)}
{_contents(summary, added)}
{"".join(map(_section, added))}
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
    conditions = conditions_of(summary)
    classes = flow_classes(summary)
    by_cell = cells(summary)
    # The curves of a long sweep would take gigabytes, and none is drawn.
    curves = _curves(folder, summary, len(by_cell)) if len(conditions) <= _DRAWN else None
    text = ""
    for index, condition in enumerate(conditions):
        here = {scheme: cell for (c, scheme), cell in by_cell.items() if c == condition}
        shown = [scheme for scheme in looks if scheme.name in here]
        label = condition_label(condition)
        links = links_of(folder, condition)
        of = _Condition(folder, condition, label, here, shown, links)
        text += f'<section aria-labelledby="condition-{index}">'
        text += f'<h2 id="condition-{index}">{escape(label)}</h2>'
        if curves is not None:
            text += _slowdown(of, summary, charts)
            text += _distributions(of, curves, charts)
        if of.has_table_of_queues:
            text += "<h3>Queues of measured ports</h3>"
            text += ports_table(label, of.ports, links, here, shown)
        if curves is not None:
            text += _links(of, charts)
            text += _over_time(of, curves, charts)
        text += "<h3>All results</h3>"
        text += condition_table(label, here, looks, classes, latency=of.shows_latency)
        text += transports_table(label, here, shown, classes)
        text += groups_table(label, here, shown, classes)
        text += "</section>"
    return text


@dataclass(frozen=True)
class _Condition:
    """What one section of the page shows."""

    folder: Path
    name: str
    label: str
    cells: dict[str, Cell]
    shown: list[Scheme]
    links: Links

    @cached_property
    def ports(self) -> list[str]:
        """Those whose queues are measured, the busiest first."""
        return ports_by_queue(self.cells)

    @property
    def has_queues(self) -> bool:
        """Whether there is a table of queues over time: measure.ports or measure.queue_changes."""
        return (self.folder / "queues.parquet").exists()

    @property
    def has_table_of_queues(self) -> bool:
        """Whether the ports say more than the switch latency."""
        return self.has_queues and self.ports not in ([], [self.links.client_port])

    @property
    def asks_for_client_port(self) -> bool:
        """Whether measure.ports has the port to host 0."""
        return self.has_queues and self.links.client_port in self.ports

    @property
    def probed(self) -> bool:
        """Whether probe packets arrived."""
        return any(
            cell.get("switch_latency", "probe", "mean_us") is not None
            for cell in self.cells.values()
        )

    @property
    def shows_latency(self) -> bool:
        """Whether the switch latency represents the network, or is asked for. In a network of
        several switches the port to host 0 is one of many.
        """
        one = len(self.links.switches) <= 1 or self.links.client_port == DUMBBELL_PORT
        return one or self.probed or self.asks_for_client_port


class _Curves(NamedTuple):
    """The thinned samples of all conditions."""

    probes: list[Cdf]
    queues: list[Cdf]
    envelopes: list[Envelope]
    fcts: list[tuple[FlowClass, str, list[Cdf]]]
    each: int
    """Rows of the page that a cell may have."""


def _curves(folder: Path, summary: dict[str, Any], cell_count: int) -> _Curves:
    latency = _table(folder / "latency.parquet")
    flows = _table(folder / "flows.parquet")
    classes = flow_classes(summary)
    each = _ROWS // max(1, cell_count)
    points = _clamp(each // (4 + 2 * len(classes)), _CDF_POINTS)
    bins = _clamp(each // 2, _QUEUE_BINS)
    each_transport = by_transport(flows)
    return _Curves(
        probe_cdfs(latency, points),
        queue_cdfs(latency, points),
        queue_envelopes(latency, bins),
        [(c, of, fct_cdfs(some, c, points)) for c in classes for of, some in each_transport],
        each,
    )


def _table(path: Path) -> pl.LazyFrame:
    """A table of a run. Each curve scans it, so a small one is read once."""
    table = pl.scan_parquet(path, glob=False)
    rows = table.select(pl.len()).collect().item()
    return table.collect().lazy() if rows <= _READ_ONCE else table


def _slowdown(of: _Condition, summary: Mapping[str, Any], charts: list[Chart]) -> str:
    bins = bins_of(summary, of.name)
    if not bins:
        return ""
    seeds = max(cell.seeds for cell in of.cells.values())
    shown = [scheme for scheme in of.shown if scheme.name in bins]
    return (
        f"<h3>Slowdown by flow size</h3>{key_of(shown)}{slowdown_words(bins, seeds)}"
        f"{figures([slowdown_chart(bins, shown)], charts)}{slowdown_table(of.label, bins, shown)}"
    )


def _distributions(of: _Condition, curves: _Curves, charts: list[Chart]) -> str:
    chosen = _latency_charts(of, curves) if of.shows_latency else []
    words = ""
    if chosen:
        words = _WORDS_LATENCY.format(port=_client_port(of))
        words += (_WORDS_PROBE if of.probed else "") + _WORDS_DOTS
    for flow_class, transport, cdfs in curves.fcts:
        if mine := [curve for curve in cdfs if curve.condition == of.name]:
            title = f"FCT of {flow_class.name} flows{transport}"
            chosen.append(cdf_chart(title, flow_class.unit, mine, of.shown))
    if not chosen:
        return ""
    return (
        f"<h3>Distributions</h3>{key_of(of.shown)}{words}<p>{_WORDS_CDF}</p>"
        f"{figures(chosen, charts)}"
    )


def _links(of: _Condition, charts: list[Chart]) -> str:
    maps = heat_maps(of.links, of.shown)
    if not maps:
        return ""
    table = tiers_table(of.label, of.cells, of.shown)
    return (
        f"<h3>Queues and links by tier</h3><p>{_WORDS_WAIT}</p>{table}"
        f"<p>{_WORDS_LINKS}</p>{figures(maps, charts)}"
    )


def _over_time(of: _Condition, curves: _Curves, charts: list[Chart]) -> str:
    """The ports of measure.ports, and the port of the switch latency where it is none of them."""
    text = ""
    if of.has_queues and of.ports:
        drawn = min(len(of.ports), MOST_DRAWN)
        bins = _clamp(curves.each // (2 * drawn), _PORT_BINS)
        path = of.folder / "queues.parquet"
        if over_time := port_charts(path, of.name, of.ports, of.links, of.shown, bins):
            seed = first_seed(path, of.name)
            text += f"<h3>Measured ports over time, seed {seed}</h3>{key_of(of.shown)}"
            text += f"{drawn_words(of.ports, seed)}{figures(over_time, charts)}"
    if of.shows_latency and not of.asks_for_client_port:
        envelopes = [curve for curve in curves.envelopes if curve.condition == of.name]
        if over_time := _queue_charts(of.shown, envelopes):
            text += f"<h3>Queue over time, seed {envelopes[0].seed}</h3>"
            text += f"<p>{_WORDS_QUEUE.format(port=_client_port(of))}</p>"
            text += figures(over_time, charts)
    return text


def _client_port(of: _Condition) -> str:
    """The port of the switch latency as text."""
    port = of.links.client_port
    if not of.has_queues and len(of.ports) == 1:
        port = of.ports[0]
    if port == DUMBBELL_PORT:
        return "the bottleneck port, left-&gt;right"
    return "the port to host 0" + (f", {escape(port)}" if port else "")


def _latency_charts(of: _Condition, curves: _Curves) -> list[Chart]:
    occupancy = [points for cell in of.cells.values() if (points := occupancy_points(cell)).value]
    found = []
    mine = [curve for curve in curves.probes if curve.condition == of.name]
    if mine or occupancy:
        found.append(latency_chart(mine, occupancy, of.shown))
    if sampled := [curve for curve in curves.queues if curve.condition == of.name]:
        found.append(cdf_chart("Queue as sampled", "KB", sampled, of.shown))
    return found


def _queue_charts(shown: list[Scheme], envelopes: list[Envelope]) -> list[Chart]:
    mine = {curve.scheme: curve for curve in envelopes}
    high_kb = max((max(curve.high_kb) for curve in mine.values()), default=0.0)
    return [
        queue_chart(mine[scheme.name], scheme, max(1.0, high_kb * 1.05))
        for scheme in shown
        if scheme.name in mine
    ]


def _clamp(value: int, limits: tuple[int, int]) -> int:
    return max(limits[0], min(limits[1], value))

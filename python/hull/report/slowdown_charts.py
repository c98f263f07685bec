"""Slowdown by flow size: a chart and a table of the bins that summary.json holds.

Slowdown is a flow's completion time over its ideal one (a ratio, 1 at the least). The bins hold
equally many flows of a condition, so the horizontal axis counts flows and is labelled with sizes in
bytes. Values are means over the seeds, with the half widths of their 95% intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from hull.report.axis import log_ticks
from hull.report.charts import Chart, Spec, chart_spec, listed, scheme_encoding, short
from hull.report.labels import NO_VALUE, number, size_label
from hull.report.schemes import Scheme
from hull.report.tables import boxed_table, swatch

Bins = Mapping[str, Sequence[Mapping[str, Any]]]
"""The bins of each scheme that has any, by its name."""

_HEIGHT_PX = 280
_SHARES = 1000  # positions on the axis are thousandths of the flows
_CUT = 3  # times the largest value
_NEEDED = 100  # flows of a seed, for its 99th percentile not to be its largest value
_COLUMNS = ("scheme", "at", "size", "flows", "p50", "p99", "low", "high")


def bins_of(summary: Mapping[str, Any], condition: str) -> Bins:
    """The bins of one condition; empty for a run of an earlier version, which had none."""
    return {
        cell["scheme"]: bins
        for cell in summary["cells"]
        if cell["condition"] == condition and (bins := cell.get("slowdown_by_size"))
    }


def slowdown_chart(bins: Bins, looks: Sequence[Scheme]) -> Chart:
    """The 99th percentile as the main line with its band, the median as a thin one."""
    shown = [scheme for scheme in looks if scheme.name in bins]
    rows = [
        (
            scheme.label,
            _place(entry),
            size_label(entry["bytes"]),
            entry["flows"],
            short(entry["p50"]["mean"]),
            short(entry["p99"]["mean"]),
            *map(short, _band(entry["p99"])),
        )
        for scheme in shown
        for entry in bins[scheme.name]
    ]
    spec = chart_spec(_HEIGHT_PX, _COLUMNS, rows, text=("scheme", "size"))
    # An interval of two seeds may reach far beyond all values: it is cut.
    most = max(row[5] for row in rows)
    low, high = 1.0, max(2.0, min(_CUT * most, max(row[-1] for row in rows))) * 1.05
    y: Spec = {
        "type": "quantitative",
        "title": "Slowdown",
        "scale": {"type": "log", "domain": [low, high], "nice": False, "clamp": True},
        "axis": {"values": log_ticks(low, high), "format": ",~f"},
    }
    look = scheme_encoding(shown)
    dash = {"strokeDash": look["strokeDash"]}
    spec["encoding"] = {"x": _sizes(bins), "color": look["color"]}
    spec["layer"] = [
        {
            "mark": {"type": "area", "opacity": 0.15},
            "encoding": {"y": y | {"field": "low"}, "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "line", "strokeWidth": 0.9, "opacity": 0.8},
            "encoding": {"y": y | {"field": "p50"}, **dash},
        },
        {
            "mark": {"type": "line", "strokeWidth": 2.4},
            "encoding": {"y": y | {"field": "p99"}, **dash},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 36, "opacity": 1},
            "encoding": {"y": y | {"field": "p99"}, "tooltip": _tooltip()},
        },
    ]
    ends = "; ".join(
        f"{scheme.label} {number(bins[scheme.name][0]['p99']['mean'])} for the smallest flows, "
        f"{number(bins[scheme.name][-1]['p99']['mean'])} for the largest"
        for scheme in shown
    )
    return Chart(
        "99th percentile (thick) and median (thin)",
        f"Slowdown by flow size, one line for each of {listed(shown)}. 99th percentile: {ends}.",
        spec,
    )


def slowdown_table(label: str, bins: Bins, looks: Sequence[Scheme]) -> str:
    """Each bin with the flows behind its percentiles, closed at first."""
    shown = [scheme for scheme in looks if scheme.name in bins]
    heads = "".join(
        f'<th scope="colgroup" colspan="3">{swatch(scheme)} {escape(scheme.label)}</th>'
        for scheme in shown
    )
    columns = "".join(f'<th scope="col">{name}</th>' for name in ("flows", "p50", "p99"))
    edges = {entry["bytes"]: entry["share"] for of in bins.values() for entry in of}
    by_size = {name: {entry["bytes"]: entry for entry in of} for name, of in bins.items()}
    body = ""
    for size, share in sorted(edges.items()):
        cells = "".join(_cells(by_size[scheme.name].get(size)) for scheme in shown)
        row = f'<th scope="row">{size_label(size)}</th><td>{100 * share:g}%</td>'
        body += f"<tr>{row}{cells}</tr>"
    head = (
        '<thead><tr><th scope="col" rowspan="2">Flows up to</th>'
        f'<th scope="col" rowspan="2">Share of flows</th>{heads}</tr>'
        f"<tr>{columns * len(shown)}</tr></thead>"
    )
    table = boxed_table(f"{label}: slowdown by flow size", f"{head}<tbody>{body}</tbody>")
    return f"<details><summary>Slowdown by flow size as a table</summary>{table}</details>"


def slowdown_words(bins: Bins, seeds: int) -> str:
    """What is measured, and where; says so where a bin has too few flows for its percentile."""
    text = (
        "Completion time of a flow divided by its time alone in the network, measured at its "
        "receiver, for all flows. Each step to the right holds the same number of flows. "
        "Percentiles are computed per seed; the lines are their means over the seeds"
    )
    text += ", the band is the 95% interval." if seeds > 1 else "."
    fewest = min(entry["flows"] for of in bins.values() for entry in of)
    if fewest < _NEEDED * seeds:
        text += (
            f" The smallest bin has {fewest:,} flows; with fewer than {_NEEDED} in a seed the 99th "
            "percentile is the largest value."
        )
    return f"<p>{text}</p>"


def _place(entry: Mapping[str, Any]) -> int:
    return round(_SHARES * float(entry["share"]))


def _band(value: Mapping[str, Any]) -> tuple[float, float]:
    """No slowdown is below 1, even if the interval of few seeds reaches there."""
    half = value["ci95"] or 0.0
    return max(1.0, value["mean"] - half), value["mean"] + half


def _sizes(bins: Bins) -> Spec:
    """The axis of flow counts, labelled with the largest size of each bin."""
    edges = sorted({(_place(e), size_label(e["bytes"])) for of in bins.values() for e in of})
    places = [place for place, _ in edges]
    labels = [label for _, label in edges]
    step = min((b - a for a, b in pairwise(places)), default=100)
    return {
        "field": "at",
        "type": "quantitative",
        "title": "Flow size up to",
        "scale": {"domain": [places[0] - step / 2, places[-1] + step / 4], "nice": False},
        "axis": {
            "values": places,
            "labelExpr": f"{labels}[indexof({places}, datum.value)]",
            "labelAngle": -40,
        },
    }


def _cells(entry: Mapping[str, Any] | None) -> str:
    if entry is None:
        return f"<td>{NO_VALUE}</td>" * 3
    values = "".join(f"<td>{_with_interval(entry[key])}</td>" for key in ("p50", "p99"))
    return f"<td>{entry['flows']:,}</td>{values}"


def _with_interval(value: Mapping[str, Any]) -> str:
    spread = "" if value["ci95"] is None else f' <span class="ci">± {number(value["ci95"])}</span>'
    return f"{number(value['mean'])}{spread}"


def _tooltip() -> list[Spec]:
    numbers = (("flows", "Flows", ","), ("p50", "p50", ",.4~r"), ("p99", "p99", ",.4~r"))
    return [
        {"field": "scheme", "type": "nominal", "title": "Scheme"},
        {"field": "size", "type": "nominal", "title": "Up to"},
        *(
            {"field": field, "type": "quantitative", "title": title, "format": form}
            for field, title, form in numbers
        ),
    ]

"""Charts: the Vega-Lite specifications of the report, without colours of text and ground.

Those come from the page's script, which knows whether the reader wants light or dark. Data is
inline CSV, a third of the size of JSON rows. A log axis starts at `curves.LOG_FLOOR`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hull.report.axis import log_domain, log_ticks, share_position, share_ticks, symlog_ticks
from hull.report.curves import LOG_FLOOR, Cdf, Envelope
from hull.report.schemes import Scheme
from hull.report.seed_means import Cell

Spec = dict[str, Any]
_HEIGHT_PX = 260
_QUEUE_HEIGHT_PX = 150
_SHARE_LABEL = "format(1 - pow(10, -datum.value), '.6~p')"
_OCCUPANCY_SHARES = (("p50_us", 0.5), ("p90_us", 0.9), ("p99_us", 0.99), ("p999_us", 0.999))


@dataclass(frozen=True)
class Chart:
    """A specification with the alternative text for readers who do not see it."""

    title: str
    alt: str
    spec: Spec


def occupancy_points(cell: Cell) -> Cdf:
    """The time-weighted quantiles that a summary holds, as points of a CDF in µs."""
    known = [
        (max(LOG_FLOOR, value), share)
        for statistic, share in _OCCUPANCY_SHARES
        if (value := cell.get("switch_latency", "occupancy", statistic)) is not None
    ]
    return Cdf(cell.condition, cell.scheme, [value for value, _ in known], [s for _, s in known])


def latency_chart(probes: Sequence[Cdf], occupancy: Sequence[Cdf], looks: list[Scheme]) -> Chart:
    """Switch latency in µs: a line of probes where there are any, dots of occupancy."""
    labels = {scheme.name: scheme.label for scheme in looks}
    lines = probes or occupancy
    rows = [row for curve in lines for row in _cdf_rows(curve, labels, "line")]
    rows += [row for curve in occupancy for row in _cdf_rows(curve, labels, "dot")]
    unit = "Switch latency (µs)"
    line = _cdf_line(unit, rows, looks, "step-after" if probes else "linear")
    dots = {
        "transform": [{"filter": "datum.kind == 'dot'"}],
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
        "encoding": {"strokeDash": {"value": [1, 0]}, "tooltip": _tooltip(unit)},
    }
    line["layer"].append(dots)
    measures = "probe packets (line) and queue occupancy (dots)" if probes else "queue occupancy"
    return Chart(
        "Switch latency" + (": probes as lines, occupancy as dots" if probes else ": occupancy"),
        f"Cumulative distribution of switch latency in microseconds by {measures}, one line for "
        f"each of {listed(looks)}. {_medians(lines, labels, 'µs')}",
        line,
    )


def cdf_chart(title: str, unit: str, curves: Sequence[Cdf], looks: list[Scheme]) -> Chart:
    """A cumulative distribution on a log axis, one line for each scheme."""
    labels = {scheme.name: scheme.label for scheme in looks}
    rows = [row for curve in curves for row in _cdf_rows(curve, labels, "line")]
    return Chart(
        title,
        f"Cumulative distribution of {title} in {unit}, one line for each of {listed(looks)}. "
        f"{_medians(curves, labels, unit)}",
        _cdf_line(f"{title} ({unit})", rows, looks, "step-after"),
    )


def queue_chart(curve: Envelope, scheme: Scheme, high_kb: float) -> Chart:
    """One scheme's queue over time; `high_kb` ends the axis that all schemes share."""
    rows = zip(
        map(short, curve.time_s),
        map(short, curve.low_kb),
        map(short, curve.mean_kb),
        map(short, curve.high_kb),
        strict=True,
    )
    x: Spec = {"field": "t", "type": "quantitative", "title": "Simulated time (s)"}
    x["scale"] = {"zero": False, "nice": False}
    axis = {"values": symlog_ticks(high_kb), "format": ",~f"}
    scale: Spec = {"type": "symlog", "constant": 1, "domain": [0, high_kb], "nice": False}
    y: Spec = {"type": "quantitative", "title": "Queue (KB)", "scale": scale, "axis": axis}
    spec = chart_spec(_QUEUE_HEIGHT_PX, ("t", "low", "mean", "high"), rows, text=())
    spec["encoding"] = {"x": x}
    spec["layer"] = [
        {
            "mark": {"type": "area", "color": scheme.colour, "opacity": 0.35},
            "encoding": {"y": y | {"field": "low"}, "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "line", "color": scheme.colour, "strokeWidth": 1.2},
            "encoding": {"y": y | {"field": "mean"}},
        },
    ]
    return Chart(
        scheme.label,
        f"Queue over time with {scheme.label}, seed {curve.seed}: between "
        f"{short(min(curve.low_kb))} and {short(max(curve.high_kb))} KB.",
        spec,
    )


def _cdf_line(
    x_title: str, rows: list[tuple[Any, ...]], looks: list[Scheme], interpolate: str
) -> Spec:
    low, high = log_domain(row[1] for row in rows)
    highest = max((row[2] for row in rows), default=1.0) + 0.1
    spec = chart_spec(
        _HEIGHT_PX, ("scheme", "x", "position", "kind"), rows, text=("scheme", "kind")
    )
    spec["transform"] = [{"calculate": "1 - pow(10, -datum.position)", "as": "share"}]
    spec["encoding"] = {
        "x": {
            "field": "x",
            "type": "quantitative",
            "title": x_title,
            "scale": {"type": "log", "domain": [low, high], "nice": False},
            "axis": {"values": log_ticks(low, high), "format": ",~f"},
        },
        "y": {
            "field": "position",
            "type": "quantitative",
            "title": "Share at or below",
            "scale": {"domain": [0, highest], "nice": False},
            "axis": {"values": share_ticks(highest), "labelExpr": _SHARE_LABEL},
        },
        **scheme_encoding(looks),
    }
    nearest = {"type": "point", "on": "pointerover", "nearest": True, "clear": "pointerout"}
    spec["layer"] = [
        {
            "transform": [{"filter": "datum.kind == 'line'"}],
            "mark": {"type": "line", "interpolate": interpolate, "strokeWidth": 2.2},
        },
        {
            "transform": [{"filter": "datum.kind == 'line'"}],
            "params": [{"name": "near", "select": nearest}],
            "mark": {"type": "point", "filled": True, "size": 50},
            "encoding": {
                "opacity": {"condition": {"param": "near", "empty": False, "value": 1}, "value": 0},
                "strokeDash": {"value": [1, 0]},
                "tooltip": _tooltip(x_title),
            },
        },
    ]
    return spec


def scheme_encoding(looks: list[Scheme]) -> Spec:
    """Colour and dash by the field `scheme`, whose values are labels; the key stands elsewhere."""
    domain = [scheme.label for scheme in looks]
    ranges = {
        "color": [scheme.colour for scheme in looks],
        "strokeDash": [list(scheme.dash) or [1, 0] for scheme in looks],
    }
    return {
        channel: {
            "field": "scheme",
            "type": "nominal",
            "legend": None,
            "scale": {"domain": domain, "range": values},
        }
        for channel, values in ranges.items()
    }


def chart_spec(
    height_px: int, columns: Sequence[str], rows: Iterable[Sequence[Any]], text: Sequence[str]
) -> Spec:
    """A specification without marks: size and the rows of `columns`, of which `text` are texts."""
    data = io.StringIO()
    writer = csv.writer(data, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    parse = {column: "string" if column in text else "number" for column in columns}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "height": height_px,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": data.getvalue(), "format": {"type": "csv", "parse": parse}},
    }


def _cdf_rows(curve: Cdf, labels: dict[str, str], kind: str) -> Iterable[tuple[Any, ...]]:
    label = labels[curve.scheme]
    for value, share in zip(curve.value, curve.share, strict=True):
        yield label, short(value), short(share_position(share)), kind


def _tooltip(x_title: str) -> list[Spec]:
    return [
        {"field": "scheme", "type": "nominal", "title": "Scheme"},
        {"field": "x", "type": "quantitative", "title": x_title, "format": ",.4~r"},
        {"field": "share", "type": "quantitative", "title": "Share", "format": ".4~p"},
    ]


def short(value: float) -> float:
    """Four significant digits, as the page keeps them."""
    return float(f"{value:.4g}")


def listed(looks: list[Scheme]) -> str:
    """The labels of schemes, for an alt sentence."""
    return ", ".join(scheme.label for scheme in looks)


def _medians(curves: Sequence[Cdf], labels: dict[str, str], unit: str) -> str:
    found = [
        f"{labels[curve.scheme]} {short(value)} {unit}"
        for curve in curves
        if (value := _median(curve)) is not None
    ]
    return f"Medians: {'; '.join(found)}." if found else ""


def _median(curve: Cdf) -> float | None:
    reached = (v for v, share in zip(curve.value, curve.share, strict=True) if share >= 0.5)
    return next(reached, None)

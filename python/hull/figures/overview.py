"""Overview: gain in latency and cost in bandwidth, measured beside published, in one picture.

For rows of the paper's table 4 or the report's table II as `hull reproduce` emits them: on the left
mean and 99th percentile of switch latency (µs, log axis), on the right the mean FCT of the 10 MB
flows (ms), by load and scheme. Filled markers are measured, hollow ones published.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hull.figures.style import log_scale, styled
from hull.report.schemes import Scheme, schemes

_LATENCY, _FCT = "switch_latency_us", "fct_10mb_ms"
_STEP = 0.19  # between schemes, in units of the distance between loads
_PUBLISHED_ASIDE = 0.075
_MARKERS = {"mean": "o", "p99": "^"}


@styled
def plot_overview(
    rows: Sequence[dict[str, Any]], titles: Mapping[str, str] | None = None
) -> Figure:
    """The picture of README's first screen: a line of two panels for each experiment in `rows`.

    `titles` are the experiments', by ID. Legible at a width of 900 pixels; saved at its own 200 dpi
    it is 1800 pixels wide. Raises ValueError when `rows` hold no switch latency at a load.
    """
    shown = [
        row
        for row in rows
        if row["metric"] in (_LATENCY, _FCT) and _load(row["condition"]) is not None
    ]
    experiments = list(dict.fromkeys(row["experiment"] for row in shown))
    if not experiments:
        raise ValueError("no row has the metric switch_latency_us or fct_10mb_ms at a load")
    looks = schemes(row["scheme"] for row in shown)
    figure = Figure(figsize=(9, 3.1 * len(experiments) + 1.0), dpi=200, layout="constrained")
    grid = figure.subplots(
        len(experiments), 2, squeeze=False, gridspec_kw={"width_ratios": [1.35, 1]}
    )
    for line, experiment in zip(grid, experiments, strict=True):
        mine = [row for row in shown if row["experiment"] == experiment]
        source = (titles or {}).get(experiment, experiment)
        _latency_panel(line[0], mine, looks)
        line[0].set_title(f"Switch latency (µs): what is gained\n{source}", loc="left")
        _fct_panel(line[1], mine, looks)
        line[1].set_title("Mean FCT of 10 MB flows (ms):\nwhat it costs", loc="left")
    _key(figure, looks)
    return figure


def _latency_panel(axis: Axes, rows: list[dict[str, Any]], looks: list[Scheme]) -> None:
    chosen = [row for row in rows if row["metric"] == _LATENCY and row["statistic"] in _MARKERS]
    places = _places(chosen, looks)
    for where in dict.fromkeys((row["condition"], row["scheme"]) for row in chosen):
        scheme = next(scheme for scheme in looks if scheme.name == where[1])
        for source, aside in (("measured", 0.0), ("published", _PUBLISHED_ASIDE)):
            ends = [
                row[source]
                for row in chosen
                if (row["condition"], row["scheme"]) == where and row[source] is not None
            ]
            if ends:
                x = places[where] + aside
                axis.vlines(x, min(ends), max(ends), color=scheme.colour, linewidth=1, alpha=0.6)
    _markers(axis, chosen, looks)
    values = [value for value in _values(chosen) if value > 0]
    # Room for whole markers at both ends.
    log_scale(axis, "y", [min(values) / 1.6, max(values) * 1.5] if values else [])


def _fct_panel(axis: Axes, rows: list[dict[str, Any]], looks: list[Scheme]) -> None:
    chosen = [row for row in rows if row["metric"] == _FCT and row["statistic"] == "mean"]
    _markers(axis, chosen, looks)
    axis.set_ylim(0, max(_values(chosen), default=1) * 1.1)


def _markers(axis: Axes, rows: list[dict[str, Any]], looks: list[Scheme]) -> None:
    places = _places(rows, looks)
    by_name = {scheme.name: scheme for scheme in looks}
    for row in rows:
        colour, marker = by_name[row["scheme"]].colour, _MARKERS[row["statistic"]]
        x = places[(row["condition"], row["scheme"])]
        common: dict[str, Any] = {"markeredgecolor": colour, "markersize": 5.5, "zorder": 3}
        if row["measured"] is not None:
            axis.plot(x, row["measured"], marker, markerfacecolor=colour, **common)
        if row["published"] is not None:
            axis.plot(
                x + _PUBLISHED_ASIDE, row["published"], marker, markerfacecolor="white", **common
            )
    loads = _loads(rows)
    axis.set_xticks(range(len(loads)), [f"{load}% load" for load in loads])
    axis.tick_params(axis="x", length=0)
    axis.grid(visible=False, axis="x")
    axis.set_xlim(-0.5, len(loads) - 0.5)
    for between in range(len(loads) - 1):
        axis.axvline(between + 0.5, color="#dddddd", linewidth=0.6)


def _places(rows: list[dict[str, Any]], looks: list[Scheme]) -> dict[tuple[str, str], float]:
    """Positions of conditions and schemes on the x axis."""
    loads = _loads(rows)
    middle = (len(looks) - 1) / 2
    return {
        (row["condition"], scheme.name): loads.index(load)
        + (index - middle) * _STEP
        - _PUBLISHED_ASIDE / 2
        for row in rows
        if (load := _load(row["condition"])) is not None
        for index, scheme in enumerate(looks)
    }


def _loads(rows: list[dict[str, Any]]) -> list[int]:
    return sorted({load for row in rows if (load := _load(row["condition"])) is not None})


def _load(condition: str) -> int | None:
    match = re.fullmatch(r"load(\d+)", condition)
    return int(match[1]) if match else None


def _values(rows: list[dict[str, Any]]) -> list[float]:
    both = [row[source] for row in rows for source in ("measured", "published")]
    return [value for value in both if value is not None]


def _key(figure: Figure, looks: list[Scheme]) -> None:
    handles = [
        Line2D([], [], color=scheme.colour, linewidth=5, label=scheme.label) for scheme in looks
    ]
    grey: dict[str, Any] = {"color": "#555555", "linestyle": "", "markersize": 5.5}
    hollow = grey | {"markerfacecolor": "white"}
    handles += [
        Line2D([], [], marker="o", label="mean, measured", **grey),
        Line2D([], [], marker="o", label="mean, published", **hollow),
        Line2D([], [], marker="^", label="99th percentile, measured", **grey),
        Line2D([], [], marker="^", label="99th percentile, published", **hollow),
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=4, columnspacing=1.2)

"""Sweep: values against a parameter, one line per scheme, as in most figures of the documents.

Lines with filled markers are measured, with the 95% interval over seeds as a band or, if the source
has one, a bar up to the 99th percentile; hollow markers are published values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from hull.figures.style import dashes, log_scale, panels, scheme_key, styled
from hull.report.schemes import Looks, Scheme, schemes

_MARKED = 40
"""Points of a line up to which each has a marker; beyond it is one over time."""


@dataclass(frozen=True)
class Line:
    """One scheme's values; `high` are the upper ends of bars (99th percentiles), `ci95` half
    widths of intervals."""

    scheme: str
    x: Sequence[float]
    y: Sequence[float]
    high: Sequence[float] | None = None
    ci95: Sequence[float | None] | None = None


@dataclass(frozen=True)
class Published:
    """Values of the source for one scheme."""

    scheme: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    published: Sequence[Published] = ()
    log_x: bool = False
    log_y: bool = False
    x_ticks: Sequence[float] | None = None
    y_limits: tuple[float, float] | None = None
    reference: Sequence[tuple[str, Sequence[float], Sequence[float]]] = field(default=())
    """Grey lines with a name: a theory, the drain rate."""
    joined: bool = True
    """Whether lines join the values; not if x is a value as well, not a parameter."""


@styled
def plot_sweep(
    drawn: Sequence[Panel],
    looks: Looks = (),
    *,
    columns: int = 2,
    width: float = 3.6,
    height: float = 2.7,
) -> Figure:
    """The panels in rows of `columns`; schemes look as in every other figure of hull."""
    columns = min(columns, len(drawn))
    rows = -(-len(drawn) // columns)
    figure, grid = panels(rows, columns, width=width, height=height)
    places = [axis for line in grid for axis in line]
    names = [line.scheme for panel in drawn for line in panel.lines]
    names += [points.scheme for panel in drawn for points in panel.published]
    shown = schemes(names, looks)
    for axis in places[len(drawn) :]:
        axis.set_visible(False)
    for axis, panel in zip(places, drawn, strict=False):
        _draw(axis, panel, {scheme.name: scheme for scheme in shown})
    scheme_key(figure, shown, _more_keys(drawn), joined=any(panel.joined for panel in drawn))
    return figure


def _draw(axis: Axes, panel: Panel, looks: dict[str, Scheme]) -> None:
    count = len(panel.lines)
    ordered = sorted({x for line in panel.lines for x in line.x})
    step = min((b - a for a, b in pairwise(ordered)), default=1.0)
    for index, line in enumerate(panel.lines):
        scheme = looks[line.scheme]
        # Bars of several schemes stand side by side.
        aside = 0.0
        if line.high is not None and not panel.log_x:
            aside = (index - (count - 1) / 2) * step * 0.07
        x = [value + aside for value in line.x]
        marker = scheme.marker if len(line.x) <= _MARKED or not panel.joined else ""
        style = dashes(scheme) if panel.joined else ""
        axis.plot(
            x, line.y, color=scheme.colour, linestyle=style, marker=marker,
            markersize=4, linewidth=1.4, zorder=3,
        )  # fmt: skip
        if line.high is not None:
            axis.vlines(x, line.y, line.high, color=scheme.colour, linewidth=1.2, alpha=0.75)
            axis.plot(x, line.high, "_", color=scheme.colour, markersize=6)
        if line.ci95 is not None:
            spread = [half or 0.0 for half in line.ci95]
            below = [value - half for value, half in zip(line.y, spread, strict=True)]
            above = [value + half for value, half in zip(line.y, spread, strict=True)]
            axis.fill_between(x, below, above, color=scheme.colour, alpha=0.2, linewidth=0)
    for points in panel.published:
        scheme = looks[points.scheme]
        axis.plot(
            points.x, points.y, scheme.marker, markerfacecolor="white",
            markeredgecolor=scheme.colour, markersize=6, markeredgewidth=1.4, zorder=4,
        )  # fmt: skip
    for name, along, y in panel.reference:
        axis.plot(along, y, color="#666666", linewidth=1, linestyle="-", zorder=1)
        axis.annotate(
            name, (along[-1], y[-1]), xytext=(-3, 3), textcoords="offset points", ha="right",
            fontsize=7.5, color="#444444",
        )  # fmt: skip
    _axes(axis, panel)


def _axes(axis: Axes, panel: Panel) -> None:
    axis.set_title(panel.title, loc="left")
    axis.set_xlabel(panel.x_label)
    axis.set_ylabel(panel.y_label)
    values = [v for line in panel.lines for v in (*line.y, *(line.high or ()))]
    values += [v for points in panel.published for v in points.y]
    if panel.log_x:
        log_scale(axis, "x", _with_room([x for line in panel.lines for x in line.x]))
    if panel.log_y:
        log_scale(axis, "y", _with_room([v for v in values if v > 0]))
    if panel.x_ticks is not None:
        axis.xaxis.set_major_locator(FixedLocator(list(panel.x_ticks)))
        axis.xaxis.set_minor_locator(NullLocator())
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    if panel.y_limits is not None:
        axis.set_ylim(*panel.y_limits)
    elif not panel.log_y:
        axis.set_ylim(0, max(values, default=1) * 1.08)


def _with_room(values: Sequence[float]) -> list[float]:
    """Values of a logarithmic axis and room for whole markers at both ends."""
    return [min(values) / 1.25, max(values) * 1.25] if values else []


def _more_keys(drawn: Sequence[Panel]) -> list[Line2D]:
    grey = "#555555"
    keys = []
    if any(line.high is not None for panel in drawn for line in panel.lines):
        keys.append(Line2D([], [], color=grey, marker="_", linestyle="", label="99th percentile"))
    if any(panel.published for panel in drawn):
        keys.append(
            Line2D(
                [],
                [],
                color=grey,
                marker="o",
                linestyle="",
                markerfacecolor="white",
                label="published",
            )
        )  # fmt: skip
    return keys

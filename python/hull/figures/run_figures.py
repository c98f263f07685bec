"""Run figures: latency and FCT distributions and the queue over time of one result.

Latency in µs, FCT in µs or ms, queues in KB (1000 bytes), time in seconds; seeds are pooled,
the queue over time is the first seed's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from hull.figures.style import dashes, log_scale, panels, scheme_key, styled
from hull.report.axis import share_position, share_ticks, symlog_ticks
from hull.report.charts import occupancy_points
from hull.report.curves import Cdf, fct_cdfs, probe_cdfs, queue_envelopes
from hull.report.labels import condition_label, conditions_of
from hull.report.schemes import Looks, Scheme, schemes_of
from hull.report.seed_means import cells, flow_classes
from hull.report.transports import by_transport

_CDF_POINTS = 1000
_QUEUE_BINS = 1000


class RunResult(Protocol):
    """What the figures read of a result: summary.json and the two tables."""

    @property
    def summary(self) -> dict[str, Any]:
        """Content of summary.json."""

    @property
    def flows(self) -> pl.DataFrame:
        """Content of flows.parquet."""

    @property
    def latency(self) -> pl.DataFrame:
        """Content of latency.parquet."""


@styled
def plot_fct(result: RunResult, looks: Looks = ()) -> Figure:
    """CDFs of flow completion time: a row for each condition, a column for each flow class, and of
    it for each transport if there are several.

    Raises ValueError when the run measured no flow classes.
    """
    summary = result.summary
    classes = flow_classes(summary)
    if not classes:
        raise ValueError("this run has no flow classes, so there is no FCT to plot")
    shown, conditions = schemes_of(summary, looks), conditions_of(summary)
    each_transport = by_transport(result.flows.lazy())
    columns = [
        (flow_class, of, curves)
        for flow_class in classes
        for of, flows in each_transport
        if (curves := fct_cdfs(flows, flow_class, _CDF_POINTS)) or not of
    ]
    figure, grid = panels(len(conditions), len(columns), width=3.6, height=2.5)
    for column, (flow_class, of, curves) in enumerate(columns):
        for row, condition in enumerate(conditions):
            axis = grid[row][column]
            _title(axis, condition, f"{flow_class.name} flows{of}")
            mine = [curve for curve in curves if curve.condition == condition]
            _cdf_axis(axis, mine, shown, f"Flow completion time ({flow_class.unit})")
    scheme_key(figure, shown)
    return figure


@styled
def plot_latency(result: RunResult, looks: Looks = ()) -> Figure:
    """CDFs of switch latency, a panel for each condition.

    Lines are the probe packets, dots the quantiles of time-weighted queue occupancy; a run
    without probes has lines through the dots.
    """
    summary = result.summary
    shown, conditions, by_cell = schemes_of(summary, looks), conditions_of(summary), cells(summary)
    probes = probe_cdfs(result.latency.lazy(), _CDF_POINTS)
    columns = min(3, len(conditions))
    rows = -(-len(conditions) // columns)
    figure, grid = panels(rows, columns, width=3.6 if columns > 1 else 5.4, height=2.7)
    places = [axis for line in grid for axis in line]
    for axis in places[len(conditions) :]:
        axis.set_visible(False)
    for axis, condition in zip(places, conditions, strict=False):
        _title(axis, condition, "")
        dots = [occupancy_points(cell) for (c, _), cell in by_cell.items() if c == condition]
        lines = [curve for curve in probes if curve.condition == condition]
        _cdf_axis(axis, lines, shown, "Switch latency (µs)", dots)
    dot = Line2D([], [], color="#555555", marker="o", linestyle="", label="queue occupancy")
    scheme_key(figure, shown, [dot])
    return figure


@styled
def plot_queue(result: RunResult, looks: Looks = ()) -> Figure:
    """Bytes waiting in the measured port over time: a row for each scheme, a column for each
    condition; the line is the mean, the band minimum to maximum, of each short stretch."""
    summary = result.summary
    shown, conditions = schemes_of(summary, looks), conditions_of(summary)
    envelopes = queue_envelopes(result.latency.lazy(), _QUEUE_BINS)
    high_kb = max((max(curve.high_kb) for curve in envelopes), default=1.0) * 1.05
    found = {(curve.condition, curve.scheme): curve for curve in envelopes}
    width = 3.4 if len(conditions) > 1 else 6.0
    figure, grid = panels(len(shown), len(conditions), width=width, height=1.5, sharey=True)
    for row, scheme in enumerate(shown):
        for column, condition in enumerate(conditions):
            axis = grid[row][column]
            curve = found.get((condition, scheme.name))
            if curve is None:
                axis.set_visible(False)
                continue
            _title(axis, condition, scheme.label)
            axis.fill_between(
                curve.time_s, curve.low_kb, curve.high_kb, color=scheme.colour, alpha=0.35,
                linewidth=0,
            )  # fmt: skip
            axis.plot(curve.time_s, curve.mean_kb, color=scheme.colour, linewidth=0.9)
            axis.margins(x=0)
            _queue_scale(axis, high_kb)
            if row == len(shown) - 1:
                axis.set_xlabel("Simulated time (s)")
            if column == 0:
                axis.set_ylabel("Queue (KB)")
    return figure


def _queue_scale(axis: Axes, high_kb: float) -> None:
    axis.set_yscale("symlog", linthresh=1)
    axis.set_ylim(0, max(1.0, high_kb))
    axis.yaxis.set_major_locator(FixedLocator(symlog_ticks(high_kb)))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))


def _title(axis: Axes, condition: str, what: str) -> None:
    label = condition_label(condition) if condition else ""
    axis.set_title(", ".join(text for text in (label, what) if text), loc="left")


def _cdf_axis(
    axis: Axes,
    lines: Sequence[Cdf],
    looks: Sequence[Scheme],
    x_label: str,
    dots: Sequence[Cdf] = (),
) -> None:
    by_name = {scheme.name: scheme for scheme in looks}
    for curve in lines or dots:
        scheme = by_name[curve.scheme]
        axis.plot(
            curve.value,
            [share_position(share) for share in curve.share],
            color=scheme.colour,
            linestyle=dashes(scheme),
            drawstyle="steps-post" if lines else "default",
            linewidth=1.5,
        )
    for curve in dots:
        colour = by_name[curve.scheme].colour
        places = [share_position(share) for share in curve.share]
        axis.plot(curve.value, places, "o", color=colour, markersize=4, clip_on=False, zorder=3)
    log_scale(axis, "x", [value for curve in (*lines, *dots) for value in curve.value])
    shares = [share for curve in (*lines, *dots) for share in curve.share]
    highest = share_position(max(shares, default=0.9)) + 0.1
    ticks = share_ticks(highest)
    axis.set_ylim(0, highest)
    axis.set_yticks(
        ticks, [f"{1 - 10**-tick:.6%}".rstrip("0%").rstrip(".") + "%" for tick in ticks]
    )
    axis.set_xlabel(x_label)
    axis.set_ylabel("Share at or below")

"""Slowdown by flow size: a percentile for each bin of equally many flows, a line for each scheme.

The figure is one column of a paper wide. A point is at the largest size of its bin, and bins are
equidistant, so the axis counts flows and is labelled with sizes. Bands are 95% intervals over
seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from hull.errors import RunError, reason_of
from hull.figures.style import dashes, log_scale, panels, scheme_key, styled
from hull.files.output_file import whole_file
from hull.report.labels import condition_label, size_label
from hull.report.schemes import Looks, Scheme, schemes

COLUMN_INCHES = 3.5
_PANEL_INCHES = 2.1
_ENDINGS: dict[str, dict[str, Any]] = {
    ".pdf": {"CreationDate": None},
    ".png": {"Software": None},
}
"""Formats, with the metadata that keeps times and versions out of the files."""


@styled
def plot_slowdown(
    table: pl.DataFrame, statistic: str, label: str, looks: Looks = (), *, bins: int
) -> Figure:
    """A panel for each condition of a table of `slowdown_by_size` (hull.results.slowdown);
    `statistic` is its column, `label` the axis label.
    """
    conditions = table["condition"].unique(maintain_order=True).to_list()
    shown = schemes(table["scheme"].to_list(), looks)
    figure, grid = panels(len(conditions), 1, width=COLUMN_INCHES, height=_PANEL_INCHES)
    for (axis,), condition in zip(grid, conditions, strict=True):
        here = table.filter(pl.col("condition") == condition)
        if condition:
            axis.set_title(condition_label(condition), loc="left")
        highest = [1.0]
        for scheme in shown:
            mine = here.filter(pl.col("scheme") == scheme.name)
            highest += _draw(axis, mine, statistic, scheme, bins)
        _x_axis(axis, here, bins)
        log_scale(axis, "y", highest)
        axis.tick_params(axis="y", labelsize=7.5)
        axis.set_ylabel(f"Slowdown, {label}", fontsize=8)
    grid[-1][0].set_xlabel(f"Flow size (each step is {100 / bins:.3g}% of the flows)", fontsize=8)
    scheme_key(figure, shown)
    return figure


def write_figure(figure: Figure, path: Path) -> None:
    """Write PDF and PNG; RunError where that is not possible."""
    if path.suffix in _ENDINGS:
        path = path.with_suffix("")
    for ending, metadata in _ENDINGS.items():
        to = path.with_name(path.name + ending)
        try:
            with whole_file(to) as file:
                figure.savefig(file, format=ending[1:], dpi=300, metadata=metadata)
        except OSError as error:
            raise RunError(f"{to}: {reason_of(error)}") from error


def _draw(
    axis: Axes, mine: pl.DataFrame, statistic: str, scheme: Scheme, bins: int
) -> Sequence[float]:
    """Draw one scheme's line and band; return the required extent of the axis."""
    x = [share * bins for share in mine["share"]]
    y = mine[statistic].to_list()
    half = [value or 0.0 for value in mine[f"{statistic}_ci95"]]
    axis.plot(
        x, y, color=scheme.colour, linestyle=dashes(scheme), marker=scheme.marker, markersize=3,
        linewidth=1.2, zorder=3,
    )  # fmt: skip
    above = [value + spread for value, spread in zip(y, half, strict=True)]
    # No slowdown is below 1, even if the interval of few seeds reaches there.
    below = [max(1.0, value - spread) for value, spread in zip(y, half, strict=True)]
    axis.fill_between(x, below, above, color=scheme.colour, alpha=0.2, linewidth=0)
    return above


def _x_axis(axis: Axes, here: pl.DataFrame, bins: int) -> None:
    edges = here.select("share", "bytes").unique().sort("share")
    places = [share * bins for share in edges["share"]]
    axis.set_xlim(min(0.5, places[0] - 0.5), bins + 0.3)
    axis.xaxis.set_major_locator(FixedLocator(places))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xticklabels(
        [size_label(size) for size in edges["bytes"]], rotation=40, ha="right", fontsize=7.5,
        rotation_mode="anchor",
    )  # fmt: skip

"""Style common to all figures: white background, thin axes, text of one size for print."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ParamSpec

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

from hull.report.axis import log_domain, log_ticks
from hull.report.schemes import Scheme

_KEY_INCHES = 1.8  # width of one entry of a key
_SETTINGS: Any = {
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.bbox": "tight",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
}


_P = ParamSpec("_P")


def styled(plot: Callable[_P, Figure]) -> Callable[_P, Figure]:
    """Draw with these settings, independent of the caller's, which stay unchanged."""

    @functools.wraps(plot)
    def draw(*args: _P.args, **kwargs: _P.kwargs) -> Figure:
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(_SETTINGS)
            figure = plot(*args, **kwargs)
            # Matplotlib makes ticks and layout when it first draws, with the settings of then.
            figure.draw_without_rendering()
        return figure

    return draw


def panels(
    rows: int, columns: int, *, width: float, height: float, sharey: bool = False
) -> tuple[Figure, list[list[Axes]]]:
    """A figure of rows by columns axes, each `width` by `height` inches, with room for a key."""
    figure = Figure(figsize=(width * columns, height * rows + 0.45), dpi=150, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharey=sharey)
    return figure, [list(line) for line in grid]


def dashes(scheme: Scheme) -> Any:
    """The scheme's dash as matplotlib's line style."""
    return (0, scheme.dash) if scheme.dash else "-"


def scheme_key(
    figure: Figure, shown: Sequence[Scheme], more: Sequence[Line2D] = (), *, joined: bool = True
) -> None:
    """One key above all panels: lines, or markers where no line joins the values."""
    lines = [
        Line2D([], [], color=s.colour, linestyle=dashes(s), linewidth=2, label=s.label)
        if joined
        else Line2D([], [], color=s.colour, linestyle="", marker=s.marker, label=s.label)
        for s in shown
    ]
    figure.legend(
        handles=[*lines, *more],
        loc="outside upper left",
        ncols=max(2, int(figure.get_figwidth() / _KEY_INCHES)),
        handlelength=3,
        fontsize=8.5,
    )


def log_scale(axis: Axes, which: str, values: Iterable[float]) -> None:
    """A logarithmic x or y axis around `values`, labelled in plain numbers."""
    low, high = log_domain(values)
    line = axis.xaxis if which == "x" else axis.yaxis
    if which == "x":
        axis.set_xscale("log")
        axis.set_xlim(low, high)
    else:
        axis.set_yscale("log")
        axis.set_ylim(low, high)
    line.set_ticks(log_ticks(low, high))
    line.set_minor_locator(NullLocator())
    line.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))

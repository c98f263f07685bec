"""Flows over time: each flow a line of its own, a panel for each scheme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from hull.figures.style import panels, styled
from hull.report.schemes import Looks, schemes

# Okabe and Ito's colours, distinguishable with the common colour vision deficiencies.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")


@dataclass(frozen=True)
class FlowPanel:
    """One pair of axes: a quantity of each flow over time."""

    scheme: str
    x_label: str
    y_label: str
    flows: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]


@styled
def plot_flows(
    drawn: Sequence[FlowPanel], looks: Looks = (), *, width: float = 6.4, height: float = 2.4
) -> Figure:
    """The panels below each other, on the same scale."""
    figure, grid = panels(len(drawn), 1, width=width, height=height, sharey=True)
    for (axis,), panel in zip(grid, drawn, strict=True):
        axis.set_title(schemes([panel.scheme], looks)[0].label, loc="left")
        for number, (x, y) in enumerate(panel.flows):
            axis.plot(
                x, y, color=_COLOURS[number % len(_COLOURS)], linewidth=1.1,
                label=f"flow {number + 1}",
            )  # fmt: skip
        axis.set_ylim(bottom=0)
        axis.set_xlabel(panel.x_label)
        axis.set_ylabel(panel.y_label)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=6, fontsize=8.5)
    return figure

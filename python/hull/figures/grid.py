"""Grid: one value over two parameters, as shades, with contours at given values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from hull.figures.style import log_scale, panels, styled


@styled
def plot_grid(
    x: Sequence[float],
    y: Sequence[float],
    values: NDArray[np.float64],
    *,
    x_label: str,
    y_label: str,
    value_label: str,
    lines: Sequence[float],
) -> Figure:
    """Both axes are logarithmic; `values` of shape (y, x) are from 0 to 1."""
    figure, grid = panels(1, 1, width=5.4, height=3.9)
    axis = grid[0][0]
    shades = axis.pcolormesh(x, y, values, vmin=0, vmax=1, cmap="viridis", shading="nearest")
    drawn = axis.contour(x, y, values, levels=list(lines), colors="white", linewidths=0.9)
    axis.clabel(drawn, fontsize=7.5)
    log_scale(axis, "x", x)
    log_scale(axis, "y", y)
    axis.set_xlabel(x_label)
    axis.set_ylabel(y_label)
    axis.grid(visible=False)
    figure.colorbar(shades, ax=axis, label=value_label)
    return figure

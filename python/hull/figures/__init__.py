"""Figures of a run, and of published beside measured results, as matplotlib draws them.

Each function returns a `matplotlib.figure.Figure` that belongs to no window:
`hull.load("results/x").plot_latency().savefig("latency.pdf")`.
"""

from hull.process.interrupts import held

with held():  # matplotlib
    from hull.figures.bars import BarPanel, plot_bars
    from hull.figures.grid import plot_grid
    from hull.figures.overview import plot_overview
    from hull.figures.run_figures import plot_fct, plot_latency, plot_queue
    from hull.figures.slowdown import plot_slowdown
    from hull.figures.sweep import Line, Panel, Published, plot_sweep

__all__ = [
    "BarPanel",
    "Line",
    "Panel",
    "Published",
    "plot_bars",
    "plot_fct",
    "plot_grid",
    "plot_latency",
    "plot_overview",
    "plot_queue",
    "plot_slowdown",
    "plot_sweep",
]

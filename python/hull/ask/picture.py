"""The picture of an answer: the gain of small flows against the loss of large ones, as a PDF.

Axes are completion times, us; a point is a mean over seeds, its bars the 95% interval. The lower
left corner is best.
"""

from collections.abc import Sequence
from pathlib import Path

from hull.ask.answer import Row
from hull.ask.frontier import frontiers
from hull.ask.question import Question
from hull.output_file import whole_file

_WIDTH_IN, _HEIGHT_IN = 3.5, 2.7


def write_picture(question: Question, rows: Sequence[Row], path: Path) -> None:
    """Draw the frontier of all flows and of each named group, side by side."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    drawn = frontiers(rows)
    looks = {scheme.name: scheme for scheme in question.looks}
    figure, axes = plt.subplots(
        1,
        max(1, len(drawn)),
        figsize=(_WIDTH_IN * max(1, len(drawn)), _HEIGHT_IN),
        squeeze=False,
        layout="constrained",
    )
    for place, (axis, frontier) in enumerate(zip(axes[0], drawn, strict=False)):
        for name, large, small in frontier.points:
            axis.errorbar(
                large.mean,
                small.mean,
                xerr=large.ci95 or 0.0,
                yerr=small.ci95 or 0.0,
                marker=looks[name].marker,
                color=looks[name].colour,
                markersize=6,
                capsize=2,
                linestyle="none",
                label=looks[name].label,
            )
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("Large flows, mean (µs)", fontsize=8)
        axis.tick_params(labelsize=7)
        axis.grid(linewidth=0.3)
        axis.set_title(frontier.title, fontsize=8)
        if place == 0:
            axis.set_ylabel("Small flows, 99th percentile (µs)", fontsize=8)
            axis.legend(fontsize=6, frameon=False)
    with whole_file(path) as file:
        figure.savefig(file, format="pdf", metadata={"CreationDate": None})
    plt.close(figure)

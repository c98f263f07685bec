"""The picture of an answer: what small flows gain against what large ones lose, as a PDF.

Axes are completion times, us; a point is a mean over seeds, its bars the 95% interval. The lower
left corner is where one wants to be.
"""

from collections.abc import Sequence
from pathlib import Path

from hull.ask.answer import ALL, Row
from hull.ask.question import Question
from hull.output_file import whole_file

_WIDTH_IN, _HEIGHT_IN = 3.5, 2.7


def write_picture(question: Question, rows: Sequence[Row], path: Path) -> None:
    """Draw the frontier of all flows and of each named group, side by side."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    both = [row for row in rows if row.small_p99_us and row.large_mean_us]
    groups = list(dict.fromkeys(row.group for row in both)) or [ALL]
    looks = {scheme.name: scheme for scheme in question.looks}
    figure, axes = plt.subplots(
        1,
        len(groups),
        figsize=(_WIDTH_IN * len(groups), _HEIGHT_IN),
        squeeze=False,
        layout="constrained",
    )
    for place, (axis, group) in enumerate(zip(axes[0], groups, strict=True)):
        for row in rows:
            small, large = row.small_p99_us, row.large_mean_us
            if row.group != group or small is None or large is None:
                continue
            scheme = looks[row.scheme]
            axis.errorbar(
                large.mean,
                small.mean,
                xerr=large.ci95 or 0.0,
                yerr=small.ci95 or 0.0,
                marker=scheme.marker,
                color=scheme.colour,
                markersize=6,
                capsize=2,
                linestyle="none",
                label=scheme.label,
            )
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("Large flows, mean (µs)", fontsize=8)
        axis.tick_params(labelsize=7)
        axis.grid(linewidth=0.3)
        if group != ALL:
            axis.set_title(group, fontsize=8)
        if place == 0:
            axis.set_ylabel("Small flows, 99th percentile (µs)", fontsize=8)
            axis.legend(fontsize=6, frameon=False)
    with whole_file(path) as file:
        figure.savefig(file, format="pdf", metadata={"CreationDate": None})
    plt.close(figure)

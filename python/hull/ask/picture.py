"""The picture of an answer: the gain of small flows against the loss of large ones, as a PDF.

Axes are changes against today's scheme, %, which is at (0, 0); a point is the mean of the ratios
over seeds, its bars the 95% range. The lower left corner is best; right of the dashed line large
flows lose more than is allowed.
"""

from collections.abc import Sequence
from pathlib import Path

from hull.ask.answer import Row
from hull.ask.frontier import X_TITLE, Y_TITLE, frontiers
from hull.ask.question import Question
from hull.files.output_file import whole_file
from hull.report.lines import Range

_WIDTH_IN, _HEIGHT_IN = 3.5, 2.9


def write_picture(question: Question, rows: Sequence[Row], most_loss: float, path: Path) -> None:
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
                large.value,
                small.value,
                xerr=_bars(large),
                yerr=_bars(small),
                marker=looks[name].marker,
                color=looks[name].colour,
                markersize=6,
                capsize=2,
                linestyle="none",
                label=looks[name].label,
            )
        axis.axvline(100 * most_loss, color="#777777", linewidth=0.8, linestyle="--")
        axis.set_xlabel(X_TITLE, fontsize=8)
        axis.tick_params(labelsize=7)
        axis.grid(linewidth=0.3)
        axis.set_title(frontier.title, fontsize=8)
        if place == 0:
            axis.set_ylabel(Y_TITLE, fontsize=8)
            axis.legend(fontsize=6, frameon=False)
    with whole_file(path) as file:
        figure.savefig(file, format="pdf", metadata={"CreationDate": None})
    plt.close(figure)


def _bars(of: Range) -> list[list[float]]:
    """Lengths below and above, as matplotlib takes them."""
    return [[of.value - of.low], [of.high - of.value]]

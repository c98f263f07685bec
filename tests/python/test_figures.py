"""Figures: drawn from a result without touching matplotlib's state, in the schemes' colours."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image

from hull.figures import plot_fct, plot_latency, plot_overview, plot_queue
from hull.report.schemes import schemes
from synthetic_run import SCHEMES, SyntheticRun, make_run, rows

COLOURS = {scheme.colour.lower() for scheme in schemes(SCHEMES)}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SyntheticRun:
    return make_run(tmp_path_factory.mktemp("run"), samples=300)


def saved(figure: Figure) -> Image.Image:
    data = io.BytesIO()
    figure.savefig(data, format="png")
    return Image.open(data)


def line_colours(figure: Figure) -> set[str]:
    return {to_hex(line.get_color()) for axis in figure.axes for line in axis.get_lines()}


@pytest.mark.parametrize(
    ("plot", "panels"), [(plot_fct, 3 * 2), (plot_latency, 3), (plot_queue, 3 * 4)]
)
def test_figures_of_a_run(run: SyntheticRun, plot: object, panels: int) -> None:
    assert callable(plot)
    before = dict(mpl.rcParams)
    figure = plot(run)
    assert dict(mpl.rcParams) == before
    assert len(figure.axes) == panels
    assert line_colours(figure) == COLOURS
    assert to_hex(figure.get_facecolor()) == "#ffffff"
    assert all(axis.get_xlabel() for axis in figure.axes[-3:])
    saved(figure)


def test_figures_ignore_the_callers_settings(run: SyntheticRun) -> None:
    plain = saved(plot_latency(run))
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "black", "lines.linewidth": 9}):
        figure = plot_latency(run)
    assert saved(figure).tobytes() == plain.tobytes()


def test_run_without_sweep_classes_and_probes(tmp_path: Path) -> None:
    bare = make_run(
        tmp_path, conditions=("",), schemes=("mine",), probes=False, classes=False, samples=30
    )
    with pytest.raises(ValueError, match="no flow classes"):
        plot_fct(bare)
    saved(plot_latency(bare))
    saved(plot_queue(bare))


@pytest.mark.parametrize("experiments", [("epfl-table2",), ("epfl-table2", "table4")])
def test_overview(experiments: tuple[str, ...]) -> None:
    found = [row for experiment in experiments for row in rows(experiment)]
    figure = plot_overview(found)
    assert len(figure.axes) == 2 * len(experiments)
    for latency, fct in zip(figure.axes[::2], figure.axes[1::2], strict=True):
        assert latency.get_yscale() == "log"
        assert fct.get_ylim()[0] == 0
        for axis, statistics in ((latency, 2), (fct, 1)):
            low, high = axis.get_ylim()
            markers = [line for line in axis.get_lines() if line.get_marker() in ("o", "^")]
            assert len(markers) == 2 * statistics * 3 * 4
            assert all(
                low < place < high for line in markers for place in np.asarray(line.get_ydata())
            )
            hollow = [line for line in markers if line.get_markerfacecolor() == "white"]
            assert len(hollow) == len(markers) / 2
    image = saved(figure)
    assert image.width == pytest.approx(1800, rel=0.03)
    assert image.getpixel((2, 2)) == (255, 255, 255, 255)


def test_overview_leaves_variants_and_missing_values_out() -> None:
    found = rows()
    found.append(found[0] | {"condition": "load20_threshold_1500"})
    found[1] |= {"published": None, "ratio": None}
    found[2] |= {"measured": None, "ratio": None}
    found[4] |= {"measured": 0.0, "ratio": 0.0}
    latency = plot_overview(found).axes[0]
    assert latency.get_ylim()[0] < 0.5
    markers = [line for line in latency.get_lines() if line.get_marker() in ("o", "^")]
    assert len(markers) == 2 * 2 * 3 * 4 - 2
    with pytest.raises(ValueError, match="no row"):
        plot_overview([])

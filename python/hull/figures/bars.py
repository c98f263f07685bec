"""Bars: a group for each condition and in it a bar for each scheme, as the documents draw flow
completion times. Hollow markers are published values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from hull.figures.style import log_scale, panels, styled
from hull.report.schemes import Looks, Scheme, schemes

_HATCHES = ("", "//", "..", "xx", "\\\\", "oo")


@dataclass(frozen=True)
class BarPanel:
    """One pair of axes; values by (group, scheme)."""

    title: str
    y_label: str
    groups: Sequence[str]
    schemes: Sequence[str]
    values: Mapping[tuple[str, str], float]
    ci95: Mapping[tuple[str, str], float | None] = field(default_factory=dict)
    published: Mapping[tuple[str, str], float] = field(default_factory=dict)
    log_y: bool = False


@styled
def plot_bars(
    drawn: Sequence[BarPanel],
    looks: Looks = (),
    *,
    columns: int = 2,
    width: float = 3.6,
    height: float = 2.7,
) -> Figure:
    """The panels in rows of `columns`; colour and hatching distinguish the schemes."""
    columns = min(columns, len(drawn))
    rows = -(-len(drawn) // columns)
    figure, grid = panels(rows, columns, width=width, height=height)
    places = [axis for line in grid for axis in line]
    shown = schemes((name for panel in drawn for name in panel.schemes), looks)
    for axis in places[len(drawn) :]:
        axis.set_visible(False)
    for axis, panel in zip(places, drawn, strict=False):
        _draw(axis, panel, shown)
    keys: list[Patch | Line2D] = [
        Patch(facecolor=s.colour, hatch=_hatch(s, shown), edgecolor="white", label=s.label)
        for s in shown
    ]
    if any(panel.published for panel in drawn):
        keys.append(
            Line2D(
                [],
                [],
                color="#333333",
                marker="D",
                linestyle="",
                markerfacecolor="white",
                markersize=5,
                label="published",
            )
        )
    figure.legend(handles=keys, loc="outside upper left", ncols=len(keys), fontsize=8.5)
    return figure


def _draw(axis: Axes, panel: BarPanel, looks: Sequence[Scheme]) -> None:
    shown = [scheme for scheme in looks if scheme.name in panel.schemes]
    width = 0.8 / len(shown)
    for index, scheme in enumerate(shown):
        for place, group in enumerate(panel.groups):
            key = (group, scheme.name)
            if key not in panel.values:
                continue
            x = place + (index - (len(shown) - 1) / 2) * width
            axis.bar(
                x, panel.values[key], width * 0.92, color=scheme.colour, edgecolor="white",
                hatch=_hatch(scheme, looks), linewidth=0.4,
            )  # fmt: skip
            if (half := panel.ci95.get(key)) is not None:
                axis.errorbar(x, panel.values[key], half, color="#222222", linewidth=0.9, capsize=2)
            if key in panel.published:
                axis.plot(
                    x, panel.published[key], "D", markerfacecolor="white",
                    markeredgecolor="#333333", markersize=4.5, zorder=4,
                )  # fmt: skip
    axis.set_title(panel.title, loc="left")
    axis.set_ylabel(panel.y_label)
    axis.set_xticks(range(len(panel.groups)), list(panel.groups))
    axis.tick_params(axis="x", length=0)
    axis.grid(visible=False, axis="x")
    if panel.log_y:
        every = [v for v in (*panel.values.values(), *panel.published.values()) if v > 0]
        log_scale(axis, "y", [min(every) / 1.5, max(every) * 1.2] if every else [])
    else:
        # An interval of two seeds may reach below zero.
        axis.set_ylim(bottom=0)


def _hatch(scheme: Scheme, looks: Sequence[Scheme]) -> str:
    return _HATCHES[list(looks).index(scheme) % len(_HATCHES)]

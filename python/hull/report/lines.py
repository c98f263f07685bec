"""Lines and frontiers: charts of means with their 95% intervals, a line for each scheme.

`Point` carries values in the unit of the axis on which they stand; the titles name it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hull.report.axis import log_domain, log_ticks
from hull.report.charts import Chart, Spec, chart_spec, scheme_encoding, short
from hull.report.schemes import Scheme

_LINE_PX = 240
_FRONTIER_PX = 300
_FEW_TICKS = 3


@dataclass(frozen=True)
class Mean:
    """A mean over seeds with half the width of its interval, 0 if there is none."""

    value: float
    half: float = 0.0

    @property
    def ends(self) -> tuple[float, float]:
        """The interval."""
        return self.value - self.half, self.value + self.half


@dataclass(frozen=True)
class Range:
    """A value within its interval, which need not be the same on both sides."""

    value: float
    low: float
    high: float

    @property
    def ends(self) -> tuple[float, float]:
        """The interval."""
        return self.low, self.high

    @property
    def half(self) -> float:
        """Half of the interval's width."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class Point:
    """One point of a scheme's line: `at` is the value that belongs to it as text."""

    scheme: str
    at: str
    x: Mean | Range
    y: Mean | Range


@dataclass(frozen=True)
class Scale:
    """An axis: what stands at it, and from where to where it goes."""

    title: str
    low: float
    high: float
    log: bool

    def spec(self) -> Spec:
        """As Vega-Lite has it; what lies beyond an end is drawn at it."""
        scale: Spec = {"domain": [self.low, self.high], "nice": False, "clamp": True}
        axis: Spec = {"format": "~s", "tickCount": 6}
        if self.log:
            scale |= {"type": "log"}
            ticks = log_ticks(self.low, self.high)
            if len(ticks) >= _FEW_TICKS:
                axis = {"values": ticks, "format": ",~f"}
        elif self.high < 1e4:
            axis["format"] = ",~f"
        return {"type": "quantitative", "title": self.title, "scale": scale, "axis": axis}


def scale_of(title: str, means: Sequence[Mean | Range], *, log: bool) -> Scale:
    """From the means alone: an interval of few seeds may reach far beyond all values. A
    logarithmic axis is for means above zero.
    """
    values = [mean.value for mean in means]
    if log and all(value > 0 for value in values):
        low, high = log_domain(values)
        return Scale(title, low / 1.15, high * 1.15, log=True)
    least, most = min(0.0, *values, 0.0), max(0.0, *values, 0.0)
    return Scale(title, least * 1.15, (most or 1.0) * 1.15, log=False)


def along(title: str, values: Sequence[float]) -> Scale:
    """The axis of a swept key: no wider than its values; logarithmic where they span decades."""
    low, high = min(values), max(values)
    if low > 0 and high >= 50 * low:
        return Scale(title, low / 1.1, high * 1.1, log=True)
    room = 0.04 * (high - low) or 0.1 * abs(high) or 1.0
    return Scale(title, low - room, high + room, log=False)


def line_chart(
    title: str, alt: str, points: Sequence[Point], looks: Sequence[Scheme], x: Scale, y: Scale
) -> Chart:
    """Means as lines with dots, intervals as bands."""
    shown = _shown(points, looks)
    rows = [
        (p.scheme, p.at, *map(short, (p.x.value, p.y.value, *p.y.ends, p.y.half))) for p in points
    ]
    columns = ("scheme", "at", "x", "y", "low", "high", "half")
    spec = chart_spec(_LINE_PX, columns, rows, text=("scheme", "at"))
    look = scheme_encoding(shown)
    up = y.spec()
    spec["encoding"] = {"x": {"field": "x", **x.spec()}, "color": look["color"]}
    spec["layer"] = [
        {
            "mark": {"type": "area", "opacity": 0.15},
            "encoding": {"y": {"field": "low", **up}, "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"y": {"field": "y", **up}, "strokeDash": look["strokeDash"]},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 40, "opacity": 1},
            "encoding": {
                "y": {"field": "y", **up},
                "tooltip": [
                    *_who(x.title),
                    _number("y", y.title),
                    _number("half", "± 95% interval"),
                ],
            },
        },
    ]
    return Chart(title, alt, spec)


def frontier_chart(
    title: str,
    alt: str,
    points: Sequence[Point],
    looks: Sequence[Scheme],
    axes: tuple[Scale, Scale],
    key: str | None,
    bound: float | None = None,
) -> Chart:
    """A dot for each point, with its interval as bars. The dots of a scheme are joined in their
    order along `key`, and the ends labelled with `at`; without a key, all are labelled and none
    joined. A dashed line stands at `bound` of the axis across.
    """
    x, y = axes
    shown = _shown(points, looks)
    lines = [of for of in _by_scheme(points).values() if len({(p.x, p.y) for p in of}) > 1]
    ends = {id(of[end]) for of in lines for end in (0, -1)}
    if key is None:
        ends = set(map(id, points))
    rows = [
        (
            *(p.scheme, p.at, at, p.at if id(p) in ends else ""),
            *map(short, (p.x.value, *p.x.ends, p.y.value, *p.y.ends)),
        )
        for at, p in enumerate(points)
    ]
    columns = ("scheme", "at", "order", "end", "x", "x1", "x2", "y", "y1", "y2")
    spec = chart_spec(_FRONTIER_PX, columns, rows, text=("scheme", "at", "end"))
    look = scheme_encoding(shown)
    across = {"field": "x", **x.spec()}
    up = {"field": "y", **y.spec()}
    bar = {"type": "rule", "strokeWidth": 1, "opacity": 0.45, "clip": True}
    spec["encoding"] = {"color": look["color"]}
    spec["layer"] = [
        {"mark": bar, "encoding": {"x": across | {"field": "x1"}, "x2": {"field": "x2"}, "y": up}},
        {"mark": bar, "encoding": {"x": across, "y": up | {"field": "y1"}, "y2": {"field": "y2"}}},
        {
            "mark": {"type": "line", "strokeWidth": 1.6},
            "encoding": {
                "x": across,
                "y": up,
                "order": {"field": "order", "type": "quantitative"},
                "strokeDash": look["strokeDash"],
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
            "encoding": {
                "x": across,
                "y": up,
                "tooltip": [*_who(key or "Point"), _number("x", x.title), _number("y", y.title)],
            },
        },
        {
            # An empty text of the data is null.
            "transform": [{"filter": "datum.end !== null"}],
            "mark": {"type": "text", "dx": 7, "dy": -8, "align": "left", "fontSize": 10},
            "encoding": {"x": across, "y": up, "text": {"field": "end", "type": "nominal"}},
        },
    ]
    if key is None:
        spec["layer"] = [layer for layer in spec["layer"] if layer["mark"]["type"] != "line"]
    if bound is not None:
        line = {"type": "rule", "strokeDash": [6, 4], "color": "#777777", "clip": True}
        of = {"datum": bound, "type": "quantitative", "scale": across["scale"]}
        spec["layer"].append({"mark": line, "encoding": {"x": of, "color": {"value": "#777777"}}})
    return Chart(title, alt, spec)


def _by_scheme(points: Sequence[Point]) -> dict[str, list[Point]]:
    found: dict[str, list[Point]] = {}
    for point in points:
        found.setdefault(point.scheme, []).append(point)
    return found


def _shown(points: Sequence[Point], looks: Sequence[Scheme]) -> list[Scheme]:
    there = {point.scheme for point in points}
    return [scheme for scheme in looks if scheme.label in there]


def _who(key: str) -> list[Spec]:
    return [
        {"field": "scheme", "type": "nominal", "title": "Scheme"},
        {"field": "at", "type": "nominal", "title": key},
    ]


def _number(field: str, title: str) -> Spec:
    return {"field": field, "type": "quantitative", "title": title, "format": ",.4~r"}

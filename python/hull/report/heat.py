"""Heat map: a value for each row and column, as colour and, where there is room, as a number.

The colours are the same in light and dark: pale is little, dark is much.
"""

from __future__ import annotations

from collections.abc import Sequence

from hull.report.charts import Chart, Spec, chart_spec, short

_ROW_PX = 18
_LINE_PX = 13
_GAPS = (0.02, 0.06)  # of a cell, between columns and rows
_COLOURS = "yelloworangered"
_DARK = 0.5
"""Above this share of the scale the number in a cell is white."""
_MOST_NUMBERS = 8
"""Columns that leave room for numbers on a phone."""


def heat_chart(
    title: str,
    alt: str,
    cells: Sequence[tuple[str, str, float]],
    *,
    columns: Sequence[str],
    rows: Sequence[str] | None = None,
    domain: tuple[float, float] = (0.0, 1.0),
    log: bool = False,
    form: str = ".0%",
    axes: tuple[str | None, str | None] = (None, None),
) -> Chart:
    """`cells` are row, column, value. `rows` are in the order of the cells where none is given;
    `log` is for values above zero whose `domain` spans decades, `form` is how d3 formats a value,
    `axes` are the titles of columns and rows.
    """
    named = list(rows if rows is not None else dict.fromkeys(row for row, _, _ in cells))
    data = [(row, column, short(value)) for row, column, value in cells]
    spec = chart_spec(_ROW_PX * len(named), ("row", "column", "value"), data, ("row", "column"))
    low, high = domain
    # Names of several words stand in several lines, the first of which the padding is for.
    lines = max(len(name.replace("+ ", "+").split(" ")) for name in columns) - 1
    x: Spec = {
        "field": "column",
        "type": "nominal",
        "sort": list(columns),
        "scale": {"paddingInner": _GAPS[0]},
        "title": axes[0],
        "axis": {
            "orient": "top",
            "labelAngle": 0,
            "labelExpr": "split(replace(datum.label, '+ ', '+\u00a0'), ' ')",
            "labelPadding": 3 + _LINE_PX * lines,
            "labelOverlap": False,
            "domain": False,
            "ticks": False,
            "grid": False,
        },
    }
    y: Spec = {
        "field": "row",
        "type": "nominal",
        "sort": named,
        "scale": {"paddingInner": _GAPS[1]},
        "title": axes[1],
        "axis": {"labelOverlap": False, "domain": False, "ticks": False, "grid": False},
    }
    numbers = len(columns) <= _MOST_NUMBERS
    colour = {
        "field": "value",
        "type": "quantitative",
        "scale": {"scheme": _COLOURS, "domain": [low, high], "clamp": True}
        | ({"type": "log"} if log else {}),
        "legend": None if numbers else {"title": None, "format": form},
    }
    tooltip = [
        {"field": "row", "type": "nominal", "title": axes[1] or "Link"},
        {"field": "column", "type": "nominal", "title": axes[0] or "Scheme"},
        {"field": "value", "type": "quantitative", "title": "Value", "format": form},
    ]
    spec["encoding"] = {"x": x, "y": y}
    spec["layer"] = [
        {"mark": {"type": "rect"}, "encoding": {"color": colour, "tooltip": tooltip}},
    ]
    if numbers:
        dark = low * (high / low) ** _DARK if log else low + _DARK * (high - low)
        white = {
            "condition": {"test": f"datum.value > {dark}", "value": "#ffffff"},
            "value": "#1b1f24",
        }
        spec["layer"].append(
            {
                "mark": {"type": "text", "fontSize": 10, "tooltip": False},
                "encoding": {
                    "text": {"field": "value", "type": "quantitative", "format": form},
                    "color": white,
                },
            }
        )
    return Chart(title, alt, spec)

"""Published beside measured: the numbers of a document, hull's own and their ratio.

A ratio above 2 or below 1/2 is shaded and labelled; the experiment's page in the documentation
explains it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from hull.report.labels import condition_label, metric_label, number, unit_label
from hull.report.schemes import Looks, schemes
from hull.report.tables import boxed_table, swatch

LIMIT = 2.0
_STATISTICS = ("mean", "p50", "p90", "p99", "p999", "max")


def published_tables(rows: Sequence[dict[str, Any]], looks: Looks = ()) -> str:
    """A table for each experiment and metric: a row for each condition and scheme."""
    several = len({row["experiment"] for row in rows}) > 1
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["experiment"], row["metric"]), []).append(row)
    return "".join(
        _table(f"{experiment}: " if several else "", group, looks)
        for (experiment, _), group in groups.items()
    )


def deviation(rows: Sequence[dict[str, Any]]) -> float | None:
    """Geometric mean of max(ratio, 1/ratio) over the rows that have a ratio; infinite where a
    measured value is 0.
    """
    ratios = [row["ratio"] for row in rows if row["ratio"] is not None]
    logs = [abs(math.log(ratio)) if ratio > 0 else math.inf for ratio in ratios]
    return math.exp(sum(logs) / len(logs)) if logs else None


def _table(prefix: str, rows: list[dict[str, Any]], declared: Looks) -> str:
    metric, unit = rows[0]["metric"], rows[0]["unit"]
    statistics = [s for s in _STATISTICS if any(row["statistic"] == s for row in rows)]
    found = {(row["condition"], row["scheme"], row["statistic"]): row for row in rows}
    looks = schemes((row["scheme"] for row in rows), declared)
    over = sum(_beyond(row["ratio"]) is not None for row in rows)
    title = f"{prefix}{metric_label(metric, unit)} ({unit_label(unit)})"
    caption = f"{title}; {over} of {len(rows)} values off by more than a factor of {LIMIT:g}"
    spread = deviation(rows)
    if spread is not None:
        caption += f"; geometric mean of deviations: factor {spread:.2f}"
    top = "".join(f'<th scope="colgroup" colspan="3">{escape(s)}</th>' for s in statistics)
    second = (
        '<th scope="col">published</th><th scope="col">measured</th><th scope="col">ratio</th>'
    ) * len(statistics)
    body = ""
    for condition in dict.fromkeys(row["condition"] for row in rows):
        lines = ""
        for scheme in looks:
            cells = [found.get((condition, scheme.name, s)) for s in statistics]
            if any(cell is not None for cell in cells):
                lines += (
                    f'<tr><th scope="row">{swatch(scheme)} {escape(scheme.label)}</th>'
                    f"{''.join(map(_cells, cells))}</tr>"
                )
        body += (
            f'<tbody><tr class="group"><th scope="rowgroup" colspan="{1 + 3 * len(statistics)}">'
            f"<span>{escape(condition_label(condition))}</span></th></tr>{lines}</tbody>"
        )
    head = f'<tr><th scope="col" rowspan="2">Scheme</th>{top}</tr><tr>{second}</tr>'
    return boxed_table(caption, f"<thead>{head}</thead>{body}")


def _cells(row: dict[str, Any] | None) -> str:
    if row is None:
        return "<td></td><td></td><td></td>"
    measured = number(row["measured"])
    if row["ci95"] is not None:
        measured += f' <span class="ci">± {number(row["ci95"])}</span>'
    beyond = _beyond(row["ratio"])
    if beyond is None:
        ratio = f"<td>{number(row['ratio'])}</td>"
    else:
        words = f"▲ over {LIMIT:g}" if beyond == "high" else f"▼ under 1/{LIMIT:g}"
        ratio = f'<td class="{beyond}">{number(row["ratio"])} <small>{words}</small></td>'
    return f'<td class="published">{number(row["published"])}</td><td>{measured}</td>{ratio}'


def _beyond(ratio: float | None) -> str | None:
    if ratio is None or 1 / LIMIT <= ratio <= LIMIT:
        return None
    return "high" if ratio > LIMIT else "low"

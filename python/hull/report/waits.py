"""Where small flows spend their time, as tables of a page: a row for each scheme."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from hull.report.labels import condition_label, number
from hull.report.schemes import Scheme
from hull.report.tables import boxed_table, swatch
from hull.results.waits import EXPLAINED, Waits, label, places_of


def waits_table(waits: Sequence[Waits], looks: Sequence[Scheme]) -> str:
    """The table of one condition, with a sentence; empty without flows."""
    if not waits:
        return ""
    places = places_of(waits)
    head = "".join(
        f'<th scope="col">{escape(text)} (µs)</th>' for text in ["together", *map(label, places)]
    )
    body = ""
    for scheme in looks:
        for one in waits:
            if one.scheme == scheme.name:
                body += (
                    f'<tr><th scope="row">{swatch(scheme)} {escape(scheme.label)}</th>'
                    f"{_cells(one, places)}</tr>"
                )
    condition = waits[0].condition
    caption = f"Where {waits[0].flows} flows spend their time: mean"
    caption += f", {condition_label(condition)}" if condition else ""
    table = boxed_table(
        f"{caption}; below it, the mean beyond the 99th percentile",
        f'<thead><tr><th scope="col">Scheme</th>{head}</tr></thead><tbody>{body}</tbody>',
    )
    return f"{table}<p>{EXPLAINED}</p>"


def _cells(waits: Waits, places: Sequence[str]) -> str:
    mean, tail = waits.mean_us, waits.tail_us
    pairs = [(sum(mean.values()), sum(tail.values()))]
    pairs += [(mean.get(place, 0.0), tail.get(place, 0.0)) for place in places]
    return "".join(
        f'<td>{number(of_all)}<br><span class="ci">{number(of_tail)}</span></td>'
        for of_all, of_tail in pairs
    )

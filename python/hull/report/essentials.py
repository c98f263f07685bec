"""The first screen of a report: the run in one sentence, then each scheme against the first one,
and where small flows spend their time.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from hull.report.labels import NO_VALUE, condition_label, number, unit_label
from hull.report.schemes import Looks, Scheme, named, schemes_of
from hull.report.tables import boxed_table, swatch
from hull.report.waits import waits_table
from hull.results.changes import told
from hull.results.essentials import Line, lines_of, sentence
from hull.results.waits import waits_of

_SCALES = {"bit/s": (1e-9, "Gbps"), "us": (1.0, unit_label("us")), "1": (1.0, "")}
_MOST_CONDITIONS = 8
"""With more, the tables further down are enough."""


def essentials(summary: Mapping[str, Any], looks: Looks) -> str:
    """A sentence, and a table for each condition."""
    lines = lines_of(summary)
    shown = named(schemes_of(summary, looks))
    labels = {scheme.name: scheme.label for scheme in shown}
    text = sentence(lines, labels)
    html = f'<p class="answer">{escape(text)}</p>' if text else ""
    conditions = list(dict.fromkeys(line.condition for line in lines))
    waits = waits_of(summary)
    for condition in conditions[:_MOST_CONDITIONS]:
        html += _table(condition, [line for line in lines if line.condition == condition], shown)
        html += waits_table([one for one in waits if one.condition == condition], shown)
    return f'<section aria-label="Essential numbers">{html}</section>' if html else ""


def _table(condition: str, lines: list[Line], looks: list[Scheme]) -> str:
    kinds = list(dict.fromkeys((line.what, line.statistic, line.unit) for line in lines))
    head = "".join(
        f'<th scope="col">{escape(_heading(what, statistic, unit))}</th>'
        for what, statistic, unit in kinds
    )
    body = ""
    for scheme in looks:
        of = {(line.what, line.statistic): line for line in lines if line.scheme == scheme.name}
        if not of:
            continue
        cells = "".join(_cell(of.get((what, statistic))) for what, statistic, _ in kinds)
        body += f'<tr><th scope="row">{swatch(scheme)} {escape(scheme.label)}</th>{cells}</tr>'
    first = next((scheme.label for scheme in looks if scheme.name == lines[0].scheme), "")
    caption = "Essential numbers"
    caption += f", {condition_label(condition)}" if condition else ""
    caption += f"; changes are against {first}" if len(looks) > 1 else ""
    return boxed_table(
        caption,
        f'<thead><tr><th scope="col">Scheme</th>{head}</tr></thead><tbody>{body}</tbody>',
    )


def _heading(what: str, statistic: str, unit: str) -> str:
    shown = _SCALES.get(unit, (1.0, unit))[1]
    return f"{what} {statistic}".rstrip() + (f" ({shown})" if shown else "")


def _cell(line: Line | None) -> str:
    if line is None:
        return f"<td>{NO_VALUE}</td>"
    factor = _SCALES.get(line.unit, (1.0, ""))[0]
    spread = "" if line.value.ci95 is None else f" ± {number(factor * line.value.ci95)}"
    bound = "≥ " if line.lower_bound else ""
    text = f'{bound}{number(factor * line.value.mean)}<span class="ci">{spread}</span>'
    if line.change is not None:
        text += f'<br><span class="ci">{escape(told(line.change))}</span>'
    count = f"{line.count:,} {'flows' if line.unit != 'bit/s' else 'packet-hops'}"
    return f'<td title="{count}">{text}</td>'

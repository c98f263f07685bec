"""The answer as a table of the page: a row for each scheme of a group, small flows and large ones,
each statistic with its change against today's scheme and that in another such period.
"""

import math
from collections.abc import Sequence
from html import escape

from hull.ask.answer import (
    ALL,
    LARGE_MEAN,
    LARGE_P99,
    SMALL_MEAN,
    SMALL_P99,
    SMALL_P999,
    Count,
    Row,
    Statistic,
)
from hull.ask.question import Question
from hull.report.labels import NO_VALUE, number
from hull.report.tables import boxed_table, swatch
from hull.results.changes import next_in_words, told

_SHOWN = (SMALL_MEAN, SMALL_P99, SMALL_P999, LARGE_MEAN, LARGE_P99)
_SHORT = {None: "mean", 0.99: "p99", 0.999: "p99.9"}
_EXPLAINED = (
    "In brackets the 95% range of the mean, below it the range of another such period where each "
    "seed has its own flows. A percentile needs 300 flows in each run, the 99.9th 3,000."
)


def answer_table(question: Question, rows: Sequence[Row], group: str) -> str:
    """The answer's table for one group."""
    looks = {scheme.name: scheme for scheme in question.looks}
    names = [f"{of.size}, {_SHORT[of.share]} (µs)" for of in _SHOWN]
    names += ["small flows", "large flows"]
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = ""
    for row in rows:
        if row.group == group:
            scheme = looks[row.scheme]
            cells = [_cell(question, row, of) for of in _SHOWN]
            cells += [_count(row.small), _count(row.large)]
            text = "".join(f"<td>{cell}</td>" for cell in cells)
            body += f'<tr><th scope="row">{swatch(scheme)} {escape(scheme.label)}</th>{text}</tr>'
    table = boxed_table(
        "All flows" if group == ALL else f"Group {group}",
        f'<thead><tr><th scope="col">Scheme</th>{head}</tr></thead><tbody>{body}</tbody>',
    )
    return f"{table}<p>{_EXPLAINED}</p>" if group == ALL else table


def _cell(question: Question, row: Row, of: Statistic) -> str:
    value, change = row.value(of), row.change(of)
    if value is None:
        return NO_VALUE
    if math.isinf(value.mean):
        return "not completed"
    text = number(value.mean)
    if change is not None:
        text += f"<br>{escape(told(change))}"
        following = "" if question.replays else next_in_words(change)
        text += f'<br><span class="ci">{escape(following)}</span>' if following else ""
    elif value.ci95 is not None:
        text += f'<br><span class="ci">± {number(value.ci95)}</span>'
    return text


def _count(of: Count) -> str:
    """Completed flows of all runs; of how many, if some did not complete."""
    text = f"{of.completed:,}"
    if of.unfinished:
        text += f" of {of.started:,}"
    if of.timed_out:
        text += f'<br><span class="ci">{of.timed_out:,} timed out</span>'
    return text

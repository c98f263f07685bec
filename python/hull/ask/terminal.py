"""The answer on the terminal: the advice, what could turn it, a row for each scheme and group, how
sure it is, and what was read.
"""

import math
from typing import TextIO

from rich.table import Table
from rich.text import Text

from hull.ask.answer import ALL, LARGE_MEAN, SMALL_P99
from hull.ask.command import Answer
from hull.ask.runbook import terminal_line
from hull.errors import shown
from hull.results.changes import Value, told
from hull.results.printed import print_waits
from hull.terminal.messages import escaped
from hull.terminal.tables import console, number

_COLUMNS = ("scheme", "small, p99 (us)", "change", "large, mean (us)", "change")


def print_answer(answer: Answer) -> None:
    """Write it to standard output."""
    out = console()
    facts = answer.facts
    out.print(Text(answer.advice.sentence, style="bold"))
    for sentence in facts.checks:
        out.print(Text(sentence))
    groups = dict.fromkeys(row.group for row in answer.rows)
    for group in groups:
        title = None if len(groups) == 1 else ("all flows" if group == ALL else group)
        table = Table(box=None, pad_edge=False, header_style="bold", title=title)
        for column in _COLUMNS:
            table.add_column(column, justify="left" if column == "scheme" else "right")
        for row in answer.rows:
            if row.group == group:
                table.add_row(
                    Text(answer.labels[row.scheme]),
                    _us(row.value(SMALL_P99)),
                    told(row.change(SMALL_P99)),
                    _us(row.value(LARGE_MEAN)),
                    told(row.change(LARGE_MEAN)),
                )
        out.print(table)
    shallow = facts.without_phantom_queue
    for sentence in (*facts.sure, *([] if shallow is None else [shallow])):
        out.print(Text(sentence))
    out.print(Text(terminal_line(facts.runbook, shown(answer.runbook))))
    print_waits(facts.waits, answer.labels)
    print_traffic(answer)


def print_traffic(answer: Answer, file: TextIO | None = None) -> None:
    """Write what was read from the trace, a sentence a line, as on the page."""
    for sentence in (*answer.facts.traffic, *answer.facts.placement):
        print(escaped(sentence), file=file)


def _us(value: Value | None) -> str:
    if value is not None and math.isinf(value.mean):
        return "not completed"
    return number(None if value is None else value.mean)

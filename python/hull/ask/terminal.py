"""The answer on the terminal: the advice, a row for each scheme and group, and what was read."""

from typing import TextIO

from rich.table import Table
from rich.text import Text

from hull.ask.answer import ALL
from hull.ask.command import Answer
from hull.changes import Value, told
from hull.said import escaped
from hull.terminal import console, number, print_waits

_COLUMNS = ("scheme", "small, p99 (us)", "change", "large, mean (us)", "change")


def print_answer(answer: Answer) -> None:
    """Write it to standard output."""
    out = console()
    out.print(Text(answer.advice.sentence, style="bold"))
    for sentence in answer.advice.sure:
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
                    _us(row.small_p99_us),
                    told(row.small_p99_change),
                    _us(row.large_mean_us),
                    told(row.large_mean_change),
                )
        out.print(table)
    print_waits(answer.waits[: len(answer.labels)], answer.labels)
    print_traffic(answer)


def print_traffic(answer: Answer, file: TextIO | None = None) -> None:
    """Write what was read from the trace, a sentence a line, as on the page."""
    for sentence in answer.traffic:
        print(escaped(sentence), file=file)


def _us(value: Value | None) -> str:
    return number(None if value is None else value.mean)

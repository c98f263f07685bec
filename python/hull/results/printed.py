"""On the terminal: the registry of statistics, the essential numbers of a run, its waits."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from hull.results.changes import Change, told
from hull.results.essentials import Line, sentence
from hull.results.registry import Statistic
from hull.results.waits import Waits, label, places_of
from hull.terminal.messages import escaped
from hull.terminal.tables import PLAIN_WIDTH, console, known_width, number, print_bold
from hull.terminal.text_table import text_table


def print_statistics(statistics: Iterable[Statistic]) -> None:
    """The registry of statistics."""
    _print_rows(STATISTIC_COLUMNS, map(statistic_row, statistics))


STATISTIC_COLUMNS = ("statistic", "unit", "combined", "meaning")
_COMBINED = {
    "mean": "mean over seeds",
    "sum": "sum over parts",
    "max": "largest of parts",
    "not": "",
}


def statistic_row(statistic: Statistic) -> tuple[str, ...]:
    """One entry of the registry of statistics as STATISTIC_COLUMNS."""
    combined = _COMBINED[statistic.combined]
    return statistic.key, statistic.unit, combined, statistic.meaning


def _print_rows(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console().print(table)


_SCALES = {"bit/s": (1e-9, "Gbps")}


def print_essentials(lines: Sequence[Line], labels: Mapping[str, str]) -> None:
    """The essential numbers of a run: a table for each condition, a row for each scheme."""
    # Without rich, which takes longer to load than a short run.
    width = known_width() or PLAIN_WIDTH
    text = sentence(lines, labels)
    if text:
        print_bold(textwrap.wrap(escaped(text), width))
    for condition in dict.fromkeys(line.condition for line in lines):
        here = [line for line in lines if line.condition == condition]
        kinds = list(dict.fromkeys((line.what, line.statistic, line.unit) for line in here))
        columns = ["scheme"]
        for what, statistic, unit in kinds:
            shown = _SCALES.get(unit, (1.0, unit))[1]
            ending = "" if shown == "1" else f" ({shown})"
            columns.append(escaped(f"{what} {statistic}".rstrip() + ending))
        rows = []
        for scheme in dict.fromkeys(line.scheme for line in here):
            of = {(line.what, line.statistic): line for line in here if line.scheme == scheme}
            cells = [_cell(of.get((what, statistic))) for what, statistic, _ in kinds]
            rows.append([escaped(labels.get(scheme, scheme)) or "-", *cells])
        if condition:
            print(escaped(condition))
        head, body = text_table(columns, rows, width)
        print_bold(head)
        print("\n".join(body))


def print_waits(waits: Sequence[Waits], labels: Mapping[str, str]) -> None:
    """Where small flows spend their time: a table for each condition, a row for each scheme."""
    width = known_width() or PLAIN_WIDTH
    for condition in dict.fromkeys(one.condition for one in waits):
        here = [one for one in waits if one.condition == condition]
        places = places_of(here)
        rows = []
        for one in here:
            pairs = [(one.mean_us.get(place, 0.0), one.tail_us.get(place, 0.0)) for place in places]
            cells = [f"{number(mean)}\n{number(tail)}" for mean, tail in pairs]
            rows.append([escaped(labels.get(one.scheme, one.scheme)) or "-", *cells])
        text = f"Where {here[0].flows} flows spend their time, us: mean, and mean beyond the p99"
        text += f" ({condition})" if condition else ""
        head, body = text_table(["scheme", *map(label, places)], rows, width)
        print_bold([*textwrap.wrap(escaped(text), width), *head])
        print("\n".join(body))


def _cell(line: Line | None) -> str:
    """A value, and below it how much it differs from the first scheme's."""
    if line is None:
        return "-"
    factor = _SCALES.get(line.unit, (1.0, ""))[0]
    spread = "" if line.value.ci95 is None else f" ± {number(factor * line.value.ci95)}"
    bound = "≥ " if line.lower_bound else ""
    text = f"{bound}{number(factor * line.value.mean)}{spread}"
    return text if line.change is None else f"{text}\n{told_below(line.change)}"


def told_below(of: Change) -> str:
    """A change as text for a narrow column: its range is on a line of its own."""
    return told(of).replace(" (", "\n(")

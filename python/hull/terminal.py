"""Tables on the terminal: how wide, how numbers are written; scenario keys, statistics, the
essential numbers of a run."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hull.essentials import Line, changed, sentence
from hull.registry import Statistic

_PLAIN_WIDTH = 110


def print_keys(keys: Sequence[dict[str, Any]]) -> None:
    """The keys of a scenario file."""
    _print_rows(KEY_COLUMNS, map(key_row, keys))


def print_statistics(statistics: Iterable[Statistic]) -> None:
    """The registry of statistics."""
    _print_rows(STATISTIC_COLUMNS, map(statistic_row, statistics))


KEY_COLUMNS = ("key", "type", "example", "default", "meaning")


def key_row(key: dict[str, Any]) -> tuple[str, ...]:
    """One key of a scenario file as KEY_COLUMNS."""
    default, example = _value(key["default"]), _value(key["unit"])
    if key["default"] is None and key["required"]:
        default = "required"
    return key["key"], key["type"], example, default, key["doc"]


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
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console().print(table)


_SCALES = {"bit/s": (1e-9, "Gbps")}


def print_essentials(lines: Sequence[Line], labels: Mapping[str, str]) -> None:
    """The essential numbers of a run: a table for each condition, a row for each scheme."""
    out = console()
    told = sentence(lines, labels)
    if told:
        out.print(Text(told, style="bold"))
    for condition in dict.fromkeys(line.condition for line in lines):
        here = [line for line in lines if line.condition == condition]
        kinds = list(dict.fromkeys((line.what, line.statistic, line.unit) for line in here))
        table = Table(
            box=None,
            pad_edge=False,
            header_style="bold",
            title=condition or None,
            title_justify="left",
        )
        table.add_column("scheme")
        for what, statistic, unit in kinds:
            shown = _SCALES.get(unit, (1.0, unit))[1]
            ending = "" if shown == "1" else f" ({shown})"
            table.add_column(f"{what} {statistic}".rstrip() + ending, justify="right")
        for scheme in dict.fromkeys(line.scheme for line in here):
            of = {(line.what, line.statistic): line for line in here if line.scheme == scheme}
            cells = [_cell(of.get((what, statistic))) for what, statistic, _ in kinds]
            table.add_row(Text(labels.get(scheme, scheme) or "-"), *cells)
        out.print(table)


def _cell(line: Line | None) -> str:
    """A value, and below it how much it differs from the first scheme's."""
    if line is None:
        return "-"
    factor = _SCALES.get(line.unit, (1.0, ""))[0]
    spread = "" if line.value.ci95 is None else f" ± {number(factor * line.value.ci95)}"
    text = f"{number(factor * line.value.mean)}{spread}"
    return text if line.change is None else f"{text}\n{changed(line)}"


def _value(value: Any) -> str:
    """As in a scenario file, texts without quotes; "" where there is none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def number(value: float | None) -> str:
    """Four significant digits at most, and no exponent."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def console() -> Console:
    """Standard output; of one width where it is no terminal."""
    console = Console()
    if not console.is_terminal:
        console.width = _PLAIN_WIDTH
    return console

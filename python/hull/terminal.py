"""Tables on the terminal: how wide, how numbers are written; scenario keys, statistics."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

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

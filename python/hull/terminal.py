"""Tables on the terminal: how wide, how numbers are written; the keys of a scenario."""

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

_PLAIN_WIDTH = 110


def print_keys(keys: Sequence[dict[str, Any]]) -> None:
    """The keys of a scenario file."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in KEY_COLUMNS:
        table.add_column(column, overflow="fold")
    for key in keys:
        table.add_row(*map(Text, key_row(key)))
    console().print(table)


KEY_COLUMNS = ("key", "type", "example", "default", "meaning")


def key_row(key: dict[str, Any]) -> tuple[str, ...]:
    """One key of a scenario file as KEY_COLUMNS."""
    default, example = _value(key["default"]), _value(key["unit"])
    if key["default"] is None and key["required"]:
        default = "required"
    return key["key"], key["type"], example, default, key["doc"]


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

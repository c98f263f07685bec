"""JSON lines: an object per line, as Zeek, Suricata and flow collectors write them.

The keys of the first lines are the columns; keys of an object within have its key in front, such
as `flow.bytes_toserver`. A line that is no object has empty cells.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

FORM = "JSON lines"
_MOST_KEYS = 500
_DEEPEST = 4
_Path = tuple[str, ...]


def keys_of(lines: Sequence[str]) -> tuple[_Path, ...]:
    """Paths of the values in the objects of these lines; empty unless the first is an object."""
    found: dict[_Path, None] = {}
    for place, line in enumerate(line for line in lines if line.strip()):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            found.update(dict.fromkeys(_paths(value, ())))
        elif place == 0:
            return ()
    return tuple(found)[:_MOST_KEYS]


def _paths(value: dict[str, Any], above: _Path) -> Iterator[_Path]:
    for key, inner in value.items():
        path = (*above, key)
        if isinstance(inner, dict) and len(path) < _DEEPEST:
            yield from _paths(inner, path)
        elif not isinstance(inner, (dict, list)):
            yield path


def name_of(path: _Path) -> str:
    """The name of a column."""
    return ".".join(path)


def scan(path: Path, keys: Sequence[_Path], row: str) -> "pl.LazyFrame":
    """The columns as text, and the number of the line as `row`."""
    import polars as pl

    lines = pl.scan_csv(
        path,
        separator="\x01",
        quote_char=None,
        has_header=False,
        schema={"line": pl.String},
        row_index_name=row,
        encoding="utf8-lossy",
        glob=False,
    )
    columns = [
        pl.col("line").str.json_path_match(_expression(key)).alias(name_of(key)) for key in keys
    ]
    return lines.filter(pl.col("line").str.strip_chars() != "").select(row, *columns)


def _expression(path: _Path) -> str:
    return "$" + "".join(f"[{json.dumps(key, ensure_ascii=False)}]" for key in path)

"""The keys of a scenario, as `hull keys` prints them."""

import json
from collections.abc import Sequence
from typing import Any

from hull import _core
from hull.errors import UsageError
from hull.terminal.tables import known_width
from hull.terminal.wildcards import fits, is_pattern

KEY_COLUMNS = ("key", "type", "example", "default", "meaning")
_WIDEST = 24
"""Of a column between key and meaning."""
_NARROWEST = 30
"""Of the meaning, while another column can be left out."""


def print_keys(keys: Sequence[dict[str, Any]]) -> None:
    """The keys of a scenario file, one a line. No name is cut; the meaning is where the width is
    known, on a terminal or by COLUMNS.
    """
    for line in key_lines([*map(key_row, keys)], known_width()):
        print(line)


def key_lines(rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """A line for each row of KEY_COLUMNS under a head. Of a small width the columns between key and
    meaning are left out, those that say least first.
    """
    table = [KEY_COLUMNS, *([" ".join(cell.split()) for cell in row] for row in rows)]
    widths = [max(min(len(row[i]), _WIDEST) for row in table) for i in range(len(KEY_COLUMNS))]
    widths[0] = max(len(row[0]) for row in table)
    kept = [0, 1, 2, 3]
    for left_out in (2, 1, 3):
        if width is None or width - sum(widths[i] + 2 for i in kept) >= _NARROWEST:
            break
        kept.remove(left_out)
    lines = []
    for row in table:
        start = ""
        for i in kept:
            cell = row[i] if i == 0 or width is None else _cut(row[i], widths[i])
            start += f"{cell:{widths[i]}}  "
        room = None if width is None else max(width - len(start), 1)
        lines.append((start + _cut(row[4], room)).rstrip())
    return lines


def _cut(text: str, width: int | None) -> str:
    return text if width is None or len(text) <= width else f"{text[: width - 1]}…"


def keys_like(pattern: str | None) -> list[dict[str, Any]]:
    """The keys of a scenario file with `pattern` in them; of one with a wildcard (*, ?), those that
    it fits.
    """
    keys: list[dict[str, Any]] = json.loads(_core.keys())
    if pattern is None:
        return keys
    wild = is_pattern(pattern)
    found = [key for key in keys if fits(pattern if wild else f"*{pattern}*").fullmatch(key["key"])]
    if not found:
        from difflib import get_close_matches

        names = [key["key"] for key in keys]
        lasts = {name.rpartition(".")[2] for name in names}
        near = get_close_matches(pattern, names, n=3)
        for last in get_close_matches(pattern, lasts, n=1):
            near += [name for name in names if name.endswith(f".{last}")]
        hint = "expected a part of a key, such as pacer"
        if near:
            hint = f"did you mean {' or '.join(dict.fromkeys(near[:4]))}?"
        raise UsageError(f"PATTERN: no key has {pattern!r} in it; {hint}")
    return found


def key_row(key: dict[str, Any]) -> tuple[str, ...]:
    """One key of a scenario file as KEY_COLUMNS."""
    default, example = _value(key["default"]), _value(key["unit"])
    if key["default"] is None and key["required"]:
        default = "required"
    return key["key"], key["type"], example, default, key["doc"]


def _value(value: Any) -> str:
    """As in a scenario file, texts without quotes; "" if there is none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)

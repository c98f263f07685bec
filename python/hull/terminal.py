"""Tables on the terminal: how wide, how numbers are written; scenario keys, statistics, the
essential numbers of a run."""

import json
import os
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hull import _core
from hull.changes import Change, told
from hull.errors import UsageError
from hull.essentials import Line, sentence
from hull.registry import Statistic
from hull.said import escaped
from hull.text_table import text_table
from hull.waits import Waits, label, places_of
from hull.wildcards import fits, is_pattern

if TYPE_CHECKING:
    from rich.console import Console

_PLAIN_WIDTH = 110
_WIDEST = 24
"""Of a column between key and meaning."""
_NARROWEST = 30
"""Of the meaning, while another column can be left out."""


def print_keys(keys: Sequence[dict[str, Any]]) -> None:
    """The keys of a scenario file, one a line. No name is cut; the meaning is where the width is
    known, on a terminal or by COLUMNS.
    """
    for line in key_lines([*map(key_row, keys)], _known_width()):
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


def _known_width() -> int | None:
    """Of the terminal, or as COLUMNS says; None where neither does."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None


def print_statistics(statistics: Iterable[Statistic]) -> None:
    """The registry of statistics."""
    _print_rows(STATISTIC_COLUMNS, map(statistic_row, statistics))


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
    width = _known_width() or _PLAIN_WIDTH
    text = sentence(lines, labels)
    if text:
        _print_bold(textwrap.wrap(escaped(text), width))
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
        _print_bold(head)
        print("\n".join(body))


def print_waits(waits: Sequence[Waits], labels: Mapping[str, str]) -> None:
    """Where small flows spend their time: a table for each condition, a row for each scheme."""
    width = _known_width() or _PLAIN_WIDTH
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
        _print_bold([*textwrap.wrap(escaped(text), width), *head])
        print("\n".join(body))


def _print_bold(lines: Iterable[str]) -> None:
    bold = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    for line in lines:
        print(f"\x1b[1m{line}\x1b[0m" if bold else line)


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


def _value(value: Any) -> str:
    """As in a scenario file, texts without quotes; "" if there is none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def number(value: float | None) -> str:
    """Four significant digits at most, and no exponent."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def console() -> "Console":
    """Standard output; of one width where it is no terminal."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console.width = _PLAIN_WIDTH
    return console

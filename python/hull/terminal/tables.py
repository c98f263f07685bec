"""Tables on the terminal: how wide they are, and how numbers are written."""

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_WIDTH = 110


def known_width() -> int | None:
    """The width of the terminal, or as COLUMNS says; None where neither does."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None


def print_bold(lines: Iterable[str]) -> None:
    """Lines in bold, on a terminal that can."""
    bold = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    for line in lines:
        print(f"\x1b[1m{line}\x1b[0m" if bold else line)


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
        console.width = PLAIN_WIDTH
    return console

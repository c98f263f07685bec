"""What can go wrong, by the exit status that the command line gives it."""

import os
import re


class UsageError(ValueError):
    """Invalid input; the message states the value found and the expected form (exit 2)."""


class RunError(RuntimeError):
    """A run started and failed (exit 1)."""


class Interrupted(KeyboardInterrupt):
    """A run stopped by Ctrl-C; the message says what is kept and how to resume (exit 130)."""


_MOST_SHOWN = 80


def shown(value: object) -> str:
    """What a user wrote, for a message: without control characters, and cut where it is long."""
    text = str(value)
    plain = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:_MOST_SHOWN]
    )
    return plain if len(text) <= _MOST_SHOWN else f"{plain}... ({len(text)} characters)"


def check_count(name: str, value: object) -> int:
    """A whole number of at least 1, given as such or as text; else UsageError."""
    try:
        count = int(str(value))
    except ValueError:
        count = 0
    if count < 1:
        raise UsageError(f"{name}: {value} is invalid; expected a whole number of at least 1")
    return count


def check_text(place: str, text: str) -> None:
    """Refuse half a character (a surrogate): UTF-8 cannot hold it, and bytes that are not UTF-8
    come so from the command line.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        found = text[max(0, error.start - 20) : error.end]
        told = f"{found!r} is invalid; expected text that UTF-8 can hold"
        raise UsageError(f"{place}: {told}") from None


def reason_of(error: BaseException) -> str:
    """The cause of a failure, in the system's words for system errors, without the text that Rust
    and polars add to errors of files.
    """
    number = re.search(r"\(os error (\d+)\)", str(error))
    if number:
        return os.strerror(int(number[1]))
    found = error.strerror if isinstance(error, OSError) else None
    return found or str(error) or type(error).__name__

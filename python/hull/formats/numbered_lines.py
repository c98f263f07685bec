"""Text files that are read line by line, and the messages about a line."""

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from hull.errors import UsageError, reason_of, shown
from hull.files.input_file import read_text

_MOST_BYTES = 1_000_000_000


class Lines:
    """The lines of a file that hold something, split at blanks; the last one read is at fault."""

    def __init__(self, path: Path) -> None:
        """Reads the file; UsageError where that fails."""
        self.path = path
        self.number = 0
        try:
            self._lines = read_text(path, _MOST_BYTES).splitlines()
        except UnicodeDecodeError:
            raise UsageError(f"{path}: not a text file; expected UTF-8 text") from None
        except (OSError, ValueError) as error:
            raise UsageError(f"{path}: {reason_of(error)}; expected a text file") from None

    def words(self) -> Iterator[list[str]]:
        """The words of each line that is neither empty nor a comment (`#`)."""
        for number, line in enumerate(self._lines, 1):
            self.number = number
            words = line.split()
            if words and not words[0].startswith("#"):
                yield words

    def refuse(self, found: object, expected: str, line: int | None = None) -> NoReturn:
        """Raises UsageError about the line that was read last, or another one."""
        number = line or max(self.number, 1)
        raise UsageError(
            f"{self.path}, line {number}: {shown(found)} is invalid; expected {expected}"
        )

    def whole(self, name: str, text: str, least: int = 0, most: int = 2**63 - 1) -> int:
        """A whole number; `name` says in the message what it is."""
        # Not every text that int() takes: no sign, no underscore, no other digits.
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            bounds = f"at least {least}" if most == 2**63 - 1 else f"from {least} to {most}"
            self.refuse(f"{name} {text}", f"a whole number {bounds}")
        return int(text)

    def number_of(self, name: str, text: str, *, above_zero: bool = False) -> float:
        """A finite number, not negative."""
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf") or "_" in text or (above_zero and value == 0):
            least = "above 0" if above_zero else "not below 0"
            self.refuse(f"{name} {text}", f"a number {least}")
        return value

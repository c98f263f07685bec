"""Options that several commands have."""

from enum import StrEnum
from typing import Annotated

import typer

from hull.errors import check_count

FILE = "Scenario file (TOML); - is standard input."


class Format(StrEnum):
    """How a command writes what it found."""

    TABLE = "table"
    JSON = "json"


# Taken as text, so that a wrong number is refused in the words of every other bad input.
Seeds = Annotated[
    str | None, typer.Option("--seeds", metavar="N", help="Seeds per cell, instead of run.seeds.")
]


def count(option: str, value: str | None) -> int | None:
    """A whole number of at least 1 as an option has it; None where it is not given."""
    return None if value is None else check_count(option, value)

"""What the commands share: the application itself, options, how a stop by hand ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hull import __version__, _interrupts
from hull.errors import Interrupted, check_count
from hull.said import say

_ORDER = (
    *("ask", "run", "check", "show", "sweep", "reproduce", "design", "lab", "trace", "linux"),
    *("scenarios", "keys", "statistics", "schema", "completion"),
)
"""Of the commands in the help."""


class _Commands(TyperGroup):
    """All commands: Ctrl-C ends each with one line."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        return sorted(super().list_commands(ctx), key=_ORDER.index)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say("stopped")
            raise typer.Exit(_interrupts.STOPPED) from None


app = typer.Typer(
    cls=_Commands,
    help="Phantom queues, pacing and DCTCP, simulated packet by packet.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


FILE = "Scenario file (TOML); - is standard input."


class Format(StrEnum):
    """How a command writes what it found."""

    TABLE = "table"
    JSON = "json"


# Taken as text, so that a wrong number is refused in the words of every other bad input.
Seeds = Annotated[
    str | None, typer.Option("--seeds", metavar="N", help="Seeds per cell, instead of run.seeds.")
]
Jobs = Annotated[
    str | None,
    typer.Option("--jobs", "-j", metavar="N", help="Simulations at a time (default: processors)."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace another run's results.")]


def _show_version(value: bool) -> None:
    if value:
        print(f"hull {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@contextmanager
def stopped_by_hand() -> Iterator[None]:
    """Ctrl-C ends a command with what it has to say, and its exit status."""
    try:
        yield
    except Interrupted as stop:
        say(str(stop))
        raise typer.Exit(_interrupts.STOPPED) from None


def count(option: str, value: str | None) -> int | None:
    """A whole number of at least 1 as an option has it; None where it is not given."""
    return None if value is None else check_count(option, value)

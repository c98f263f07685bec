"""Help: the output of `hull --help` and `hull COMMAND --help`."""

import shutil
import textwrap
from collections.abc import Iterable, Sequence

from hull.cli.command import HELP, Command

_WIDEST = 100
_INDENT = "  "
_MOST_NAME = 24
"""Of a name with its value; the meaning of a longer one begins on the next line."""
ABOUT = (
    "Simulate phantom queues, pacing and DCTCP packet by packet, and reproduce published results."
)
OPTION_HELP = (", ".join(HELP), "Print this message.")
OPTION_VERSION = ("--version", "Print the version.")


def option_rows(command: Command) -> list[tuple[str, str]]:
    """Names with their values, and meanings."""
    rows = []
    for one in command.parameters:
        if one.is_option:
            value = "" if one.is_flag else f" {one.metavar}"
            rows.append((f"{', '.join(one.names)}{value}", one.declared.help))
    return rows


def help_of(command: Command) -> str:
    """For one command."""
    arguments = [(one.metavar, one.declared.help) for one in command.arguments if one.declared.help]
    parts = [f"Usage: {command.usage} [OPTIONS]", _wrapped(command.help)]
    parts += _section("Arguments", arguments)
    parts += _section("Options", [*option_rows(command), OPTION_HELP])
    parts += _section("Commands", [(inner.name, summary(inner)) for inner in command.below])
    return "\n\n".join(parts)


def help_of_all(commands: Iterable[Command]) -> str:
    """For `hull` itself."""
    parts = ["Usage: hull COMMAND [OPTIONS]", ABOUT]
    parts += _section("Options", [OPTION_VERSION, OPTION_HELP])
    parts += _section("Commands", [(one.name, summary(one)) for one in commands])
    return "\n\n".join(parts)


def summary(command: Command) -> str:
    """The first paragraph of a command's description."""
    return " ".join(command.help.partition("\n\n")[0].split())


def _section(heading: str, rows: Sequence[tuple[str, str]]) -> list[str]:
    if not rows:
        return []
    width = max(len(name) for name, _ in rows if len(name) <= _MOST_NAME or len(rows) == 1)
    width = min(width, _MOST_NAME)
    lines = [f"{heading}:"]
    for name, meaning in rows:
        told = _wrapped(meaning, width + 2 * len(_INDENT)).split("\n")
        if len(name) > width:
            lines.append(f"{_INDENT}{name}")
        else:
            lines.append(f"{_INDENT}{name:{width}}{_INDENT}{told.pop(0)}".rstrip())
        lines += [f"{'':{width + 2 * len(_INDENT)}}{line}" for line in told]
    return ["\n".join(lines)]


def _wrapped(text: str, used: int = 0) -> str:
    width = min(shutil.get_terminal_size().columns, _WIDEST) - used
    return textwrap.fill(" ".join(text.split()), max(width, 20))

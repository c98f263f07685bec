"""Writes wheel/data/share/man/man1/hull.1, the manual page, from the commands and their options.

The one definition of both is the command itself. Run by `make man`, held to it by
tests/python/test_man.py.
"""

import re
from pathlib import Path

from hull.cli.command import Command
from hull.cli.common import all_commands
from hull.cli.help import ABOUT, OPTION_VERSION

TARGET = Path(__file__).resolve().parent.parent / "wheel" / "data/share/man/man1/hull.1"

STATUS = (
    ("0", "Done."),
    ("1", "A run that started and failed, as on a full disk."),
    ("2", "Input that cannot be used: the message says what was found and what is expected."),
    ("130", "Stopped by Ctrl-C; the same command goes on."),
)
EXAMPLES = (
    ("hull scenarios copy table4", "Take a shipped scenario to change it."),
    ("hull check table4.toml", "See whether it is right and what it would run."),
    ("hull run table4.toml --set run.duration=1s --out results/mine", "Run it, shorter."),
    ("hull keys 'pacer.*'", "Look up what the keys of the pacer are."),
)


def source() -> str:
    """The page."""
    lines = ['.TH HULL 1 "" "hull" "User Commands"', ".SH NAME"]
    lines += ["hull \\- packet-level simulator of data-centre networks", ".SH SYNOPSIS"]
    lines += [".B hull", ".I COMMAND", "[\\fIOPTION\\fR]..."]
    lines += [".SH DESCRIPTION", _text(ABOUT)]
    lines += ["Results go to standard output, messages to standard error."]
    lines += [".TP", f"\\fB{_text(OPTION_VERSION[0])}\\fR", _text(OPTION_VERSION[1])]
    lines += [".SH COMMANDS"]
    for command in all_commands():
        for one in (command, *command.below):
            lines += [f".SS {_text(one.usage)}", _text(one.help)]
            lines += _options(one)
    lines += [".SH EXIT STATUS"]
    for status, meaning in STATUS:
        lines += [".TP", f".B {status}", _text(meaning)]
    lines += [".SH ENVIRONMENT", ".TP", ".B COLUMNS"]
    lines += ["Width of what hull keys prints; without it the terminal's width."]
    lines += [".SH EXAMPLES"]
    for example, meaning in EXAMPLES:
        lines += [".TP", f".B {_text(example)}", _text(meaning)]
    return "\n".join(line for line in lines if line) + "\n"


def _options(command: Command) -> list[str]:
    lines = []
    for one in command.parameters:
        if one.is_option:
            value = "" if one.is_flag else f" \\fI{_text(one.metavar)}\\fR"
            names = ", ".join(f"\\fB{_text(name)}\\fR" for name in one.names)
            lines += [".TP", f"{names}{value}", _text(one.declared.help)]
    return lines


def _text(text: str) -> str:
    """Text of troff: nothing at the beginning of a line or in it is a request."""
    plain = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", plain)


if __name__ == "__main__":
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(source(), encoding="utf-8")

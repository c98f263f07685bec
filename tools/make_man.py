"""Writes wheel/data/share/man/man1/hull.1, the manual page, from the commands and their options.

The one definition of both is the command itself. Run by `make man`, held to it by
tests/python/test_man.py.
"""

import re
from pathlib import Path
from typing import Any

import typer

import hull.cli  # noqa: F401  (its modules add the commands)
from hull.cli.common import app
from hull.completion import choices

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
    root: Any = typer.main.get_command(app)
    lines = ['.TH HULL 1 "" "hull" "User Commands"', ".SH NAME"]
    lines += ["hull \\- packet-level simulator of data-centre networks", ".SH SYNOPSIS"]
    lines += [".B hull", ".I COMMAND", "[\\fIOPTION\\fR]..."]
    lines += [".SH DESCRIPTION", _text(root.help)]
    lines += ["Results go to standard output, messages to standard error."]
    lines += _options(root)
    lines += [".SH COMMANDS"]
    for name, command in _all(root, "hull"):
        lines += [f".SS {_text(_usage(name, command))}", _text(command.help or "")]
        lines += _options(command)
    lines += [".SH EXIT STATUS"]
    for status, meaning in STATUS:
        lines += [".TP", f".B {status}", _text(meaning)]
    lines += [".SH ENVIRONMENT", ".TP", ".B COLUMNS"]
    lines += ["Width of what hull keys prints; without it that of the terminal."]
    lines += [".SH EXAMPLES"]
    for example, meaning in EXAMPLES:
        lines += [".TP", f".B {_text(example)}", _text(meaning)]
    return "\n".join(line for line in lines if line) + "\n"


def _all(command: Any, name: str) -> list[tuple[str, Any]]:
    """Each command with its whole name."""
    found = []
    for inner in command.commands.values():
        if inner.hidden:
            continue
        found.append((f"{name} {inner.name}", inner))
        if hasattr(inner, "commands"):
            found += _all(inner, f"{name} {inner.name}")
    return found


def _usage(name: str, command: Any) -> str:
    places = [one for one in command.params if one.param_type_name == "argument"]
    places = [one for one in places if not one.hidden]
    names = [one.metavar or one.name.upper() for one in places]
    shown = [
        text if one.required or text.startswith("[") else f"[{text}]"
        for one, text in zip(places, names, strict=True)
    ]
    return " ".join([name, *shown])


def _options(command: Any) -> list[str]:
    lines = []
    for one in command.params:
        if one.param_type_name == "argument":
            continue
        value = "" if one.is_flag else f" \\fI{_text(one.metavar or _choices(one))}\\fR"
        names = ", ".join(f"\\fB{_text(name)}\\fR" for name in one.opts)
        lines += [".TP", f"{names}{value}", _text(one.help or "")]
    return lines


def _choices(option: Any) -> str:
    return "|".join(choices(option)) or str(option.name).upper()


def _text(text: str) -> str:
    """Text of troff: nothing at the beginning of a line or in it is a request."""
    plain = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", plain)


if __name__ == "__main__":
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(source(), encoding="utf-8")

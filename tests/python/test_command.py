"""Parsing a command line into a call: option forms, arguments, rejected input."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pytest

from conftest import Hull
from hull.cli.command import Argument, Command, Option
from hull.cli.common import all_commands
from hull.cli.help import help_of
from hull.errors import UsageError


class Form(StrEnum):
    TABLE = "table"
    JSON = "json"


def call(
    file: Annotated[Path, Argument(help="Scenario file.")],
    others: Annotated[list[str] | None, Argument(metavar="OTHER...", help="Others.")] = None,
    overrides: Annotated[list[str] | None, Option("--set", metavar="KEY=VALUE", help="")] = None,
    port: Annotated[int, Option("--port", "-p", metavar="N", help="A port.")] = 1,
    most_loss: Annotated[str, Option(metavar="SHARE", help="Loss.")] = "10%",
    format: Annotated[Form, Option(help="Form.")] = Form.TABLE,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Less.")] = False,
    verbose: Annotated[bool, Option("--verbose", "-v", help="More.")] = False,
) -> None:
    """Do something.

    More of it.
    """


COMMAND = Command("something", call)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("a.toml", {"file": Path("a.toml")}),
        ("-", {"file": Path("-")}),
        ("a b c", {"file": Path("a"), "others": ["b", "c"]}),
        ("--set x=1 a --set=y=-2", {"file": Path("a"), "overrides": ["x=1", "y=-2"]}),
        ("a --port 7 --quiet", {"file": Path("a"), "port": 7, "quiet": True}),
        ("a --port=7", {"file": Path("a"), "port": 7}),
        ("a -p7", {"file": Path("a"), "port": 7}),
        ("a -qvp 7", {"file": Path("a"), "quiet": True, "verbose": True, "port": 7}),
        ("a --port -1", {"file": Path("a"), "port": -1}),
        ("a --most-loss=", {"file": Path("a"), "most_loss": ""}),
        ("a --format json", {"file": Path("a"), "format": Form.JSON}),
        ("-- -a --quiet", {"file": Path("-a"), "others": ["--quiet"]}),
    ],
)  # fmt: skip
def test_words(words: str, expected: dict[str, Any]) -> None:
    assert COMMAND.read(words.split()) == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "FILE: required; expected scenario file"),
        ("a --formt json", "--formt: unknown option; did you mean --format?"),
        ("a --xyzzy=1", "--xyzzy: unknown option; expected one of --set, --port, -p, --most-loss"),
        ("a -x", "-x: unknown option; "),
        ("a -qx", "-x: unknown option; "),
        ("a --port", "--port: no value; expected N"),
        ("a -p", "-p: no value; expected N"),
        ("a --port x", "--port: x is invalid; expected a whole number"),
        ("a --format xml", "--format: xml is invalid; expected table, json"),
        ("a --quiet=yes", "--quiet: yes is invalid; expected no value"),
    ],
)
def test_invalid_command_line(words: str, message: str) -> None:
    with pytest.raises(UsageError) as found:
        COMMAND.read(words.split())
    assert str(found.value).startswith(message)


def test_unknown_options_can_be_passed_on() -> None:
    kept = Command("completion", call, keeps_options=True)
    assert kept.read(["a", "--other", "-x"])["others"] == ["--other", "-x"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rnu",), "rnu: unknown command; did you mean run?"),
        (("--verson",), "--verson: unknown option; expected "),
        (("show", "a", "b"), "b: unexpected; expected hull show FOLDER"),
        (("scenarios", "cpy"), "cpy: unexpected; expected copy"),
    ],
)
def test_unknown_commands(hull: Hull, words: tuple[str, ...], message: str) -> None:
    done = hull(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"hull: error: {message}")


def test_help_has_each_option(hull: Hull) -> None:
    for command in all_commands():
        text = help_of(command)
        assert text.startswith(f"Usage: hull {command.name}")
        assert all(name in text for name in command.options)
    assert "table|json" in help_of(COMMAND)
    done = hull("run", "--set", "x=1", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "--seeds N" in done.stdout
    assert hull("scenarios", "copy", "-h").stdout.startswith("Usage: hull scenarios copy NAME [TO]")


def test_options_and_arguments_are_described() -> None:
    for command in all_commands():
        for inner in (command, *command.below):
            assert inner.help.endswith("."), inner.name
            told = [one.declared.help for one in inner.parameters if one.name != "words"]
            assert all(told), inner.name

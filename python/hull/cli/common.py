"""What the commands share: the registry of them, and options."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from importlib import import_module
from typing import Annotated, TypeVar

from hull.cli.command import Command, Option
from hull.errors import UsageError, check_count, shown
from hull.terminal.messages import say

_MODULES = {
    "ask": "asking",
    "run": "running",
    "check": "checking",
    "show": "running",
    "report": "running",
    "sweep": "running",
    "reproduce": "reproducing",
    "design": "advising",
    "lab": "advising",
    "trace": "looking",
    "export": "looking",
    "convert": "converting",
    "linux": "advising",
    "scenarios": "looking",
    "keys": "checking",
    "statistics": "looking",
    "schema": "looking",
    "completion": "checking",
}
"""The commands in the order of the help, with the modules of this folder that have them."""

_registered: dict[str, Command] = {}
"""By name, of the modules that were imported."""

_Call = TypeVar("_Call", bound=Callable[..., int | None])


def command(
    name: str | None = None, *, keeps_options: bool = False, keeps_words: bool = False
) -> Callable[[_Call], _Call]:
    """Make a command of a function, by its name or another."""

    def register(call: _Call) -> _Call:
        made = Command(name or call.__name__, call, keeps_options, keeps_words)
        above = _registered.get(made.name.rpartition(" ")[0])
        if above is not None:
            above.below.append(made)
        _registered[made.name] = made
        return call

    return register


def all_commands() -> list[Command]:
    """Every command in the order of the help; those below another one are in it."""
    return [_load(name) for name in _MODULES]


def find(words: Sequence[str]) -> tuple[Command, Sequence[str]]:
    """The command that words begin with, and the other words. Only its module is imported."""
    name = words[0]
    if name not in _MODULES:
        from difflib import get_close_matches

        near = get_close_matches(name, _MODULES, n=1)
        hint = f"did you mean {near[0]}?" if near else f"expected {', '.join(_MODULES)}"
        kind = "option" if name.startswith("-") else "command"
        raise UsageError(f"{shown(name)}: unknown {kind}; {hint}")
    found = _load(name)
    for inner in found.below:
        if inner.name.split() == [*words[:2]]:
            return inner, words[2:]
    return found, words[1:]


def _load(name: str) -> Command:
    import_module(f"hull.cli.{_MODULES[name]}")
    return _registered[name]


FILE = "Scenario file (TOML); - reads standard input."


class Format(StrEnum):
    """Output format of a command."""

    TABLE = "table"
    JSON = "json"


# Read as text, so that an invalid number gets the same message as other invalid input.
Seeds = Annotated[
    str | None,
    Option("--seeds", metavar="N", help="Seeds per scheme and condition, instead of run.seeds."),
]
Schemes = Annotated[
    list[str] | None,
    Option(
        "--scheme",
        metavar="NAME",
        help="Run only this scheme of the file; names with commas, and may be repeated.",
    ),
]
Jobs = Annotated[
    str | None,
    Option(
        "--jobs", "-j", metavar="N", help="Concurrent simulations (default: one per processor)."
    ),
]
Strict = Annotated[
    bool, Option("--strict", help="Treat warnings as errors: exit status 2 if there is one.")
]
Force = Annotated[bool, Option("--force", help="Replace results of another run.")]


def count(option: str, value: str | None) -> int | None:
    """An option's integer of at least 1; None if the option is not given."""
    return None if value is None else check_count(option, value)


def say_warnings(warnings: Sequence[str], *, strict: bool) -> int:
    """Write warnings to stderr; returns the exit status."""
    for text in warnings:
        say(f"{'error' if strict else 'warning'}: {text}")
    return 2 if strict and warnings else 0

"""A command: its options and arguments, as the annotations of its function declare them, and how
words of the command line become a call.

The standard library's argparse would fit in the 0.12 s of a run's fixed cost: beside the 0.105 s of
today it would take 1.9 ms to load and 5.9 ms to build the parsers of 16 commands (processor time,
medians of 7, of the run of 5). It is not used because two things would be lost. Its errors do not
name key, value and expected form. Help, manual pages and completion read the annotations here.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, get_args, get_origin

from hull.errors import UsageError, shown

HELP = ("-h", "--help")


class Option:
    """`Annotated[str, Option("--name", "-n", metavar="N", help="...")]`; a bool is a flag, a list
    may be repeated. Its default name is the parameter's.
    """

    def __init__(self, *names: str, metavar: str = "", help: str = "") -> None:
        """`metavar` is the name of its value in help."""
        self.names = names
        self.metavar = metavar
        self.help = help


class Argument:
    """`Annotated[Path, Argument(help="...")]`; a list takes all words that are left."""

    def __init__(self, *, metavar: str = "", help: str = "", hidden: bool = False) -> None:
        """Help shows it by `metavar` or its name in capitals; not where it is `hidden`."""
        self.metavar = metavar
        self.help = help
        self.hidden = hidden


@dataclass(frozen=True)
class Parameter:
    """A parameter of a command's function."""

    name: str
    declared: Option | Argument
    type: type
    """bool, int, str, Path or an enumeration; for a list, the type of its members."""
    many: bool
    required: bool

    @property
    def is_option(self) -> bool:
        """Whether it has a name on the command line."""
        return isinstance(self.declared, Option)

    @property
    def is_flag(self) -> bool:
        """Whether it takes no value."""
        return self.is_option and self.type is bool

    @property
    def names(self) -> tuple[str, ...]:
        """Of an option, as written on the command line."""
        if isinstance(self.declared, Argument):
            return ()
        return self.declared.names or (f"--{self.name.replace('_', '-')}",)

    @property
    def choices(self) -> list[str]:
        """The values that it is one of; empty where it may be another."""
        return [str(member) for member in self.type] if issubclass(self.type, StrEnum) else []

    @property
    def metavar(self) -> str:
        """Name of its value in help."""
        return self.declared.metavar or "|".join(self.choices) or self.name.upper()

    @property
    def place(self) -> str:
        """How messages call it."""
        return self.names[0] if self.is_option else self.metavar.strip("[].")

    def value_of(self, word: str) -> Any:
        """The value of a word of the command line."""
        if self.choices and word not in self.choices:
            raise UsageError(
                f"{self.place}: {shown(word)} is invalid; expected {', '.join(self.choices)}"
            )
        try:
            return self.type(word)
        except ValueError:
            raise UsageError(
                f"{self.place}: {shown(word)} is invalid; expected a whole number"
            ) from None


@dataclass
class Command:
    """A function that the command line calls. What it returns is the exit status, or None for 0."""

    name: str
    """Of several words, such as `scenarios copy`."""
    call: Callable[..., int | None]
    keeps_options: bool = False
    """Unknown options are arguments."""
    keeps_words: bool = False
    """It is called with all words as they are, `--help` as well."""
    below: list[Command] = field(default_factory=list)
    """Commands whose names begin with this one's."""

    @property
    def help(self) -> str:
        """What it does."""
        return (self.call.__doc__ or "").strip()

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Options and arguments in the order of the function."""
        return () if self.keeps_words else tuple(_parameters(self.call))

    @property
    def options(self) -> dict[str, Parameter]:
        """By each name."""
        return {name: one for one in self.parameters for name in one.names}

    @property
    def arguments(self) -> list[Parameter]:
        """In their order."""
        return [one for one in self.parameters if not one.is_option]

    @property
    def usage(self) -> str:
        """The command with its arguments, and with the options that it requires."""
        words = [f"hull {self.name}"]
        for one in self.arguments:
            if isinstance(one.declared, Argument) and not one.declared.hidden:
                whole = one.required or one.metavar.startswith("[")
                words.append(one.metavar if whole else f"[{one.metavar}]")
        needed = (one for one in self.parameters if one.is_option and one.required)
        words += [f"{one.names[0]} {one.metavar}" for one in needed]
        return " ".join(words)

    def run(self, words: Sequence[str]) -> int | None:
        """Call the function with the arguments of the command line."""
        if self.keeps_words:
            return self.call(list(words))
        return self.call(**self.read(words))

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """The words as values of parameters; those that are not named keep their defaults."""
        found: dict[str, Any] = {}
        left = iter(words)
        rest: list[str] = []
        for word in left:
            if word == "--":
                rest += left
            elif word.startswith("-") and word != "-":
                self._read_option(word, left, found, rest)
            else:
                rest.append(word)
        self._read_arguments(rest, found)
        for option in self.options.values():
            if option.required and option.name not in found:
                told = option.declared.help.rstrip(".")
                raise UsageError(f"{option.names[0]}: required; expected {option.metavar}: {told}")
        return found

    def _read_option(
        self, word: str, left: Iterator[str], found: dict[str, Any], rest: list[str]
    ) -> None:
        options = self.options
        name, equals, value = word.partition("=")
        if not word.startswith("--"):
            name, value = word[:2], word[2:]
            equals = value
        option = options.get(name)
        if option is None:
            if not self.keeps_options:
                raise UsageError(f"{shown(name)}: unknown option; {_hint(name, [*options])}")
            rest.append(word)
        elif option.is_flag:
            found[option.name] = True
            if value and not word.startswith("--"):
                self._read_option(f"-{value}", left, found, rest)
            elif equals:
                raise UsageError(f"{name}: {shown(value)} is invalid; expected no value")
        else:
            text = value if equals else next(left, None)
            if text is None:
                raise UsageError(f"{name}: no value; expected {option.metavar}")
            _put(option, option.value_of(text), found)

    def _read_arguments(self, rest: Sequence[str], found: dict[str, Any]) -> None:
        words = list(rest)
        for one in self.arguments:
            taken, words = (words, []) if one.many else (words[:1], words[1:])
            for word in taken:
                _put(one, one.value_of(word), found)
            if not taken and one.required:
                told = one.declared.help.rstrip(".")
                raise UsageError(f"{one.place}: required; expected {told[:1].lower()}{told[1:]}")
        if words:
            below = ", ".join(inner.name.split()[-1] for inner in self.below)
            expected = below or self.usage
            raise UsageError(f"{shown(words[0])}: unexpected; expected {expected}")


def _put(parameter: Parameter, value: Any, found: dict[str, Any]) -> None:
    if parameter.many:
        found.setdefault(parameter.name, []).append(value)
    else:
        found[parameter.name] = value


def _parameters(call: Callable[..., Any]) -> Iterator[Parameter]:
    defaults = len(getattr(call, "__defaults__", None) or ())
    annotations = {**call.__annotations__}
    annotations.pop("return", None)
    for place, (name, annotation) in enumerate(annotations.items()):
        of, (declared,) = annotation.__origin__, annotation.__metadata__
        if isinstance(of, types.UnionType):
            of = next(one for one in get_args(of) if one is not types.NoneType)
        many = get_origin(of) is list
        if many:
            (of,) = get_args(of)
        required = place < len(annotations) - defaults
        yield Parameter(name, declared, of, many, required)


def _hint(name: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    known = [*names, *HELP]
    if near := get_close_matches(name, known, n=1):
        return f"did you mean {near[0]}?"
    return f"expected one of {', '.join(known)}"

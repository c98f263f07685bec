"""The schemes of a scenario that `--scheme` names, the others being left out."""

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import TypeVar

from hull.errors import UsageError, shown
from hull.terminal.options import option

_T = TypeVar("_T")


def chosen(given: Sequence[str], entries: Iterable[_T], scheme_of: Callable[[_T], str]) -> list[_T]:
    """The entries of the schemes given, all if none is; `given` are names, also several with
    commas. Raises UsageError for a name that no entry has.
    """
    place = option("schemes")
    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise UsageError(f"{place}: {given!r} is invalid; expected a list of names")
    every = list(entries)
    known = list(dict.fromkeys(filter(None, map(scheme_of, every))))
    names = [name.strip() for text in given for name in _names(text, known)]
    for name in names:
        if name not in known:
            raise UsageError(f"{place}: {_unknown(name, known)}")
    return [entry for entry in every if scheme_of(entry) in names] if names else every


def _names(text: str, known: Sequence[str]) -> list[str]:
    """The parts of a text, unless it is a name that has a comma."""
    return [text] if text in known else text.split(",")


def _unknown(name: str, known: Sequence[str]) -> str:
    if not known:
        return f"{shown(name)} is invalid; the scenario has no [schemes]"
    near = get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]}? It has" if near else "expected one of"
    return f"the scenario has no scheme {shown(repr(name))}; {hint} {', '.join(known)}"

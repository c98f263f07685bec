"""Settings that the documents state for their experiments, beside hull's scenarios.

One TOML file per document holds the statements, from captions and text, each for one topic or more:
a part of the document ("figure 2.18") or a setting that several parts share ("testbed"). An
experiment names its topics, or adds its own statements; the tests compare each statement with every
cell that it applies to, quick and full, so that no experiment inherits another's setting unnoticed.
Where hull deliberately differs, the statement says what hull uses and why.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from hull.experiments.common.stated.quantity import agree
from hull.experiments.common.stated.setting import setting
from hull.runs.plan import Cell

DOCUMENTS = ("paper", "thesis", "report", "slides")


@dataclass(frozen=True)
class Stated:
    """One setting as a document prints it."""

    source: str
    """Document and place: "thesis figure 4.9, caption"."""
    what: str
    """Name of the setting, for a table."""
    key: str
    """Path of the key in a resolved scenario, or the name of a derived quantity
    (stated/setting.py)."""
    value: str
    """As printed; ">= 5000000" is a lower bound, "none" an absent key. "{0}" is the first group of
    `conditions`, "{name}" a named group of `schemes`."""
    conditions: str = ".*"
    """Regular expression: names of the conditions that it is for."""
    schemes: str = ".*"
    """Regular expression: names of the schemes that it is for."""
    sizes: tuple[str, ...] = ("quick", "full")
    within: float = 0.0
    """Largest relative difference, for derived quantities and rounded print."""
    used: str = ""
    """What hull uses instead; empty where it uses the value."""
    deviates: str = ""
    """Why hull uses something else."""

    def for_cell(self, cell: Cell) -> tuple[str, str] | None:
        """Key and value for a cell; None if the statement does not apply to it."""
        condition = re.fullmatch(self.conditions, cell.condition)
        scheme = re.fullmatch(self.schemes, cell.scheme)
        if condition is None or scheme is None:
            return None
        found, named = condition.groups(), scheme.groupdict()
        return self.key.format(*found), self.value.format(*found, **named)


@dataclass(frozen=True)
class Comparison:
    """A statement and the values of the cells that it applies to."""

    stated: Stated
    values: tuple[str, ...]
    """As printed, each once."""
    resolved: tuple[str, ...]
    """What these cells have, each once."""
    problems: tuple[str, ...]
    """Cells that have neither the stated value nor the one given as used."""


def beside(statements: Iterable[Stated], cells: Iterable[Cell], size: str) -> list[Comparison]:
    """Compare each statement that applies to plans of this size with the cells."""
    cells = tuple(cells)
    return [_beside(stated, cells) for stated in statements if size in stated.sizes]


def rows(comparisons: Iterable[Comparison]) -> list[dict[str, str]]:
    """A table's rows: the stated value, its place, hull's value and the reason for a difference."""
    return [
        {
            "setting": stated.what,
            "stated": ", ".join(found.values),
            "source": stated.source,
            "resolved": ", ".join(found.resolved),
            "deviates": stated.deviates or ("changed for this run" if found.problems else ""),
        }
        for found in comparisons
        for stated in (found.stated,)
    ]


def statements(document: str, *topics: str) -> tuple[Stated, ...]:
    """A document's statements on these topics, in the document's order."""
    if unknown := set(topics) - {name for of, _ in by_topic(document) for name in of}:
        raise ValueError(f"{document}: nothing is stated of {', '.join(sorted(unknown))}")
    return tuple(stated for of, stated in by_topic(document) if not of.isdisjoint(topics))


@cache
def by_topic(document: str) -> tuple[tuple[frozenset[str], Stated], ...]:
    """Every statement of a document with its topics."""
    text = (files(__package__) / f"{document}.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    return tuple(_read(content["document"], entry) for entry in content["stated"])


def _beside(stated: Stated, cells: tuple[Cell, ...]) -> Comparison:
    values: dict[str, None] = {}
    resolved: dict[str, None] = {}
    problems = []
    for cell in cells:
        expected = stated.for_cell(cell)
        if expected is None:
            continue
        key, value = expected
        found = setting(cell.scenario, key)
        values[value] = resolved[found] = None
        problem = _problem(stated, key, value, found)
        if problem:
            name = ", ".join(part for part in (cell.condition, cell.scheme) if part)
            problems.append(f"{name or 'every cell'}: {problem}")
    if not values:
        problems.append(f"{stated.key}: no cell is {stated.conditions!r}, {stated.schemes!r}")
    return Comparison(stated, tuple(values), tuple(resolved), tuple(problems))


def _problem(stated: Stated, key: str, value: str, found: str) -> str:
    expected = stated.used or value
    if not agree(expected, found, stated.within):
        return f"{key} is {found}, not {expected}"
    if stated.used and agree(value, found, stated.within):
        return f"{key} is {found} as stated, which is listed as a deviation"
    return ""


def _read(document: str, entry: dict[str, Any]) -> tuple[frozenset[str], Stated]:
    entry = dict(entry)
    topics = frozenset(entry.pop("of"))
    source = f"{document} {entry.pop('at')}"
    sizes = tuple(entry.pop("sizes", ("quick", "full")))
    return topics, Stated(source=source, sizes=sizes, **entry)

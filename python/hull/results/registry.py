"""The registry of statistics: the numbers in the summary of a part, each with its unit, its
meaning, and how several parts are combined (`hull statistics`).

It is defined with the simulator, in crates/hull-sim/src/measure/registry.rs. A path is the keys
that lead to a number in summary.json: ("switch_latency", "occupancy", "mean_us"). Of a list, as
`fct` is one, the class of an entry stands for its index.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hull import _core

StatisticPath = tuple[str, ...]

LABELS = ("hull_version", "name", "condition", "scheme", "seed")
"""What the summary of a part has besides statistics."""

NO_GROUP = "other"
"""The group, in statistics and flows.parquet, of the flows that are of none."""


@dataclass(frozen=True)
class Statistic:
    """One entry."""

    key: str
    """Its path with dots. `<port>` and similar placeholders match any name, `<statistic>` each
    statistic of a distribution.
    """
    name: str
    """In sweeps, without the unit."""
    unit: str
    whole: bool
    """Whether it is an integer in each part."""
    combined: Literal["mean", "sum", "max", "not"]
    """The mean over the seeds of a cell, the sum or the largest over the parts of a run."""
    of_machine: bool
    """Whether it differs between executions."""
    where_several: bool
    """Whether it is present only if a scenario has several, such as transports or groups."""
    meaning: str
    reported: tuple[str, str] | None
    """Group and label of its row in the tables of reports."""

    @property
    def path(self) -> StatisticPath:
        """Its keys, some of which are placeholders."""
        return tuple(self.key.split("."))

    def name_at(self, path: StatisticPath) -> str:
        """What sweeps call the number at this path."""
        return ".".join(path).removesuffix(self.key.removeprefix(self.name))

    def is_at(self, path: StatisticPath) -> bool:
        """Whether the number at this path is one of these."""
        return len(path) == len(self.path) and all(map(_stands_for, self.path, path))


_CONTENT = json.loads(_core.statistics())
OF_DISTRIBUTION = frozenset(_CONTENT["of_distribution"])
"""What stands for `<statistic>`: the values of a distribution."""

STATISTICS = tuple(
    Statistic(**{**entry, "reported": entry["reported"] and tuple(entry["reported"])})
    for entry in _CONTENT["statistics"]
)
"""All of them, in the order of summary.json."""


def find(path: StatisticPath) -> Statistic:
    """The entry of the number at a path; LookupError if there is none."""
    found = next((statistic for statistic in STATISTICS if statistic.is_at(path)), None)
    if found is None:
        raise LookupError(f"{'.'.join(path)} is not in the registry of statistics")
    return found


def numbers(part: Mapping[str, Any]) -> Iterator[tuple[StatisticPath, float]]:
    """The numbers in the summary of a part with their paths, in its order."""
    yield from _below((), {key: value for key, value in part.items() if key not in LABELS})


def _below(path: StatisticPath, value: Any) -> Iterator[tuple[StatisticPath, float]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _below((*path, key), inner)
    elif isinstance(value, list):
        for entry in value:
            inside = {key: inner for key, inner in entry.items() if key != "class"}
            yield from _below((*path, entry["class"]), inside)
    elif isinstance(value, int | float):
        yield path, value


def _stands_for(key: str, other: str) -> bool:
    before, placeholder, after = key.partition("<statistic>")
    if placeholder:
        inside = other.removeprefix(before).removesuffix(after)
        return before + inside + after == other and inside in OF_DISTRIBUTION
    return key == other or key.startswith("<")

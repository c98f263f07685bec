"""Seed means: the results of a cell (condition and scheme), each averaged over the seeds.

A statistic such as a 99th percentile is taken per seed by the simulator; what stands here is the
mean of those. Counts (marks, drops, ...) are means per seed too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hull.results.registry import StatisticPath
from hull.results.summary import average

# From this mean on, a class's completion times are shown in ms.
_MS_FROM_US = 10_000


@dataclass(frozen=True)
class FlowClass:
    """A class of flows by size, and the unit in which its FCT is shown throughout a run."""

    name: str
    unit: str
    unit_us: float


@dataclass(frozen=True)
class Cell:
    """One condition and scheme."""

    condition: str
    scheme: str
    seeds: int
    means: Mapping[str, Any]
    """As a cell in summary.json."""

    def get(self, *path: str) -> float | None:
        """The mean over the seeds that have a value, by the path of the statistic in the registry,
        as ("switch_latency", "occupancy", "mean_us"); None where no seed has one.
        """
        found = self._at(path)
        return None if found is None else float(found["mean"])

    def half(self, *path: str) -> float | None:
        """Half the width of its 95% interval; None with one seed."""
        found = self._at(path)
        return None if found is None or found["ci95"] is None else float(found["ci95"])

    def _at(self, path: tuple[str, ...]) -> Any:
        found: Any = self.means
        for key in path:
            if isinstance(found, list):
                found = {entry["class"]: entry for entry in found}
            found = (found or {}).get(key)
        return found

    def below(self, group: str) -> list[StatisticPath]:
        """The paths of the statistics in a group, as `drops_by_place`; none where it is null."""
        return [(group, key) for key in self.means[group] or ()]


def cells(summary: Mapping[str, Any]) -> dict[tuple[str, str], Cell]:
    """The cells of a run by condition and scheme, in the order of the summary's parts."""
    seeds: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for part in summary["parts"]:
        seeds.setdefault((part["condition"], part["scheme"]), []).append(part)
    return {
        (condition, scheme): Cell(condition, scheme, len(parts), average(parts))
        for (condition, scheme), parts in seeds.items()
    }


def flow_classes(summary: Mapping[str, Any]) -> list[FlowClass]:
    """The classes of flows in a run, in the order of the summary: smallest first, as a rule."""
    longest_us: dict[str, float] = {}
    for part in summary["parts"]:
        for entry in part["fct"]:
            name = entry["class"]
            longest_us[name] = max(longest_us.get(name, 0.0), entry.get("mean_us") or 0.0)
    return [
        FlowClass(name, "ms", 1000.0) if mean_us >= _MS_FROM_US else FlowClass(name, "µs", 1.0)
        for name, mean_us in longest_us.items()
    ]

"""Seed means: the results of a cell (condition and scheme), each averaged over the seeds.

A statistic such as a 99th percentile is taken per seed by the simulator; what stands here is the
mean of those. Counts (marks, drops, ...) are means per seed too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Key = tuple[str, ...]


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
    """One condition and scheme. Keys of `values` are ("occupancy", "mean_us"), ("probe",
    "p99_us"), ("fct", class, "mean_us"), ("goodput_bps",), ("marks",) and the like."""

    condition: str
    scheme: str
    seeds: int
    values: dict[Key, float]

    def get(self, *key: str) -> float | None:
        """The mean over the seeds that have a value, None where no seed has one."""
        return self.values.get(key)


def cells(summary: Mapping[str, Any]) -> dict[tuple[str, str], Cell]:
    """The cells of a run by condition and scheme, in the order of the summary's parts."""
    samples: dict[tuple[str, str], list[dict[Key, float]]] = {}
    for part in summary["parts"]:
        samples.setdefault((part["condition"], part["scheme"]), []).append(_values(part))
    return {
        (condition, scheme): Cell(condition, scheme, len(seeds), _mean(seeds))
        for (condition, scheme), seeds in samples.items()
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


def _mean(seeds: list[dict[Key, float]]) -> dict[Key, float]:
    gathered: dict[Key, list[float]] = {}
    for values in seeds:
        for key, value in values.items():
            gathered.setdefault(key, []).append(value)
    return {key: sum(values) / len(values) for key, values in gathered.items()}


def _values(part: Mapping[str, Any]) -> dict[Key, float]:
    flat: dict[Key, float | None] = {
        ("goodput_bps",): part["throughput"]["goodput_bps"],
        ("utilization",): part["throughput"]["utilization"],
    }
    for name in ("marks", "drops", "timeouts", "retransmissions"):
        flat[(name,)] = part[name]
    # Results of an earlier version have no places.
    for place, drops in part.get("drops_by_place", {}).items():
        flat[("drops", place)] = drops
    for measure, statistics in part["switch_latency"].items():
        for statistic, value in (statistics or {}).items():
            flat[(measure, statistic)] = value
    for entry in part["fct"]:
        for statistic in ("count", "mean_us", "p50_us", "p90_us", "p99_us", "p999_us", "max_us"):
            flat[("fct", entry["class"], statistic)] = entry.get(statistic)
    return {key: float(value) for key, value in flat.items() if value is not None}

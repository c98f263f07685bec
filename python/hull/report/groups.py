"""Groups of flows: where a run has them, completion times and slowdowns of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hull.report.breakdown import breakdown_table, entry_of, mean, timed
from hull.report.labels import count, number
from hull.report.schemes import Scheme
from hull.report.seed_means import FlowClass

_US = {"mean": "mean_us", "p99": "p99_us"}
_SLOWDOWN = ("mean", "p99")


def groups_table(
    label: str,
    condition: str,
    summary: Mapping[str, Any],
    looks: Sequence[Scheme],
    classes: Sequence[FlowClass],
) -> str:
    """Of one condition: a group of rows for each scheme with groups of flows, means over seeds;
    nothing where no scheme has them."""
    parts = [part for part in summary["parts"] if part["condition"] == condition]
    shown = timed("groups", parts, classes)
    columns = ["Flows"]
    for of in shown:
        columns += [f"FCT, {of.name}: {name} ({of.unit})" for name in _US]
        columns += [f"Slowdown, {of.name}: {name}" for name in _SLOWDOWN]

    def cells(entries: Sequence[Mapping[str, Any]]) -> list[str]:
        flows = mean([sum(entry["count"] for entry in of["fct"]) for of in entries])
        texts = [count(flows)]
        for flow_class in shown:
            fct = [entry_of(of, "fct", flow_class.name) for of in entries]
            slowdown = [entry_of(of, "slowdown", flow_class.name) for of in entries]
            for key in _US.values():
                value = mean([entry.get(key) for entry in fct])
                texts.append(number(None if value is None else value / flow_class.unit_us))
            texts += [number(mean([entry.get(key) for entry in slowdown])) for key in _SLOWDOWN]
        return texts

    return breakdown_table("groups", "Group", f"{label}: by group", parts, looks, columns, cells)

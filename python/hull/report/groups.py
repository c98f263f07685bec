"""Groups of flows: where a run has them, completion times and slowdowns of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hull.report.breakdown import breakdown_table, classes_of, fct_columns
from hull.report.schemes import Scheme
from hull.report.seed_means import Cell, FlowClass
from hull.report.tables import Row


def groups_table(
    label: str, cells: Mapping[str, Cell], looks: Sequence[Scheme], classes: Sequence[FlowClass]
) -> str:
    """Table of one condition: a group of rows for each scheme with groups of flows."""
    columns = []
    for of in classes_of("groups", cells, classes):
        columns += fct_columns(of)
        columns += [
            Row(f"Slowdown, {of.name}: {name}", ("slowdown", of.name, name))
            for name in ("mean", "p99")
        ]
    return breakdown_table("groups", f"{label}: by group", cells, looks, columns)

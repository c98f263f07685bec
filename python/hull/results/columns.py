"""The columns of the result tables (flows.parquet, latency.parquet, ...): unit and meaning.

The columns of one run are defined with the Rust code that writes them; the merged tables have three
more. Written into the merged files (Parquet key-value metadata, key "hull.columns", JSON) and into
the documentation.
"""

import json
from collections.abc import Collection

from hull import _core

_CELL = {
    "condition": ("", 'values of the swept keys, such as "load=20%"; empty without a sweep'),
    "scheme": ("", "name of the scheme in the scenario"),
    "seed": ("", "seed of the run"),
}

COLUMNS: dict[str, dict[str, tuple[str, str]]] = {
    table: {
        **_CELL,
        **{column["name"]: (column["unit"], column["meaning"]) for column in columns},
    }
    for table, columns in json.loads(_core.columns()).items()
}
"""Table name -> column name -> (unit, meaning)."""

ASKED_FOR = {
    "queries": "a workload with queries",
    "queues": "measure.ports or measure.queue_changes",
    "series": "[measure.flows]",
    "pacers": "[measure.pacers] and a [pacer]",
    "pauses": "[switch.pfc]",
    "pause_causes": "[switch.pfc]",
    "pause_events": "measure.pauses and a [switch.pfc]",
}
"""Optional tables, with the part of a scenario that each requires."""


_ONLY_WHERE_THERE = ("group", "storms", "restored", "discarded")
"""Columns that a file describes only if it has them: other files keep their bytes."""


def described(table: str, there: Collection[str] | None = None) -> dict[str, dict[str, str]]:
    """The columns of a table as {"name": {"unit": ..., "meaning": ...}}; `there` are those that a
    file has.
    """
    return {
        name: {"unit": unit, "meaning": meaning}
        for name, (unit, meaning) in COLUMNS[table].items()
        if there is None or name in there or name not in _ONLY_WHERE_THERE
    }

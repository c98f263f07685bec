"""Results by transport or by group of flows: for each scheme a row for each of them.

Completion times in the unit of the flow class, means over the seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from hull.report.schemes import Scheme
from hull.report.seed_means import FlowClass
from hull.report.tables import boxed_table, swatch

Cells = Callable[[Sequence[Mapping[str, Any]]], list[str]]
"""What a row shows of the entries of its transport or group, one for each seed."""


def breakdown_table(
    key: str,
    heading: str,
    caption: str,
    parts: Sequence[Mapping[str, Any]],
    looks: Sequence[Scheme],
    columns: Sequence[str],
    cells: Cells,
) -> str:
    """A group of rows for each scheme whose parts have `key` in their summaries; nothing where none
    has."""
    body = ""
    for scheme in looks:
        mine = [part for part in parts if part["scheme"] == scheme.name]
        names = dict.fromkeys(name for part in mine for name in part.get(key, {}))
        if not names:
            continue
        body += (
            f'<tbody><tr class="group"><th scope="rowgroup" colspan="{len(columns) + 1}">'
            f"<span>{swatch(scheme)} {escape(scheme.label)}</span></th></tr>"
        )
        for name in names:
            of = [part[key][name] for part in mine if name in part.get(key, {})]
            body += f'<tr><th scope="row">{escape(name)}</th>'
            body += "".join(f"<td>{cell}</td>" for cell in cells(of)) + "</tr>"
        body += "</tbody>"
    if not body:
        return ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    head = f'<thead><tr><th scope="col">{heading}</th>{head}</tr></thead>'
    return boxed_table(caption, head + body)


def timed(
    key: str, parts: Sequence[Mapping[str, Any]], classes: Sequence[FlowClass]
) -> list[FlowClass]:
    """The classes in which a transport or group has flows."""
    each = [of for part in parts for of in part.get(key, {}).values()]
    return [
        flow_class
        for flow_class in classes
        if any(entry_of(of, "fct", flow_class.name).get("count") for of in each)
    ]


def entry_of(of: Mapping[str, Any], statistic: str, name: str) -> Mapping[str, Any]:
    """The entry of a size class."""
    return next((entry for entry in of[statistic] if entry["class"] == name), {})


def mean(values: Sequence[float | None]) -> float | None:
    """Over the seeds that have a value."""
    found = [value for value in values if value is not None]
    return sum(found) / len(found) if found else None

"""Results by transport or by group of flows: for each scheme a row for each of them.

Completion times in the unit of the flow class; means over the seeds with their intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from hull.report.labels import count
from hull.report.schemes import Scheme
from hull.report.seed_means import Cell, FlowClass
from hull.report.tables import Row, boxed_table, swatch, value_of


def breakdown_table(
    key: str,
    caption: str,
    cells: Mapping[str, Cell],
    looks: Sequence[Scheme],
    columns: Sequence[Row],
) -> str:
    """A group of rows for each scheme that has `key` in its summary, as "transports"; nothing where
    none has. The paths of `columns` are those below the transport or group."""
    body = ""
    for scheme in looks:
        cell = cells[scheme.name]
        names = cell.means.get(key) or ()
        if not names:
            continue
        body += (
            f'<tbody><tr class="group"><th scope="rowgroup" colspan="{len(columns) + 1}">'
            f"<span>{swatch(scheme)} {escape(scheme.label)}</span></th></tr>"
        )
        for name in names:
            below = (column._replace(path=(key, name, *column.path)) for column in columns)
            values = "".join(f"<td>{value_of(cell, column)}</td>" for column in below)
            body += f'<tr><th scope="row">{escape(name)}</th>{values}</tr>'
        body += "</tbody>"
    if not body:
        return ""
    head = "".join(f'<th scope="col">{escape(column.label)}</th>' for column in columns)
    heading = key.removesuffix("s").capitalize()
    head = f'<thead><tr><th scope="col">{heading}</th>{head}</tr></thead>'
    return boxed_table(caption, head + body)


def classes_of(
    key: str, cells: Mapping[str, Cell], classes: Sequence[FlowClass]
) -> list[FlowClass]:
    """The classes in which a transport or group has flows."""
    return [
        flow_class
        for flow_class in classes
        if any(
            cell.get(key, name, "fct", flow_class.name, "count")
            for cell in cells.values()
            for name in cell.means.get(key) or ()
        )
    ]


def fct_columns(of: FlowClass) -> list[Row]:
    """Flows of a size class, completed and not; mean and 99th percentile of completion times."""
    return [
        Row(f"Flows, {of.name}", ("fct", of.name, "count"), show=count),
        Row(f"Unfinished, {of.name}", ("fct", of.name, "unfinished"), show=count),
        Row(f"FCT, {of.name}: mean ({of.unit})", ("fct", of.name, "mean_us"), of.unit_us),
        Row(f"FCT, {of.name}: p99 ({of.unit})", ("fct", of.name, "p99_us"), of.unit_us),
    ]

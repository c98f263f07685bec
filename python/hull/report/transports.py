"""Transports: where a run has several, the results of each, and its flows told apart by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import polars as pl

from hull.report.labels import count, number
from hull.report.schemes import Scheme
from hull.report.seed_means import FlowClass
from hull.report.tables import boxed_table, swatch

_COUNTS = ("marks", "drops", "timeouts", "retransmissions")


def transports_table(
    label: str,
    condition: str,
    summary: Mapping[str, Any],
    looks: Sequence[Scheme],
    classes: Sequence[FlowClass],
) -> str:
    """Of one condition: a group of rows for each scheme with several transports, means over seeds;
    nothing where no scheme has them."""
    body, columns = "", ("Goodput (Mbps)", *(name.capitalize() for name in _COUNTS))
    mine = [part for part in summary["parts"] if part["condition"] == condition]
    timed = [of for of in classes if any(_entry(part, None, of.name) for part in mine)]
    columns += tuple(f"FCT, {of.name}: {name} ({of.unit})" for of in timed for name in _WORDS)
    for scheme in looks:
        parts = [part for part in mine if part["scheme"] == scheme.name]
        if not any(part.get("transports") for part in parts):
            continue
        body += (
            f'<tbody><tr class="group"><th scope="rowgroup" colspan="{len(columns) + 1}">'
            f"<span>{swatch(scheme)} {escape(scheme.label)}</span></th></tr>"
        )
        for name in parts[0]["transports"]:
            cells = "".join(f"<td>{cell}</td>" for cell in _cells(parts, name, timed))
            body += f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'
        body += "</tbody>"
    if not body:
        return ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    head = f'<thead><tr><th scope="col">Transport</th>{head}</tr></thead>'
    return boxed_table(f"{label}: by transport", head + body)


_WORDS = {"mean": "mean_us", "p99": "p99_us"}


def by_transport(flows: pl.LazyFrame) -> list[tuple[str, pl.LazyFrame]]:
    """The flows of each transport, with words for a title; all of them where there is one."""
    if "transport" not in flows.collect_schema().names():
        return [("", flows)]
    of = pl.col("transport")
    names = flows.select(of.unique(maintain_order=True)).collect(engine="streaming")["transport"]
    return [
        ("" if name is None else f", transport {name}", flows.filter(of.eq_missing(pl.lit(name))))
        for name in names
    ] or [("", flows)]


def _cells(
    parts: Sequence[Mapping[str, Any]], transport: str, timed: Sequence[FlowClass]
) -> list[str]:
    of = [part["transports"][transport] for part in parts]
    goodput = _mean([each["goodput_bps"] for each in of])
    cells = [number(None if goodput is None else goodput / 1e6)]
    cells += [count(_mean([each[name] for each in of])) for name in _COUNTS]
    for flow_class in timed:
        entries = [_entry(part, transport, flow_class.name) for part in parts]
        for key in _WORDS.values():
            mean = _mean([entry.get(key) for entry in entries])
            cells.append(number(None if mean is None else mean / flow_class.unit_us))
    return cells


def _entry(part: Mapping[str, Any], transport: str | None, name: str) -> Mapping[str, Any]:
    """Completion times of a class by one transport, or by the first that has any."""
    for key, of in part.get("transports", {}).items():
        for entry in of["fct"]:
            if transport in (None, key) and entry["class"] == name and entry["count"]:
                found: Mapping[str, Any] = entry
                return found
    return {}


def _mean(values: Sequence[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return sum(found) / len(found) if found else None

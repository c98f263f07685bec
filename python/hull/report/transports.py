"""Transports: where a run has several, the results of each, and its flows told apart by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from hull.report.breakdown import breakdown_table, entry_of, mean, timed
from hull.report.labels import count, number
from hull.report.schemes import Scheme
from hull.report.seed_means import FlowClass

_COUNTS = ("marks", "drops", "timeouts", "retransmissions")
_WORDS = {"mean": "mean_us", "p99": "p99_us"}


def transports_table(
    label: str,
    condition: str,
    summary: Mapping[str, Any],
    looks: Sequence[Scheme],
    classes: Sequence[FlowClass],
) -> str:
    """Of one condition: a group of rows for each scheme with several transports, means over seeds;
    nothing where no scheme has them."""
    parts = [part for part in summary["parts"] if part["condition"] == condition]
    shown = timed("transports", parts, classes)
    columns = ["Goodput (Mbps)", *(name.capitalize() for name in _COUNTS)]
    columns += [f"FCT, {of.name}: {name} ({of.unit})" for of in shown for name in _WORDS]

    def cells(entries: Sequence[Mapping[str, Any]]) -> list[str]:
        goodput = mean([of["goodput_bps"] for of in entries])
        texts = [number(None if goodput is None else goodput / 1e6)]
        texts += [count(mean([of[name] for of in entries])) for name in _COUNTS]
        for flow_class in shown:
            fct = [entry_of(of, "fct", flow_class.name) for of in entries]
            for key in _WORDS.values():
                value = mean([entry.get(key) for entry in fct])
                texts.append(number(None if value is None else value / flow_class.unit_us))
        return texts

    caption = f"{label}: by transport"
    return breakdown_table("transports", "Transport", caption, parts, looks, columns, cells)


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

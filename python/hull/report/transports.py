"""Transports: where a run has several, the results of each, and its flows distinguished by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from hull.report.breakdown import breakdown_table, classes_of, fct_columns
from hull.report.labels import count
from hull.report.schemes import Scheme
from hull.report.seed_means import Cell, FlowClass
from hull.report.tables import Row

_COUNTS = ("marks", "drops", "timeouts", "retransmissions")


def transports_table(
    label: str, cells: Mapping[str, Cell], looks: Sequence[Scheme], classes: Sequence[FlowClass]
) -> str:
    """Table of one condition: a group of rows for each scheme with several transports."""
    columns = [Row("Goodput (Mbps)", ("goodput_bps",), 1e6)]
    columns += [Row(name.capitalize(), (name,), show=count) for name in _COUNTS]
    for of in classes_of("transports", cells, classes):
        columns += fct_columns(of)
    return breakdown_table("transports", f"{label}: by transport", cells, looks, columns)


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

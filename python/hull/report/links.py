"""Links: which switches a network has, and how busy its links were, as heat maps by tier.

From links.parquet: a row for each direction of a link and each part. Utilization is the share of
the link's rate that packets took in the measured time (0 to 1), here the mean over the seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from hull.report.charts import Chart
from hull.report.heat import heat_chart
from hull.report.labels import count, number
from hull.report.schemes import Scheme
from hull.report.seed_means import Cell
from hull.report.tables import Row, boxed_table, group_of, head_of

MOST_LINKS = 60
"""Rows of the heat maps of one condition, all tiers together."""
DUMBBELL_PORT = "left->right"
"""The bottleneck of a dumbbell, where its switch latency is measured."""
_OUT_OF_HOSTS = "host-"
"""How the tiers begin whose links leave a host."""
_LINK = ("from", "to", "tier", "parallel")


@dataclass(frozen=True)
class Links:
    """The links of one condition; none where a run of an earlier version has no table of them."""

    use: pl.DataFrame
    """`from`, `to`, `tier`, `parallel` (0 for the first of parallel links), `scheme`,
    `utilization`, in the order of the file."""
    switches: frozenset[str]

    @property
    def client_port(self) -> str | None:
        """The port of the switch latency: to host 0, in a dumbbell that between the switches; None
        where the names of a graph do not say it."""
        if self.switches == {"left", "right"}:
            return DUMBBELL_PORT
        to_host = self.use.filter(pl.col("to") == "h0")
        return f"{to_host['from'][0]}->h0" if len(to_host) else None

    def tier_of(self, port: str) -> str:
        """The tier of a port such as "leaf0->h3"; empty where it is not known."""
        start, _, end = port.partition("->")
        here = self.use.filter(pl.col("from") == start, pl.col("to") == end)
        return str(here["tier"][0]) if len(here) else ""


def links_of(folder: Path, condition: str) -> Links:
    """Read the links of a condition from the folder of a run."""
    path = folder / "links.parquet"
    if not path.exists():
        schema = dict.fromkeys((*_LINK, "scheme"), pl.String) | {"utilization": pl.Float64}
        return Links(pl.DataFrame(schema=schema), frozenset())
    twins = pl.int_range(pl.len()).over("scheme", "seed", "from", "to", "tier")
    use = (
        pl.scan_parquet(path, glob=False)
        .filter(pl.col("condition") == condition)
        .with_columns(twins.alias("parallel"))
        .group_by(*_LINK, "scheme", maintain_order=True)
        .agg(pl.col("utilization").mean())
        .collect()
    )
    switches = use.filter(~pl.col("tier").str.starts_with(_OUT_OF_HOSTS))["from"].unique()
    return Links(use, frozenset(switches))


def heat_maps(links: Links, looks: Sequence[Scheme], most: int = MOST_LINKS) -> list[Chart]:
    """One for each tier: its links by name, a column for each scheme. With more than `most` links,
    the links of each tier that are busiest under any scheme.
    """
    largest = (
        links.use.group_by(*_LINK, maintain_order=True)
        .agg(pl.col("utilization").max().alias("largest"))
        .partition_by("tier", as_dict=True, maintain_order=True)
    )
    room = _shared({str(tier): len(frame) for (tier,), frame in largest.items()}, most)
    labels = {scheme.name: scheme.label for scheme in looks}
    charts = []
    for (tier,), frame in largest.items():
        shown = frame.top_k(room[str(tier)], by="largest").sort("largest", descending=True)
        rows = shown.join(links.use, on=_LINK, how="left", maintain_order="left")
        cells = [
            (_name(row), labels[row["scheme"]], row["utilization"])
            for row in rows.iter_rows(named=True)
            if row["scheme"] in labels
        ]
        if not cells:
            continue
        of = f"{len(frame)} links" if len(frame) > 1 else "1 link"
        if len(shown) < len(frame):
            of = f"the {len(shown)} busiest of {of}"
        top = shown.row(0, named=True)
        charts.append(
            heat_chart(
                f"{tier}: {of}",
                f"Utilization of links, tier {tier}: {of}. Busiest: {_name(top)} with "
                f"{top['largest']:.1%} under the scheme that uses it most.",
                cells,
                columns=[scheme.label for scheme in looks],
            )
        )
    return charts


def tiers_table(label: str, cells: Mapping[str, Cell], looks: Sequence[Scheme]) -> str:
    """A group of rows for each tier: utilization, waiting, marks, drops."""
    shown = [scheme for scheme in looks if scheme.name in cells]
    columns = [cells[scheme.name] for scheme in shown]
    tiers = dict.fromkeys(tier for cell in columns for tier in cell.means.get("links") or ())
    body = ""
    for tier in tiers:
        rows = [
            Row("mean utilization (%)", ("links", tier, "mean_utilization"), 0.01, number),
            Row("busiest link (%)", ("links", tier, "max_utilization"), 0.01, number),
            Row("mean wait of a packet (µs)", ("links", tier, "mean_wait_us")),
            Row("mean wait at the worst link (µs)", ("links", tier, "max_wait_us")),
            Row("marks", ("links", tier, "marks"), show=count),
            Row("drops", ("links", tier, "drops"), show=count),
        ]
        body += group_of(tier, columns, rows)
    if not body:
        return ""
    return boxed_table(
        f"{label}: queues and links by tier, means over seeds", head_of(shown) + body
    )


def _shared(wanted: dict[str, int], most: int) -> dict[str, int]:
    """`most` rows shared among tiers: each gets what it wants or an equal part of what is left."""
    found: dict[str, int] = {}
    for left, (tier, want) in enumerate(sorted(wanted.items(), key=lambda item: item[1])):
        part = max(1, (most - sum(found.values())) // (len(wanted) - left))
        found[tier] = min(want, part)
    return found


def _name(row: Mapping[str, Any]) -> str:
    """The port's name as in `measure.ports`, with a number for parallel links."""
    twin = int(row["parallel"])
    return f"{row['from']}->{row['to']}" + (f" ({twin + 1})" if twin else "")

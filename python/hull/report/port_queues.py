"""Queues of the ports of `measure.ports`: a table of their occupancy, and drawings over time.

From queues.parquet, which holds samples or every change: both are levels that last until the next
row of the port. Queues in KB (1000 bytes), time in seconds, occupancy in µs (bytes over rate).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import polars as pl

from hull.report.axis import symlog_ticks
from hull.report.charts import Chart, Spec, chart_spec, listed, scheme_encoding, short
from hull.report.curves import BYTES_PER_KB, PS_PER_S, Envelope
from hull.report.links import Links
from hull.report.schemes import Scheme
from hull.report.seed_means import Cell
from hull.report.tables import Row, boxed_table, group_of, head_of

MOST_DRAWN = 12
"""Ports of one condition that are drawn."""
_MOST_LISTED = 40
_HEIGHT_PX = 170
_COLUMNS = ("scheme", "t", "low", "mean", "high")


def ports_by_queue(cells: Mapping[str, Cell]) -> list[str]:
    """The measured ports of a condition, first the one with the largest mean queue under any
    scheme; of equal ones in the order of the summary.
    """
    largest: dict[str, float] = {}
    for cell in cells.values():
        for port in cell.means.get("queues") or ():
            mean = cell.get("queues", port, "mean_us") or 0.0
            largest[port] = max(largest.get(port, 0.0), mean)
    return sorted(largest, key=lambda port: -largest[port])


def ports_table(
    label: str, ports: Sequence[str], links: Links, cells: Mapping[str, Cell], looks: list[Scheme]
) -> str:
    """A group of rows for each port, the busiest first."""
    shown = [scheme for scheme in looks if scheme.name in cells]
    columns = [cells[scheme.name] for scheme in shown]
    body = ""
    for port in ports[:_MOST_LISTED]:
        rows = [Row(name, ("queues", port, f"{name}_us")) for name in ("mean", "p99", "max")]
        body += group_of(port_title(port, links), columns, rows)
    caption = f"{label}: queue of measured ports (µs)"
    if len(ports) > _MOST_LISTED:
        caption += f", the {_MOST_LISTED} busiest of {len(ports)}"
    return boxed_table(caption, head_of(shown) + body)


def port_title(port: str, links: Links) -> str:
    """A port with its tier."""
    tier = links.tier_of(port)
    return f"{port} (tier {tier})" if tier else port


def port_envelopes(
    path: Path, condition: str, ports: Sequence[str], bins: int
) -> dict[str, list[Envelope]]:
    """The queues of `ports` over time by port and scheme, of the first seed, in at most `bins`
    stretches of equal length; means are weighted by time.
    """
    levels = pl.scan_parquet(path, glob=False).filter(
        pl.col("condition") == condition, pl.col("port").is_in(list(ports))
    )
    firsts = levels.group_by("scheme", maintain_order=True).agg(pl.col("seed").first())
    found: dict[str, list[Envelope]] = {port: [] for port in ports}
    for scheme, seed in firsts.collect(engine="streaming").iter_rows():
        # One scheme at a time: with every change the file may have hundreds of millions of rows.
        mine = levels.filter(pl.col("scheme") == scheme, pl.col("seed") == seed)
        rows = mine.select("port", "time_ps", "bytes").collect(engine="streaming")
        for (port,), queue in rows.partition_by("port", as_dict=True).items():
            of_port = _envelope(queue, bins)
            kb = ((of_port[name] / BYTES_PER_KB).to_list() for name in ("low", "mean", "high"))
            times = (of_port["start"] / PS_PER_S).to_list()
            found[str(port)].append(Envelope(condition, str(scheme), int(str(seed)), times, *kb))
    return found


def first_seed(path: Path, condition: str) -> int:
    """The seed whose queues are drawn: the first one of the condition's first scheme."""
    here = pl.scan_parquet(path, glob=False).filter(pl.col("condition") == condition)
    return int(here.select(pl.col("seed").first()).collect().item())


def port_chart(
    title: str, curves: Sequence[Envelope], looks: list[Scheme], high_kb: float
) -> Chart:
    """One port: for each scheme the mean of each stretch as a line, least to largest as a band;
    `high_kb` ends the axis that all ports share.
    """
    shown = [scheme for scheme in looks if any(c.scheme == scheme.name for c in curves)]
    labels = {scheme.name: scheme.label for scheme in shown}
    rows = [
        (labels[curve.scheme], *map(short, levels))
        for curve in curves
        for levels in zip(curve.time_s, curve.low_kb, curve.mean_kb, curve.high_kb, strict=True)
    ]
    spec = chart_spec(_HEIGHT_PX, _COLUMNS, rows, text=("scheme",))
    y: Spec = {
        "type": "quantitative",
        "title": "Queue (KB)",
        "scale": {"type": "symlog", "constant": 1, "domain": [0, high_kb], "nice": False},
        "axis": {"values": symlog_ticks(high_kb), "format": ",~f"},
    }
    x: Spec = {"field": "t", "type": "quantitative", "title": "Simulated time (s)"}
    x |= {"scale": {"zero": False, "nice": False}, "axis": {"tickCount": 6}}
    spec["encoding"] = {"x": x, "color": scheme_encoding(shown)["color"]}
    spec["layer"] = [
        {
            "mark": {"type": "area", "opacity": 0.18},
            "encoding": {
                "y": y | {"field": "low"},
                "y2": {"field": "high"},
            },
        },
        {
            "mark": {"type": "line", "strokeWidth": 1.4},
            "encoding": {"y": y | {"field": "mean"}},
        },
    ]
    peaks = "; ".join(f"{labels[c.scheme]} {short(max(c.high_kb))} KB" for c in curves)
    return Chart(
        title,
        f"Queue of port {title} over time, one line for each of {listed(shown)}. Largest: {peaks}.",
        spec,
    )


def port_charts(
    path: Path, condition: str, ports: Sequence[str], links: Links, looks: list[Scheme], bins: int
) -> list[Chart]:
    """The first `MOST_DRAWN` of `ports`."""
    curves = port_envelopes(path, condition, ports[:MOST_DRAWN], bins)
    peaks = [max(curve.high_kb) for of in curves.values() for curve in of]
    high_kb = max(1.0, *peaks, 1.0) * 1.05
    return [
        port_chart(port_title(port, links), of, looks, high_kb) for port, of in curves.items() if of
    ]


def drawn_words(ports: Sequence[str], seed: int) -> str:
    """What the drawings show, and what is left out."""
    which = f"{len(ports)} ports" if len(ports) > 1 else f"port {escape(ports[0])}"
    if len(ports) > MOST_DRAWN:
        which = f"the {MOST_DRAWN} busiest of {len(ports)} ports"
    return (
        f"<p>Bytes waiting in {which} of <code>measure.ports</code>, seed {seed}, largest mean "
        "queue first, without the packet in transmission. The line is the time-weighted mean of "
        "each time bin, the band its minimum to maximum. The vertical axis is linear "
        "below 1 KB, logarithmic above, and the same for all ports.</p>"
    )


def _envelope(queue: pl.DataFrame, bins: int) -> pl.DataFrame:
    """`start` (ps), `low`, `mean`, `high` (bytes) of each stretch of one port's queue."""
    queue = queue.select("time_ps", "bytes").sort("time_ps", maintain_order=True)
    first, last = queue["time_ps"][0], queue["time_ps"][-1]
    bins = min(bins, len(queue))
    edges = pl.Series("time_ps", [first + at * (last - first) // bins for at in range(bins)])
    edges = edges.unique(maintain_order=True)
    # A stretch begins with the level that it was left with.
    begun = edges.to_frame().join_asof(queue, on="time_ps", strategy="backward")
    levels = pl.concat([queue, begun]).sort("time_ps", maintain_order=True)
    place = edges.search_sorted(levels["time_ps"], side="right") - 1
    lasts = (pl.col("time_ps").shift(-1) - pl.col("time_ps")).fill_null(0).alias("lasts")
    weighted = (pl.col("bytes") * pl.col("lasts")).sum() / pl.col("lasts").sum()
    return (
        levels.with_columns(lasts, place.alias("place"))
        .group_by("place", maintain_order=True)
        .agg(
            pl.col("time_ps").min().alias("start"),
            pl.col("bytes").min().alias("low"),
            pl.when(pl.col("lasts").sum() > 0)
            .then(weighted)
            .otherwise(pl.col("bytes").mean())
            .alias("mean"),
            pl.col("bytes").max().alias("high"),
        )
    )

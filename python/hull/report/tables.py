"""Tables: what was run and, for each condition, the results of its schemes side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from hull.report.labels import NO_VALUE, count, number, unit_label
from hull.report.schemes import Scheme
from hull.report.seed_means import Cell, FlowClass
from hull.results.registry import STATISTICS, Statistic, StatisticPath

_REPORTED = [(s.reported[0], s) for s in STATISTICS if s.reported is not None]
"""The scalar statistics of `condition_table`, each with its group of rows."""
_MBPS = 1e6


class Row(NamedTuple):
    """A statistic in a table."""

    label: str
    path: StatisticPath
    divisor: float = 1.0
    show: Callable[[float | None], str] = number


def run_table(summary: Mapping[str, Any]) -> str:
    """The run as a whole: name, version, seeds, work done and its cost."""
    cpu_seconds = summary["cpu_seconds"]
    speed = summary["packet_hops"] / cpu_seconds if cpu_seconds else None
    memory_bytes = summary["peak_rss_bytes"]
    memory = NO_VALUE if memory_bytes is None else f"{number(memory_bytes / 1e6)} MB"
    facts = (
        ("Name", str(summary["name"])),
        ("hull version", str(summary["hull_version"])),
        ("Seeds", ", ".join(str(seed) for seed in summary["seeds"])),
        ("Simulated time, all parts", f"{number(summary['simulated_seconds'])} s"),
        ("Packet-hops", count(summary["packet_hops"])),
        ("Events", count(summary["events"])),
        ("Packet-hops per CPU second", count(round(speed)) if speed is not None else NO_VALUE),
        ("CPU time", f"{number(cpu_seconds)} s"),
        ("Elapsed time", f"{number(summary['wall_seconds'])} s"),
        ("Peak memory", memory),
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
        for name, value in facts
    )
    return boxed_table("What was run", f"<tbody>{rows}</tbody>")


def warnings_list(summary: Mapping[str, Any]) -> str:
    """The run's warnings for the top of the page; empty without any."""
    items = "".join(f"<li>{escape(text)}</li>" for text in summary.get("warnings", ()))
    return f'<ul class="warnings" role="note" aria-label="Warnings">{items}</ul>' if items else ""


def condition_table(
    label: str,
    cells: Mapping[str, Cell],
    looks: list[Scheme],
    classes: list[FlowClass],
    *,
    latency: bool = True,
) -> str:
    """One condition: a column for each scheme in `cells`, a group of rows for each metric;
    `latency`: with the switch latency of the port to host 0."""
    shown = [scheme for scheme in looks if scheme.name in cells]
    columns = [cells[scheme.name] for scheme in shown]
    of_latency = ("mean", "p90", "p99")
    occupancy, probe = (("switch_latency", measure) for measure in ("occupancy", "probe"))
    body = ""
    if latency:
        title = "Switch latency, occupancy (µs)"
        body += group_of(title, columns, [Row(s, (*occupancy, f"{s}_us")) for s in of_latency])
    if latency and any(cell.get(*probe, "mean_us") is not None for cell in columns):
        title = "Switch latency, probe (µs)"
        rows = [Row(s, (*probe, f"{s}_us")) for s in of_latency]
        sent = Row("probes per seed", (*probe, "samples"), show=count)
        body += group_of(title, columns, [*rows, sent])
    for flow_class in classes:
        if all(cell.get("fct", flow_class.name, "mean_us") is None for cell in columns):
            continue
        paths = {s: ("fct", flow_class.name, f"{s}_us") for s in ("mean", "p99")}
        body += group_of(
            f"FCT, {flow_class.name} ({flow_class.unit})",
            columns,
            [
                *(Row(s, path, divisor=flow_class.unit_us) for s, path in paths.items()),
                Row("flows per seed", ("fct", flow_class.name, "count"), show=count),
                *_unfinished(columns, flow_class),
            ],
        )
    for flow_class in classes:
        if all(cell.get("slowdown", flow_class.name, "mean") is None for cell in columns):
            continue
        of_class = [Row(s, ("slowdown", flow_class.name, s)) for s in ("mean", "p50", "p99")]
        of_class.append(Row("flows per seed", ("slowdown", flow_class.name, "count"), show=count))
        body += group_of(f"Slowdown, {flow_class.name}", columns, of_class)
    for group in dict.fromkeys(name for name, _ in _REPORTED):
        body += group_of(group, columns, [_row(of) for (name, of) in _REPORTED if name == group])
    places = dict.fromkeys(
        path for cell in columns for path in cell.below("drops_by_place") if cell.get(*path)
    )
    if places:
        by_place = [Row(path[-1], path, show=count) for path in places]
        body += group_of("Drops by place, per seed", columns, by_place)
    seeds = sorted({cell.seeds for cell in columns})
    spread = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    caption = f"{label}: mean over {spread} seed{'' if seeds == [1] else 's'}"
    caption += "" if seeds == [1] else ", 95% intervals where they differ"
    return boxed_table(
        caption,
        head_of(shown) + body,
    )


def _unfinished(columns: list[Cell], flow_class: FlowClass) -> list[Row]:
    """The row of unfinished flows, if there are any."""
    path = ("fct", flow_class.name, "unfinished")
    found = any(cell.get(*path) for cell in columns)
    return [Row("unfinished per seed", path, show=count)] if found else []


def swatch(scheme: Scheme) -> str:
    """A short stroke in the colour and dash of a scheme."""
    dash = " ".join(f"{length:g}" for length in scheme.dash)
    return (
        '<svg class="swatch" width="28" height="10" aria-hidden="true"><line x1="1" y1="5" x2="27" '
        f'y2="5" stroke="{scheme.colour}" stroke-width="3" stroke-dasharray="{dash}"/></svg>'
    )


def boxed_table(caption: str, content: str) -> str:
    """A table in a box of its own that scrolls sideways, also from the keyboard."""
    text = escape(caption)
    return (
        f'<div class="box" role="region" tabindex="0" aria-label="{text}">'
        f"<table><caption><span>{text}</span></caption>{content}</table></div>"
    )


def _row(statistic: Statistic) -> Row:
    """Of a scalar in the registry: counts as they are, other numbers with their unit."""
    label = statistic.reported[1] if statistic.reported else ""
    if statistic.whole:
        return Row(label, statistic.path, show=count)
    if statistic.unit == "bit/s":
        return Row(f"{label} (Mbps)", statistic.path, divisor=_MBPS)
    unit = "" if statistic.unit == "1" else f" ({unit_label(statistic.unit)})"
    return Row(f"{label}{unit}", statistic.path)


def head_of(shown: Sequence[Scheme]) -> str:
    """The first line of a table with a column for each scheme."""
    head = "".join(
        f'<th scope="col">{swatch(scheme)} {escape(scheme.label)}</th>' for scheme in shown
    )
    return f'<thead><tr><th scope="col">Metric</th>{head}</tr></thead>'


def value_of(cell: Cell, row: Row) -> str:
    """The mean over the seeds with its interval, where the seeds differ; ≥ before a lower bound."""
    value, half = cell.get(*row.path), cell.half(*row.path)
    if value is None:
        return row.show(None)
    *parents, name = row.path
    is_bound = cell.get(*parents, "lower_bound", name.removesuffix("_us"))
    text = f"{'≥ ' if is_bound else ''}{row.show(value / row.divisor)}"
    return f'{text}<span class="ci"> ± {number(half / row.divisor)}</span>' if half else text


def group_of(title: str, columns: list[Cell], rows: Sequence[Row]) -> str:
    """Rows under a title, a value for each of `columns`."""
    text = ""
    for row in rows:
        line = "".join(f"<td>{value_of(cell, row)}</td>" for cell in columns)
        text += f'<tr><th scope="row">{escape(row.label)}</th>{line}</tr>'
    return (
        f'<tbody><tr class="group"><th scope="rowgroup" colspan="{len(columns) + 1}">'
        f"<span>{escape(title)}</span></th></tr>{text}</tbody>"
    )

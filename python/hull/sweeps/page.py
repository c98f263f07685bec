"""The page of a sweep, beside its table: lines along a swept key, the frontier of small flows
against large ones, heat maps where two keys are swept, and the means with their intervals.

Everything is a mean over the seeds of a point, with its 95% interval (Student's t); the table has
the changes against the first scheme as well, over the same seeds (`hull.results.changes`).
Completion times are shown in µs or ms, rates in Mbps or Gbps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from hull.errors import RunError
from hull.files.output_file import write_text
from hull.report.charts import Chart
from hull.report.document import document, figures, key_of
from hull.report.heat import heat_chart
from hull.report.labels import NO_VALUE, number
from hull.report.lines import (
    Mean,
    Point,
    Scale,
    along,
    frontier_chart,
    line_chart,
    scale_of,
)
from hull.report.schemes import Looks, Scheme, named, schemes
from hull.report.tables import boxed_table, swatch
from hull.results.changes import told
from hull.sweeps.comparison import first_scheme
from hull.sweeps.points import Key, Statistic, points_of, read_key, read_statistic

if TYPE_CHECKING:
    import polars as pl

MOST_STATISTICS = 8
"""That are drawn; the file has them all."""
MOST_PANELS = 12
"""Charts of one statistic, or of the frontier: one for each value of the other keys."""
MOST_MAPS = 24
MOST_ROWS = 400
"""Of the table."""
_OPEN_ROWS = 40
_RATIO = 8
"""An axis is logarithmic if its largest mean is at least so many times its smallest."""
_GOODPUT = "throughput.total_goodput"
_WORDS_CHANGES = (
    "A change is the mean of the ratios of paired seeds, by their logarithms, with its 95% range. "
    "Each range stands alone: if nothing differs, one of 20 shows a difference on average."
)


@dataclass(frozen=True)
class Contents:
    """What a page is made of."""

    title: str
    frame: "pl.DataFrame"
    """Of `hull.sweep`."""
    keys: tuple[str, ...]
    """The swept keys: columns of the frame."""
    show: tuple[str, ...]
    """Statistics, those asked for first."""
    looks: Looks = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Sweep:
    """A frame as the page sees it."""

    keys: tuple[Key, ...]
    points: list[tuple[str, ...]]
    shown: list[Scheme]
    statistics: list[Statistic]
    main: int | None
    """The key that lines run along: of those with numbers, the one with most values."""
    first: str
    """Label of the scheme that the others are compared with; empty without others."""

    def panels(self) -> list[list[tuple[str, ...]]]:
        """The points of each line: those that differ in the main key alone; without one, all."""
        if self.main is None:
            return [self.points]
        of: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        for point in self.points:
            of.setdefault(self.others(point), []).append(point)
        return list(of.values())

    def others(self, point: tuple[str, ...]) -> tuple[str, ...]:
        """The values of all keys but the main one."""
        return tuple(value for at, value in enumerate(point) if at != self.main)

    def label(self, point: tuple[str, ...]) -> str:
        """The values of the other keys as text; empty if there is no other."""
        named = zip(self.keys, point, strict=True)
        return ", ".join(
            f"{key.name} = {v}" for at, (key, v) in enumerate(named) if at != self.main
        )


def write_page(contents: Contents, table: Path) -> Path:
    """Write the page beside `table`, the file of the sweep; return its path. RunError where it
    cannot be written."""
    path = table.with_suffix(".html")
    try:
        write_text(path, sweep_page(contents, table.name))
    except OSError as error:
        raise RunError(f"{path}: {error.strerror or error}") from None
    return path


def sweep_page(contents: Contents, table: str) -> str:
    """The whole page; `table` is the name of the file beside it."""
    charts: list[Chart] = []
    sweep = _read(contents)
    warnings = "".join(f"<li>{escape(text)}</li>" for text in contents.warnings)
    if warnings:
        warnings = f'<ul class="warnings" role="note" aria-label="Warnings">{warnings}</ul>'
    body = f"""<h1>{escape(contents.title)}</h1>
{warnings}
<p class="answer">{escape(_sentence(contents, sweep))}</p>
{_frontier(contents, sweep, charts)}
{_lines(contents, sweep, charts)}
{_maps(sweep, charts)}
<section><h2 id="table">Means and intervals</h2>{_table(sweep)}
<p>All statistics of all seeds are in <code>{escape(table)}</code>.</p></section>"""
    return document(contents.title, body, charts)


def _read(contents: Contents) -> _Sweep:
    frame = contents.frame
    keys = tuple(read_key(frame, name) for name in contents.keys)
    found = [read_statistic(frame, contents.keys, name) for name in contents.show]
    names = frame["scheme"].unique(maintain_order=True)
    numeric = [at for at, key in enumerate(keys) if key.numbers and len(key.numbers) > 1]
    shown = named(schemes(names, contents.looks))
    first = first_scheme(frame)
    return _Sweep(
        keys,
        points_of(frame, contents.keys),
        shown,
        [statistic for statistic in found if statistic][:MOST_STATISTICS],
        max(numeric, key=lambda at: len(keys[at].texts)) if numeric else None,
        next((scheme.label for scheme in shown if scheme.name == first), ""),
    )


def _sentence(contents: Contents, sweep: _Sweep) -> str:
    swept = [f"{key.name} ({len(key.texts)} values)" for key in sweep.keys]
    seeds = contents.frame["seed"].n_unique()
    return (
        f"{' x '.join(swept) or 'No key'} swept, {_many(len(sweep.shown), 'scheme')}, "
        f"{_many(seeds, 'seed')} at most."
    )


def _lines(contents: Contents, sweep: _Sweep, charts: list[Chart]) -> str:
    if sweep.main is None or not sweep.statistics:
        return ""
    key = sweep.keys[sweep.main]
    at = dict(zip(key.texts, key.numbers or (), strict=True))
    x = along(key.title, list(at.values()))
    panels = sweep.panels()
    text, alone = "", list[Chart]()
    for statistic in sweep.statistics:
        y = _scale(statistic)
        drawn = [
            line_chart(
                sweep.label(panel[0]) or statistic.title,
                f"{statistic.title} against {key.title}. {_ends(sweep, panel, points)}",
                points,
                sweep.shown,
                x,
                y,
            )
            for panel in panels[:MOST_PANELS]
            if (points := _points_of_lines(sweep, statistic, panel, at))
        ]
        if len(panels) > 1:
            text += f"<h3>{escape(statistic.title)}</h3>{figures(drawn, charts)}"
        else:
            alone += drawn
    limit = _limit(len(panels), "values of the other keys")
    dropped = len(contents.show) - MOST_STATISTICS
    if dropped > 0:
        limit += f" The first {MOST_STATISTICS} statistics are drawn, {dropped} are not."
    return (
        f'<section><h2 id="lines">Along {escape(key.name)}</h2>{key_of(sweep.shown)}'
        f"<p>Means over the seeds; bands are 95% intervals, cut at the ends of the axis.{limit}</p>"
        f"{text or figures(alone, charts)}</section>"
    )


def _points_of_lines(
    sweep: _Sweep, statistic: Statistic, panel: list[tuple[str, ...]], at: dict[str, float]
) -> list[Point]:
    assert sweep.main is not None
    return [
        Point(scheme.label, point[sweep.main], Mean(at[point[sweep.main]]), mean)
        for scheme in sweep.shown
        for point in panel
        if (mean := statistic.mean(point, scheme.name)) is not None
    ]


def _frontier(contents: Contents, sweep: _Sweep, charts: list[Chart]) -> str:
    """The tail of small flows against what large ones get; nothing where flows have no sizes."""
    names = contents.frame["statistic"].unique(maintain_order=True).to_list()
    axes = frontier_axes(names)
    if axes is None:
        return ""
    across, up = (read_statistic(contents.frame, contents.keys, name) for name in axes)
    if across is None or up is None:
        return ""
    x, y = (scale_of(of.title, _means(of), log=True) for of in (across, up))
    key = sweep.keys[sweep.main].title if sweep.main is not None else None
    panels = sweep.panels()
    drawn = []
    for panel in panels[:MOST_PANELS]:
        points = [
            Point(scheme.label, _name(sweep, point), small_x, small_y)
            for scheme in sweep.shown
            for point in panel
            if (small_x := across.mean(point, scheme.name)) is not None
            and (small_y := up.mean(point, scheme.name)) is not None
        ]
        if points:
            title = sweep.label(panel[0]) if sweep.main is not None else ""
            alt = f"{up.title} against {across.title}. {_ends(sweep, panel, points)}"
            title = title or "All points"
            drawn.append(frontier_chart(title, alt, points, sweep.shown, (x, y), key))
    if not drawn:
        return ""
    better = "right" if axes[0] == _GOODPUT else "left"
    joined = f", joined along {escape(key)}" if key else ""
    return (
        f'<section><h2 id="frontier">Frontier</h2>{key_of(sweep.shown)}'
        f"<p>{escape(up.title)} against {escape(across.title)}: a dot for each point{joined}. "
        f"Better is further down and further {better}. Bars are 95% intervals of each mean, cut at "
        "the ends of the axes, which are logarithmic. The table compares schemes seed by seed."
        f"{_limit(len(panels), 'values of the other keys')}</p>"
        f"{figures(drawn, charts)}</section>"
    )


def frontier_axes(names: Sequence[str]) -> tuple[str, str] | None:
    """Statistics across and up: mean of the largest class of flows, or goodput where there is one
    class, and the 99th percentile of the smallest class; without flows, the 99th percentile of
    queries.
    """
    there = set(names)
    tails = [n for n in names if n.startswith("fct.") and n.endswith(".p99") and ".acked." not in n]
    tails = tails or [name for name in names if name == "queries.p99"]
    if not tails:
        return None
    large = f"{tails[-1].removesuffix('.p99')}.mean"
    if len(tails) > 1 and large in there:
        return large, tails[0]
    return (_GOODPUT, tails[0]) if _GOODPUT in there else None


def _maps(sweep: _Sweep, charts: list[Chart]) -> str:
    """Where exactly two keys are swept: a heat map for each statistic and scheme."""
    if len(sweep.keys) != 2 or min(len(key.texts) for key in sweep.keys) < 2:
        return ""
    down, across = sweep.keys
    drawn = []
    for statistic in sweep.statistics:
        values = [mean.value for mean in _means(statistic)]
        domain = (min(values), max(values))
        if domain[0] == domain[1]:
            continue
        for scheme in sweep.shown:
            cells = [
                (point[0], point[1], mean.value)
                for point in sweep.points
                if (mean := statistic.mean(point, scheme.name)) is not None
            ]
            if not cells:
                continue
            drawn.append(
                heat_chart(
                    f"{statistic.title}: {scheme.label}",
                    f"{statistic.title} with {scheme.label}, by {down.name} and {across.name}, "
                    f"from {number(min(c[2] for c in cells))} to "
                    f"{number(max(c[2] for c in cells))}.",
                    cells,
                    columns=across.texts,
                    rows=down.texts,
                    domain=domain,
                    log=_spans(*domain),
                    form=",.3~r",
                    axes=(across.name, down.name),
                )
            )
    if not drawn:
        return ""
    return (
        f'<section><h2 id="maps">{escape(down.name)} against {escape(across.name)}</h2>'
        "<p>Means over the seeds; the colours of a statistic are the same for all schemes, darker "
        f"is larger.{_limit(len(drawn), 'heat maps', MOST_MAPS)}</p>"
        f"{figures(drawn[:MOST_MAPS], charts)}</section>"
    )


def _table(sweep: _Sweep) -> str:
    """A row for each point and scheme, a column for each statistic."""
    names = ("Scheme", *(key.name for key in sweep.keys), *(of.title for of in sweep.statistics))
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    places = [(point, scheme) for point in sweep.points for scheme in sweep.shown]
    there = [
        (point, scheme)
        for point, scheme in places
        if any((point, scheme.name) in of.means for of in sweep.statistics)
    ]
    body = ""
    for point, scheme in there[:MOST_ROWS]:
        row = f'<th scope="row">{swatch(scheme)} {escape(scheme.label)}</th>'
        row += "".join(f"<td>{escape(value)}</td>" for value in point)
        row += "".join(_cell(of, point, scheme) for of in sweep.statistics)
        body += f"<tr>{row}</tr>"
    caption = "Mean ± half the 95% interval, (seeds)"
    if sweep.first:
        caption += f"; below it, the change against {sweep.first} in the same seeds"
    if len(there) > MOST_ROWS:
        caption += f"; the first {MOST_ROWS} of {len(there)} rows"
    table = boxed_table(caption, f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>")
    if sweep.first:
        table += f"<p>{_WORDS_CHANGES}</p>"
    if len(there) <= _OPEN_ROWS:
        return table
    return f"<details><summary>{len(there)} rows</summary>{table}</details>"


def _cell(statistic: Statistic, point: tuple[str, ...], scheme: Scheme) -> str:
    found = statistic.means.get((point, scheme.name))
    if found is None:
        return f"<td>{NO_VALUE}</td>"
    mean, has_interval, n = found
    spread = f" ± {number(mean.half)}" if has_interval else ""
    against = statistic.changes.get((point, scheme.name))
    below = "" if against is None else f'<br><span class="ci">{told(against)}</span>'
    return f'<td>{number(mean.value)}<span class="ci">{spread} ({n})</span>{below}</td>'


def _scale(statistic: Statistic) -> Scale:
    means = _means(statistic)
    low, high = min(mean.value for mean in means), max(mean.value for mean in means)
    return scale_of(statistic.title, means, log=_spans(low, high))


def _spans(low: float, high: float) -> bool:
    """Whether values from `low` to `high` need a logarithmic axis, and can have one."""
    return low > 0 and high >= _RATIO * low


def _means(statistic: Statistic) -> list[Mean]:
    return [mean for mean, _, _ in statistic.means.values()]


def _name(sweep: _Sweep, point: tuple[str, ...]) -> str:
    return point[sweep.main] if sweep.main is not None else ", ".join(point)


def _ends(sweep: _Sweep, panel: list[tuple[str, ...]], points: Sequence[Point]) -> str:
    """The first and last value of each line, for those who do not see it."""
    said = []
    for scheme in sweep.shown:
        mine = [point for point in points if point.scheme == scheme.label]
        if mine:
            ends = " to ".join(number(mine[at].y.value) for at in ((0, -1) if mine[1:] else (0,)))
            said.append(f"{scheme.label} {ends}")
    where = sweep.label(panel[0]) if sweep.main is not None else ""
    return f"{f'{where}: ' if where else ''}{'; '.join(said)}."


def _limit(count: int, what: str, most: int = MOST_PANELS) -> str:
    return f" The first {most} of {count} {what} are drawn." if count > most else ""


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"

"""The page of an answer: the recommendation and what could turn it, the frontier as picture and
table, its uncertainty, the commands for deployment, and the dropped rows, inferred properties and
omissions. Changes in percent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from hull.ask import runbook
from hull.ask.answer import Row
from hull.ask.capacity import Load
from hull.ask.fit_charts import fit_section
from hull.ask.frontier import X_TITLE, Y_TITLE, Frontier, frontiers
from hull.ask.question import Question, percent
from hull.ask.runbook import Runbook
from hull.ask.sizes import Sizes
from hull.ask.table import answer_table
from hull.ask.verdict import Advice
from hull.report.charts import Chart
from hull.report.document import document, figures, key_of
from hull.report.lines import Point, Range, frontier_chart, scale_of
from hull.report.tables import boxed_table
from hull.report.waits import waits_table
from hull.results.waits import Waits, in_a_sentence

if TYPE_CHECKING:
    import polars as pl

_ALONE = (
    "A group of small flows only is drawn against the large ones of all flows, one of large flows "
    "only against all small ones."
)


@dataclass(frozen=True)
class Facts:
    """Further content of the page, each a list of sentences."""

    title: str
    traffic: tuple[str, ...]
    placement: tuple[str, ...]
    network: tuple[str, ...]
    checks: tuple[str, ...]
    """What could turn the advice, and whether it does."""
    without_phantom_queue: str | None
    """What a recommended headroom becomes at switches that mark by their real queues."""
    sure: tuple[str, ...]
    cannot_say: tuple[str, ...]
    runbook: Runbook
    loads: tuple[Load, ...]
    waits: tuple[Waits, ...]
    """Where small flows spend their time, by scheme."""
    drawn: "tuple[pl.DataFrame, pl.DataFrame] | None"
    """Flows as seen and as drawn for the first seed, where they were drawn."""
    most_loss: float


def answer_page(
    question: Question, rows: Sequence[Row], sizes: Sizes, advice: Advice, facts: Facts
) -> str:
    """The whole file."""
    charts: list[Chart] = []
    groups = list(dict.fromkeys(row.group for row in rows))
    drawn = frontiers(rows)
    frontier = figures([_frontier_chart(question, one, facts.most_loss) for one in drawn], charts)
    alone = any(one.title.endswith("only") for one in drawn)
    tables = "".join(answer_table(question, rows, group) for group in groups)
    fit = fit_section(*facts.drawn, charts) if facts.drawn else ""
    base = escape(_label(question, question.today[0]))
    body = f"""<h1>{escape(facts.title)}</h1>
<p class="answer"><strong>{escape(advice.sentence)}</strong></p>
{_list(facts.checks)}
<section><h2 id="frontier">What small flows gain, what large ones lose</h2>
{key_of(_shown(question))}{frontier}
<p>Further down: small flows end sooner. Further right: large flows take longer; right of the dashed
line by more than {percent(facts.most_loss)} (--most-loss). {base} is at (0, 0); the others carry
the same flows, and bars are 95% ranges over the seeds. {escape(_sentence(sizes.why))}
{_ALONE if alone else ""}</p>
{tables}</section>
{_waits(question, facts.waits)}
<section><h2 id="sure">How sure this is</h2>
{_list(facts.sure)}{_list(facts.cannot_say)}{fit}</section>
<section><h2 id="deploy">How to deploy it</h2>
<p>{escape(facts.runbook.title)}, also as <a href="{runbook.FILE}">{runbook.FILE}</a>:</p>
{runbook.html(facts.runbook)}{_settings(question)}</section>
<section><h2 id="traffic">The traffic</h2>{_list(facts.traffic)}{_list(facts.placement)}
{_loads(facts.loads)}</section>
<section><h2 id="network">The network</h2>{_list(facts.network)}</section>
<section><h2 id="runs">The runs</h2><p><a href="runs/report.html">Distributions, queues and counts
of each scheme</a>; <code>runs/flows.parquet</code> has a row for each flow.</p></section>"""
    return document(facts.title, body, charts)


def _waits(question: Question, waits: Sequence[Waits]) -> str:
    """A table for each condition: what decides the answer."""
    if not waits:
        return ""
    tables = ""
    for condition in dict.fromkeys(one.condition for one in waits):
        here = [one for one in waits if one.condition == condition]
        tables += waits_table(here, _shown(question))
    first = in_a_sentence(waits[0], _label(question, waits[0].scheme))
    return (
        f'<section><h2 id="waits">Where small flows wait</h2><p>{escape(first)}</p>{tables}'
        "</section>"
    )


def _shown(question: Question) -> list[Any]:
    looks = {scheme.name: scheme for scheme in question.looks}
    return [looks[name] for name in question.schemes]


def _label(question: Question, name: str) -> str:
    return next(scheme.label for scheme in question.looks if scheme.name == name)


def _frontier_chart(question: Question, frontier: Frontier, most_loss: float) -> Chart:
    """A point for each scheme, with its ranges."""
    points = [
        Point(label, label, large, small)
        for scheme, large, small in frontier.points
        for label in [_label(question, scheme)]
    ]
    words = (
        f"{point.scheme}: small {point.y.value:+.3g}%, large {point.x.value:+.3g}%"
        for point in points
    )
    bound = 100 * most_loss
    across = [*(point.x for point in points), Range(bound, bound, bound)]
    axes = (
        scale_of(X_TITLE, across, log=False),
        scale_of(Y_TITLE, [point.y for point in points], log=False),
    )
    alt = f"{frontier.title}: {'; '.join(words)}."
    return frontier_chart(frontier.title, alt, points, _shown(question), axes, None, bound)


def _settings(question: Question) -> str:
    settings = question.settings
    pacer = settings.pacer
    rows = [
        (f"DCTCP's K at {rate / 1e9:g} Gbps", f"{threshold:,} bytes")
        for rate, threshold in sorted(settings.thresholds.items())
    ]
    rows += [
        ("DCTCP's g", f"{settings.g:.4g}"),
        ("Threshold of the phantom queue", f"{settings.phantom_threshold_bytes:,} bytes"),
        ("Pacer: update interval", f"{pacer['update_interval_s'] * 1e6:.4g} µs"),
        ("Pacer: beta", f"{pacer['beta']:.4g} per second"),
        ("Pacer: bucket, FIFO", f"{pacer['bucket_bytes']:,.0f}, {pacer['fifo_bytes']:,.0f} bytes"),
        ("Pacer: association ends after", f"{pacer['association_timeout_s'] * 1e3:.4g} ms"),
    ]
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
        for name, value in rows
    )
    return boxed_table("Settings, as hull design has them", f"<tbody>{body}</tbody>")


def _loads(loads: Sequence[Load]) -> str:
    body = "".join(
        f'<tr><th scope="row">{escape(load.link)}</th><td>{percent(load.part)}</td></tr>'
        for load in loads
    )
    return boxed_table("Mean load of the busiest links", f"<tbody>{body}</tbody>")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _list(sentences: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""

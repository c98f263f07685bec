"""What a reader must know before he acts on the answer, as sentences, the most important first."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hull.ask.answer import (
    ALL,
    LARGE_MEAN,
    LARGE_P99,
    SMALL_P99,
    SMALL_P999,
    Row,
)
from hull.ask.question import Question, hull_name, percent
from hull.ask.sizes import Sizes
from hull.ask.verdict import Advice
from hull.results.changes import Change, in_words, next_in_words
from hull.results.drift import drift, half_means
from hull.terminal.tables import number

if TYPE_CHECKING:
    import polars as pl

_AT_A_TIMEOUT = 3.0
"""Largest over smallest of the runs from which on a percentile is at the edge of a timeout."""

_DRAWN = (
    "Each seed draws new flows from the trace: seeds vary in flows, paths and the pacer's draws."
)
_REPLAYED = (
    "All seeds replay the recorded flows: they vary in paths and in the pacer's draws, so the "
    "ranges do not say how another period would differ."
)
"""What varies between seeds."""


def caveats(
    question: Question,
    rows: Sequence[Row],
    advice: Advice,
    runs: Sequence[str],
    *,
    today_is_given: bool,
) -> tuple[str, ...]:
    """All that hold; `runs` are those that come from the runs, the last."""
    whole = [row for row in rows if row.group == ALL]
    label = {scheme.name: scheme.label for scheme in question.looks}
    chosen = next((row for row in whole if row.scheme == advice.scheme), None)
    found = [*_end(question, advice)]
    if not today_is_given:
        found.append(
            f"It is assumed that hosts have {label[question.today[0]]} today; --today names what "
            "they have: cubic (Linux's default), dctcp or bbr."
        )
    found.append(_REPLAYED if question.replays else _DRAWN)
    if chosen is not None and advice.base is not None and not question.replays:
        base = next(row for row in whole if row.scheme == advice.base)
        found += _next_period(chosen.against(base), label[advice.base])
    if all(row.large.started == 0 for row in whole):
        found.append("The trace has no large flow, so the cost for large flows is unknown.")
    found += _unfinished(whole, label)
    for row in whole:
        found += _at_timeouts(row, label[row.scheme])
    return (*found, *runs)


def drift_sentences(question: Question, finished: "pl.DataFrame", sizes: Sizes) -> tuple[str, ...]:
    """Schemes whose flows take longer, or shorter, in the second half of the runs."""
    import polars as pl

    spans = {
        condition: (int(str(begin)), int(str(end)))
        for condition, begin, end in finished.group_by("condition", maintain_order=True)
        .agg(pl.col("start_ps").min(), pl.col("start_ps").max().alias("end"))
        .iter_rows()
    }
    classes = (
        ("small", pl.col("bytes") <= sizes.small),
        ("large", pl.col("bytes") >= sizes.large),
    )
    label = {scheme.name: scheme.label for scheme in question.looks}
    tried = len(classes) * len(question.schemes)
    told = []
    for scheme in question.schemes:
        for size, is_inside in classes:
            of = finished.filter(is_inside & (pl.col("scheme") == scheme))
            first, second = {}, {}
            for run, flows in of.group_by("condition", "seed", maintain_order=True):
                pairs = flows.select("start_ps", "fct_ps").iter_rows()
                first[run], second[run] = half_means(pairs, *spans[str(run[0])])
            found = drift(first, second, tried)
            if found is not None:
                told.append(f"with {label[scheme]} the mean of {size} flows {in_words(found)}")
    if not told:
        return ()
    return (
        f"The second half of the runs differs from the first: {'; '.join(told)}. A longer trace "
        "would give other numbers.",
    )


def _end(question: Question, advice: Advice) -> Iterator[str]:
    """Whether the recommended headroom is an end of those that were tried."""
    names = [hull_name(part) for part in question.give_up]
    if advice.scheme not in names:
        return
    if len(names) == 1:
        yield "No other headroom was tried (--give-up)."
        return
    for place, word, further in ((0, "least", "less"), (-1, "most", "more")):
        if advice.scheme == names[place]:
            yield (
                f"{percent(question.give_up[place])} is the {word} headroom that was tried: "
                f"{further} may do as well or better (--give-up)."
            )
            return


def _next_period(chosen: Row, base: str) -> Iterator[str]:
    """Range of another period like the drawn ones."""
    parts = [
        f"{what} by {text}"
        for what, of in (
            ("the 99th percentile of small flows changes", SMALL_P99),
            ("the mean of large ones", LARGE_MEAN),
        )
        if (text := _next_text(chosen.change(of)))
    ]
    if parts:
        yield f"In another such period, {', '.join(parts)} against {base} (95%)."


def _next_text(of: Change | None) -> str:
    return "" if of is None else next_in_words(of)


def _unfinished(rows: Sequence[Row], label: dict[str, str]) -> Iterator[str]:
    for row in rows:
        parts = [
            f"{count.unfinished:,} of {count.started:,} {size} flows"
            for size, count in (("small", row.small), ("large", row.large))
            if count.unfinished
        ]
        if parts:
            yield (
                f"With {label[row.scheme]}, {' and '.join(parts)} had not completed when their "
                "runs ended; they rank last in percentiles, and means leave them out."
            )


def _at_timeouts(row: Row, scheme: str) -> Iterator[str]:
    """Percentiles that a few retransmission timeouts more or less would move."""
    for of in (SMALL_P99, SMALL_P999, LARGE_P99):
        values = [us for us in row.samples.get(of.name, {}).values() if us and math.isfinite(us)]
        count = row.small if of.size == "small" else row.large
        if values and max(values) > _AT_A_TIMEOUT * min(values) and count.timed_out:
            share = count.timed_out / count.completed
            yield (
                f"With {scheme}, the {of.label} of {of.size} flows is {number(min(values))} to "
                f"{number(max(values))} us between runs: {percent(round(share, 4))} of these flows "
                f"waited for a retransmission timeout."
            )

"""What the changes at each headroom say, and the recommendation.

A headroom *fits* if small flows are shown to gain and large ones not to lose more than is allowed.
It is *ruled out* if it is shown to cost more, or to gain less than 5%. Otherwise it is *undecided*.
Several headrooms are tried, so each range is that of its share of 5% (Bonferroni).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from hull.ask.answer import ALL, Row
from hull.ask.capacity import Load
from hull.ask.question import Question, hull_name, percent
from hull.changes import Change, change, in_words

LEAST_SEEDS = 5
"""With fewer the ranges say too little."""
SEEDS_IF_UNDECIDED = 20
"""Of a second attempt."""
NEEDED = 300
"""Small flows of a seed, for a 99th percentile that is not that of two or three."""
_LEAST_LOAD = 0.01
"""Of the busiest link: below, no queue forms whatever the scheme."""
_LEAST_GAIN = 0.95
"""Ratio of the 99th percentiles above which small flows gain nothing worth while."""
_NEAR_THE_BEST = 1.1


class Verdict(StrEnum):
    """On one headroom."""

    FITS = "fits"
    RULED_OUT = "ruled out"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Advice:
    """What is recommended, why, and how sure that is."""

    scheme: str | None
    """One with headroom, or one without that is not today's; None: leave it as it is, or nothing
    can be told.
    """
    sentence: str
    sure: tuple[str, ...]
    is_undecided: bool = False
    """Whether more seeds may tell."""


def verdict(row: Row, most_loss: float, tried: int) -> Verdict:
    """On a headroom with small flows, one of this number that are tried."""
    assert row.small_p99_change is not None
    gain = row.small_p99_change.among(tried)
    loss = None if row.large_mean_change is None else row.large_mean_change.among(tried)
    most = 1 + most_loss
    if gain.low > _LEAST_GAIN or (loss is not None and loss.low > most):
        return Verdict.RULED_OUT
    if gain.is_shown and gain.high < 1 and (loss is None or loss.high <= most):
        return Verdict.FITS
    return Verdict.UNDECIDED


def advise(question: Question, rows: Sequence[Row], most_loss: float, busiest: Load) -> Advice:
    """The smallest headroom that fits and is shown to be within 10% of the best one that does.

    If a scheme without headroom, such as DCTCP beside today's CUBIC, fits, headrooms are judged
    against that one: what it does needs no bandwidth.
    """
    base = question.today[0]
    label = {scheme.name: scheme.label for scheme in question.looks}
    by_scheme = {row.scheme: row for row in rows if row.group == ALL}
    offered = [by_scheme[hull_name(part)] for part in question.give_up]
    known = [row for row in offered if row.small_p99_change is not None]
    if not known:
        return Advice(None, "No headroom can be judged: the trace has no small flow.", ())
    if cannot_tell := _cannot_tell(known, busiest):
        return Advice(None, cannot_tell, _sure(rows, None))
    alone = [by_scheme[name] for name in question.today[1:]]
    alone = [row for row in alone if row.small_p99_change is not None]
    alone = [row for row in alone if verdict(row, most_loss, len(alone)) is Verdict.FITS]
    first = min(alone, key=_gain, default=None)
    if first is not None:
        base, known = first.scheme, [row.against(first) for row in known]
    found = {row.scheme: verdict(row, most_loss, len(known)) for row in known}
    fitting = [row for row in known if found[row.scheme] is Verdict.FITS]
    if fitting:
        chosen = _chosen(fitting)
        part = next(p for p in question.give_up if hull_name(p) == chosen.scheme)
        sentence = f"Give up {percent(part)} of the bandwidth: {_in_words(chosen, label[base])}."
        return Advice(chosen.scheme, sentence, _sure(rows, chosen))
    if first is not None:
        least = known[0]
        sentence = (
            f"Use {label[base]}, and give up no bandwidth: "
            f"{_in_words(first, label[question.today[0]])}. "
            f"With {label[least.scheme]}, {_in_words(least, label[base])}."
        )
        return Advice(base, sentence, _sure(rows, first))
    undecided = [row for row in known if found[row.scheme] is Verdict.UNDECIDED]
    if undecided:
        likely = min(undecided, key=_gain)
        sentence = (
            f"Undecided: the seeds vary too much to recommend a headroom, or to rule all out. "
            f"With {label[likely.scheme]}, {_in_words(likely, label[base])}. More seeds may tell "
            f"(--seeds)."
        )
        return Advice(None, sentence, _sure(rows, None), is_undecided=True)
    return Advice(
        None,
        f"Leave {label[base]} as it is: {_why_not(known, label, base, most_loss)}.",
        _sure(rows, None),
    )


def _cannot_tell(rows: Sequence[Row], busiest: Load) -> str:
    """Why no headroom can be judged, and what would make it possible; empty if it can."""
    if busiest.part < _LEAST_LOAD:
        part = percent(busiest.part) if busiest.part >= 1e-4 else "less than 0.01%"
        return (
            f"Cannot tell: {busiest.link} is the busiest and carries {part} of "
            "its rate, so hardly a queue forms whatever the scheme. Give the busiest part of a "
            "longer trace, or one that holds all hosts of these links."
        )
    fewest = min(row.small_flows for row in rows)
    if fewest < NEEDED:
        return (
            f"Cannot tell: a 99th percentile needs {NEEDED} small flows in each run, and there are "
            f"{fewest}. Give a longer trace, or --small with a larger size."
        )
    known = [row.small_p99_change for row in rows if row.small_p99_change is not None]
    seeds = max(gain.seeds for gain in known)
    if seeds < LEAST_SEEDS:
        said = "one seed" if seeds == 1 else f"{seeds} seeds"
        return f"Cannot tell with {said}: give --seeds {LEAST_SEEDS} or more."
    if not any(gain.has_range for gain in known):
        return (
            "Cannot tell: all seeds carry the same flows and agree, so nothing says how another "
            "such period would differ. --fit draws new flows for each seed."
        )
    return ""


def _chosen(fitting: Sequence[Row]) -> Row:
    """The first, with the least headroom, that is shown to be near the best one."""
    best = min(fitting, key=_gain)
    for row in fitting:
        against = change(row.small_p99_by_seed, best.small_p99_by_seed)
        if row is best or (against is not None and _is_near(against)):
            return row
    return best


def _is_near(against: Change) -> bool:
    high = against.high if against.has_range else against.ratio
    return high <= _NEAR_THE_BEST


def _gain(row: Row) -> float:
    assert row.small_p99_change is not None
    return row.small_p99_change.ratio


def _may_gain(row: Row, tried: int) -> bool:
    assert row.small_p99_change is not None
    return row.small_p99_change.among(tried).low <= _LEAST_GAIN


def _in_words(row: Row, base: str) -> str:
    assert row.small_p99_change is not None
    text = f"the 99th percentile of small flows {in_words(row.small_p99_change)} against {base}"
    if row.large_mean_change is not None:
        text += f", the mean of large flows {in_words(row.large_mean_change)}"
    return text


def _why_not(known: Sequence[Row], label: Mapping[str, str], base: str, most_loss: float) -> str:
    helping = [row for row in known if _may_gain(row, len(known))]
    if not helping:
        return "no headroom shortens the small flows by 5% or more"
    least = min(helping, key=lambda row: row.large_mean_change.low if row.large_mean_change else 0)
    return (
        f"each headroom that shortens small flows lengthens large ones by more than "
        f"{percent(most_loss)} (--most-loss). With {label[least.scheme]}, the gentlest, "
        f"{_in_words(least, label[base])}"
    )


def _sure(rows: Sequence[Row], chosen: Row | None) -> tuple[str, ...]:
    found = []
    of = chosen or next(row for row in rows if row.group == ALL)
    if of.large_flows == 0:
        found.append("The trace has no large flow, so the cost for large flows is unknown.")
    late = sum(row.unfinished for row in rows if row.group == ALL)
    if late:
        found.append(f"{late} flows had not arrived when their runs ended; they are left out.")
    return tuple(found)

"""What the changes at each headroom say, and the recommendation.

A headroom *fits* if the 99th percentile of small flows is shown to fall, and the mean of large ones
is shown to grow by no more than is allowed. It is *ruled out* if it is shown to cost more, in the
mean or the 99th percentile of large flows, or to gain less than 5%, or to lengthen the mean or the
99.9th percentile of small flows by 5%. Otherwise it is *undecided*. Several headrooms are tried, so
each range uses its share of 5% (Bonferroni).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from hull.ask.answer import (
    ALL,
    LARGE_MEAN,
    LARGE_P99,
    SMALL_MEAN,
    SMALL_P99,
    SMALL_P999,
    Row,
    Statistic,
)
from hull.ask.capacity import Load
from hull.ask.question import Question, hull_name, percent
from hull.results.changes import Change, change, in_words

LEAST_SEEDS = 5
"""With fewer the ranges say too little."""
SEEDS_IF_UNDECIDED = 20
"""Of a second attempt."""
_LEAST_LOAD = 0.01
"""Load of the busiest link below which no queue forms with any scheme."""
_MOST_UNFINISHED = 0.01
"""Share of the flows of a class that have not completed."""
_LEAST_GAIN = 0.95
"""Ratio of the 99th percentiles above which small flows gain nothing worth while."""
_HARM = 1.05
"""Ratio from which another statistic of small flows is worse."""
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
    base: str | None = None
    """The scheme that the recommended one is compared with; None if nothing can be told."""
    is_undecided: bool = False
    """Whether more seeds may tell."""

    @property
    def is_known(self) -> bool:
        """Whether something is recommended, be it to leave all as it is."""
        return self.base is not None


def verdict(row: Row, most_loss: float, tried: int) -> Verdict:
    """On a headroom with small flows, one of this number that are tried."""

    def against(of: Statistic) -> Change | None:
        found = row.change(of)
        return None if found is None else found.among(tried)

    gain, loss, tail = against(SMALL_P99), against(LARGE_MEAN), against(LARGE_P99)
    assert gain is not None
    most = 1 + most_loss
    harms = [against(SMALL_MEAN), against(SMALL_P999)]
    if (
        gain.low > _LEAST_GAIN
        or any(cost is not None and cost.low > most for cost in (loss, tail))
        or any(harm is not None and harm.low > _HARM for harm in harms)
    ):
        return Verdict.RULED_OUT
    if gain.is_shown and gain.high < 1 and (loss is None or loss.high <= most):
        return Verdict.FITS
    return Verdict.UNDECIDED


def advise(
    question: Question, rows: Sequence[Row], most_loss: float, busiest: Load, doubt: str = ""
) -> Advice:
    """The smallest headroom that fits and is shown to be within 10% of the best one that does.
    `doubt` says why nothing can be told of this traffic.

    If a scheme without headroom, such as DCTCP beside today's CUBIC, fits, headrooms are judged
    against that one: what it does needs no bandwidth.
    """
    base = question.today[0]
    label = {scheme.name: scheme.label for scheme in question.looks}
    by_scheme = {row.scheme: row for row in rows if row.group == ALL}
    if doubt:
        return Advice(None, f"Cannot tell: {doubt}")
    if cannot_tell := _cannot_tell([*by_scheme.values()], label, busiest):
        return Advice(None, cannot_tell)
    known = [by_scheme[hull_name(part)] for part in question.give_up]
    alone = [by_scheme[name] for name in question.today[1:]]
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
        return Advice(chosen.scheme, sentence, base)
    if first is not None:
        least = known[0]
        sentence = (
            f"Use {label[base]}, and give up no bandwidth: "
            f"{_in_words(first, label[question.today[0]])}. "
            f"With {label[least.scheme]}, {_in_words(least, label[base])}."
        )
        return Advice(base, sentence, question.today[0])
    undecided = [row for row in known if found[row.scheme] is Verdict.UNDECIDED]
    if undecided:
        likely = min(undecided, key=_gain)
        sentence = (
            f"Undecided: the seeds vary too much to recommend a headroom, or to rule all out. "
            f"With {label[likely.scheme]}, {_in_words(likely, label[base])}. More seeds may tell "
            f"(--seeds)."
        )
        return Advice(None, sentence, is_undecided=True)
    sentence = f"Leave {label[base]} as it is: {_why_not(known, label, base, most_loss)}."
    return Advice(None, sentence, base)


def _cannot_tell(rows: Sequence[Row], label: Mapping[str, str], busiest: Load) -> str:
    """Why no headroom can be judged, and what would make it possible; empty if it can."""
    if busiest.part < _LEAST_LOAD:
        part = percent(busiest.part) if busiest.part >= 1e-4 else "less than 0.01%"
        return (
            f"Cannot tell: {busiest.link} is the busiest and carries {part} of "
            "its rate, so hardly a queue forms with any scheme. Give the busiest part of a "
            "longer trace, or one that holds all hosts of these links."
        )
    for row in rows:
        for size, count in (("small", row.small), ("large", row.large)):
            late = count.unfinished and count.unfinished >= _MOST_UNFINISHED * count.started
            if late or _is_unknown(row, SMALL_P99 if size == "small" else LARGE_MEAN):
                return (
                    f"Cannot tell: with {label[row.scheme]}, {count.unfinished:,} of "
                    f"{count.started:,} {size} flows had not completed when their runs ended. "
                    "Expected a network that carries the trace: faster links in --topology, or a "
                    "part of the trace with --window."
                )
    fewest = min(row.small.each for row in rows)
    if fewest < SMALL_P99.needed:
        return (
            f"Cannot tell: a 99th percentile needs {SMALL_P99.needed} small flows in each run, and "
            f"there {'is' if fewest == 1 else 'are'} {fewest}. Give a longer trace, or --small "
            "with a larger size."
        )
    known = [gain for row in rows if (gain := row.change(SMALL_P99)) is not None]
    seeds = max((gain.seeds for gain in known), default=0)
    if seeds < LEAST_SEEDS:
        said = "one seed" if seeds == 1 else f"{seeds} seeds"
        return f"Cannot tell with {said}: give --seeds {LEAST_SEEDS} or more."
    if not any(gain.has_range for gain in known):
        return (
            "Cannot tell: all seeds replay the same flows and agree, so nothing says how another "
            "such period would differ. Without --replay each seed draws new flows."
        )
    return ""


def _is_unknown(row: Row, of: Statistic) -> bool:
    """Whether, in any run, a flow that has not completed decides a statistic."""
    return any(value == math.inf for value in row.samples[of.name].values())


def _chosen(fitting: Sequence[Row]) -> Row:
    """The first, with the least headroom, that is shown to be near the best one."""
    best = min(fitting, key=_gain)
    for row in fitting:
        against = change(row.samples[SMALL_P99.name], best.samples[SMALL_P99.name])
        if row is best or (against is not None and _is_near(against)):
            return row
    return best


def _is_near(against: Change) -> bool:
    high = against.high if against.has_range else against.ratio
    return high <= _NEAR_THE_BEST


def _gain(row: Row) -> float:
    gain = row.change(SMALL_P99)
    assert gain is not None
    return gain.ratio


def _in_words(row: Row, base: str) -> str:
    gain, loss = row.change(SMALL_P99), row.change(LARGE_MEAN)
    assert gain is not None
    text = f"the 99th percentile of small flows {in_words(gain)} against {base}"
    if loss is not None:
        text += f", the mean of large flows {in_words(loss)}"
    return text


def _why_not(known: Sequence[Row], label: Mapping[str, str], base: str, most_loss: float) -> str:
    def low(row: Row, of: Statistic) -> float:
        found = row.change(of)
        return 0.0 if found is None else found.among(len(known)).low

    helping = [row for row in known if low(row, SMALL_P99) <= _LEAST_GAIN]
    if not helping:
        return "no headroom shortens the small flows by 5% or more"
    least = min(helping, key=lambda row: low(row, LARGE_MEAN))
    for of in (SMALL_MEAN, SMALL_P999):
        if low(least, of) > _HARM:
            return f"each headroom that shortens their 99th percentile lengthens their {of.label}"
    return (
        f"each headroom that shortens small flows lengthens large ones by more than "
        f"{percent(most_loss)} (--most-loss). With {label[least.scheme]}, the gentlest, "
        f"{_in_words(least, label[base])}"
    )

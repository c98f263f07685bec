"""From a trial to an advice: more seeds if the first leave it undecided, and more headrooms if the
recommended one is an end of those that were tried.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from hull.ask.answer import Row
from hull.ask.question import Question, hull_name
from hull.ask.trial import Ran, Trial, run
from hull.ask.verdict import SEEDS_IF_UNDECIDED, Advice

_ROUNDS = 2
"""Of further headrooms."""
_LEAST, _MOST = 0.005, 0.5
"""Headrooms, as shares of the rate."""


@dataclass(frozen=True)
class Settled:
    """An advice, and the last runs that it follows from."""

    trial: Trial
    ran: Ran
    advice: Advice
    seeds: int


def settle(
    trial: Trial,
    advise: Callable[[Question, list[Row]], Advice],
    seeds: int,
    *,
    may_add_seeds: bool,
    force: bool,
) -> Settled:
    """Run until it is settled, or nothing more is to be tried."""
    rounds = _ROUNDS if len(trial.question.give_up) > 1 else 0
    while True:
        ran = run(trial, seeds, force=force)
        advice = advise(trial.question, ran.rows)
        force = True
        if advice.is_undecided and may_add_seeds and seeds < SEEDS_IF_UNDECIDED:
            seeds = SEEDS_IF_UNDECIDED
            continue
        further = _further(trial.question, advice) if rounds else None
        if further is None:
            return Settled(trial, ran, advice, seeds)
        rounds -= 1
        give_up = tuple(sorted((*trial.question.give_up, further)))
        trial = replace(trial, question=replace(trial.question, give_up=give_up))


def _further(question: Question, advice: Advice) -> float | None:
    """A headroom beyond the recommended one, if that is an end."""
    names = [hull_name(part) for part in question.give_up]
    if advice.scheme not in names:
        return None
    least, most = question.give_up[0], question.give_up[-1]
    if advice.scheme == names[-1] and most < _MOST:
        return round(min(_MOST, 2 * most), 6)
    if advice.scheme == names[0] and least > _LEAST:
        return round(max(_LEAST, least / 2), 6)
    return None

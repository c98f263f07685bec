"""Whether the seeds of a run decide a claim: it holds, fails, is undecided or is not assessed.

A number that a check compares (`compare`) is decided if the interval about it lies inside or
outside its limits: 90% for a number beside a document's, 95% for an order. The interval is
Student's, with the standard error of the delete-one jackknife over seeds, which for a mean is the
usual one. What a check decides otherwise must be unanimous over each seed and over all seeds but
each one.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, NamedTuple

from hull.experiments.common.measured import Results
from hull.results.statistics import student_quantile

State = Literal["holds", "fails", "undecided", "not assessed"]
Check = Callable[[Results], tuple[str, bool]]


class Comparison(NamedTuple):
    """A number within limits, as a check compares it."""

    value: float
    low: float
    high: float
    holds: bool
    confidence: float
    """Of the two-sided interval that decides it: 0.9."""


_made: ContextVar[list[Comparison] | None] = ContextVar("_made", default=None)
"""The comparisons of the check that is being recorded."""


def compare(value: float, low: float, high: float, *, holds: bool, confidence: float = 0.9) -> bool:
    """`holds`; true while a check is recorded, so that it makes all its comparisons."""
    made = _made.get()
    if made is None:
        return holds
    made.append(Comparison(value, low, high, holds, confidence))
    return True


def ordered(low: float, high: float, *, or_equal: bool = False) -> bool:
    """Whether low < high; decided if the paired 95% interval of the difference excludes 0."""
    holds = low <= high if or_equal else low < high
    return compare(low - high, -math.inf, 0.0, holds=holds, confidence=0.95)


def at_least(value: float, limit: float) -> bool:
    """Whether value >= limit."""
    return compare(value, limit, math.inf, holds=value >= limit)


def at_most(value: float, limit: float) -> bool:
    """Whether value <= limit."""
    return compare(value, -math.inf, limit, holds=value <= limit)


def more_than(value: float, limit: float) -> bool:
    """Whether value > limit."""
    return compare(value, limit, math.inf, holds=value > limit)


def less_than(value: float, limit: float) -> bool:
    """Whether value < limit."""
    return compare(value, -math.inf, limit, holds=value < limit)


def comparisons(check: Check, results: Results) -> list[Comparison]:
    """What a check compares with limits; empty if its verdicts must be unanimous."""
    return _recorded(check, results)[0]


_NO_VALUE = (ArithmeticError, LookupError, TypeError, ValueError)
"""What a check raises for seeds that have too few samples: of an empty list, of None, by 0."""


def decided(check: Check, results: Results) -> State:
    """The state of a claim by the seeds of its runs; undecided if some seeds have no value."""
    if len(results.summary["seeds"]) < 2:
        return "not assessed"
    try:
        return _by_seeds(check, results)
    except _NO_VALUE:
        return "undecided"


def _by_seeds(check: Check, results: Results) -> State:
    seeds = results.summary["seeds"]
    without = [results.of_seeds([s for s in seeds if s != left]) for left in seeds]
    alone = [results.of_seeds([seed]) for seed in seeds]
    made, rest = _recorded(check, results)
    if not made:
        return _unanimous([rest, *(bool(check(some)[1]) for some in (*without, *alone))])
    replicates = [_recorded(check, some) for some in without]
    singles = [_recorded(check, some) for some in alone]
    conjunction = rest and all(compared.holds for compared in made) == bool(check(results)[1])
    if not conjunction or any(len(others) != len(made) for others, _ in (*replicates, *singles)):
        return _unanimous([bool(check(some)[1]) for some in (results, *without, *alone)])
    states = [
        _state(
            compared, *([others[number] for others, _ in some] for some in (replicates, singles))
        )
        for number, compared in enumerate(made)
    ]
    states.append(_unanimous([rest, *(other for _, other in (*replicates, *singles))]))
    if "fails" in states:
        return "fails"
    return "undecided" if "undecided" in states else "holds"


def interval(whole: float, without: Sequence[float], confidence: float) -> tuple[float, float]:
    """Student's interval about `whole` with the jackknife's standard error; `without` has the same
    number without each seed."""
    n = len(without)
    mean = sum(without) / n
    error = math.sqrt((n - 1) / n * sum((value - mean) ** 2 for value in without))
    half = student_quantile((1 + confidence) / 2, n - 1) * error
    return whole - half, whole + half


def _unanimous(verdicts: Sequence[bool]) -> State:
    if all(verdicts):
        return "holds"
    return "undecided" if any(verdicts) else "fails"


def _state(
    compared: Comparison, without: Sequence[Comparison], alone: Sequence[Comparison]
) -> State:
    """Whether the interval of the number, of its logarithm where limits allow, is in the limits.

    Where all seeds, or all but one, have no finite number, verdicts must be unanimous.
    """
    low, high = compared.low, compared.high
    values = [compared.value, *(other.value for other in without)]
    if not all(map(math.isfinite, values)):
        return _unanimous([other.holds for other in (compared, *without, *alone)])
    if min(values) > 0 and high > 0 and (low > 0 or low in (0, -math.inf)):
        low = math.log(low) if low > 0 else -math.inf
        values, high = [math.log(value) for value in values], math.log(high)
    least, most = interval(values[0], values[1:], compared.confidence)
    if least == most:  # The same with every seed.
        return "holds" if compared.holds else "fails"
    if low <= least and most <= high:
        return "holds"
    return "fails" if most < low or high < least else "undecided"


def _recorded(check: Check, results: Results) -> tuple[list[Comparison], bool]:
    """The comparisons that a check makes, and what it says where all of them hold."""
    with _recording() as made:
        _, holds = check(results)
    return made, bool(holds)


@contextmanager
def _recording() -> Iterator[list[Comparison]]:
    made: list[Comparison] = []
    token = _made.set(made)
    try:
        yield made
    finally:
        _made.reset(token)

"""How many seeds each case gets: a fixed number, or as few as make an interval narrow enough.

With `until`, the seeds of a case are the first n for which half the 95% interval of each statistic
that is named is within the asked share of its mean: the smallest such n, from the start on. More
than one are handed out at a time where it is foreseen that they are needed, but what counts is that
n alone: the result is the same on any executor.

Stopping at the first narrow interval favours seeds that happen to agree. In 40,000 simulated sweeps
per case (normal and log-normal seeds; 2, 5 and 10% asked for; standard deviations of a quarter to 4
times that), the interval at the stop held the true mean in 92 to 95%. From 10 seeds on it was 93 to
95%, from 3 on 90 to 95%.
"""

import math
from collections.abc import Callable, Mapping

from hull.errors import UsageError, check_count
from hull.results.statistics import mean_ci95
from hull.terminal.options import option

FEWEST = 5
"""Seeds from which on an interval may end a case."""
MOST = 100
"""Default of `--max-seeds`."""
MOST_RUNS = 10_000_000
"""Of one sweep: their rows would take 120 GB of memory."""
_LAST_SEED = 2**63 - 1

Values = Callable[[int, int], Mapping[str, float] | None]
"""Statistics of a case with a seed; None where that run failed."""


def read_until(given: Mapping[str, object]) -> dict[str, float]:
    """Statistics with the share of the mean that half the interval may take, `"5%"` or 0.05."""
    found = {}
    for name, value in given.items():
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            share = math.nan
        if not 0 < share < 1:
            raise UsageError(
                f"{option('until')} {name}: {value} is invalid; expected a share of the mean, such "
                "as 5%"
            )
        found[name] = share
    return found


class Seeds:
    """The number of seeds of each case."""

    def __init__(
        self, first: int, start: int, until: Mapping[str, float], most: int | None, cases: int
    ) -> None:
        """`first`: the first seed; `start`: how many at first; `most`: how many at most."""
        self._first = first
        self._until = until
        if until:
            self._most = MOST if most is None else check_count(option("max_seeds"), most)
            start = max(start, FEWEST)
            if self._most < start:
                raise UsageError(
                    f"{option('max_seeds')}: {self._most} is invalid; expected at least {start}, "
                    "the "
                    "number that it begins with"
                )
        elif most is not None:
            raise UsageError(
                f"{option('max_seeds')}: given without {option('until')}; expected both"
            )
        else:
            self._most = start
        if most is not None and self._most * cases > MOST_RUNS:
            raise UsageError(
                f"{option('max_seeds')}: {most} is invalid with {cases} scenarios; expected at "
                "most "
                f"{MOST_RUNS // cases}, such as {MOST}: one sweep has at most {MOST_RUNS} runs"
            )
        if start * cases > MOST_RUNS:
            raise UsageError(
                f"{option('seeds')}: {start} seeds of {cases} scenarios are {start * cases} runs; "
                f"expected at most {MOST_RUNS}"
            )
        if first + self._most - 1 > _LAST_SEED:
            raise UsageError(
                f"run.seed: {first} and {self._most - 1} more; the last seed is {_LAST_SEED}"
            )
        self._start = start
        self._asked = [start] * cases
        self._settled: dict[int, tuple[int, bool]] = {}

    def at_first(self) -> range:
        """The seeds with which each case begins."""
        return range(self._first, self._first + self._start)

    def shown(self, case: int) -> range:
        """The seeds of a case that count in the results so far."""
        count = self._settled.get(case, (self._asked[case], False))[0]
        return range(self._first, self._first + count)

    def is_narrow(self, case: int) -> bool:
        """Whether a case has reached the requested precision."""
        return not self._until or self._settled.get(case, (0, False))[1]

    def more(self, case: int, values: Values) -> range:
        """Further seeds for a case whose seeds have all finished; none if it needs no more."""
        asked = self._asked[case]
        if not self._until:
            return range(0)
        if case in self._settled:
            return range(0)
        found = [values(case, self._first + i) for i in range(asked)]
        if not all(any(name in value for value in found if value) for name in self._until):
            self._settled[case] = (asked, False)  # no such flow in any run: more say nothing
            return range(0)
        needed = asked + 1
        for count in range(self._start, asked + 1):
            needed = max((self._needed(name, found[:count]) for name in self._until), default=0)
            if needed <= count:
                self._settled[case] = (count, True)
                return range(0)
        if asked >= self._most:
            self._settled[case] = (asked, False)
            return range(0)
        # Half of what is foreseen: intervals of few seeds foresee too many.
        step = max(1, (min(needed, self._most) - asked) // 2)
        self._asked[case] = min(asked + step, self._most)
        return range(self._first + asked, self._first + self._asked[case])

    def _needed(self, name: str, found: list[Mapping[str, float] | None]) -> int:
        """Estimate how many seeds are needed; the number of those that were run, if it suffices."""
        values = [value[name] for value in found if value is not None and name in value]
        if len(values) < FEWEST:  # though there are more seeds, without such a flow
            return len(found) + 1
        mean, ci95 = mean_ci95(values)
        if ci95 is None:
            return len(found) + 1
        wide = abs(mean) * self._until[name]
        if ci95 <= wide:
            return len(found)
        if wide == 0:
            return self._most
        # Cut before it is squared: the square of a ratio of 1e200 is no float.
        times_wider = min(ci95 / wide, 1e6)
        return max(len(found) + 1, math.ceil(min(len(found) * times_wider**2, 1e9)))

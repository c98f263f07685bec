"""A value with its interval over seeds, and how one scheme differs from another.

A change is a ratio, averaged as its logarithm over the seeds: (1, 10) against (10, 1) is no change
in either direction. It has two ranges of 95%, by Student's t on the logarithms: one for the model's
mean, and one for another period like the seeds' periods.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hull.results.statistics import mean_ci95, student_quantile

_SAME = 1e-9
"""Relative variation below which all seeds agree."""
_TIMES = 2.0
"""Ratio from which a change is told in times."""
_MOST_DECIMALS = 4
"""Of a percentage."""
_MOST_LOG = math.log(1e6)
"""Logarithm of a ratio above which an end of a range is infinite: few seeds that differ widely."""


@dataclass(frozen=True)
class Value:
    """A mean over seeds; `ci95` is half of its interval, None for one seed."""

    mean: float
    ci95: float | None


@dataclass(frozen=True)
class Change:
    """A scheme against another one, by the ratios of paired seeds."""

    mean_log: float
    spread_log: float
    """Standard deviation between seeds; 0 for one."""
    seeds: int
    tried: int = 1
    """Number of changes among which this one is chosen: each has a share of the 5% (Bonferroni)."""

    @property
    def ratio(self) -> float:
        """0.5 is half."""
        return math.exp(self.mean_log)

    @property
    def has_range(self) -> bool:
        """Whether the seeds vary: without, nothing says how sure the change is."""
        return self.seeds > 1 and self.spread_log > _SAME

    @property
    def low(self) -> float:
        """Lower end of the mean's range; 0 without one."""
        return _end(self.mean_log - self._half(0.0)) if self.has_range else 0.0

    @property
    def high(self) -> float:
        """Upper end of the mean's range; infinite without one."""
        return _end(self.mean_log + self._half(0.0)) if self.has_range else math.inf

    @property
    def is_shown(self) -> bool:
        """Whether the range of the mean leaves out no change."""
        return self.has_range and not self.low <= 1 <= self.high

    def among(self, tried: int) -> "Change":
        """The same as one of this number of changes, with a wider range."""
        return Change(self.mean_log, self.spread_log, self.seeds, tried)

    def next_range(self) -> tuple[float, float] | None:
        """Range of another period like the seeds' periods; None if they do not vary."""
        if not self.has_range:
            return None
        half = self._half(1.0)
        return _end(self.mean_log - half), _end(self.mean_log + half)

    def as_json(self) -> dict[str, Any]:
        """Ratios; null where the seeds do not vary, and for an infinite end."""
        low, high = (self.low, self.high) if self.has_range else (None, None)
        next_low, next_high = self.next_range() or (None, None)
        ends = {"low": low, "high": high, "next_low": next_low, "next_high": next_high}
        known = {name: None if end == math.inf else end for name, end in ends.items()}
        return {"ratio": self.ratio, **known, "seeds": self.seeds}

    def _half(self, of_next: float) -> float:
        """Half of the range of the mean's logarithm; with `of_next` = 1, of one more seed's."""
        quantile = student_quantile(1 - 0.025 / self.tried, self.seeds - 1)
        return quantile * self.spread_log * math.sqrt(of_next + 1 / self.seeds)


def value_of(values: Sequence[float | None]) -> Value | None:
    """The mean of the values that are there; None if there is none, infinite if one of them is."""
    known = [value for value in values if value is not None]
    if any(map(math.isinf, known)):
        return Value(math.inf, None)
    return Value(*mean_ci95(known)) if known else None


def change(samples: Mapping[Any, float | None], base: Mapping[Any, float | None]) -> Change | None:
    """How samples differ from those with the same key in `base`; None without a pair above 0, and
    if one is infinite.

    They are paired, so variation between seeds cancels.
    """
    if any(value == math.inf for of in (samples, base) for value in of.values()):
        return None
    logs = [
        math.log(value / theirs)
        for key, value in samples.items()
        if value and (theirs := base.get(key)) and value > 0 and theirs > 0
    ]
    if not logs:
        return None
    mean = math.fsum(logs) / len(logs)
    spread = 0.0
    if len(logs) > 1:
        spread = math.sqrt(math.fsum((log - mean) ** 2 for log in logs) / (len(logs) - 1))
    return Change(mean, spread, len(logs))


def told(of: Change | None) -> str:
    """A change as text, with the range of its mean: "-46% (-52 to -40%)"."""
    if of is None:
        return "-"
    if not of.has_range:
        return _alone(of.ratio)
    if not of.is_shown:
        return f"no difference shown ({_ends(of, signed=True)}%)"
    if of.ratio >= _TIMES:
        return f"{_times(of)} times ({_range_of_times(of)})"
    decimals = _decimals(_half_width(of))
    return f"{_percent(of.ratio, decimals)}% ({_ends(of, signed=True)}%)"


def in_words(of: Change) -> str:
    """A change with its verb: "falls by 46% (40 to 52%)"."""
    if of.has_range and not of.is_shown:
        return f"shows no difference ({_ends(of, signed=True)}%)"
    if of.ratio >= _TIMES:
        text = f"is {_times(of)} times as long"
        return f"{text} ({_range_of_times(of)})" if of.has_range else text
    verb = "falls" if of.ratio < 1 else "grows"
    if not of.has_range:
        return f"{verb} by {_digits(100 * abs(of.ratio - 1), 3)}%"
    size = _percent(of.ratio, _decimals(_half_width(of))).lstrip("+-")
    return f"{verb} by {size}% ({_ends(of, signed=False)}%)"


def next_in_words(of: Change) -> str:
    """The range of another period like the seeds' periods: "-52 to -40%"; empty without."""
    following = of.next_range()
    if following is None:
        return ""
    low, high = following
    if low >= _TIMES:
        return f"{_digits(low, 2)} to {_digits(high, 2)} times"
    decimals = _decimals(100 * (high - low) / 2)
    return f"{_percent(low, decimals)} to {_percent(high, decimals)}%"


def _end(log: float) -> float:
    """End of a range of ratios by its logarithm."""
    return math.exp(log) if log < _MOST_LOG else math.inf


def _alone(ratio: float) -> str:
    """A change without a range."""
    if ratio >= _TIMES:
        return f"{_digits(ratio, 3)} times"
    return f"{'-' if ratio < 1 else '+'}{_digits(100 * abs(ratio - 1), 3)}%"


def _ends(of: Change, *, signed: bool) -> str:
    """The ends of the range in per cent, with as many digits as its width allows."""
    decimals = _decimals(_half_width(of))
    ends = [_percent(end, decimals) for end in (of.low, of.high)]
    if signed:
        return " to ".join(ends)
    sizes = [end.lstrip("+-") for end in ends]
    return " to ".join(sizes if of.ratio >= 1 else reversed(sizes))


def _percent(ratio: float, decimals: int) -> str:
    """A change in per cent with its sign; more decimals if it would be 0, and 0 has no sign."""
    percent = 100 * (ratio - 1)
    for more in range(decimals, _MOST_DECIMALS + 1):
        text = f"{percent:+.{more}f}"
        if float(text) != 0:
            return text
    return "0"


def _decimals(width: float) -> int:
    """Decimals of a percentage so that half the width of its range has one or two digits."""
    if width <= 0:
        return _MOST_DECIMALS
    if width == math.inf:
        return 0
    return min(_MOST_DECIMALS, max(0, -math.floor(math.log10(width))))


def _half_width(of: Change) -> float:
    return 100 * (of.high - of.low) / 2


def _times(of: Change) -> str:
    return _digits(of.ratio, 2 if of.has_range else 3)


def _range_of_times(of: Change) -> str:
    return f"{_digits(of.low, 2)} to {_digits(of.high, 2)}"


def _digits(number: float, digits: int) -> str:
    """So many significant digits, and no exponent."""
    return f"{float(f'{number:.{digits}g}'):.12g}" if number >= 1e-4 else "0"

"""A value with its interval over seeds, and changes from one scheme to another as text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hull.statistics import mean_ci95


@dataclass(frozen=True)
class Value:
    """A mean over seeds; `ci95` is half of its interval, None for one seed."""

    mean: float
    ci95: float | None

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.mean - (self.ci95 or 0.0)

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.mean + (self.ci95 or 0.0)


def value_of(values: Sequence[float | None]) -> Value | None:
    """The mean of the values that are there; None if there is none."""
    known = [value for value in values if value is not None]
    return Value(*mean_ci95(known)) if known else None


def change(samples: Mapping[Any, float | None], base: Mapping[Any, float | None]) -> Value | None:
    """Relative changes of samples against those with the same key in `base`; -0.5 is half.

    They are paired, so variation between seeds cancels.
    """
    return value_of(
        [
            value / theirs - 1
            for key, value in samples.items()
            if value is not None and (theirs := base.get(key))
        ]
    )


def told(value: Value | None) -> str:
    """A change as text: per cent, or how many times it is from twice on."""
    if value is None:
        return "-"
    if value.mean >= 1:
        spread = "" if value.ci95 is None else f" ± {_digits(value.ci95, 2)}"
        return f"{_digits(1 + value.mean, 3)}{spread} times"
    spread = "" if value.ci95 is None else f" ± {_digits(100 * value.ci95, 2)}"
    return f"{'-' if value.mean < 0 else '+'}{_digits(100 * abs(value.mean), 3)}{spread}%"


def _digits(number: float, digits: int) -> str:
    """So many significant digits, and no exponent."""
    return f"{float(f'{number:.{digits}g}'):.12g}" if number >= 1e-4 else "0"


def in_words(value: Value) -> str:
    """A change with its verb: "falls by 42.7 ± 6.6%"."""
    if value.mean >= 1:
        return f"grows {told(value)}"
    return f"{'falls' if value.mean < 0 else 'grows'} by {told(value)[1:]}"

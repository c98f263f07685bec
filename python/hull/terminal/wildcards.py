"""Patterns of names: `*` fits any characters, `?` one. No other character is special, since names
of statistics contain brackets.
"""

import re
from functools import cache

_WILD = "*?"


def is_pattern(text: str) -> bool:
    """Whether a name has wildcards."""
    return any(c in text for c in _WILD)


def fits(pattern: str) -> re.Pattern[str]:
    """The pattern as a regular expression for `fullmatch`; case does not matter."""
    text = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return re.compile(text, re.IGNORECASE)


def can_meet(one: str, other: str) -> bool:
    """Whether a name can fit both patterns."""
    one, other = one.lower(), other.lower()

    @cache
    def meet(i: int, j: int) -> bool:
        if i == len(one) and j == len(other):
            return True
        if i < len(one) and one[i] == "*":
            return meet(i + 1, j) or (j < len(other) and meet(i, j + 1))
        if j < len(other) and other[j] == "*":
            return meet(i, j + 1) or (i < len(one) and meet(i + 1, j))
        if i == len(one) or j == len(other):
            return False
        same = one[i] == other[j] or "?" in (one[i], other[j])
        return same and meet(i + 1, j + 1)

    return meet(0, 0)

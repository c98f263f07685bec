"""Statistics that `--until` and `--show` name, checked before the first run as far as the registry
tells: which size classes, ports and groups there are is known after it.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import cache

from hull.errors import UsageError, shown
from hull.results.registry import OF_DISTRIBUTION, STATISTICS
from hull.terminal.wildcards import can_meet, fits, is_pattern

_MOST_NAMED = 4


def check_asked(place: str, name: str) -> None:
    """Raise UsageError unless a run can have a statistic that `name` is or, as a pattern, fits."""
    if any(can_meet(form, name) for form in _forms()):
        return
    names = [statistic.name for statistic in STATISTICS if not statistic.of_machine]
    near = get_close_matches(name, names, _MOST_NAMED, 0.4) or names[:_MOST_NAMED]
    raise UsageError(
        f"{place} {shown(name)}: no such statistic; nearest: {', '.join(near)}; "
        "`hull statistics` lists all"
    )


def expanded(asked: Sequence[str], names: Sequence[str]) -> list[str]:
    """The statistics asked for, patterns replaced by the names that fit them, each once."""
    found: list[str] = []
    for name in asked:
        is_one = name in names or not is_pattern(name)
        found += [name] if is_one else filter(fits(name).fullmatch, names)
    return list(dict.fromkeys(found))


@cache
def _forms() -> tuple[str, ...]:
    """The names that runs can have, with `?*` for what a scenario names."""
    return tuple(
        re.sub("<[a-z]+>", "?*", form)
        for statistic in STATISTICS
        if not statistic.of_machine
        for form in _of_each(statistic.name)
    )


def _of_each(name: str) -> Iterator[str]:
    if "<statistic>" not in name:
        yield name
    for inside in OF_DISTRIBUTION if "<statistic>" in name else ():
        # The values of a distribution carry its unit in keys, not in names.
        yield name.replace("<statistic>", inside)

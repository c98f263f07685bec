"""The keys that a sweep may name: the scenario's, and the short forms that the core knows
(crates/hull-sim/src/scenario/short_keys.rs). An ambiguous or unknown short form is rejected with
the closest keys.
"""

import json
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from typing import Any

from hull import _core
from hull.errors import UsageError
from hull.terminal.options import option

_NO_AXIS = ("name", "title", "source", "schemes", "sweep", "run.seed", "run.seeds")
_MOST_NEAR = 4
"""Keys that a message offers."""


@cache
def all_keys() -> tuple[str, ...]:
    """Every key of a scenario that can be set by its dotted name."""
    keys = (str(row["key"]) for row in json.loads(_core.keys()))
    return tuple(key for key in keys if "[]" not in key and key not in _NO_AXIS)


def full_key(name: str, key: str, scenarios: Iterable[dict[str, Any]]) -> str:
    """The key that `key` means in a file with these resolved scenarios; `name` is for messages."""
    scenarios = list(scenarios)
    if key in ("run.seed", "run.seeds"):
        raise UsageError(f"{name}: seeds cannot be swept; expected {option('seeds')}, their number")
    if key in all_keys() or _is_of_transport(key, scenarios) or _is_group(key, scenarios):
        return key
    ending, present = _core.key_meanings(key, [json.dumps(scenario) for scenario in scenarios])
    if len(present) == 1:
        return present[0]
    if present:
        raise UsageError(f"{name}: {key!r} could mean {' or '.join(present)}; expected one of them")
    if ending:
        raise UsageError(
            f"{name}: {key!r} could mean {' or '.join(ending)}, but nothing in this file has "
            "that table; expected a key of a table that is there"
        )
    raise UsageError(f"{name}: no key {key!r} in a scenario; {_near(key, scenarios)}")


def _is_of_transport(key: str, scenarios: Iterable[dict[str, Any]]) -> bool:
    """Whether a key belongs to one of the transports beside the scenario's own."""
    table, _, rest = key.partition(".")
    name, _, rest = rest.partition(".")
    there = any(name in scenario.get(table, {}) for scenario in scenarios)
    return table == "transports" and there and f"transport.{rest}" in all_keys()


def _is_group(key: str, scenarios: Iterable[dict[str, Any]]) -> bool:
    """Whether a key belongs to one of the groups of flows."""
    table, _, name = key.partition(".")
    return table == "groups" and any(name in scenario.get(table, {}) for scenario in scenarios)


def plain_key(key: str, scenarios: Iterable[dict[str, Any]]) -> str:
    """The full name of a key of a file that the core has read; others are left alone."""
    _, present = _core.key_meanings(key, [json.dumps(scenario) for scenario in scenarios])
    return present[0] if len(present) == 1 else key


def has_table(scenario: dict[str, Any], key: str) -> bool:
    """Whether a resolved scenario has the table that a key is in."""
    table: Any = scenario
    for part in key.split(".")[:-1]:
        table = table.get(part) if isinstance(table, dict) else None
    return isinstance(table, dict)


def _near(key: str, scenarios: Iterable[dict[str, Any]]) -> str:
    """The nearest keys; keys of tables that a scenario has come first."""
    last = key.rpartition(".")[2]
    same = [known for known in all_keys() if known.rpartition(".")[2] == last]
    near = same or get_close_matches(key, all_keys(), n=8, cutoff=0.5)
    if not near:
        by_last = {known.rpartition(".")[2]: known for known in all_keys()}
        near = [by_last[word] for word in get_close_matches(last, by_last, n=4, cutoff=0.6)]
    of = list(scenarios)
    near = sorted(near, key=lambda known: not any(has_table(one, known) for one in of))
    listed = f"nearest: {', '.join(near[:_MOST_NEAR])}; " if near else ""
    return f"{listed}`hull keys` lists all"

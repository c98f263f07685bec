"""Locates keys: the scenarios that are mutated, and every place in them that has a value."""

import copy
import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from hull import _core, scenarios

BASES = Path(__file__).with_name("bases")
"""Scenarios with the keys that no shipped one has."""
ROOT = Path(__file__).parents[2]

Place = tuple[str | int, ...]
"""Keys and indexes from the top of a scenario to a value."""


@cache
def texts() -> dict[str, str]:
    """Return each scenario by name: those that hull ships, the examples, and `bases`."""
    found = {name: scenarios.text(name) for name in scenarios.names()}
    # Without its servers this job has 39 million operations, which take 20 s to make.
    found["gpt13b-128"] = found["gpt13b-128"].replace("batch = 1024", "batch = 32")
    for path in sorted((ROOT / "examples").glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        if found.get(path.stem) != text:
            found[f"examples/{path.stem}"] = text
    for path in sorted(BASES.glob("*.toml")):
        found[f"bases/{path.stem}"] = path.read_text(encoding="utf-8")
    return found


@cache
def places() -> list[tuple[str, Place]]:
    """Return every (scenario name, place) pair."""
    return [
        (name, place)
        for name, text in texts().items()
        for place in _inside(tomllib.loads(text), ())
        if place
    ]


@cache
def known_keys() -> frozenset[str]:
    """The keys of the schema that a user writes, such as `switch.ports[].rate`."""
    keys = {row["key"] for row in json.loads(_core.keys())}
    # For a user's congestion controls only; hull itself writes the first.
    own = {"transport.own_sha256", "transport.messages"}
    return frozenset(keys - own)


def dotted(place: Place) -> str:
    """A place as messages write it: `workload.long_lived.flows[0].src`."""
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def general(place: Place) -> str:
    """A place as in the list of keys: without scheme and index, `switch.ports[].rate`."""
    inside = place[2:] if place[0] == "schemes" and len(place) > 1 else place
    return re.sub(r"\[\d+\]", "[]", dotted(inside))


def get(scenario: dict[str, Any], place: Place) -> Any:
    """The value at a place."""
    value: Any = scenario
    for part in place:
        value = value[part]
    return value


def replaced(scenario: dict[str, Any], place: Place, value: object) -> dict[str, Any]:
    """A copy with another value at a place."""
    changed = copy.deepcopy(scenario)
    get(changed, place[:-1])[place[-1]] = value
    return changed


def _inside(value: object, place: Place) -> Iterator[Place]:
    yield place
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _inside(member, (*place, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _inside(member, (*place, index))

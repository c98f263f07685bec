"""What a sweep is over: axes, their points, and the scenarios to run, each once.

A scheme that does not have a swept key resolves to the same scenario at all values of it: that is
one scenario, shown at each of these points.
"""

import hashlib
import itertools
import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any

from hull.errors import UsageError, check_count
from hull.files.named_files import digest_of_files
from hull.inputs.congestion import CongestionControl, Own, check_own
from hull.runs.plan import build_hash, checked_overrides, expand
from hull.runs.scheme_choice import chosen
from hull.sweeps.keys import full_key, has_table, plain_key
from hull.sweeps.values import Value, literal, shown, values_of
from hull.terminal.options import option

MOST_POINTS = 1_000_000
"""Of one sweep: to resolve the scenarios of more takes a quarter of an hour."""


@dataclass(frozen=True)
class Axis:
    """A swept key."""

    name: str
    """As it was given: the name of a column."""
    key: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Case:
    """A resolved scenario; with a seed it is a run."""

    name: str
    condition: str
    """The swept keys that this scenario has, with their values, as "load=20%,drain=800Mbps"."""
    scheme: str
    scenario: str
    """JSON; of two cases that differ in title and source alone, the same."""
    files: str
    """SHA-256 of the files that the scenario names; empty where it names none."""
    own: type[CongestionControl] | None = None
    """The class of its congestion control, where that is not hull's."""
    memory: int = 0
    """Bytes that a run is estimated to need."""

    @cached_property
    def _digest(self) -> "hashlib._Hash":
        content = json.dumps([build_hash(), self.scenario, self.files])
        return hashlib.sha256(content.encode())

    def key(self, seed: int) -> str:
        """Names a run: SHA-256 (hexadecimal) of build, scenario, files that it names, and seed."""
        digest = self._digest.copy()
        digest.update(f" {seed}".encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class Place:
    """One scheme at one point of the grid."""

    values: tuple[Value, ...]
    """In the order of the axes."""
    scheme: str
    case: int
    """Index of its case."""


@dataclass(frozen=True)
class Grid:
    """A sweep without its seeds: points, schemes and cases."""

    name: str
    title: str
    axes: tuple[Axis, ...]
    places: tuple[Place, ...]
    """In the order of the points, the last axis fastest, and at each the schemes of the file."""
    cases: tuple[Case, ...]
    first_seed: int
    seeds: int
    """Of the scenario file, or as asked for."""

    @property
    def schemes(self) -> tuple[str, ...]:
        """Names, in the order of the file."""
        return tuple(dict.fromkeys(place.scheme for place in self.places))


def make_grid(
    text: str,
    file: str,
    over: Mapping[str, object],
    overrides: Sequence[str] = (),
    seeds: int | None = None,
    own: Own | None = None,
    schemes: Sequence[str] = (),
) -> Grid:
    """Resolve a scenario's text at every point of its own `[sweep]` and of `over`; `own` are
    congestion controls by name, `schemes` the names of those that run, all by default.
    """
    of_scheme = itemgetter("scheme")
    own = own or {}
    named = check_own(own)
    overrides = checked_overrides(overrides)
    whole = chosen(schemes, expand(text, file, overrides, named), of_scheme)
    axes = _axes(text, file, over, overrides, [cell["scenario"] for cell in whole])
    points = math.prod(len(axis.values) for axis in axes)
    if points > MOST_POINTS:
        sizes = " x ".join(str(len(axis.values)) for axis in axes)
        raise UsageError(
            f"{option('over')}: {points} points ({sizes}); expected at most {MOST_POINTS}"
        )
    run = whole[0]["scenario"]["run"]
    cases: dict[tuple[str, str], int] = {}
    made: list[Case] = []
    places: list[Place] = []
    labels = [option("set")] * len(overrides) + [option("over")] * len(axes)
    for values in itertools.product(*(axis.values for axis in axes)):
        settings = [
            f"{axis.key}={literal(value)}" for axis, value in zip(axes, values, strict=True)
        ]
        cells = expand(text, file, [*overrides, *settings], named, labels)
        for cell in chosen(schemes, cells, of_scheme):
            case = _case(cell, axes, values, own)
            index = cases.setdefault((case.scenario, case.files), len(made))
            if index == len(made):
                made.append(case)
            places.append(Place(values, cell["scheme"], index))
    return Grid(
        name=whole[0]["scenario"]["name"],
        title=whole[0]["scenario"].get("title", ""),
        axes=axes,
        places=tuple(places),
        cases=tuple(made),
        first_seed=run["seed"],
        seeds=run["seeds"] if seeds is None else check_count(option("seeds"), seeds),
    )


def _axes(
    text: str,
    file: str,
    over: Mapping[str, object],
    overrides: Sequence[str],
    scenarios: list[dict[str, Any]],
) -> tuple[Axis, ...]:
    """The file's own sweep, without the keys that are set or swept by hand, and then `over`."""
    by_hand: dict[str, Axis] = {}
    for name, given in over.items():
        label = f"{option('over')} {name}"
        key = full_key(label, name, scenarios)
        if key in by_hand:
            raise UsageError(
                f"{label}: {key} is swept as {by_hand[key].name} already; expected once"
            )
        by_hand[key] = Axis(name, key, tuple(values_of(label, given)))
    set_by_hand = {
        plain_key(override.partition("=")[0].strip(), scenarios) for override in overrides
    }
    for key in by_hand:
        if key in set_by_hand:
            raise UsageError(
                f"{option('set')} {key}: swept by {option('over')} as well; expected one of them"
            )
    own = tomllib.loads(text).get("sweep", {})
    axes = [
        Axis(name, key, tuple(values_of(f'{file}: sweep."{name}"', given)))
        for name, given in own.items()
        if (key := plain_key(name, scenarios)) not in by_hand and key not in set_by_hand
    ]
    return (*axes, *by_hand.values())


def _case(
    cell: dict[str, Any], axes: tuple[Axis, ...], values: tuple[Value, ...], own: Own
) -> Case:
    scenario = cell["scenario"]
    condition = ",".join(
        f"{axis.key.rpartition('.')[2]}={shown(value)}"
        for axis, value in zip(axes, values, strict=True)
        if has_table(scenario, axis.key)
    )
    run = {**scenario["run"], "seed": 0, "seeds": 1}
    kept = {key: value for key, value in scenario.items() if key not in ("title", "source")}
    return Case(
        name=scenario["name"],
        condition=condition,
        scheme=cell["scheme"],
        scenario=json.dumps({**kept, "run": run}),
        files=digest_of_files(scenario),
        own=own.get(scenario["transport"]["congestion_control"]),
        memory=cell["memory"]["bytes"],
    )


def with_seed(scenario: str, seed: int) -> str:
    """The scenario of one run: such a scenario file gives this run and no other."""
    content = json.loads(scenario)
    content["run"]["seed"] = seed
    return json.dumps(content)

"""What a scenario would run, without running it (`hull check`)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from hull import _core
from hull.cli.pause_rows import pause_rows, pauses_of
from hull.process.memory import human
from hull.runs.plan import Cell, Memory, Plan
from hull.warnings.marking import rate_text, time_text
from hull.warnings.processor_time import rough_time
from hull.warnings.scenario import times_of, warnings_before

_MOST_NAMES = 8
_MOST_KINDS = 4
"""Kinds of links of a tier that a line names."""
_T = TypeVar("_T")


def as_json(plan: Plan) -> dict[str, Any]:
    """What would run, for programs."""
    first = plan.cells[0].scenario["run"]
    times = times_of(plan)
    known = [seconds for seconds in times if seconds is not None]
    return {
        "name": plan.name,
        "schemes": _unique(cell.scheme for cell in plan.cells if cell.scheme),
        "conditions": _unique(cell.condition for cell in plan.cells if cell.condition),
        "cells": len(plan.cells),
        "seeds": list(plan.seeds),
        "runs": len(plan.parts),
        "duration": first["duration"],
        "warmup": first["warmup"],
        "networks": _networks(plan),
        "pauses": pauses_of(plan.cells),
        "memory": _memory(plan),
        "processor_seconds": max(known) if known and len(known) == len(times) else None,
        "derived": [
            {"key": key, "value": value, "schemes": schemes}
            for (key, value), schemes in _derived(plan.cells).items()
        ],
        "warnings": warnings_before(plan),
    }


def rows(plan: Plan, found: dict[str, Any]) -> list[tuple[str, str]]:
    """The same, `found`, as labels and texts; without the warnings."""
    schemes, conditions = found["schemes"], found["conditions"]
    made_of = [f"{len(schemes)} schemes"] * bool(schemes)
    made_of += [f"{len(conditions)} conditions"] * bool(conditions)
    cells = str(len(plan.cells))
    if len(made_of) > 1 and len(schemes) * len(conditions) == len(plan.cells):
        cells += f" = {' x '.join(made_of)}"
    networks = [
        f"{_count(one['hosts'], 'host')}, {_count(one['switches'], 'switch', 'switches')}"
        for one in found["networks"]
    ]
    networks = _unique(networks)
    links = _unique(line for one in found["networks"] for line in _links(one["links"]))
    seeds = str(plan.seeds[0])
    if len(plan.seeds) > 1:
        seeds = f"{len(plan.seeds)}, from {plan.seeds[0]} to {plan.seeds[-1]}"
    times = {(c.scenario["run"]["duration"], c.scenario["run"]["warmup"]) for c in plan.cells}
    runs = str(found["runs"])
    if len(times) == 1:
        runs += f", each {found['duration']}"
        if float(_core.quantity("time", found["warmup"])) > 0:
            runs += f" after a warm-up of {found['warmup']}"
    table = [
        ("name", plan.name),
        ("network", "; or ".join(networks)),
        *(("links", line) for line in links),
        *pause_rows(found["pauses"], len(schemes)),
        ("schemes", _names(schemes)),
        ("conditions", _names(conditions)),
        ("cells", cells),
        ("seeds", seeds),
        ("runs", runs),
        ("memory", _memory_text(found["memory"])),
        ("time", _time_text(found["processor_seconds"])),
    ]
    for entry in found["derived"]:
        of = entry["schemes"]
        suffix = f" ({', '.join(of)})" if of and len(of) < len(schemes) else ""
        table.append(("derived", f"{entry['key']} = {json.dumps(entry['value'])}{suffix}"))
    return [(label, text) for label, text in table if text]


def _networks(plan: Plan) -> list[dict[str, Any]]:
    """Hosts, switches and links by tier; one entry unless a sweep changes them."""
    of: dict[str, Cell] = {}
    for cell in plan.cells:
        ends = (cell.scenario[end] for end in ("host", "switch"))
        wires = [(end["rate"], end["delay"]) for end in ends]
        of.setdefault(json.dumps([cell.scenario["topology"], wires]), cell)
    found = (json.loads(cell.resolved.network()) for cell in of.values())
    networks = (
        {"hosts": len(one["hosts"]), "switches": one["switches"], "links": one["tiers"]}
        for one in found
    )
    return [json.loads(text) for text in _unique(map(json.dumps, networks))]


def _links(tiers: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each tier: number, rates and delays of its links."""
    lines = []
    for tier in tiers:
        kinds = [_kind(kind) for kind in tier["kinds"]]
        line = f"{tier['tiers']}: {tier['links']}"
        if len(kinds) == 1:
            lines.append(f"{line} at {kinds[0]}")
            continue
        shown = [
            f"{kind['links']} at {text}" for kind, text in zip(tier["kinds"], kinds, strict=True)
        ]
        more = len(shown) - _MOST_KINDS
        others = sum(kind["links"] for kind in tier["kinds"][_MOST_KINDS:])
        end = f"; {others} at {more} other rates or delays" if more > 0 else ""
        lines.append(f"{line}, of which {'; '.join(shown[:_MOST_KINDS])}{end}")
    return lines


def _kind(kind: Mapping[str, Any]) -> str:
    """Rate and one-way delay of links, of both directions if they differ."""
    up, down = rate_text(kind["up_bps"]), rate_text(kind["down_bps"])
    rate = up if up == down else f"{up} up and {down} down"
    up, down = time_text(kind["up_ps"] * 1e-12), time_text(kind["down_ps"] * 1e-12)
    return f"{rate}, {up if up == down else f'{up} up and {down} down'} one way"


def _memory(plan: Plan) -> Memory | None:
    """The estimate of the run that needs most."""
    found = [cell.memory for cell in plan.cells if cell.memory]
    return max(found, key=lambda memory: memory["bytes"], default=None)


def _memory_text(memory: Memory | None) -> str:
    """The estimate, with its largest part if the run is what takes memory."""
    if memory is None:
        return ""
    text = f"about {human(memory['bytes'])} for a run"
    largest = memory["needs"][0] if memory["needs"] else None
    if largest is None or 2 * largest["bytes"] < memory["bytes"]:
        return text
    return f"{text}, of which {human(largest['bytes'])} for {largest['key']}: {largest['what']}"


def _time_text(seconds: float | None) -> str:
    """The estimate of the run that takes longest."""
    if seconds is None:
        return ""
    return f"about {rough_time(seconds)} of processor time for a run, roughly"


def _derived(cells: Iterable[Cell]) -> dict[tuple[str, Any], list[str]]:
    """Keys that were not set, with their values, and the schemes that have them."""
    found: dict[tuple[str, Any], list[str]] = {}
    for cell in cells:
        for key in cell.derived:
            value: Any = cell.scenario
            for part in key.split("."):
                value = value[part]
            schemes = found.setdefault((key, value), [])
            if cell.scheme and cell.scheme not in schemes:
                schemes.append(cell.scheme)
    return found


def _unique(values: Iterable[_T]) -> list[_T]:
    return list(dict.fromkeys(values))


def _count(number: int, one: str, several: str | None = None) -> str:
    return f"{number} {one if number == 1 else several or one + 's'}"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown

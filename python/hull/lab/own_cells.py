"""The user's scenario as it is: its own network and traffic, run live with the controls' changes.

Each scheme of the file is a scheme of the lab named `own:NAME`. A control changes it only if its
value differs from the file's. With no control moved the run is the same as with `hull run`, with
the lab's warm-up, duration and samples.
"""

import copy
import json
import math
from collections.abc import Mapping
from typing import Any

from hull import _core
from hull.lab import scenario
from hull.lab.ends import numbers, receivers
from hull.lab.model import Catalog, Scheme, State
from hull.theory.scenario import time_text

PREFIX = "own:"
MOST_HOSTS = 256
"""Of a network that runs live: a larger one takes too long to start for every slider's move."""
_MOST_LONG = 256
"""Long flows whose goodput is summed."""
_LOADED = ("requests", "flows")
"""Workloads with a load that can be set."""


def id_of(name: str) -> str:
    """The lab's name of a file's scheme; a file without schemes has one."""
    return f"{PREFIX}{name or 'scenario'}"


def is_own(id_: str) -> bool:
    """Whether a scheme is one of the file."""
    return id_.startswith(PREFIX)


def runs(cells: Mapping[str, dict[str, Any]], file: str) -> dict[str, Scheme]:
    """The file's schemes that can run live, by name; none where its network is too large."""
    first = next(iter(cells.values()))
    if _hosts(first) > MOST_HOSTS:
        return {}
    found = (
        Scheme(
            id_of(name),
            f"{name or cell['name']} ({file.rpartition('/')[2]})",
            "as in the file, on its network, with its traffic",
            tuple(_places(cell)),
            (),
            own=True,
        )
        for name, cell in cells.items()
        if "," not in name
    )
    return {scheme.id: scheme for scheme in found}


def cell(
    state: State,
    id_: str,
    cells: Mapping[str, dict[str, Any]],
    catalog: Catalog,
) -> scenario.Cell:
    """A scheme of the file with the controls' changes and the lab's measurements."""
    found = copy.deepcopy(cells[id_])
    for setting, (path, write) in _places(found).items():
        value = getattr(state, setting)
        if value != catalog.default(setting):
            table = found
            for key in path[:-1]:
                table = table[key]
            table[path[-1]] = write(value)
    interval = scenario.sample_interval(state)
    first, shown, long = _flows(found)
    # As in the star: connections of requests are followed as well, so less often.
    often = interval * math.ceil(scenario.round_trip(state) / interval) if first else interval
    found["run"] = {
        **found["run"],
        "duration": time_text(scenario.duration(state) - scenario.warmup(state)),
        "warmup": time_text(scenario.warmup(state)),
        "seeds": 1,
        "seed": int(state.seed),
    }
    found["measure"] = {
        **{key: value for key, value in found["measure"].items() if key != "ports"},
        "sample_interval": time_text(interval),
        "queue_changes": False,
        "flows": {"count": first + max(shown, long), "interval": time_text(often)},
    }
    read = _core.Resolved(json.dumps(found))
    return scenario.Cell(id_, found, read, first, shown, long, _classes(found["workload"]))


def content(own: list[scenario.Cell]) -> dict[str, Any]:
    """One scenario of several cells, for `hull run`: the common keys, and each scheme's table."""
    found = {cell.scheme.removeprefix(PREFIX): cell.scenario for cell in own}
    first, *others = found.values()
    shared = first
    for other in others:
        shared = _shared(shared, other)
    schemes = {name: _rest(cell, shared) for name, cell in found.items()}
    return {**shared, "schemes": schemes}


def _flows(cell: Mapping[str, Any]) -> tuple[int, int, int]:
    """The number of the first long flow, how many windows are shown, how many flows are long.

    Connections of requests come before; of other workloads the first flows are shown.
    """
    workload = {kind: table for kind, table in cell["workload"].items() if table}
    if not workload.keys() <= {"long_lived", "requests"} or "long_lived" not in workload:
        return 0, scenario.SHOWN_FLOWS, 0
    ends = list(receivers(cell))
    before = 0
    if "requests" in workload:
        requests = workload["requests"]
        servers = requests.get("servers")
        count = len(numbers(cell, servers)) if servers is not None else _hosts(cell) - 1
        kinds = len(requests["classes"]) if requests.get("separate_classes") else 1
        before = 2 * count * requests["connections_per_server"] * kinds
    whole = all(host == 0 for host in ends) and len(ends) <= _MOST_LONG
    return before, min(len(ends), scenario.SHOWN_FLOWS), len(ends) if whole else 0


def _classes(workload: Mapping[str, Any]) -> tuple[str, ...]:
    """The first two kinds of transfers, as hull orders them."""
    if workload.get("requests"):
        sizes = [entry["size"] for entry in workload["requests"]["classes"]]
        return tuple(f"{size} requests" for size in sizes[:2])
    if workload.get("flows"):
        return tuple(f"flows up to {size}" for size in workload["flows"]["class_bounds"][:2])
    return ("responses",) if workload.keys() - {"long_lived", "bulk"} else ()


def _hosts(cell: Mapping[str, Any]) -> int:
    return len(json.loads(_core.Resolved(json.dumps(cell)).network())["hosts"])


def _bytes(value: float) -> str:
    return f"{round(value)}B"


def _places(cell: Mapping[str, Any]) -> dict[str, tuple[tuple[str, ...], Any]]:
    """The keys of a resolved scenario that controls set, and the form of their values."""
    found: dict[str, tuple[tuple[str, ...], Any]] = {}
    switch = cell["switch"]
    if switch.get("phantom_queue") is not None:
        found["drain"] = (("switch", "phantom_queue", "drain"), scenario.share)
        found["threshold"] = (("switch", "phantom_queue", "threshold"), _bytes)
    if switch.get("marking") is not None:
        found["k"] = (("switch", "marking", "threshold"), _bytes)
    if switch.get("buffer") not in (None, "unlimited"):
        found["buffer"] = (("switch", "buffer"), _bytes)
    if (switch.get("pfc") or {}).get("xoff") is not None:
        found["xoff"] = (("switch", "pfc", "xoff"), _bytes)
    for kind in _LOADED:
        if (cell["workload"].get(kind) or {}).get("load") is not None:
            found["load"] = (("workload", kind, "load"), scenario.share)
    # Several transmit queues need a FIFO, and small queues that are on need a queue per flow.
    limits = [cell["transport"], *(cell.get("transports") or {}).values()]
    asked = any((transport.get("small_queues") or {}).get("on") for transport in limits)
    if cell["host"]["nic_queues"] == 1 and not asked:
        found["queue"] = (("host", "queue"), str)
    return found


def _shared(first: Any, second: Any) -> Any:
    """The keys of two tables that have the same values."""
    tables = isinstance(first, dict) and isinstance(second, dict)
    if not tables:
        return first
    return {
        key: _shared(value, second[key])
        for key, value in first.items()
        if key in second
        and (value == second[key] or (isinstance(value, dict) and isinstance(second[key], dict)))
    }


def _rest(table: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """The entries of a table that are not shared."""
    return {
        key: _rest(value, shared[key]) if isinstance(value, dict) and key in shared else value
        for key, value in table.items()
        if key not in shared or shared[key] != value
    }

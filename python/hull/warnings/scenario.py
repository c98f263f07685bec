"""Warnings that follow from a resolved scenario, before it runs.

Each is one sentence that begins with the key.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from hull import _core
from hull.runs.plan import Cell, Plan
from hull.warnings.admission import admission_warnings
from hull.warnings.bare_numbers import Bare, bare_numbers, implausible
from hull.warnings.flow_lists import flow_list_warnings
from hull.warnings.idle_keys import State, idle_keys, key_states
from hull.warnings.link_rates import link_rate_warnings
from hull.warnings.marking import marking_warnings
from hull.warnings.pauses import pause_warnings
from hull.warnings.processor_time import processor_time_s, rough_time
from hull.warnings.reordering import reordering_warnings
from hull.warnings.workload import workload_warnings

_MOST_NAMES = 3
LONG_S = 3600
"""Processor time from which on runs are long, s."""


Networks = dict[str, dict[str, Any]]
"""Networks that were read, by the keys that say them."""


def warnings_before(plan: Plan) -> list[str]:
    """The sentences for all cells of a plan."""
    networks: Networks = {}
    texts = warnings_of_cells(plan.cells, networks, bare_numbers(plan.text, plan.overrides))
    return [*texts, *_long_runs(plan, networks)]


def warnings_of_cells(
    of: Sequence[Cell], networks: Networks, bare: Sequence[Bare] = ()
) -> list[str]:
    """Each sentence once, with the cells that it is about unless it is about all; `bare` are
    numbers without a unit.
    """
    found: dict[str, list[str]] = {}
    cells = [cell for cell in of if cell.scenario]
    for cell in cells:
        of_numbers = filter(None, (implausible(one, cell.scenario) for one in bare))
        for text in dict.fromkeys([*of_numbers, *_of_cell(cell, networks)]):
            found.setdefault(text, []).append(_name(cell))
    states = chain.from_iterable(_states(cell, networks) for cell in cells)
    return [
        *(
            text if len(names) == len(cells) else f"{text} ({_names(names)})"
            for text, names in found.items()
        ),
        *idle_keys(states),
    ]


def times_of(plan: Plan) -> list[float | None]:
    """Estimated processor time of a run of each cell, s; None where it is not estimated."""
    networks: Networks = {}
    return _times(plan.cells, networks)


def _times(of: Sequence[Cell], networks: Networks) -> list[float | None]:
    return [
        processor_time_s(cell.scenario, partial(_network, cell, networks))
        for cell in of
        if cell.scenario
    ]


def _long_runs(plan: Plan, networks: Networks) -> Iterator[str]:
    """Runs that take more than an hour of processor time together."""
    total_s = sum(filter(None, _times(plan.cells, networks))) * len(plan.seeds)
    if total_s > LONG_S:
        runs = len(plan.parts)
        told = "the run takes" if runs == 1 else f"the {runs} runs together take"
        yield (
            f"run.duration: {told} about {rough_time(total_s)} of processor time, a rough "
            "estimate; a shorter duration, fewer seeds or --scheme take less"
        )


def _of_cell(cell: Cell, networks: Networks) -> Iterator[str]:
    scenario = cell.scenario

    def network() -> dict[str, Any]:
        return _network(cell, networks)

    def rates() -> Sequence[float]:
        return named_rates(scenario) or network()["rates_bps"]

    round_trip = cell.resolved.round_trip
    yield from marking_warnings(scenario, rates, round_trip)
    yield from workload_warnings(scenario, network, round_trip)
    yield from flow_list_warnings(scenario, cell.resolved.flows_beyond)
    yield from link_rate_warnings(scenario)
    yield from pause_warnings(scenario, cell.resolved.pause_cycle, cell.resolved.pauses)
    yield from reordering_warnings(scenario)
    yield from admission_warnings(scenario, network, round_trip)


def _states(cell: Cell, networks: Networks) -> Iterator[State]:
    return key_states(cell.scenario, partial(_network, cell, networks))


def named_rates(scenario: Mapping[str, Any]) -> list[float]:
    """Rates of the links out of switches, if the scenario names them all; a large network takes
    seconds to read.
    """
    topology = scenario["topology"]
    if any(table in topology for table in ("links", "file", "graph")):
        return []
    texts = [scenario["switch"]["rate"]]
    for settings in topology.values():
        if isinstance(settings, dict):
            texts += [value for key, value in settings.items() if key.endswith("_rate")]
    return sorted({_core.quantity("rate", text) for text in texts})


def _network(cell: Cell, networks: Networks) -> dict[str, Any]:
    """Hosts and links of a cell, read once for all cells with the same network."""
    host, switch = cell.scenario["host"], cell.scenario["switch"]
    key = json.dumps([cell.scenario["topology"], host["rate"], switch["rate"]])
    if key not in networks:
        networks[key] = json.loads(cell.resolved.network())
    return networks[key]


def _name(cell: Cell) -> str:
    return ", ".join(filter(None, (cell.scheme, cell.condition)))


def _names(names: Sequence[str]) -> str:
    if len(names) <= _MOST_NAMES:
        return "; ".join(names)
    return f"{'; '.join(names[:_MOST_NAMES])}; {len(names) - _MOST_NAMES} more"

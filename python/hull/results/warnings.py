"""Warnings about a run: what decided its results without being part of what was compared.

- Packets that were dropped inside hosts, by a pacer's FIFO or a NIC's queue: no link shows them,
  and their flows are slow for no reason of the network.
- Packets that were lost on failed links, or had no route.
- A largest window that was left at its default and is below the bandwidth-delay product of the
  longest path: it, and not congestion control, limits a flow that has the path to itself.
- Flows, or queries, that started and did not complete: completion times leave them out.
- A group of flows of which no flow has completed.
- Rows of a flow list that start after the measured time.
- Switches that dropped packets and marked none, although senders have ECN.
- A queue inside the sending host that decides the 99th percentile of small flows.
- Flows that take longer in the second half of the measured time than in the first.
- L4S packets, ECT(1), at switches that do not queue them apart from classic ones.
- A run that asked for several threads and took one, with the reason.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from hull import _core
from hull.results.changes import in_words
from hull.results.drift import drift
from hull.results.registry import NO_GROUP
from hull.results.waits import SENDER, waits_of
from hull.runs.plan import Cell, Plan
from hull.warnings.controls import matters
from hull.warnings.marking import MARKING
from hull.warnings.random_loss import loses_at_random

MUCH = 1 / 3
"""Share of a completion time from which on the host's queue decides it."""
MOST_LINKS = 4
"""Failed links that a warning names."""


@cache
def _default_window() -> int:
    rows = json.loads(_core.keys())
    found: int = next(row["default"] for row in rows if row["key"] == "transport.max_window")
    return found


def warnings_of(
    plan: Plan, cells: Sequence[Mapping[str, Any]], parts: Sequence[Sequence[Mapping[str, Any]]]
) -> list[str]:
    """One sentence for each thing, cells that share it together; `cells` are the summary's, and
    `parts` the summaries of each cell's seeds.
    """
    found: dict[str, list[str]] = {}
    for cell, averages, seeds in zip(plan.cells, cells, parts, strict=True):
        if not cell.scenario:
            continue  # measured on a real network
        name = ", ".join(filter(None, (cell.scheme, cell.condition))) or plan.name
        drops = _drops_in_hosts(cell.scenario, averages["drops_by_place"])
        found_here = (
            drops,
            _lost_with_links(averages, seeds),
            _small_window(cell),
            *_unfinished(averages),
            _empty_groups(averages),
            _unknown_dscp(seeds),
            _pin_misses(seeds),
            _late_flows(seeds),
            _remarks_on_job(seeds),
            _unfinished_job(seeds),
            _one_thread(seeds),
            _unseparated(cell.scenario),
            _unmarked(cell.scenario, averages),
        )
        for text in filter(None, found_here):
            found.setdefault(text, []).append(name)
    warnings = [f"{_names(names)}: {text}" for text, names in found.items()]
    return [*warnings, *_waits_in_hosts(plan, parts), *_drifts(plan, parts)]


def _names(names: list[str]) -> str:
    if len(names) <= 3:
        return "; ".join(names)
    return f"{names[0]}; {names[1]}; {len(names) - 2} more"


def _drops_in_hosts(scenario: Mapping[str, Any], places: Mapping[str, Any]) -> str:
    pacers, nics = (places[place]["mean"] for place in ("pacer", "nic"))
    rings = places.get("receive_ring", {"mean": 0})["mean"]
    parts = []
    if pacers > 0:
        fifo = scenario["pacer"]["fifo"]
        parts.append(
            f'{pacers:,.0f} by pacers (pacer.fifo is "{fifo}"; unset pacer keys suit the network)'
        )
    if nics > 0:
        buffer = scenario["host"]["nic_buffer"]
        parts.append(f'{nics:,.0f} by NICs (host.nic_buffer is "{buffer}")')
    if rings > 0:
        ring = scenario["host"]["receive"]["ring"]
        parts.append(f"{rings:,.0f} by full receive rings (host.receive.ring is {ring})")
    if not parts:
        return ""
    return f"packets were dropped inside hosts, per seed {' and '.join(parts)}"


def _lost_with_links(averages: Mapping[str, Any], seeds: Sequence[Mapping[str, Any]]) -> str:
    lost: Counter[str] = Counter()
    for part in seeds:
        lost.update(part.get("failure_drops", {}))
    links = [f"{link} ({count / len(seeds):,.4g})" for link, count in lost.most_common()]
    if len(links) > MOST_LINKS:
        links[MOST_LINKS - 1 :] = [f"{len(links) - MOST_LINKS + 1} more links"]
    parts = [f"lost on failed links: {', '.join(links)}"] if links else []
    unrouted = averages["drops_by_place"].get("no_route", {"mean": 0})["mean"]
    if unrouted > 0:
        parts.append(f"dropped without a route ({unrouted:,.4g})")
    return f"packets per seed were {', and '.join(parts)}" if parts else ""


def _unfinished(averages: Mapping[str, Any]) -> list[str]:
    fct, queries = averages["fct"] or (), averages["queries"]
    completed, flows = (sum(entry[key]["mean"] for entry in fct) for key in ("count", "unfinished"))
    asked, answered = (queries[key]["mean"] if queries else 0 for key in ("count", "completed"))
    counted = ((flows, completed + flows, "flows"), (asked - answered, asked, "queries"))
    return [
        f"{missing:,.4g} of {started:,.8g} {what} per seed did not complete; statistics of "
        "completion times leave them out, and are lower bounds where they are marked so"
        for missing, started, what in counted
        if missing > 0
    ]


def _empty_groups(averages: Mapping[str, Any]) -> str:
    empty = [
        name
        for name, of in averages.get("groups", {}).items()
        if name != NO_GROUP and not any(entry["count"]["mean"] for entry in of["fct"])
    ]
    return f"no flow of these groups completed: {', '.join(empty)}" if empty else ""


def _late_flows(parts: Sequence[Mapping[str, Any]]) -> str:
    late = max((part.get("late_flows", 0) for part in parts), default=0)
    if not late:
        return ""
    rows = "1 row" if late == 1 else f"{late:,} rows"
    return (
        f"{rows} of the flow list would start after the measured time (run.warmup + run.duration) "
        "and did not"
    )


def _remarks_on_job(parts: Sequence[Mapping[str, Any]]) -> str:
    remarks = {text for part in parts for text in (part.get("job") or {}).get("remarks", ())}
    if not remarks:
        return ""
    return f"of the job's schedule: {'; '.join(sorted(remarks))} (job.remarks)"


def _unfinished_job(parts: Sequence[Mapping[str, Any]]) -> str:
    jobs = [job for part in parts if (job := part.get("job")) and job["step_us"] is None]
    if not jobs:
        return ""
    worst = min(jobs, key=lambda job: job["ended"] / job["operations"])
    return (
        f"the job did not end in the measured time: {worst['ended']:,} of {worst['operations']:,} "
        "operations did; its step has no time. Raise run.duration"
    )


def _unknown_dscp(parts: Sequence[Mapping[str, Any]]) -> str:
    packets = max((part.get("unknown_dscp", 0) for part in parts), default=0)
    if not packets:
        return ""
    return (
        f"the switches did not know the code point of {packets:,} data packets (unknown_dscp), "
        "whose class followed from transport.priority"
    )


def _pin_misses(parts: Sequence[Mapping[str, Any]]) -> str:
    misses = max((part.get("pin_misses", 0) for part in parts), default=0)
    if not misses:
        return ""
    times = "1 time" if misses == 1 else f"{misses:,} times"
    return (
        f"{times} a flow found no shortest path through the switch of its column via, and took "
        "another (pin_misses)"
    )


def _one_thread(parts: Sequence[Mapping[str, Any]]) -> str:
    reasons = {part.get("divided", {}).get("because") for part in parts} - {None}
    return (
        f"run.threads: one thread served the run ({'; '.join(sorted(reasons))})" if reasons else ""
    )


def _sends_ect1(transport: Mapping[str, Any]) -> bool:
    control = transport["congestion_control"]
    is_l4s = transport.get("constant_rate", {}).get("l4s", False)
    return bool(control == "prague" or (control == "constant_rate" and is_l4s))


def marks_before_drops(scenario: Mapping[str, Any]) -> bool:
    """Whether drops without a mark mean that buffers fill before switches mark. Loss at random and
    on failed links is no queue's.
    """
    switch = scenario["switch"]
    places = (switch, *switch.get("ports", ()))
    marks = any(table in place for place in places for table in MARKING)
    lossy = loses_at_random(scenario) or "failures" in scenario["topology"]
    return bool(marks and not lossy and scenario["transport"]["ecn"])


def _unmarked(scenario: Mapping[str, Any], averages: Mapping[str, Any]) -> str:
    """Drops without a mark."""
    if not marks_before_drops(scenario) or averages["marks"]["mean"] > 0:
        return ""
    dropped = sum(
        count["mean"]
        for place, count in averages["drops_by_place"].items()
        if place not in ("pacer", "nic", "no_route")
    )
    if not dropped:
        return ""
    return (
        f"transport.ecn: the switches dropped {dropped:,.4g} packets per seed and marked none; "
        "their buffers fill before they mark"
    )


def _waits_in_hosts(plan: Plan, parts: Sequence[Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    """Cells whose slowest small flows wait longest in the queue of the sending host, by queue."""
    waits = waits_of({"parts": [part for seeds in parts for part in seeds]})
    of_cells = {(one.condition, one.scheme): one for one in waits}
    found: dict[str, list[tuple[str, float]]] = {}
    for cell in plan.cells:
        one = of_cells.get((cell.condition, cell.scheme))
        if not cell.scenario or one is None or one.longest()[0] != SENDER:
            continue
        host = cell.scenario["host"]
        if "stack_jitter" in host:
            continue  # the jitter decides the tail
        _, share = one.longest()
        own_us = _behind_its_own_packets_us(cell.scenario, one.flows)
        if share - own_us / sum(one.tail_us.values()) >= MUCH:
            unset = ", the default" if "host.queue" in cell.derived else ""
            name = ", ".join(filter(None, (cell.scheme, cell.condition))) or plan.name
            key = f'host.queue = "{host["queue"]}"{unset}: {one.flows}'
            found.setdefault(key, []).append((name, share))
    for key, cells in found.items():
        shares = sorted({f"{100 * share:.0f}%" for _, share in cells}, key=lambda x: float(x[:-1]))
        of_time = shares[0] if len(shares) == 1 else f"{shares[0]} to {shares[-1]}"
        yield (
            f"{_names([name for name, _ in cells])}: {key} flows beyond the 99th percentile wait "
            f"{of_time} of their time in the sending host's queue, which decides that percentile"
        )


def _drifts(plan: Plan, parts: Sequence[Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    """Cells whose halves differ, by size class."""
    tried = sum(len(seeds[0].get("halves") or ()) for seeds in parts if seeds)
    for cell, seeds in zip(plan.cells, parts, strict=True):
        name = ", ".join(filter(None, (cell.scheme, cell.condition))) or plan.name
        of_classes = zip(*(part.get("halves") or () for part in seeds), strict=False)
        for of_seeds in of_classes:
            first, second = (
                {seed: one[half]["mean_us"] for seed, one in enumerate(of_seeds)}
                for half in ("first", "second")
            )
            found = drift(first, second, tried)
            if found is not None:
                yield (
                    f"{name}: run.duration: the mean completion time of {of_seeds[0]['class']} "
                    f"flows that start in the second half {in_words(found)} against the first "
                    "half: a longer run has other results"
                )


def _behind_its_own_packets_us(scenario: Mapping[str, Any], flows: str) -> float:
    """Longest wait of a flow's last packet behind the others of the flow, by its size class."""
    largest = flows.strip("(]").split(", ")[-1]
    if not largest[0].isdigit():
        return float("inf")
    mtu = _core.quantity("size", scenario["transport"]["mtu"])
    others = max(_core.quantity("size", largest) - mtu, 0.0)
    return 8e6 * others / _core.quantity("rate", scenario["host"]["rate"])


def _unseparated(scenario: Mapping[str, Any]) -> str:
    tables = {"transport": scenario["transport"]}
    tables |= {f"transports.{name}": of for name, of in scenario.get("transports", {}).items()}
    senders = [name for name, of in tables.items() if _sends_ect1(of)]
    switch = scenario["switch"]
    separates = "dualpi2" in switch or switch.get("fq_codel", {}).get("flows", 1) > 1
    if not senders or separates:
        return ""
    return (
        f"{', '.join(senders)} sends ECT(1), and the switches queue it with classic traffic, which "
        "then loses to it; switch.dualpi2 and switch.fq_codel separate the two"
    )


def _small_window(cell: Cell) -> str:
    transport = cell.scenario["transport"]
    if not matters("max_window", transport):
        return ""
    mtu = _core.quantity("size", transport["mtu"])
    key = min(("max_window", "receive_window"), key=lambda name: transport[name])
    if transport[key] != _default_window():
        return ""
    round_trip_s = cell.resolved.round_trip()
    most_bps = 8 * transport[key] * mtu / round_trip_s
    rate_bps = max(host["out_bps"] for host in json.loads(cell.resolved.network())["hosts"])
    if most_bps >= rate_bps:
        return ""
    return (
        f"transport.{key}, {transport[key]} packets by default, limits a flow to "
        f"{most_bps / 1e9:.3g} Gbps over a round trip of {round_trip_s * 1e6:.4g} us; "
        f"the fastest host's link has {rate_bps / 1e9:.3g} Gbps"
    )

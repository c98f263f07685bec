"""Warnings of keys that are set without the setting that makes them act.

A key may be idle in one cell of a scenario on purpose, as in the baseline of a sweep. A warning
follows only if it is idle in every cell that sets it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from hull import _core
from hull.warnings.marking import UNLIMITED, Scenario, longest_queue, mtu_of
from hull.warnings.traffic import Network, number_of

State = tuple[str, str | None]
"""A key that is set, and the sentence that says why it has no effect; None if it has one."""
_GAP_INTERVAL = "500us"
"""The default of `transport.message.gap_interval`."""
_QCN = ("qcn", "qcn-aimd")
_TRANSMIT = ("packet_cost", "frame_cost")
_RECEIVE = ("interrupt_cost", *_TRANSMIT)


def key_states(scenario: Scenario, network: Network) -> Iterator[State]:
    """The keys that are set and may be idle."""
    return chain(
        _of_controls(scenario),
        _of_messages(scenario),
        _of_senders_with_ecn(scenario),
        _of_hosts(scenario["host"]),
        _of_nics(scenario["host"], network),
        _of_memory(scenario),
        _of_watchdog(scenario),
        _of_recorded_pauses(scenario),
        _batches(scenario["workload"], network),
        _deadlines(scenario["workload"]),
    )


def idle_keys(of_cells: Iterable[State]) -> Iterator[str]:
    """The first sentence about each key that acts in no cell."""
    found: dict[str, list[str | None]] = {}
    for key, reason in of_cells:
        found.setdefault(key, []).append(reason)
    for key, reasons in found.items():
        if reasons[0] and None not in reasons:
            yield f"{key}: {reasons[0]}"


def _transports(scenario: Scenario) -> dict[str, Mapping[str, Any]]:
    others = scenario.get("transports", {}).items()
    return {"transport": scenario["transport"], **{f"transports.{name}": of for name, of in others}}


def _of_controls(scenario: Scenario) -> Iterator[State]:
    """Settings of one congestion control; other tables inherit them from [transport]."""
    rules: tuple[tuple[tuple[str, ...], str, str, Callable[[Mapping[str, Any]], bool]], ...] = (
        (_QCN, "qcn", "rate_limiters", lambda of: "rate_limiters" in of),
        (("dctcp",), "dctcp", "acks_at_change", lambda of: of.get("acks_at_change") == 1),
    )
    for controls, table, key, is_set in rules:
        tables = {k: of for k, of in _transports(scenario).items() if is_set(of.get(table, {}))}
        if not tables:
            continue
        first, own = next(iter(tables.items()))
        using = [of for of in tables.values() if of["congestion_control"] in controls]
        value = f"{own[table][key]} has no effect with {first}"
        reason: str | None = f'{value}.congestion_control = "{own["congestion_control"]}"'
        if using:
            delays = key != "acks_at_change" or any(of["ack_every"] > 1 for of in using)
            reason = None if delays else f"{value}.ack_every = 1, which delays no ACK"
        yield f"{first}.{table}.{key}", reason


def _of_messages(scenario: Scenario) -> Iterator[State]:
    """Settings of a recovery, and of notifications, that the message transport may not have."""
    found: dict[tuple[str, str], dict[str, str | None]] = {}
    for name, of in _transports(scenario).items():
        message = of.get("message", {})
        gap, priority = message.get("gap_interval", _GAP_INTERVAL), message.get("cnp_priority", 0)
        if gap != _GAP_INTERVAL:
            recovery = message["recovery"]
            reason = f'has no effect with {name}.message.recovery = "{recovery}"'
            states = found.setdefault(("gap_interval", gap), {})
            states[name] = None if recovery == "go_back_n" else reason
        if priority:
            missing = f"{name}.message.cnp_interval" if "cnp_interval" not in message else None
            missing = missing or (None if of["ecn"] else f"{name}.ecn")
            states = found.setdefault(("cnp_priority", str(priority)), {})
            states[name] = f"has no effect without {missing}" if missing else None
    for (key, value), states in found.items():
        # Other tables inherit the value: it acts if it does in one.
        first, reason_of_first = next(iter(states.items()))
        idle = reason_of_first is not None and None not in states.values()
        yield f"{first}.message.{key}", f"{value} {reason_of_first}" if idle else None


def _of_senders_with_ecn(scenario: Scenario) -> Iterator[State]:
    senders = [of for of in _transports(scenario).values() if of["ecn"]]
    if "avq" in scenario["switch"]:
        reason = "has no effect, because no sender has ECN (transport.ecn)"
        yield "switch.avq", None if senders else reason
    # The bit that a pacer reads is part of a count in Accurate ECN, which Prague has.
    paced = (of.get("paced", True) and of["congestion_control"] != "prague" for of in senders)
    if "pacer" in scenario:
        reason = "has no effect, because no sender that it paces has ECN (transport.ecn)"
        yield "pacer", None if any(paced) else reason


def _of_hosts(host: Mapping[str, Any]) -> Iterator[State]:
    if "transmit" in host:
        costs = any(_time(host["transmit"][key]) for key in _TRANSMIT)
        reason = "has no effect without packet_cost or frame_cost"
        yield "host.transmit", None if costs else reason
    receive = host.get("receive", {})
    if "ring" in receive:
        ring = receive["ring"]
        costs = any(_time(receive[key]) for key in _RECEIVE)
        # Without a cost packets wait only for an interrupt, which `frames` of them raise.
        fills = costs or (ring < receive["frames"] and _time(receive["wait"]) > 0)
        reason = f"{ring} has no effect without a cost, such as host.receive.packet_cost"
        yield "host.receive.ring", None if fills else reason


def _of_nics(host: Mapping[str, Any], network: Network) -> Iterator[State]:
    if "nic_choice" in host:
        found = network()
        several = found["nics"] > len(found["hosts"])
        reason = f"{host['nic_choice']} has no effect, because each host has one link"
        yield "host.nic_choice", None if several else reason


def _of_memory(scenario: Scenario) -> Iterator[State]:
    switch = scenario["switch"]
    memory = switch.get("memory", {})
    if "queues" in memory:
        acts = _core.quantity("size", memory["reserved"]) > 0
        reason = f"{memory['queues']} has no effect without switch.memory.reserved"
        yield "switch.memory.queues", None if acts else reason
    if "limit" in memory:
        # Ports may have buffers of their own, of which one may be unlimited.
        own = any("buffer" in entry for entry in switch.get("ports", ()))
        free = {**switch, "memory": {key: memory[key] for key in memory if key != "limit"}}
        buffer = "unlimited" if own else switch["buffer"]
        longest, told = longest_queue(free, "switch.buffer", buffer, mtu_of(scenario))
        most = longest - _core.quantity("size", memory["reserved"])
        reason = f"{memory['limit']} has no effect, because {told} allows no more"
        acts = _core.quantity("size", memory["limit"]) < most
        yield "switch.memory.limit", None if acts else reason


def _of_watchdog(scenario: Scenario) -> Iterator[State]:
    watchdog = scenario["switch"].get("pfc", {}).get("watchdog")
    if watchdog is not None:
        detection = watchdog["detection"]
        run = (_time(scenario["run"][key]) for key in ("warmup", "duration", "drain"))
        reason = f"has no effect, because the run is not longer than its detection, {detection}"
        yield "switch.pfc.watchdog", None if _time(detection) < sum(run) else reason


def _of_recorded_pauses(scenario: Scenario) -> Iterator[State]:
    if scenario["measure"].get("pauses"):
        pauses = "pfc" in scenario["switch"]
        yield "measure.pauses", None if pauses else "has no effect without switch.pfc"


def _batches(workload: Mapping[str, Any], network: Network) -> Iterator[State]:
    for kind in ("incast", "production"):
        of = workload.get(kind, {})
        if "batch" in of:
            asked = _asked(kind, of, network)
            reason = f"{of['batch']} has no effect, because a query asks {asked} servers"
            yield f"workload.{kind}.batch", None if of["batch"] < asked else reason


def _asked(kind: str, of: Mapping[str, Any], network: Network) -> int:
    """Servers of a query."""
    if "fan_in" in of:
        return int(of["fan_in"])
    if "servers" not in of:
        return len(network()["hosts"]) - 1 - ("outside" in of)
    clients_are_servers = kind == "production" or of["all_to_all"]
    return number_of(of["servers"], network) - clients_are_servers


def _deadlines(workload: Mapping[str, Any]) -> Iterator[State]:
    """Deadlines of a tree that end when one above them has ended."""
    above, told = UNLIMITED, ""
    for i, level in enumerate(workload.get("aggregation_tree", {}).get("levels", ())):
        if "deadline" not in level:
            continue
        key = f"workload.aggregation_tree.levels[{i}].deadline"
        if _time(level["deadline"]) < above:
            above, told = _time(level["deadline"]), f"levels[{i}].deadline = {level['deadline']}"
            yield key, None
        else:
            yield key, f"{level['deadline']} has no effect, because it is not below {told}"


def _time(text: str) -> float:
    return _core.quantity("time", text)

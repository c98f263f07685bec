"""Warnings that follow from the marking of a resolved scenario: thresholds that no queue reaches,
rates and thresholds that fit only some links, and no marking at all.

Each function returns sentences that begin with a key.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from hull import _core

Scenario = Mapping[str, Any]
Rates = Callable[[], Sequence[float]]
"""Returns the distinct rates of the links out of switches, bit/s: reading a network takes time."""
RoundTrip = Callable[[], float]
"""Returns the longest unloaded round trip, s."""

MARKING = (
    *("marking", "red", "pi", "dualpi2", "fq_codel", "pie"),
    *("phantom_queue", "avq", "uno_phantom_queue"),
)
"""Tables of a switch that mark packets."""
UNLIMITED = float("inf")
CLOSE = 0.8
"""Ratio of two links' rates from which on they may share an absolute drain."""
_MOST_RATES = 3
"""Rates that a sentence names."""
FEW_BYTES = 500
"""Thresholds below this were probably meant in packets, or in KB."""
FAR = 4
"""Ratio of two links' rates from which on a threshold is compared with both."""


def marking_warnings(scenario: Scenario, rates: Rates, round_trip: RoundTrip) -> Iterator[str]:
    """The sentences of all kinds."""
    return chain(
        unreachable_thresholds(scenario),
        unreachable_red(scenario),
        unreachable_delays(scenario, rates),
        full_drains(scenario),
        no_marking(scenario),
        below_a_packet(scenario),
        partial_drains(scenario, rates),
        partial_thresholds(scenario, rates, round_trip),
    )


def mtu_of(scenario: Scenario) -> float:
    """Largest packet, bytes."""
    return _core.quantity("size", scenario["transport"]["mtu"])


def size_text(size_bytes: float) -> str:
    """A size for a sentence."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.4g}{unit}"
    return f"{size_bytes:.0f}B"


def rate_text(rate_bps: float) -> str:
    """A rate for a sentence."""
    return f"{rate_bps / 1e9:.4g}Gbps" if rate_bps >= 1e9 else f"{rate_bps / 1e6:.4g}Mbps"


def time_text(seconds: float) -> str:
    """A time for a sentence."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= factor:
            return f"{seconds / factor:.4g}{unit}"
    return f"{seconds * 1e9:.4g}ns"


def unreachable_thresholds(scenario: Scenario) -> Iterator[str]:
    """Thresholds of `marking` that the port's buffer or the switch's memory cannot reach."""
    switch, mtu = scenario["switch"], mtu_of(scenario)
    for key, marking, buffer_key, buffer in _ports(switch):
        threshold = _core.quantity("size", marking["threshold"])
        found, reason = longest_queue(switch, buffer_key, buffer, mtu)
        # A packet is compared with the queue that it finds or leaves behind, without itself.
        if not _counts_the_packet(switch, marking):
            found -= mtu
        if threshold >= max(found, 0.0):
            yield (
                f"{key}: {marking['threshold']} is not below {size_text(max(found, 0.0))}, the "
                f"longest queue that a full-size packet can meet with {reason}, so the switches "
                "mark none"
            )


def unreachable_red(scenario: Scenario) -> Iterator[str]:
    """`red.min` that the buffer or the memory cannot reach."""
    switch, mtu = scenario["switch"], mtu_of(scenario)
    if "red" not in switch or any("buffer" in entry for entry in switch.get("ports", ())):
        return
    found, reason = longest_queue(switch, "switch.buffer", switch["buffer"], mtu)
    least = switch["red"]["min"]
    if _bytes(least, mtu) >= max(found - mtu, 0.0):
        yield (
            f"switch.red.min: {least} is not below {size_text(max(found - mtu, 0.0))}, the longest "
            f"queue that a full-size packet can meet with {reason}, so the switches mark none"
        )


def unreachable_delays(scenario: Scenario, rates: Rates) -> Iterator[str]:
    """Targets of PIE and CoDel above the longest wait behind a full buffer."""
    switch, mtu = scenario["switch"], mtu_of(scenario)
    limits = [entry["buffer"] for entry in switch.get("ports", ()) if "buffer" in entry]
    room = max(_bytes(buffer, mtu) for buffer in (switch["buffer"], *limits))
    # PIE ignores delays below half its target. The wait in one of many queues has no such bound.
    rules = (("pie", 0.5), ("fq_codel", 1.0))
    for rule, share in rules:
        if rule not in switch or switch[rule].get("flows", 1) > 1 or room == UNLIMITED:
            continue
        framing = _core.quantity("size", scenario["transport"]["framing"])
        wait = 8 * room * (1 + framing / mtu) / min(rates())
        target = switch[rule]["target"]
        if share * _core.quantity("time", target) >= wait:
            yield (
                f"switch.{rule}.target: {target} is too long for switch.buffer, "
                f"{switch['buffer']}, behind which a packet waits {time_text(wait)} at most, so "
                f"the switches mark none"
            )


def full_drains(scenario: Scenario) -> Iterator[str]:
    """Phantom queues behind a port that drain as fast as it sends."""
    queue = scenario["switch"].get("phantom_queue")
    if queue is None or queue["placement"] != "series" or queue["tick"] != "continuous":
        return
    mtu = mtu_of(scenario)
    if queue["count_arriving"] and _core.quantity("size", queue["threshold"]) < mtu:
        return
    drain, framing = queue["drain"], _core.quantity("size", scenario["transport"]["framing"])
    if drain.endswith("%") and _core.quantity("share", drain) >= mtu / (mtu + framing):
        part = f", {100 * mtu / (mtu + framing):.4g}% with transport.framing" if framing else ""
        yield (
            f"switch.phantom_queue.drain: {drain} is not below the rate at which a link sends "
            f"packets{part}, so the switches mark none"
        )


def no_marking(scenario: Scenario) -> Iterator[str]:
    """Senders with ECN among switches without marking."""
    switch = scenario["switch"]
    places = (switch, *switch.get("ports", ()))
    if any(table in place for place in places for table in MARKING):
        return
    tables = {"transport": scenario["transport"]}
    tables |= {f"transports.{name}": of for name, of in scenario.get("transports", {}).items()}
    senders = [f"{name}.ecn" for name, of in tables.items() if of.get("ecn") is True]
    if senders:
        yield f"{', '.join(senders)}: true, but no switch marks; set switch.marking, for example"


def below_a_packet(scenario: Scenario) -> Iterator[str]:
    """Thresholds below a full-size packet."""
    mtu = mtu_of(scenario)
    for key, value, counts_the_packet in _thresholds(scenario["switch"]):
        if value.endswith("pkts"):
            continue
        threshold = _core.quantity("size", value)
        hint = ""
        if 0 < threshold < FEW_BYTES:
            hint = f'; a number without a unit is in bytes: write "{threshold:.0f}pkts" for packets'
        packet = f"below a packet, transport.mtu = {scenario['transport']['mtu']}"
        if counts_the_packet and threshold < mtu:
            yield f"{key}: {value} is {packet}, so each full-size packet exceeds it{hint}"
        elif hint:
            yield f"{key}: {value} is {packet}{hint}"


def _thresholds(switch: Mapping[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """Key and value of each threshold of a queue, and whether the queue includes the packet."""
    places = [("switch", switch)]
    places += [(f"switch.ports[{i}]", entry) for i, entry in enumerate(switch.get("ports", ()))]
    for place, tables in places:
        for table in ("marking", "phantom_queue"):
            if table in tables:
                of = tables[table]
                yield f"{place}.{table}.threshold", of["threshold"], of["count_arriving"]
    if "avq" in switch:
        yield "switch.avq.buffer", switch["avq"]["buffer"], True
    for table, key in (("red", "min"), ("red", "max"), ("pi", "reference"), ("qcn", "equilibrium")):
        if table in switch:
            yield f"switch.{table}.{key}", switch[table][key], False


def partial_drains(scenario: Scenario, rates: Rates) -> Iterator[str]:
    """An absolute drain of the phantom queues of links with different rates."""
    drain = scenario["switch"].get("phantom_queue", {}).get("drain", "%")
    if drain.endswith("%"):
        return
    links = _shared_by("phantom_queue", scenario["switch"], rates)
    if not links or links[0] >= CLOSE * links[-1]:
        return
    drain_bps = _core.quantity("rate", drain)
    shares = [drain_bps / rate_bps for rate_bps in links]
    fits = next((share for share in shares if share <= 1), shares[-1])
    if len(links) > _MOST_RATES:
        links, shares = [links[0], links[-1]], [shares[0], shares[-1]]
    of_each = [
        f"{100 * share:.3g}% at links of {rate_text(rate_bps)}"
        for share, rate_bps in zip(shares, links, strict=True)
    ]
    above = ", and a queue that drains faster than its link never marks" if shares[0] > 1 else ""
    yield (
        f"switch.phantom_queue.drain: as a share of the rate, {drain} is {_listed(of_each)}"
        f'{above}; write a share, such as "{100 * fits:.3g}%"'
    )


def partial_thresholds(scenario: Scenario, rates: Rates, round_trip: RoundTrip) -> Iterator[str]:
    """A threshold that is enough for DCTCP on the slowest links and not on the fastest."""
    switch = scenario["switch"]
    if "marking" not in switch or scenario["transport"]["congestion_control"] != "dctcp":
        return
    links = _shared_by("marking", switch, rates)
    if "at_rate" in switch["marking"] or not links or FAR * links[0] > links[-1]:
        return
    threshold = _core.quantity("size", switch["marking"]["threshold"])
    round_trip_s = round_trip()
    slowest, fastest = (rate_bps * round_trip_s / 8 / 7 for rate_bps in (links[0], links[-1]))
    if slowest <= threshold < fastest:
        yield (
            f"switch.marking.threshold: {switch['marking']['threshold']} is enough for DCTCP on "
            f"links of {rate_text(links[0])} but not of {rate_text(links[-1])}, which need "
            f"{size_text(fastest)}, a seventh of the rate times the round trip of "
            f"{time_text(round_trip_s)}; set it by rate in switch.ports"
        )


def _shared_by(table: str, switch: Mapping[str, Any], rates: Rates) -> list[float]:
    """Rates of the links with the table of `switch` itself, in rising order; empty if tiers or
    nodes have their own.
    """
    own = [entry for entry in switch.get("ports", ()) if table in entry]
    if any("tier" in entry or "node" in entry for entry in own):
        return []
    of_own = {_core.quantity("rate", entry["rate"]) for entry in own if "rate" in entry}
    return sorted(set(rates()) - of_own)


def _listed(texts: Sequence[str]) -> str:
    """Texts as an enumeration."""
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def _ports(switch: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], str, str]]:
    """Key of the threshold, marking, key of the buffer, and buffer, for each kind of port whose
    threshold does not depend on its rate.
    """
    if "at_rate" not in switch.get("marking", {"at_rate": None}):
        yield (
            "switch.marking.threshold",
            switch["marking"],
            "switch.buffer",
            switch["buffer"],
        )
    for i, entry in enumerate(switch.get("ports", ())):
        own = f"switch.ports[{i}]"
        marking = entry.get("marking", switch.get("marking"))
        if marking is None or "at_rate" in marking:
            continue
        if "marking" in entry or "buffer" in entry:
            yield (
                f"{own if 'marking' in entry else 'switch'}.marking.threshold",
                marking,
                f"{own if 'buffer' in entry else 'switch'}.buffer",
                entry.get("buffer", switch["buffer"]),
            )


def _counts_the_packet(switch: Mapping[str, Any], marking: Mapping[str, Any]) -> bool:
    """Whether the compared queue may include the packet that is marked."""
    at_arrival = marking["on"] == "enqueue"
    in_service = marking["on"] == "sent" or bool(switch["count_in_service"])
    return bool(marking["count_arriving"]) if at_arrival else in_service


def longest_queue(
    switch: Mapping[str, Any], buffer_key: str, buffer: str, mtu: float
) -> tuple[float, str]:
    """The longest queue that a port may hold, bytes, and what limits it."""
    room, reason = _bytes(buffer, mtu), f"{buffer_key} = {buffer}"
    memory = switch.get("memory")
    if memory is None:
        return room, reason
    if "size" in memory:
        size = _core.quantity("size", memory["size"])
        told = f"size {memory['size']}"
    else:
        size, told = _PRESETS[memory["preset"]], f"preset {memory['preset']}"
    if "pfc" in switch:  # lossless classes have no limit at the port
        return (size, f"switch.memory ({told})") if size < room else (room, reason)
    alpha = _core.quantity("share", memory["alpha"])
    reserved = _core.quantity("size", memory["reserved"])
    # With the pool to itself, a port may hold at most alpha times what is free at each arrival.
    share = alpha * (size - reserved)
    of_pool = (share - mtu) / (1 + alpha) + mtu if share > mtu else share
    told += f", alpha {memory['alpha']}"
    if "limit" in memory:
        of_pool = min(of_pool, _core.quantity("size", memory["limit"]))
        told += f", limit {memory['limit']}"
    if reserved + of_pool < room:
        return reserved + of_pool, f"switch.memory ({told})"
    return room, reason


_PRESETS = {"triumph": 4e6, "scorpion": 4e6, "cat4948": 16e6}
"""Memory of the presets, bytes."""


def _bytes(length: str, mtu: float) -> float:
    """The length of a queue, of full-size packets if it counts packets."""
    if length == "unlimited":
        return UNLIMITED
    if length.endswith("pkts"):
        return float(length.removesuffix("pkts")) * mtu
    return _core.quantity("size", length)

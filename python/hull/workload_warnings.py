"""Warnings that follow from the workload of a resolved scenario: retransmission timeouts far above
the round trip, and loads above the capacity of a tier.

Each function returns sentences that begin with a key.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from hull import _core
from hull.marking_warnings import Scenario, longest_queue, mtu_of, time_text

Network = Callable[[], Mapping[str, Any]]
"""Returns the hosts and links, as `_core.network` does: reading them takes time."""

LONG_TIMEOUT = 100
"""Ratio of the minimum RTO to the round trip from which on a timeout decides an incast."""
WITHOUT_MIN_RTO = ("nscc", "rccc", "nscc+rccc", "unocc", "rcp", "constant_rate")
"""Congestion controls that recover losses without TCP's timeout."""


def workload_warnings(scenario: Scenario, network: Network) -> Iterator[str]:
    """The sentences of all kinds."""
    return chain(long_timeouts(scenario, network))


def long_timeouts(scenario: Scenario, network: Network) -> Iterator[str]:
    """A minimum RTO far above the round trip, where many senders may fill a buffer at once."""
    switch = scenario["switch"]
    for kind in ("incast", "partition_aggregate", "all_to_all"):
        of = scenario["workload"].get(kind)
        if of is None or "trimming" in switch:
            continue
        key, transport = _transport_of(scenario, of)
        if transport["congestion_control"] in WITHOUT_MIN_RTO:
            continue
        room, limit = longest_queue(switch, "switch.buffer", switch["buffer"], mtu_of(scenario))
        if _core.quantity("share", switch["loss"]) == 0 and _burst(kind, of, network) <= room:
            continue
        min_rto, round_trip_s = transport["min_rto"], _core.round_trip(json.dumps(scenario))
        ratio = _core.quantity("time", min_rto) / round_trip_s
        if ratio >= LONG_TIMEOUT:
            yield (
                f"{key}.min_rto: {min_rto} is {ratio:.0f} times the round trip of "
                f"{time_text(round_trip_s)}; after drops ({limit}), timeouts decide how long "
                f"workload.{kind} takes"
            )


def _transport_of(scenario: Scenario, workload: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Key and content of the transport of a workload's flows."""
    name = workload.get("transport")
    if name is None:
        return "transport", scenario["transport"]
    own = scenario["transports"][name]
    key = f"transports.{name}" if "min_rto" in own else "transport"
    return key, {**scenario["transport"], **own}


def _burst(kind: str, workload: Mapping[str, Any], network: Network) -> float:
    """Bytes that may arrive at the port of one host together."""
    if kind == "incast":
        return _core.quantity("size", workload["total"])
    of_each, hosts = ("size", "hosts") if kind == "all_to_all" else ("response_size", "servers")
    chosen = workload.get(hosts)
    number = len(chosen) if isinstance(chosen, list) else len(network()["hosts"])
    return _core.quantity("size", workload[of_each]) * number

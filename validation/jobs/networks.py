"""A recorded configuration of htsim_uec as a scenario.

`validation/uec/rows.py` reads the program's options and makes network, queues and transport. The
table's own numbers of queue and marking take the place of computed ones.
"""

import re
from pathlib import Path
from typing import Any

from controls import NAMES
from recorded import Row, Table
from rows import Network, Setup, SkippedError, read_options, scenario
from starts import as_started

GAP_PAYLOAD = 4096
"""Bytes of a packet by which the program counts the time between two messages of an interface."""
GAP_NS_PER_BYTE = 0.04
"""A constant of the program: 200 Gbps."""
GAP_WIRE = 4160
_LIKE = re.compile(r"^as (\w+)")
_HOSTS = "-nodes"


def options_of(name: str, table: Table) -> str:
    """The options of a configuration, or of the one that it refers to."""
    text = str(table.configurations[name].get("options", ""))
    like = _LIKE.match(text)
    if like and like[1] in table.configurations and like[1] != name:
        return options_of(like[1], table)
    return text


def prepare(row: Row, table: Table, formats: Path, copy: Path) -> dict[str, Any]:
    """The scenario of a row; SkippedError where hull lacks something. A schedule whose sends the
    program starts in another order is copied.
    """
    content, gbps = of_configuration(row.parameters, table, formats)
    content["name"] = row.name.replace("/", "-")
    _take_recorded(content["switch"], table.configurations[row.parameters])
    gap_ns = gap(row, gbps)
    schedule = row.schedule.path
    if row.schedule.is_text:
        schedule = as_started(schedule, copy, gap_ns, GAP_PAYLOAD)
    content["workload"] = {
        "job": {
            "schedule": str(schedule.resolve()),
            "ends": "acked",
            "eager": "0B",
            "gap": {"packet": f"{gap_ns:.15g}ns", "payload": f"{GAP_PAYLOAD}B"},
        }
    }
    return content


def of_configuration(name: str, table: Table, formats: Path) -> tuple[dict[str, Any], float]:
    """Network and transport of a configuration by its options, and the rate of its links, Gbps."""
    options = read_options(options_of(name, table))
    nodes = int(options.numbers.get(_HOSTS, 0))
    if not nodes:
        raise SkippedError(f"{name} does not tell its number of hosts (-nodes)")
    setup = Setup.of(Path(), {})
    network = Network.of(options, setup, formats, nodes)
    content = scenario(name, options, setup, network)
    if options.control in NAMES:
        own = {"congestion_control": NAMES[options.control], "messages": True}
        content["transport"] |= own
    return content, network.gbps


def gap(row: Row, gbps: float) -> float:
    """Time of a packet between two messages of an interface, ns: in configurations that end in g by
    the rate of their links, else the program's constant.
    """
    ns_per_byte = 8 / gbps if row.parameters.endswith("g") else GAP_NS_PER_BYTE
    return round(ns_per_byte * GAP_WIRE, 6)


def _take_recorded(switch: dict[str, Any], configuration: dict[str, Any]) -> None:
    if "queue_bytes" in configuration:
        switch["buffer"] = f"{configuration['queue_bytes']}B"
    if {"ecn_low_bytes", "ecn_high_bytes"} <= configuration.keys():
        low, high = configuration["ecn_low_bytes"], configuration["ecn_high_bytes"]
        switch["marking"] |= {"threshold": f"{low}B", "max_threshold": f"{high}B"}

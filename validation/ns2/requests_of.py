"""The requests of a finished hull run as the list that star.tcl reads, and ns-2's options from the
resolved scenario, so that no value is written twice.

hull records when requests and queries began. Service times are not recorded: constant ones are the
same in both simulators, gamma ones are drawn here from the same law.
"""

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from translate import number

HEADER_BYTES = 40
"""ns-2's TCP and IP headers; its segment size leaves them out."""


class Request(NamedTuple):
    """One request: start in s, kind, server from 0, bytes both ways, service time in s."""

    start_s: float
    kind: str
    server: int
    request_bytes: int
    response_bytes: int
    service_s: float


def kind_of(response_bytes: int) -> str:
    """The connection class of a plain request, by the size of its response."""
    return f"{response_bytes}B"


def requests(scenario: dict[str, Any], part: Path) -> list[Request]:
    """All requests of a part in order of their starts; queries once for each server."""
    workload, found = scenario["workload"], []
    if "requests" in workload:
        asked = round(number(workload["requests"]["request_size"]))
        for start, size, server in pl.read_parquet(
            part / "flows.parquet", columns=["start_ps", "bytes", "src"]
        ).iter_rows():
            found.append(Request(start * 1e-12, kind_of(size), server - 1, asked, size, 0.0))
    if "partition_aggregate" in workload:
        query = workload["partition_aggregate"]
        sizes = [round(number(query[key])) for key in ("request_size", "response_size")]
        servers = scenario["topology"]["star"]["hosts"] - 1
        starts = pl.read_parquet(part / "queries.parquet", columns=["start_ps"])["start_ps"]
        service = draw_service(query["service"], (starts.len(), servers), scenario["run"]["seed"])
        for start, row in zip(starts, service, strict=True):
            found += [
                Request(start * 1e-12, "query", i, *sizes, float(row[i])) for i in range(servers)
            ]
    return sorted(found)


def draw_service(law: dict[str, Any], shape: tuple[int, int], seed: int) -> Any:
    """Service times in s: the offset and a gamma part, if there is one."""
    times = np.full(shape, number(law.get("offset", "0ps")) * 1e-12)
    if "gamma" in law:
        gamma = law["gamma"]
        draws = np.random.default_rng(seed)
        times += draws.gamma(gamma["shape"], number(gamma["scale"]) * 1e-12, shape)
    return times


def write(found: list[Request], file: Path) -> None:
    """Writes the list, one request per line."""
    file.write_text("".join(" ".join(map(str, row)) + "\n" for row in found))


def seconds(text: str) -> float:
    """A time in s."""
    return number(text) * 1e-12


def packets(text: str) -> int:
    """A buffer in packets."""
    if not re.fullmatch(r"\d+pkts", text):
        raise ValueError(f'buffer "{text}" is invalid; expected packets, such as "500pkts"')
    return int(number(text))


def options(scenario: dict[str, Any]) -> dict[str, Any]:
    """The network and TCP of a resolved scenario as options of star.tcl."""
    host, switch, tcp = (scenario[key] for key in ("host", "switch", "transport"))
    if tcp["congestion_control"] != "newreno" or host["delay"] != switch["delay"]:
        raise ValueError('ns-2 needs congestion_control = "newreno" and equal link delays')
    marking = switch.get("marking", {}).get("threshold", "0B")
    return {
        "servers": scenario["topology"]["star"]["hosts"] - 1,
        "rate": number(switch["rate"]),
        "delay": seconds(switch["delay"]),
        "buffer": packets(switch["buffer"]),
        "nic_buffer": packets(host["nic_buffer"]),
        "segment": round(number(tcp["mtu"])) - HEADER_BYTES,
        "window": tcp["receive_window"],
        "initial_window": tcp["initial_window"],
        "min_rto": seconds(tcp["min_rto"]),
        "initial_rto": seconds(tcp["initial_rto"]),
        "segments_per_ack": tcp["ack_every"],
        "restart": int(tcp["idle_restart"]),
        "ecn": int(tcp["ecn"]),
        "mark_bytes": number(marking),
    }

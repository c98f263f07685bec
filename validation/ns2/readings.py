"""The same quantities from both simulators' results, with the same names and units.

Completion runs from the client's request to the last byte of the response, of a query of its last
response. The queue is at the client's port, averaged over intervals (ns-2's queue monitor).
"""

import itertools
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from requests_of import Request, kind_of

Values = dict[str, float]


class Reading(NamedTuple):
    """One interval of ns-2's queue monitor: its end in s, mean bytes, bytes sent so far."""

    time_s: float
    queue_bytes: float
    sent_bytes: float


def parse_queue(text: str) -> list[Reading]:
    """The lines of ns-2's queue monitor: time, two nodes, mean bytes, mean packets, then totals of
    packets and of bytes that arrived, departed and were dropped."""
    readings = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) != 11:
            raise ValueError(f'"{line}" is no line of a queue monitor; expected 11 fields')
        readings.append(Reading(float(fields[0]), float(fields[3]), float(fields[9])))
    return readings


def parse_counts(text: str) -> dict[str, int]:
    """The counts of star.tcl: a name and a whole number per line."""
    pairs = (line.rsplit(" ", 1) for line in text.splitlines())
    return {name: int(value) for name, value in pairs}


def parse_done(text: str, asked: list[Request]) -> Iterable[tuple[str, float, float]]:
    """Kind, start and completion time in s of each completed request; a query counts once, if all
    its responses arrived."""
    queries: dict[float, list[float]] = defaultdict(list)
    servers = 1 + max(row.server for row in asked)
    for line in text.splitlines():
        row, sent, received = line.split()
        request = asked[int(row)]
        took_s = float(received) - float(sent)
        if request.kind == "query":
            queries[request.start_s].append(took_s)
        else:
            yield request.kind, request.start_s, took_s
    for start_s, times in queries.items():
        if len(times) == servers:
            yield "query", start_s, max(times)


def sent_bytes(queue: list[Reading]) -> float:
    """Bytes sent between the first and the last reading; ns-2 counts them in 32 bits."""
    pairs = itertools.pairwise(queue)
    return sum((late.sent_bytes - early.sent_bytes) % 2**32 for early, late in pairs)


def completion(done: Iterable[tuple[str, float, float]], from_s: float) -> Values:
    """Count, mean and 99th percentile in us of each kind, without the requests of the warm-up."""
    times: dict[str, list[float]] = defaultdict(list)
    for kind, start_s, took_s in done:
        if start_s >= from_s:
            times[kind].append(took_s * 1e6)
    values: Values = {}
    for kind, found in sorted(times.items()):
        values[f"{kind}, completed"] = len(found)
        values[f"{kind}, mean, us"] = float(np.mean(found))
        values[f"{kind}, 99%, us"] = float(np.percentile(found, 99))
    return values


def queueing(queue_bytes: Iterable[float], rate_bps: float) -> Values:
    """Mean and 99th percentile of the queueing latency in us."""
    latency = np.fromiter(queue_bytes, float) * 8e6 / rate_bps
    return {
        "queue, mean, us": float(latency.mean()),
        "queue, 99%, us": float(np.percentile(latency, 99)),
    }


def of_ns2(out: Path, asked: list[Request], rate_bps: float, from_s: float, to_s: float) -> Values:
    """From the files of star.tcl. Like hull's, the link's rate includes a replayed warm-up."""
    queue = [
        one
        for one in parse_queue(out.with_suffix(".queue").read_text())
        if one.time_s <= to_s + 1e-6 and (asked or one.time_s > from_s)
    ]
    inside = [one for one in queue if one.time_s > from_s]
    values = {"link, Mbit/s": 8e-6 * sent_bytes(queue) / (queue[-1].time_s - queue[0].time_s)}
    values |= queueing((one.queue_bytes for one in inside), rate_bps)
    if asked:
        values |= completion(parse_done(out.with_suffix(".done").read_text(), asked), from_s)
    counts = parse_counts(out.with_suffix(".counts").read_text())
    values["query, timeouts"] = counts.get("query timeouts", 0)
    values["drops"] = counts["drops"]
    return values


def query_timeouts(part: Path) -> int:
    """Timeouts of the connections of queries in hull; plain requests do not count.

    queries.parquet counts responses. All responses that wait behind one timeout count it.
    """
    if not (part / "queries.parquet").exists():
        return 0
    total: int = json.loads((part / "summary.json").read_text())["timeouts"]
    return total - int(pl.read_parquet(part / "flows.parquet")["timeouts"].sum())


def of_hull(part: Path, rate_bps: float, from_s: float) -> Values:
    """From the folder of a part."""
    port = pl.read_parquet(part / "links.parquet").filter(pl.col("to") == "h0").row(0, named=True)
    latency = pl.read_parquet(part / "latency.parquet").drop_nulls("queue_mean_bytes")
    inside = latency.filter(pl.col("time_ps") > from_s * 1e12)["queue_mean_bytes"]
    values = {"link, Mbit/s": port["utilization"] * rate_bps * 1e-6}
    values |= queueing(inside.to_list(), rate_bps)
    done: list[tuple[str, float, float]] = []
    if (part / "queries.parquet").exists():
        queries = pl.read_parquet(part / "queries.parquet").drop_nulls("completion_ps")
        done += [
            ("query", start * 1e-12, took * 1e-12)
            for start, took in zip(queries["start_ps"], queries["completion_ps"], strict=True)
        ]
    flows = pl.read_parquet(part / "flows.parquet")
    done += [
        (kind_of(size), start * 1e-12, took * 1e-12)
        for size, start, took in zip(
            flows["bytes"], flows["start_ps"], flows["fct_ps"], strict=True
        )
    ]
    values |= completion(done, from_s)
    values["query, timeouts"] = query_timeouts(part)
    values["drops"] = port["drops"]
    return values

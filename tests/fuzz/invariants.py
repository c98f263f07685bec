"""What holds for every run, from the scenario and the tables alone: no queue exceeds its buffer or
the memory of its switch, no flow beats its two host links, places add up, and what started ends.
"""

from typing import Any

import polars as pl

from hull import _core

Table = dict[str, Any]
UNLIMITED = 2**62
SIZES = {"triumph": "4MB", "scorpion": "4MB", "cat4948": "16MB"}
"""Memory of the switches of thesis table 2.1."""
HEADER = 64
"""Bytes of the header of a trimmed packet."""
LEAST_PACKET = 40
"""Bytes of a bare acknowledgment."""


def sums(summary: Table, links: pl.DataFrame) -> str:
    """Return how drops by place differ from all drops, or from the links' drops."""
    places = summary["drops_by_place"]
    if sum(places.values()) != summary["drops"]:
        return f"drops by place {places} do not add up to {summary['drops']}"
    of_links = sum(links["drops"].to_list()) + sum(links["pacer_drops"].to_list())
    if of_links + places.get("no_route", 0) != summary["drops"]:
        return f"links dropped {of_links}, of {summary['drops']} by place {places}"
    return ""


def waits(summary: Table) -> str:
    """Return a size class whose times by place do not add up to its completion times; empty if all
    do. Flows that are complete without their last packet have no places.
    """
    for of_waits, of_times in zip(summary["waits"], summary["fct"], strict=True):
        if of_waits["untraced"] or not of_waits["all"]:
            continue
        places = {key: us for key, us in of_waits["all"].items() if key.endswith("_us")}
        together_us, mean_us = sum(places.values()), of_times["mean_us"]
        if (
            abs(together_us - mean_us) > 1e-6 * mean_us
            or of_waits["all"]["flows"] != of_times["count"]
        ):
            return f"places {of_waits['all']} do not add up to {of_times}"
    return ""


def beaten_minimum(flows: pl.DataFrame, links: pl.DataFrame) -> str:
    """Return a flow that ended before its bytes could cross its two host links; empty if none did.
    Hosts have one link each; the table `links` has them in the order of the hosts' numbers.
    """
    up = links.filter(pl.col("tier").str.starts_with("host-"))["rate_bps"].to_list()
    down = links.filter(pl.col("tier").str.ends_with("-host"))["rate_bps"].to_list()
    for row in flows.iter_rows(named=True):
        slower_bps = min(up[row["src"]], down[row["dst"]])
        least_ps = row["bytes"] * 8_000_000_000_000 // slower_bps
        if row["fct_ps"] < least_ps:
            return f"a flow ended in {row['fct_ps']} ps, its bytes take {least_ps} ps: {row}"
    return ""


def unfinished(summary: Table) -> str:
    """Return flows that did not end in a run whose drain is ample; empty if all ended."""
    left = sum(entry["unfinished"] for entry in summary["fct"])
    return f"{left} flows have not ended after {summary['simulated_seconds']} s" if left else ""


def cannot_end(scenario: Table) -> bool:
    """Whether flows may have no route for ever, or a packet no room in the shared memory."""
    switch, mtu = scenario["switch"], _bytes(scenario["transport"]["mtu"])
    memory = switch.get("memory", {})
    alpha = _core.quantity("share", memory.get("alpha", "100%"))
    if "size" in memory and alpha * _bytes(memory["size"]) < 2 * mtu:
        return True
    return any("until" not in failure for failure in scenario["topology"].get("failures", []))


def headers_fill_a_link(scenario: Table, links: pl.DataFrame) -> bool:
    """Whether headers of trimmed packets, which are served before data, can alone fill a link."""
    up_bps = links.filter(pl.col("tier").str.starts_with("host-"))["rate_bps"].to_list()
    slowest_bps = min(links["rate_bps"].to_list())
    mtu = _bytes(scenario["transport"]["mtu"])
    return "trimming" in scenario["switch"] and sum(up_bps) * HEADER > slowest_bps * mtu


def overfull(scenario: Table, queues: pl.DataFrame, links: pl.DataFrame) -> str:
    """Return a queue above its buffer, or ports above their switch's memory; empty if none is."""
    names = pl.concat_str("from", pl.lit("->"), "to")
    tiers = dict(links.select(names.alias("port"), "tier").iter_rows())
    largest = queues.group_by("port").agg(pl.col("bytes").max(), pl.col("packets").max())
    for port, size, packets in largest.sort("port").iter_rows():
        if not tiers[port].startswith("host-"):
            most_bytes, most_packets = _room(scenario, port.split("->")[0])
            if size > most_bytes or packets > most_packets:
                most = f"{most_bytes} B, {most_packets} packets"
                return f"{port} held {size} B, {packets} packets; its buffer holds {most}"
    memory = scenario["switch"].get("memory")
    if memory is None:
        return ""
    size = memory.get("size") or SIZES[memory["preset"]]
    ports = [port for port, tier in tiers.items() if not tier.startswith("host-")]
    of_switches = queues.filter(pl.col("port").is_in(ports))
    return _above_memory(_bytes(size) + _slack(scenario), of_switches)


def _room(scenario: Table, node: str) -> tuple[int, int]:
    """Largest number of waiting bytes and packets at a port of this switch."""
    switch = scenario["switch"]
    buffer = switch["buffer"]
    for entry in switch.get("ports", []):
        if entry.get("node") == node:
            buffer = entry.get("buffer", buffer)
    manages = "dualpi2" in switch or "fq_codel" in switch
    # Headers of trimmed packets have twice the room of data.
    queues = 3 if "trimming" in switch else 1 if manages else switch.get("priorities", 1)
    slack = _slack(scenario)
    if buffer == "unlimited":
        return UNLIMITED, UNLIMITED
    if buffer.endswith("pkts"):
        packets = int(buffer.removesuffix("pkts"))
        return UNLIMITED, queues * packets + -(-slack // LEAST_PACKET)
    return queues * _bytes(buffer) + slack, UNLIMITED


def _slack(scenario: Table) -> int:
    """Bytes that wait behind the scheduler: `commit`, up to the end of a packet, and one packet
    that a cut-through switch does not have whole.
    """
    switch, packet = scenario["switch"], _bytes(scenario["transport"]["mtu"])
    commit = _bytes(switch.get("commit", "0B"))
    return (commit + packet if commit else 0) + (packet if "cut_through" in switch else 0)


def _above_memory(most_bytes: int, queues: pl.DataFrame) -> str:
    changes = queues.with_columns(pl.col("port").str.split("->").list.first().alias("node"))
    changes = changes.with_columns(
        pl.col("bytes").diff().fill_null(pl.col("bytes")).over("port").alias("more")
    )
    held = changes.group_by("node", "time_ps").agg(pl.col("more").sum()).sort("node", "time_ps")
    held = held.with_columns(pl.col("more").cum_sum().over("node").alias("held"))
    worst = held.sort("held").tail(1).to_dicts()
    if worst and worst[0]["held"] > most_bytes:
        return f"{worst[0]['node']} held {worst[0]['held']} B; its memory holds {most_bytes} B"
    return ""


def _bytes(text: str) -> int:
    return round(_core.quantity("size", text))

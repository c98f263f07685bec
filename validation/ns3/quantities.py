"""The same quantities from both simulators' results, with the same names and units."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
from flow_lists import LASTS, Row
from translate import number

Values = dict[str, float]
# Thesis table 4.6: upper ends of the classes by bytes.
CLASSES = ((10_000, "up to 10 KB"), (100_000, "to 100 KB"), (10_000_000, "to 10 MB"))


def of_hull(
    part: Path, scenario: dict[str, Any], packet_bytes: float, rate_bps: float, flows: list[Row]
) -> Values:
    """From the folder of a part; the queue of the port of `rate_bps` in packets of full size."""
    summary = json.loads((part / "summary.json").read_text())
    queue = summary["switch_latency"]["occupancy"]
    packets_per_us = rate_bps * 1e-6 / (8 * packet_bytes)
    warmup_ps, duration_ps = (number(scenario["run"][key]) for key in ("warmup", "duration"))
    # hull stops measuring when the last flow is complete; ns-3 counts bytes to the end.
    measured = min(1.0, (summary["simulated_seconds"] * 1e12 - warmup_ps) / duration_ps)
    values = {
        "goodput, Mbit/s": summary["throughput"]["total_goodput_bps"] * 1e-6 * measured,
        "queue, mean, packets": queue["mean_us"] * packets_per_us,
        "queue, 99%, packets": queue["p99_us"] * packets_per_us,
    }
    values |= {name: summary[name] for name in ("marks", "drops", "timeouts")}
    series = part / "series.parquet"
    if series.exists():
        rows = pl.read_parquet(series).filter(
            pl.col("time_ps").is_in([warmup_ps, warmup_ps + duration_ps])
        )
        got = rows.group_by("src").agg(
            pl.col("delivered_bytes").max() - pl.col("delivered_bytes").min()
        )
        values |= by_flow(got.sort("src")["delivered_bytes"].to_list(), scenario)
    bytes_of = {(start_ps, src): size for start_ps, src, _, size in flows}
    rows = pl.read_parquet(part / "flows.parquet")
    done = zip(rows["start_ps"], rows["src"], rows["fct_ps"], strict=True)
    return values | completion((bytes_of[start, src], fct) for start, src, fct in done)


def by_flow(delivered_bytes: list[int], scenario: dict[str, Any]) -> Values:
    """Jain's index of flows that last, and in a dumbbell, where their round-trip times differ, the
    goodput of each; in the order of their senders."""
    total, squares = sum(delivered_bytes), sum(got**2 for got in delivered_bytes)
    values: Values = {"Jain's index": total**2 / (len(delivered_bytes) * squares)}
    if "dumbbell" in scenario["topology"]:
        duration_ps = number(scenario["run"]["duration"])
        for i, got in enumerate(delivered_bytes):
            values[f"flow {i}, goodput, Mbit/s"] = 8e6 * got / duration_ps
    return values


def of_ns3(printed: dict[str, Any], scenario: dict[str, Any], packet_bytes: float) -> Values:
    """From what the ns-3 program prints."""
    values = {
        "goodput, Mbit/s": printed["goodput_bps"] * 1e-6,
        "queue, mean, packets": printed["queue_mean_bytes"] / packet_bytes,
        "queue, 99%, packets": printed["queue_p99_bytes"] / packet_bytes,
    }
    values |= {name: printed[name] for name in ("marks", "drops", "timeouts")}
    lasting = [flow for flow in printed["flows"] if flow["bytes"] >= LASTS]
    if len(lasting) > 1:
        lasting.sort(key=lambda flow: flow["src"])
        values |= by_flow([flow["delivered_bytes"] for flow in lasting], scenario)
    done = (flow for flow in printed["flows"] if flow["bytes"] < LASTS and flow["fct_ps"] >= 0)
    return values | completion((flow["bytes"], flow["fct_ps"]) for flow in done)


def completion(flows: Iterable[tuple[int, int]]) -> Values:
    """Count, mean, median and 99th percentile of the completion times, by class of (bytes, ps)."""
    classes: dict[str, list[int]] = {}
    for size, fct_ps in flows:
        name = next((name for end, name in CLASSES if size <= end), "above 10 MB")
        classes.setdefault(name, []).append(fct_ps)
    values: Values = {}
    for name, times in sorted(classes.items(), key=lambda item: min(item[1])):
        times.sort()
        values[f"flows {name}, completed"] = len(times)
        values[f"FCT {name}, mean, us"] = sum(times) / len(times) * 1e-6
        for percent in (50, 99):
            at = -(-percent * len(times) // 100) - 1
            values[f"FCT {name}, {percent}%, us"] = times[at] * 1e-6
    return values

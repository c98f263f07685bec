"""A synthetic result folder: the published means of the EPFL report's table II with made-up tails.

Exponential and log-normal draws with a fixed seed; nothing is simulated. Times in picoseconds.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

SCHEMES = ("tcp_droptail", "dctcp_30k", "dctcp_6k_pacer", "dctcp_pq950_pacer")
LOADS = (20, 40, 60)
# Mean and 99th percentile by load, in the order of SCHEMES: switch latency in µs, FCT of 900-byte
# flows in µs, FCT of 10 MB flows in ms.
PUBLISHED: dict[str, dict[int, tuple[tuple[float, float], ...]]] = {
    "switch_latency_us": {
        20: ((86.2, 2284.4), (12.7, 241.9), (5.6, 170.2), (0.3, 9.7)),
        40: ((352.3, 3412.3), (48.0, 344.9), (20.3, 225.3), (2.8, 57.8)),
        60: ((811.7, 3718.0), (102.4, 404.8), (39.1, 255.7), (12.9, 106.1)),
    },
    "fct_900b_us": {
        20: ((141.7, 2387.5), (65.2, 828.7), (60.8, 804.2), (40.3, 74.7)),
        40: ((430.3, 3560.1), (109.7, 965.4), (90.9, 909.8), (45.1, 128.6)),
        60: ((869.3, 3791.5), (169.7, 897.9), (109.7, 836.8), (55.4, 150.5)),
    },
    "fct_10mb_ms": {
        20: ((101.8, 258.9), (102.9, 267.2), (104.5, 276.9), (200.5, 304.1)),
        40: ((134.2, 447.8), (138.9, 423.39), (143.0, 430.8), (234.9, 481.4)),
        60: ((206.2, 824.2), (218.3, 724.0), (226.0, 735.9), (313.3, 749.2)),
    },
}


@dataclass
class SyntheticRun:
    """A result as `hull.load` would return it."""

    folder: Path
    summary: dict[str, Any]
    flows: pl.DataFrame
    latency: pl.DataFrame


def rows(experiment: str = "epfl-table2") -> list[dict[str, Any]]:
    """Published and measured values, which differ by up to a factor of 2.6."""
    draw = random.Random(7)
    found = []
    for metric, by_load in PUBLISHED.items():
        for load, by_scheme in by_load.items():
            for scheme, values in zip(SCHEMES, by_scheme, strict=True):
                for statistic, published in zip(("mean", "p99"), values, strict=True):
                    ratio = 2 ** draw.uniform(-1.4, 1.4) if metric[0] == "s" else 1.1
                    found.append(
                        {
                            "experiment": experiment,
                            "condition": f"load{load}",
                            "scheme": scheme,
                            "metric": metric,
                            "statistic": statistic,
                            "unit": metric.rsplit("_", 1)[1],
                            "measured": published * ratio,
                            "ci95": published * 0.05,
                            "published": published,
                            "ratio": ratio,
                            "seeds": 3,
                        }
                    )
    return found


def make_run(
    folder: Path,
    *,
    conditions: tuple[str, ...] = ("load=20%", "load=40%", "load=60%"),
    schemes: tuple[str, ...] = SCHEMES,
    seeds: tuple[int, ...] = (1, 2),
    samples: int = 2000,
    probes: bool = True,
    classes: bool = True,
) -> SyntheticRun:
    """Writes summary.json, flows.parquet, latency.parquet and scenario.toml into `folder`."""
    parts, flow_frames, latency_frames = [], [], []
    for at, condition in enumerate(conditions):
        load = LOADS[at % len(LOADS)]
        for index, scheme in enumerate(schemes):
            for seed in seeds:
                key = {"condition": condition, "scheme": scheme, "seed": seed}
                part, flows, latency = _part(key, load, index % 4, samples, probes, classes)
                parts.append(part)
                flow_frames.append(flows)
                latency_frames.append(latency)
    totals = ("packet_hops", "events", "simulated_seconds", "cpu_seconds", "wall_seconds")
    summary: dict[str, Any] = {
        "hull_version": "0.1.0",
        "name": "synthetic",
        "seeds": list(seeds),
        **{name: sum(part[name] for part in parts) for name in totals},
        "peak_rss_bytes": 123_456_789,
        "parts": parts,
        "cells": [],
    }
    run = SyntheticRun(folder, summary, pl.concat(flow_frames), pl.concat(latency_frames))
    run.flows.write_parquet(folder / "flows.parquet")
    run.latency.write_parquet(folder / "latency.parquet")
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "scenario.toml").write_text('name = "synthetic"\n# a < b & "c" </script>\n')
    return run


def _part(
    key: dict[str, Any], load: int, index: int, samples: int, probes: bool, classes: bool
) -> tuple[dict[str, Any], pl.DataFrame, pl.DataFrame]:
    draw = random.Random(f"{key}")
    mean_us, p99_us = PUBLISHED["switch_latency_us"][load][index]
    queue_us, level = [], 0.0
    busy = min(0.9, mean_us * 3 / p99_us)
    for _ in range(samples):
        if draw.random() < 0.05:
            level = draw.expovariate(1 / (mean_us / busy)) if draw.random() < busy else 0.0
        queue_us.append(level * draw.uniform(0.7, 1.3))
    # As in the simulator's output, a row holds either a probe or a queue sample.
    measured: dict[str, list[int | None]] = {"time_ps": [], "probe_ps": [], "queue_bytes": []}
    for at, queue in enumerate(queue_us):
        start_ps = 10**11 + at * 10**9
        if probes:
            measured["time_ps"].append(start_ps)
            measured["probe_ps"].append(round(queue * 1e6 * draw.uniform(0.9, 1.1)))
            measured["queue_bytes"].append(None)
        measured["time_ps"].append(start_ps + 500)
        measured["probe_ps"].append(None)
        measured["queue_bytes"].append(round(queue * 125))
    latency = pl.DataFrame(measured, schema=dict.fromkeys(measured, pl.Int64))
    columns: dict[str, list[Any]] = {"start_ps": [], "fct_ps": [], "bytes": [], "class": []}
    fct = []
    for name, size, metric, unit_us, count in (
        ("900B", 900, "fct_900b_us", 1.0, samples),
        ("10MB", 10_000_000, "fct_10mb_ms", 1e3, samples // 4),
    ):
        if not classes:
            continue
        mean = PUBLISHED[metric][load][index][0] * unit_us
        least = 25.0 if size == 900 else 84_000.0
        times = [least + draw.expovariate(1 / max(1.0, mean - least)) for _ in range(count)]
        columns["start_ps"] += [round(draw.uniform(0, 2e12)) for _ in times]
        columns["fct_ps"] += [round(t * 1e6) for t in times]
        columns["bytes"] += [size] * count
        columns["class"] += [name] * count
        fct.append({"class": name, "bytes": size, "count": count, **_quantiles(times)})
    flows = pl.DataFrame(
        columns,
        schema={"start_ps": pl.Int64, "fct_ps": pl.Int64, "bytes": pl.Int64, "class": pl.String},
    )
    labels = [pl.lit(value).alias(name) for name, value in key.items()]
    part = {
        "hull_version": "0.1.0",
        "name": "synthetic",
        **key,
        "packet_hops": 12_345_678,
        "events": 13_000_000,
        "simulated_seconds": samples / 1000,
        "cpu_seconds": 1.21,
        "wall_seconds": 1.25,
        "peak_rss_bytes": 123_456_789,
        "packets": {"sent": 100, "delivered": 99, "dropped": 1, "in_flight": 0},
        "switch_latency": {
            "occupancy": _quantiles(queue_us),
            "probe": {**_quantiles(queue_us), "samples": samples, "lost": 0} if probes else None,
        },
        "fct": fct,
        "throughput": {
            "goodput_bps": load * 1e7,
            "utilization": load / 100,
            "total_goodput_bps": load * 1e7,
        },
        "marks": 0 if index == 0 else 54_321 + key["seed"],
        "drops": 17 if index == 0 else 0,
        "timeouts": 2 if index == 0 else 0,
        "retransmissions": 20 if index == 0 else 0,
    }
    ends = [pl.lit(1, pl.Int32).alias(name) for name in ("src", "dst", "connection")]
    return part, flows.select(*labels, pl.all(), *ends), latency.select(*labels, pl.all())


def _quantiles(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    shares = {"p50_us": 0.5, "p90_us": 0.9, "p99_us": 0.99, "p999_us": 0.999, "max_us": 1.0}
    last = len(ordered) - 1
    return {"mean_us": sum(ordered) / len(ordered)} | {
        name: ordered[round(share * last)] for name, share in shares.items()
    }

"""Runs the EPFL report's scenarios with TCP in hull and in ns-2 and tabulates both results.

hull runs first; ns-2 gets the same requests at the same times (requests_of.py) and the same
network. Prints one table per figure, writes results/CASE.md, and ends with status 1 where a
difference exceeds its bound (bounds.toml). With --rules it exchanges one rule of ns-2 at a time in
figure 4 at 600 Mbps, and writes results/rules.md.
"""

import argparse
import os
import re
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import readings
import requests_of

HERE = Path(__file__).resolve().parent
BUILD = HERE / "build"
SCENARIOS = HERE.parents[1] / "examples"
ECN = """
[schemes.tcp_ecn]
transport.ecn = true
switch.marking.threshold = "30KB"
"""
SCHEMES = ("tcp_droptail", "tcp_ecn")
AFTER_S = 2
"""Time in ns-2 after the last request, so that what is under way completes."""


class Case(NamedTuple):
    """One figure: a shipped scenario, its conditions as overrides, and the times in s."""

    title: str
    scenario: str
    conditions: dict[str, tuple[str, ...]]
    warmup_s: int
    duration_s: int
    seeds: int
    replayed: bool = True
    """Whether hull's requests are replayed; if not, the flows are static."""


def loads(*percents: int) -> dict[str, tuple[str, ...]]:
    """Background or target loads of a request workload."""
    return {f"{n}%": (f"workload.requests.load={n}%",) for n in percents}


def servers(*counts: int, more: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """Numbers of static flows."""
    flows = 'workload.long_lived.flows=[{{src="1-{0}",dst=0}}]'
    return {f"{n} flows": (flows.format(n), *more) for n in counts}


SLOW = ("host.delay=100us", "switch.delay=100us")
CASES = {
    "table2": Case("table II", "epfl-table2", loads(20, 40, 60), 10, 45, 2),
    "fig2b": Case("figure 2b, 5 us", "epfl-static", servers(2, 4, 8), 1, 4, 1, replayed=False),
    "fig2c": Case(
        "figure 2c, 100 us", "epfl-static", servers(2, 4, 8, more=SLOW), 1, 4, 1, replayed=False
    ),
    "fig4": Case("figure 4", "epfl-fig4", loads(20, 60), 15, 45, 2),
    "fig5": Case("figure 5", "epfl-fig5", loads(0, 20, 60), 15, 45, 2),
}

RULES: dict[str, dict[str, Any]] = {
    "as hull": {},
    "restart after idle off": {"restart": 0},
    "initial window of 1": {"initial_window": 1},
    "ACK of a short segment delayed by 100 ms (Full TCP's default)": {"delayed_ack": 0.1},
    "NewReno's recovery": {"agent": "Agent/TCP/FullTcp/Newreno"},
    "SACK's recovery": {"agent": "Agent/TCP/FullTcp/Sack"},
    "host queues of 500 packets": {"nic_buffer": 500},
    "clock tick 10 ns": {"tick": 1e-8},
    "clock tick 10 ns, restart off, initial RTO 3 s (the report's script)": {
        "tick": 1e-8,
        "restart": 0,
        "initial_rto": 3,
    },
    "minimum RTO 80 ms": {"min_rto": 0.08},
    "minimum RTO grows by 0.75 ms per s": {"min_rto_growth": 0.00075},
}
"""Options of star.tcl that change, figure 4 at 600 Mbps, drop-tail, seed 1, 150 s after 15 s."""


def run_hull(hull: str, name: str, condition: str, case: Case) -> list[Path]:
    """Runs a condition with both schemes; the folders of its parts."""
    file = BUILD / f"{case.scenario}.toml"
    file.write_text((SCENARIOS / file.name).read_text() + ECN)
    out = BUILD / "hull" / name / condition.replace(" ", "-")
    # Without a warm-up hull records every request, and the warm-up is left out afterwards.
    warmup_s = 0 if case.replayed else case.warmup_s
    total_s = case.duration_s + (case.warmup_s if case.replayed else 0)
    sets = (
        "sweep={}",
        "measure.sample_interval=10ms",
        f"run.warmup={warmup_s}s",
        f"run.duration={total_s}s",
        *case.conditions[condition],
    )
    command = [hull, "run", str(file), "--out", str(out), "--force", "--quiet"]
    command += [f"--seeds={case.seeds}", f"--scheme={','.join(SCHEMES)}"]
    command += [word for key in sets for word in ("--set", key)]
    _run(command, BUILD)
    return sorted(path.parent for path in out.glob("parts/**/scenario.toml"))


def run_ns2(out: Path, options: dict[str, Any]) -> None:
    """Runs star.tcl."""
    words = [f"{key}={value}" for key, value in {**options, "out": out}.items()]
    _run(["ns", str(HERE / "star.tcl"), *words])


def _run(command: list[str], folder: Path | None = None) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        told = f"{command[0]}: {error.strerror}"
        raise RuntimeError(f"{told}; expected ns-2 and hull in PATH, or --hull") from None
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr.strip()}")


def prepare(part: Path, case: Case) -> tuple[dict[str, Any], list[requests_of.Request]]:
    """The options of ns-2 for a part, and its requests, written beside hull's results."""
    scenario = tomllib.loads((part / "scenario.toml").read_text())
    options = requests_of.options(scenario)
    options["end"] = case.warmup_s + case.duration_s
    if not case.replayed:
        return options | {"flows": static_flows(scenario)}, []
    asked = requests_of.requests(scenario, part)
    requests_of.write(asked, part / "requests.txt")
    kinds = ",".join(sorted({row.kind for row in asked}))
    options["end"] += AFTER_S
    return options | {"requests": part / "requests.txt", "kinds": kinds}, asked


def static_flows(scenario: dict[str, Any]) -> int:
    """Number of static flows."""
    found = re.fullmatch(r"1-(\d+)", str(scenario["workload"]["long_lived"]["flows"][0]["src"]))
    if found is None:
        raise ValueError('the static flows must have src = "1-N"')
    return int(found[1])


def sample(part: Path, case: Case) -> tuple[readings.Values, readings.Values]:
    """One part in both simulators; hull has run already."""
    options, asked = prepare(part, case)
    run_ns2(part / "ns2", options)
    rate_bps, to_s = float(options["rate"]), case.warmup_s + case.duration_s
    ns2 = readings.of_ns2(part / "ns2", asked, rate_bps, case.warmup_s, to_s)
    return readings.of_hull(part, rate_bps, case.warmup_s), ns2


def bound_of(bounds: list[dict[str, Any]], known: dict[str, str]) -> dict[str, Any]:
    """The first bound whose patterns fit."""
    for bound in bounds:
        if all(re.match(bound.get(key, ""), known[key]) for key in known):
            return bound
    return {}


def judged(bound: dict[str, Any], hull: float, ns2: float) -> tuple[bool, str]:
    """Whether a difference is allowed, and the bound as text."""
    if not {"relative", "absolute"} & set(bound):
        return True, "shown only"
    allowed = bound.get("absolute", 0) + bound.get("relative", 0) * abs(ns2)
    words = [f"{100 * bound['relative']:g}%"] if "relative" in bound else []
    words += [f"{bound['absolute']:g}"] if "absolute" in bound else []
    return abs(hull - ns2) <= allowed, " + ".join(words)


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def compare(name: str, hull: str, pool: ThreadPoolExecutor) -> tuple[str, int]:
    """The table of a case, and how many values are outside their bounds."""
    case = CASES[name]
    bounds = tomllib.loads((HERE / "bounds.toml").read_text())["bound"]
    rows, outside = [], 0
    for condition in case.conditions:
        parts = run_hull(hull, name, condition, case)
        found = list(pool.map(lambda part: sample(part, case), parts))
        for scheme in SCHEMES:
            pairs = [pair for part, pair in zip(parts, found, strict=True) if scheme in part.parts]
            for quantity in pairs[0][0]:
                ours = fmean(pair[0].get(quantity, 0) for pair in pairs)
                theirs = fmean(pair[1].get(quantity, 0) for pair in pairs)
                if not ours and not theirs:
                    continue
                known = {"case": name, "condition": condition, "scheme": scheme}
                bound = bound_of(bounds, known | {"quantity": quantity})
                ok, text = judged(bound, ours, theirs)
                outside += not ok
                change = f"{100 * (ours / theirs - 1):+.1f}%" if theirs else ""
                row = [condition, scheme, quantity, f"{ours:.5g}", f"{theirs:.5g}", change]
                rows.append([*row, text if ok else f"OUTSIDE {text}"])
    seeds = "one seed" if case.seeds == 1 else f"{case.seeds} seeds"
    times = f"{case.duration_s} s after {case.warmup_s} s, {seeds}"
    header = ["condition", "scheme", "quantity", "hull", "ns-2", "difference", "bound"]
    return f"**{name}**: {case.title}, {times}.\n\n{markdown(header, rows)}", outside


def rule_row(
    name: str, part: Path, case: Case, options: dict[str, Any], asked: list[requests_of.Request]
) -> list[str]:
    """Figure 4 at 600 Mbps in ns-2 with a rule exchanged; times in ms."""
    out = part / re.sub(r"\W+", "-", name)
    run_ns2(out, options | RULES[name])
    done = readings.parse_done(out.with_suffix(".done").read_text(), asked)
    took: dict[str, list[float]] = {"query": [], "10000000B": []}
    for kind, start_s, took_s in done:
        if start_s >= case.warmup_s:
            took[kind].append(took_s * 1e3)
    counts = readings.parse_counts(out.with_suffix(".counts").read_text())
    last = out.with_suffix(".rto").read_text().splitlines()[-1]
    rto = [float(word) * 1e3 for word in last.split()[1:]]
    # star.tcl sorts connections by name: 10 MB come before queries.
    half = len(rto) // 2
    cells = [np.mean(took["query"]), *np.percentile(took["query"], [90, 98, 99, 99.9])]
    cells += [np.mean(took["10000000B"])]
    return [
        name,
        *(f"{cell:.1f}" for cell in cells),
        str(counts["query timeouts"]),
        f"{fmean(rto[half:]):.0f}",
        f"{fmean(rto[:half]):.0f}",
    ]


def exchange(hull: str, pool: ThreadPoolExecutor) -> str:
    """The table of the rules."""
    case = CASES["fig4"]._replace(duration_s=150, seeds=1)
    parts = run_hull(hull, "rules", "60%", case)
    part = next(path for path in parts if "tcp_droptail" in path.parts)
    prepared = prepare(part, case)
    theirs = pool.map(lambda name: rule_row(name, part, case, *prepared), RULES)
    rows = [hull_row(part, case), *theirs]
    header = ["ns-2", "query, mean", "90%", "98%", "99%", "99.9%", "10 MB, mean", "query timeouts"]
    return markdown([*header, "RTO of queries at the end", "RTO of 10 MB at the end"], rows)


def hull_row(part: Path, case: Case) -> list[str]:
    """hull's row of the table of the rules."""
    late = pl.col("start_ps") >= case.warmup_s * 10**12
    queries = pl.read_parquet(part / "queries.parquet").filter(late)
    took = queries["completion_ps"].drop_nulls().to_numpy() * 1e-9
    large = pl.read_parquet(part / "flows.parquet").filter(late)["fct_ps"].to_numpy() * 1e-9
    cells = [took.mean(), *np.percentile(took, [90, 98, 99, 99.9]), large.mean()]
    timeouts = str(readings.query_timeouts(part))
    return ["hull itself", *(f"{cell:.1f}" for cell in cells), timeouts, "", ""]


def main() -> int:
    """Compares, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hull", default="hull", help="the hull command")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="ns-2 runs at a time")
    parser.add_argument("--rules", action="store_true", help="exchange one rule at a time")
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}; all by default")
    asked = parser.parse_args()
    if unknown := set(asked.cases) - set(CASES):
        raise ValueError(f"no case {', '.join(sorted(unknown))}; expected {', '.join(CASES)}")
    for folder in (BUILD, HERE / "results"):
        folder.mkdir(exist_ok=True)
    with ThreadPoolExecutor(asked.jobs) as pool:
        if asked.rules:
            table = exchange(asked.hull, pool)
            (HERE / "results" / "rules.md").write_text(table)
            print(table)
            return 0
        outside = 0
        for name in asked.cases or CASES:
            block, count = compare(name, asked.hull, pool)
            outside += count
            (HERE / "results" / f"{name}.md").write_text(block)
            print(block, flush=True)
    print(f"{outside} values outside their bound")
    return 1 if outside else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, ValueError) as problem:
        sys.exit(f"compare.py: {problem}")

"""Runs hull and ns-3 on the same scenarios and sets the results side by side.

Each scenario runs once in hull and twice in ns-3: with ns-3's own window rules, and with hull's
rules inside ns-3 (window.h), which shows what those rules account for. Prints one table for each
scenario, writes results.md, and ends with status 1 where a difference is outside its tolerance.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import flow_lists
import paths
import quantities
import translate

HERE = Path(__file__).resolve().parent
BUILD = HERE / "build"
WINDOWS = ("own", "hull")


class Cell(NamedTuple):
    """One scheme under one condition; samples differ in the starts of their flows only."""

    scenario: str
    scheme: str
    condition: str


class Sample(NamedTuple):
    """One run of both simulators: hull's values, ns-3's for each of `WINDOWS`."""

    cell: Cell
    hull: quantities.Values
    ns3: dict[str, quantities.Values]


def run_hull(hull: str, file: Path) -> list[Path]:
    """Runs a scenario in hull; its parts' folders."""
    out = BUILD / "hull" / file.stem
    command = [hull, "run", str(file), "--out", str(out), "--force"]
    done = subprocess.run(command, cwd=BUILD, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return sorted(path.parent for path in out.glob("parts/**/scenario.toml"))


def run_ns3(scenario: dict[str, Any], rows: list[flow_lists.Row], file: Path) -> dict[str, Any]:
    """Runs a resolved scenario in ns-3 with each of `WINDOWS`; what the program prints."""
    flow_lists.write(rows, file)
    program, *options = translate.arguments(scenario)
    if "tree" in scenario["topology"]:
        options.append(f"--paths={write_paths(scenario, rows, file)}")
    printed = {}
    for window in WINDOWS:
        command = [str(BUILD / program), f"--flows={file}", f"--window={window}", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}\n{done.stderr.strip()}")
        printed[window] = json.loads(done.stdout)
    return printed


def write_paths(scenario: dict[str, Any], rows: list[flow_lists.Row], flows: Path) -> Path:
    """Writes the paths of the flows beside their list."""
    ends = [(src, dst) for _, src, dst, _ in rows]
    file = flows.with_suffix(".paths.csv")
    chosen = paths.of_tree(scenario["topology"]["tree"], ends, scenario["run"]["seed"])
    paths.write(chosen, file)
    return file


def sample(name: str, part: Path) -> Sample:
    """One part in both simulators; hull has run already."""
    scenario = tomllib.loads((part / "scenario.toml").read_text())
    scheme, condition = part.parent.name, part.parent.parent.name
    rows = translate.flows(scenario)
    printed = run_ns3(scenario, rows, BUILD / f"{name}-{scheme}-{condition}.csv")
    packet_bytes = translate.number(scenario["transport"]["mtu"])
    rate_bps = bottleneck_bps(scenario)
    # The starts are no condition of the comparison: they make samples.
    condition = re.sub(r",?(start_interval=[^,]*|flows=[^,]*\.csv)", "", condition).strip(",")
    return Sample(
        Cell(name, scheme, condition if condition not in ("", "base") else "all"),
        quantities.of_hull(part, scenario, packet_bytes, rate_bps, rows),
        {name: quantities.of_ns3(printed[name], scenario, packet_bytes) for name in WINDOWS},
    )


def bottleneck_bps(scenario: dict[str, Any]) -> float:
    """Rate of the port that is measured."""
    dumbbell = scenario["topology"].get("dumbbell", {})
    return translate.number(dumbbell.get("bottleneck_rate", scenario["switch"]["rate"]))


def mean(values: list[quantities.Values], name: str) -> float:
    """Mean of a quantity over the samples; a class that one of them lacks counts as 0."""
    return sum(value.get(name, 0) for value in values) / len(values)


def within(tolerance: dict[str, Any] | None, hull: float, ns3: float) -> bool:
    """Whether a difference is allowed; a quantity without tolerance is shown only."""
    if tolerance is None:
        return True
    allowed = tolerance.get("absolute", 0) + tolerance.get("relative", 0) * abs(ns3)
    return abs(hull - ns3) <= allowed


def text_of(tolerance: dict[str, Any] | None) -> str:
    """A tolerance as the table shows it."""
    if tolerance is None:
        return "shown only"
    parts = []
    if "relative" in tolerance:
        parts.append(f"{100 * tolerance['relative']:g}%")
    if "absolute" in tolerance:
        parts.append(f"{tolerance['absolute']:g}")
    return " + ".join(parts)


class Compared(NamedTuple):
    """The table's rows for one cell, how many values are outside without a known cause, and the
    causes of those that have one."""

    rows: list[list[str]]
    outside: int
    causes: list[str]


def rows_of(samples: list[Sample], tolerances: dict[str, Any]) -> Compared:
    """Compares the samples of one cell."""
    cell = samples[0].cell
    rows, outside, causes = [], 0, []
    names = list(dict.fromkeys(name for one in samples for name in one.hull))
    for name in names:
        hull = mean([one.hull for one in samples], name)
        row = [cell.condition, cell.scheme, name, f"{hull:.6g}"]
        for window in WINDOWS:
            ns3 = mean([one.ns3[window] for one in samples], name)
            tolerance = find(tolerances[window], name, cell)
            ok = within(tolerance, hull, ns3)
            known = None if ok else find(tolerances["known"][window], name, cell)
            if known is not None and within(known, hull, ns3):
                causes.append(f"{cell.scheme}, {name}, OUTSIDE: {known['cause']}")
            else:
                outside += not ok
            percent = f" ({100 * (hull / ns3 - 1):+.1f}%)" if ns3 else ""
            row += [f"{ns3:.6g}{percent}", text_of(tolerance) if ok else "OUTSIDE"]
        if any(mean([v], name) for one in samples for v in (one.hull, *one.ns3.values())):
            rows.append(row)
    return Compared(rows, outside, causes)


def find(tolerances: list[dict[str, Any]], name: str, cell: Cell) -> dict[str, Any] | None:
    """The first tolerance whose patterns fit the quantity, the scenario and the scheme; None where
    it allows everything."""
    known = {"quantity": name, "scenario": cell.scenario, "scheme": cell.scheme}
    for tolerance in tolerances:
        if all(re.match(tolerance.get(key, ""), known[key]) for key in known):
            return tolerance if {"relative", "absolute"} & set(tolerance) else None
    return None


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table that also reads well as plain text."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    )


HEADER = ["condition", "scheme", "quantity", "hull", "ns-3", "tolerance"]
HEADER += ["ns-3, hull's window", "tolerance"]


def main() -> int:
    """Compares, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hull", default="hull", help="the hull command")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="ns-3 runs at a time")
    parser.add_argument("scenarios", nargs="*", help="names of scenarios; all by default")
    options = parser.parse_args()
    files = sorted((HERE / "scenarios").rglob("*.toml"))
    unknown = set(options.scenarios) - {file.stem for file in files}
    if unknown:
        raise ValueError(f"no scenario {', '.join(sorted(unknown))}")
    wanted = [f for f in files if f.stem in options.scenarios]
    if not options.scenarios:
        wanted = [f for f in files if f.parent.name != "long"]
    for name, make in flow_lists.LISTS.items():
        flow_lists.write(make(), BUILD / name)
    parts = [(file.stem, part) for file in wanted for part in run_hull(options.hull, file)]
    with ThreadPoolExecutor(options.jobs) as pool:
        samples = list(pool.map(lambda item: sample(*item), parts))
    tolerances = tomllib.loads((HERE / "tolerances.toml").read_text())
    outside, explained, blocks = 0, 0, []
    for file in wanted:
        cells: dict[Cell, list[Sample]] = {}
        for one in samples:
            if one.cell.scenario == file.stem:
                cells.setdefault(one.cell, []).append(one)
        rows, causes = [], []
        for cell in sorted(cells, key=lambda cell: (cell.condition, cell.scheme)):
            compared = rows_of(cells[cell], tolerances)
            rows += compared.rows
            outside += compared.outside
            causes += compared.causes
            explained += len(compared.causes)
        title = tomllib.loads(file.read_text())["title"]
        notes = "".join(f"\n{cause}\n" for cause in causes)
        blocks.append(f"### {file.stem}: {title}\n\n{table(HEADER, rows)}\n{notes}")
        print(blocks[-1])
    if not options.scenarios:
        (HERE / "results.md").write_text("\n".join(blocks))
    all_outside = outside + explained
    print(f"{all_outside} values outside their tolerance, {explained} of them with a known cause")
    return 1 if outside else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, ValueError) as problem:
        sys.exit(f"compare.py: {problem}")

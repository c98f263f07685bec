"""Run the random tests of rtl/ with branch coverage and write docs/hardware/coverage.md.

Verilator counts how often each branch of each module is taken (`--coverage-line`), the tests run as
always, and the counts of all benches are added. A branch that no test takes needs a reason in
UNREACHED; without one the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
RTL = ROOT / "rtl"
WORK = ROOT / "target" / "rtl-coverage"
PAGE = ROOT / "docs" / "hardware" / "coverage.md"
# Tests without a bench, and the loop, which runs the simulator.
LEFT_OUT = ("formal", "loop", "test_drawings.py", "test_lint.py")
POINT = re.compile(r"C '(.*)' (\d+)$")

# Why no test takes a branch, by file and source line.
MANY = "takes 2^32 events"
CONSTANT = "constant function, evaluated when the module is built"
NO_STATE = "the state machine has no other state"
STEADY = "saturates above the largest rate; no setting of the tests reaches it"
EXACT = "the backlog is exact, so the difference is never negative"
UNREACHED: dict[tuple[str, str], str] = {
    ("meter/latency_histogram.sv", "if (full) d_next = '1;"): MANY,
    (
        "meter/latency_meter.sv",
        "else if (enter_probe) serial <= (&serial) ? 32'd1 : serial + 32'd1;",
    ): MANY,
    (
        "nic/flow_association.sv",
        "expired <= expired_next[32] ? '1 : expired_next[31:0];",
    ): MANY,
    (
        "nic/pacer.sv",
        "2'b01: backlog_bytes <= backlog_less[BACKLOG_BITS] ? '0 : backlog_less[BACKLOG_BITS-1:0];",
    ): EXACT,
    (
        "nic/pacer.sv",
        "2'b11: backlog_bytes <= backlog_both[BACKLOG_BITS] ? '0 : backlog_both[BACKLOG_BITS-1:0];",
    ): EXACT,
    (
        "nic/rate_filter.sv",
        "filtered_half <= |(filtered_sum >> HALF_BITS) ? '1 : filtered_sum[HALF_BITS-1:0];",
    ): STEADY,
    (
        "nic/rate_filter.sv",
        ": difference[NUMBER_BITS-1] ? '1 : difference[RATE_BITS-1:0];",
    ): STEADY,
    ("nic/rate_filter.sv", "default: state <= IDLE;"): NO_STATE,
    (
        "registers/generated/latency_meter_block.sv",
        "if(field_combo.meter.control.clear.load_next) begin",
    ): "PeakRDL loads a pulse in every clock",
    (
        "registers/generated/latency_meter_registers.sv",
        "assign meter_histogram_address = 16'(LAST_BUCKET) < "
        "hwif_out.meter.histogram_address.value.value ? 16'(LAST_BUCKET) : "
        "hwif_out.meter.histogram_address.value.value;",
    ): "the guard rejects larger values",
    (
        "registers/register_guard.sv",
        "if (!block_stall) block_request <= 1'b0;",
    ): "PeakRDL's block stalls only for external registers, and there are none",
    ("registers/register_guard.sv", "default: state <= Idle;"): NO_STATE,
    (
        "stream/header_parser.sv",
        "function automatic [31:0] crc_step(input [31:0] state);",
    ): CONSTANT,
    (
        "stream/header_parser.sv",
        "function automatic [32*104-1:0] crc_masks(input [31:0] last);",
    ): CONSTANT,
    (
        "stream/header_parser.sv",
        "for (int bit_of = 103; bit_of >= 0; bit_of = bit_of - 1) begin",
    ): CONSTANT,
    (
        "stream/header_parser.sv",
        "for (int i = 0; i < 32; i = i + 1) crc_masks[104*i+bit_of] = column[i];",
    ): CONSTANT,
    (
        "stream/header_parser.sv",
        "function automatic [31:0] crc_of_zeros(input [31:0] start);",
    ): CONSTANT,
    (
        "stream/header_parser.sv",
        "for (int i = 0; i < 104; i = i + 1) crc_of_zeros = crc_step(crc_of_zeros);",
    ): CONSTANT,
}


class Point(NamedTuple):
    """A branch: the file below rtl/, its line and column, and which arm it is."""

    file: str
    line: int
    column: int
    arm: str


def points(text: str) -> Counter[Point]:
    """How often each branch was taken in a run, from Verilator's file."""
    taken: Counter[Point] = Counter()
    for line in text.splitlines():
        match = POINT.match(line)
        if not match:
            continue
        fields = dict(each.split("\x02", 1) for each in match[1].split("\x01") if each)
        path = Path(fields["f"])
        # The benches are not hardware.
        if path.is_relative_to(RTL) and not path.is_relative_to(RTL / "bench"):
            file = path.relative_to(RTL).as_posix()
            taken[Point(file, int(fields["l"]), int(fields["n"]), fields["o"])] += int(match[2])
    return taken


def measured() -> Counter[Point]:
    """The sum over all runs below WORK. Branches that no run took count 0."""
    total: Counter[Point] = Counter()
    for path in sorted(WORK.rglob("coverage.dat")):
        for point, count in points(path.read_text(encoding="utf-8")).items():
            total[point] += count
    return total


def source(point: Point) -> str:
    """The line of a branch."""
    return (RTL / point.file).read_text(encoding="utf-8").splitlines()[point.line - 1].strip()


def page(total: Counter[Point]) -> str:
    """The page of documentation."""
    files: defaultdict[str, list[Point]] = defaultdict(list)
    for point in sorted(total):
        files[point.file].append(point)
    lines, missed = [], []
    for file, branches in sorted(files.items()):
        never = [point for point in branches if total[point] == 0]
        missed += never
        lines.append(f"| `{file}` | {len(branches)} | {len(branches) - len(never)} |")
    lines.append(f"| **all** | **{len(total)}** | **{len(total) - len(missed)}** |")
    reasons = [
        f"- `{point.file}`, line {point.line}, {point.arm}: {reason(point)}.\n\n"
        f"  ```verilog\n  {source(point)}\n  ```\n"
        for point in missed
    ]
    text = (Path(__file__).parent / "rtl_coverage.md").read_text(encoding="utf-8")
    return text.replace("@TABLE@", "\n".join(lines)).replace("@MISSED@", "\n".join(reasons))


def reason(point: Point) -> str:
    """Why no test takes a branch."""
    return UNREACHED.get((point.file, source(point)), "no reason stated")


def run_tests() -> int:
    """Build each bench with coverage and run the tests. Returns the exit status."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    command = [sys.executable, "-m", "pytest", "rtl", "-q", "-n", "auto"]
    command += [
        "--maxprocesses",
        "4",
        "--dist",
        "loadfile",
        *(f"--ignore=rtl/{name}" for name in LEFT_OUT),
    ]
    environment = {**os.environ, "HULL_RTL_COVERAGE": str(WORK)}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def main() -> None:
    """Run the tests, write the page, and list the branches without a reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="only write the page of the last run")
    options = parser.parse_args()
    if not options.page and (status := run_tests()):
        sys.exit(status)
    total = measured()
    PAGE.write_text(page(total), encoding="utf-8")
    bare = [
        point
        for point, count in sorted(total.items())
        if count == 0 and (point.file, source(point)) not in UNREACHED
    ]
    for point in bare:
        told = f"{point.file}:{point.line}: {point.arm} never taken: {source(point)}"
        print(f"rtl-coverage: {told}", file=sys.stderr)
    sys.exit(1 if bare else 0)


if __name__ == "__main__":
    main()

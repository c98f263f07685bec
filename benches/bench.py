"""The speed of hull: packet-hops per CPU second of a whole process, instructions per packet-hop.

A packet-hop is a packet, data or ACK, carried over one link. CPU time is what the operating
system charges the process `hull run`, start of Python, reading and writing included. Instructions
are counted by valgrind on the simulator alone, between a short and a long run, so that starting
up cancels; they do not depend on what else the machine does.
"""

import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
HULL = ROOT / ".venv" / "bin" / "hull"
RUN_CELL = ROOT / "target" / "release" / "examples" / "run_cell"
SCENARIOS = ROOT / "python" / "hull" / "scenarios"
REPEATS = 3
FIXED_REPEATS = 9
MOST_FIXED_SECONDS = 0.12
"""CPU time of `hull run` beside the simulation."""


class Case(NamedTuple):
    """A scheme of a scenario: what is set, and how a short and a long run differ."""

    scenario: str
    scheme: str
    settings: tuple[str, ...]
    short: tuple[str, ...]
    long: tuple[str, ...]
    required: float | None = None  # million packet-hops per CPU second


LOAD = ("workload.requests.load=60%", "run.duration=120s")
SHORT = ("run.warmup=0s", "run.duration=6s", "run.drain=0s")
LONG = ("run.warmup=0s", "run.duration=9s", "run.drain=0s")

SIZES = "{pareto={shape=1.05,mean='100KB'}}"


def flows(scenario: str, scheme: str, count: int, required: float | None = None) -> Case:
    """A network with so many Poisson flows."""
    few, many = f"workload.flows.count={count // 50}", f"workload.flows.count={count // 15}"
    settings = (f"workload.flows.count={count}",)
    if scenario == "tree192":
        # A connection for each flow, so that speeds compare with those of earlier versions.
        settings = (f"workload.flows={{load='15%',count={count},sizes={SIZES}}}",)
    return Case(scenario, scheme, settings, (few,), (many,), required)


CASES = (
    Case("epfl-table2", "dctcp_30k", LOAD, SHORT, LONG, 8.0),
    Case("epfl-table2", "tcp_droptail", LOAD, SHORT, LONG),
    Case("epfl-table2", "dctcp_pq950_pacer", LOAD, SHORT, LONG),
    flows("tree192", "dctcp", 100_000, 10.0),
    flows("tree192", "tcp", 100_000),
    flows("tree192", "hull", 100_000),
    flows("fat-tree1024", "dctcp", 6_000),
)


def cpu_seconds(command: list[str], env: dict[str, str] | None = None) -> float:
    """User and system time of a child process, s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **(env or {})},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def one_scheme(folder: Path, case: Case) -> Path:
    """The case's scenario with its scheme only and nothing swept."""
    text = (SCENARIOS / f"{case.scenario}.toml").read_text(encoding="utf-8")
    head, *schemes = re.split(r"(?m)^(?=\[schemes\.)", text)
    head = re.sub(r"(?ms)^\[sweep\].*?(?=^\[|\Z)", "", head)
    [chosen] = [part for part in schemes if part.startswith(f"[schemes.{case.scheme}]")]
    path = folder / f"{case.scenario}-{case.scheme}.toml"
    path.write_text(head + chosen, encoding="utf-8")
    return path


def whole_process(folder: Path, case: Case) -> float:
    """Million packet-hops per CPU second of `hull run`, the best of some runs."""
    best = 0.0
    scenario = one_scheme(folder, case)
    for repeat in range(REPEATS):
        out = folder / f"{scenario.stem}-{repeat}"
        command = [str(HULL), "run", str(scenario), "--out", str(out)]
        command += ["--jobs", "1", "--seeds", "1"]
        for setting in case.settings:
            command += ["--set", setting]
        seconds = cpu_seconds(command)
        hops = json.loads((out / "summary.json").read_text(encoding="utf-8"))["packet_hops"]
        best = max(best, hops / seconds * 1e-6)
    return best


def fixed_cost(folder: Path) -> float:
    """CPU seconds of a `hull run` of one tiny part without its simulation, the median of some. Its
    modules are compiled, as those of an installed package are.
    """
    settings = ("workload.requests.load=60%", "run.warmup=0s", "run.duration=1ms")
    tiny = Case("epfl-table2", "dctcp_30k", settings, (), ())
    found = []
    scenario = one_scheme(folder, tiny)
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    for repeat in range(1 + FIXED_REPEATS):
        out = folder / f"tiny-{repeat}"
        command = [str(HULL), "run", str(scenario), "--out", str(out), "--seeds", "1"]
        for setting in tiny.settings:
            command += ["--set", setting]
        seconds = cpu_seconds(command, compiled)
        summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
        found.append(seconds - summary["cpu_seconds"])
    return statistics.median(found[1:])


def counted(folder: Path, case: Case, settings: tuple[str, ...]) -> tuple[int, int]:
    """Instructions and packet-hops of a run."""
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}"]
    command += [str(RUN_CELL), str(one_scheme(folder, case)), "", case.scheme, str(folder)]
    command += [*case.settings, *settings]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    match = re.search(r"Collected : (\d+)", done.stderr)
    if match is None:
        raise SystemExit("bench: valgrind printed no count")
    return int(match[1]), json.loads(done.stdout)["packet_hops"]


def instructions(folder: Path, case: Case) -> float:
    """Instructions per packet-hop."""
    short, long = counted(folder, case, case.short), counted(folder, case, case.long)
    return (long[0] - short[0]) / (long[1] - short[1])


def main() -> int:
    """Prints a row for each case; fails when one is below what is required."""
    cargo = ["cargo", "build", "--release", "--locked", "-q", "-p", "hull-sim"]
    subprocess.run([*cargo, "--example", "run_cell"], check=True, cwd=ROOT)
    has_valgrind = shutil.which("valgrind") is not None
    rows, missed = {}, []
    print(f"{'':32} {'M packet-hops / CPU s':>22} {'instructions / hop':>20}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for case in CASES:
            speed = whole_process(folder, case)
            count = instructions(folder, case) if has_valgrind else None
            title = f"{case.scenario} {case.scheme}"
            rows[title] = {"million_hops_per_cpu_second": speed, "instructions_per_hop": count}
            print(f"{title:32} {speed:22.1f} {'-' if count is None else f'{count:.0f}':>20}")
            if case.required is not None and speed < case.required:
                missed.append(f"{title} ran {speed:.1f}, required are {case.required:.0f}")
        fixed = fixed_cost(folder)
        rows["fixed cost of a run"] = {"cpu_seconds": fixed}
        print(f"{'fixed cost of a run':32} {fixed:22.3f} CPU s")
        if fixed > MOST_FIXED_SECONDS:
            missed.append(
                f"a run's fixed cost is {fixed:.3f} CPU s, required is at most {MOST_FIXED_SECONDS}"
            )
    if not has_valgrind:
        print("no valgrind here: instructions not counted (Debian: apt install valgrind)")
    results = ROOT / "results"
    results.mkdir(exist_ok=True)
    (results / "bench.json").write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    for line in missed:
        print(f"bench: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""The speed of hull: packet-hops per CPU second of a whole process, instructions per packet-hop.

A packet-hop is a packet, data or ACK, carried over one link. CPU time is what the operating
system charges the process `hull run`, start of Python, reading and writing included. Instructions
are counted by valgrind on the simulator alone, between a short and a long run, so that starting
up cancels; they do not depend on what else the machine does.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HULL = ROOT / ".venv" / "bin" / "hull"
RUN_CELL = ROOT / "target" / "release" / "examples" / "run_cell"
SCENARIO = ROOT / "python" / "hull" / "scenarios" / "epfl-table2.toml"
CONDITION, LOAD = "load=60%", "workload.requests.load=60%"
SCHEMES = ("dctcp_30k", "tcp_droptail", "dctcp_pq950_pacer")
REQUIRED = 8.0  # million packet-hops per CPU second with DCTCP
SECONDS = 120  # simulated, of the whole-process run
REPEATS = 3


def cpu_seconds(command: list[str]) -> float:
    """User and system time of a child process, s."""
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )


def one_scheme(folder: Path, scheme: str) -> Path:
    """The scenario with this scheme only and nothing swept."""
    text = SCENARIO.read_text(encoding="utf-8")
    head, *schemes = re.split(r"(?m)^(?=\[schemes\.)", text)
    head = re.sub(r"(?ms)^\[sweep\].*?(?=^\[|\Z)", "", head)
    [chosen] = [part for part in schemes if part.startswith(f"[schemes.{scheme}]")]
    path = folder / f"{scheme}.toml"
    path.write_text(head + chosen, encoding="utf-8")
    return path


def whole_process(folder: Path, scheme: str) -> float:
    """Million packet-hops per CPU second of `hull run`, the best of some runs."""
    best = 0.0
    for repeat in range(REPEATS):
        out = folder / f"{scheme}-{repeat}"
        command = [str(HULL), "run", str(one_scheme(folder, scheme)), "--out", str(out)]
        command += ["--jobs", "1", "--seeds", "1", "--set", LOAD]
        command += ["--set", f"run.duration={SECONDS}s"]
        seconds = cpu_seconds(command)
        hops = json.loads((out / "summary.json").read_text(encoding="utf-8"))["packet_hops"]
        best = max(best, hops / seconds * 1e-6)
    return best


def counted(folder: Path, scheme: str, seconds: str) -> tuple[int, int]:
    """Instructions and packet-hops of a run of `seconds` simulated."""
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}"]
    command += [str(RUN_CELL), str(SCENARIO), CONDITION, scheme, str(folder)]
    command += ["run.warmup=0s", f"run.duration={seconds}", "run.drain=0s"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    match = re.search(r"Collected : (\d+)", done.stderr)
    if match is None:
        raise SystemExit("bench: valgrind printed no count")
    return int(match[1]), json.loads(done.stdout)["packet_hops"]


def instructions(folder: Path, scheme: str) -> float:
    """Instructions per packet-hop."""
    short, long = counted(folder, scheme, "6s"), counted(folder, scheme, "9s")
    return (long[0] - short[0]) / (long[1] - short[1])


def main() -> int:
    """Prints a row for each scheme; fails when DCTCP is below what is required."""
    cargo = ["cargo", "build", "--release", "--locked", "-q", "-p", "hull-sim"]
    subprocess.run([*cargo, "--example", "run_cell"], check=True, cwd=ROOT)
    has_valgrind = shutil.which("valgrind") is not None
    rows = {}
    print(f"epfl-table2 at 60% load, {SECONDS} simulated seconds, one thread")
    print(f"{'scheme':20} {'M packet-hops / CPU s':>22} {'instructions / hop':>20}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for scheme in SCHEMES:
            speed = whole_process(folder, scheme)
            count = instructions(folder, scheme) if has_valgrind else None
            rows[scheme] = {"million_hops_per_cpu_second": speed, "instructions_per_hop": count}
            print(f"{scheme:20} {speed:22.1f} {'-' if count is None else f'{count:.0f}':>20}")
    if not has_valgrind:
        print("no valgrind here: instructions not counted (Debian: apt install valgrind)")
    results = ROOT / "results"
    results.mkdir(exist_ok=True)
    (results / "bench.json").write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    speed = rows["dctcp_30k"]["million_hops_per_cpu_second"]
    if speed < REQUIRED:
        print(f"bench: DCTCP ran {speed:.1f}, required are {REQUIRED:.0f}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

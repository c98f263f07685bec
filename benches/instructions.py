"""Instructions per packet-hop: valgrind counts them on the simulator alone, between a short and a
long run, so that starting up cancels. They do not depend on what else the machine does."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from figures import Figure
from sides import ROOT

RUN_CELL = ROOT / "target" / "release" / "examples" / "run_cell"


def build() -> bool:
    """Builds what is counted; says so if there is no valgrind."""
    if shutil.which("valgrind") is None:
        print("no valgrind here: instructions not counted (Debian: apt install valgrind)")
        return False
    cargo = ["cargo", "build", "--release", "--locked", "-q", "-p", "hull-sim"]
    subprocess.run([*cargo, "--example", "run_cell"], check=True, cwd=ROOT)
    return True


def per_hop(folder: Path, figure: Figure) -> float:
    """The difference of two runs."""
    short, long = (_counted(folder, figure, keys) for keys in _lengths(figure))
    return (long[0] - short[0]) / (long[1] - short[1])


def _lengths(figure: Figure) -> list[list[str]]:
    """What makes the figure's run short, and longer."""
    if "run.duration=120s" in figure.settings:
        same = ["run.warmup=0s", "run.drain=0s"]
        return [[*same, f"run.duration={seconds}s"] for seconds in (6, 9)]
    text = " ".join(figure.settings)
    found = re.search(r"count=(\d+)", text)
    assert found is not None
    return [[f"workload.flows.count={int(found[1]) // part}"] for part in (50, 15)]


def _counted(folder: Path, figure: Figure, keys: list[str]) -> tuple[int, int]:
    """Instructions and packet-hops of a run."""
    file, settings = figure.prepare(folder)
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}"]
    command += [str(RUN_CELL), str(file), "", figure.scheme, str(folder), *settings, *keys]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    match = re.search(r"Collected : (\d+)", done.stderr)
    if match is None:
        raise SystemExit("bench: valgrind printed no count")
    return int(match[1]), json.loads(done.stdout)["packet_hops"]

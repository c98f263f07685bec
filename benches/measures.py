"""How each kind of figure is measured; the first value of each is the one that tables show.

- speed: million packet-hops per CPU second of the whole process `hull run`, start of Python,
  reading and writing included; user time. A packet-hop is a packet, data or ACK, carried over one
  link.
- cost: CPU seconds of the process, user and system, and its largest memory.
- fixed: CPU seconds of the process, user and system, less the simulation's.
- threads: time on the clock with one thread divided by the time with two.
- busy: the same beside a process that keeps one processor busy.
- loop: CPU time of the simulator of loop.rs over hull's for the same work, each per packet-hop.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from figures import Figure
from processes import Usage, run
from sides import ROOT, Side

LOOP_SOURCE = ROOT / "benches" / "loop.rs"
LOOP = ROOT / "target" / "loop"


def hull_run(
    side: Side,
    figure: Figure,
    folder: Path,
    *more: str,
) -> tuple[Usage, dict[str, float]]:
    """One simulation: what the process took, and the summary of its results."""
    file, settings = figure.prepare(folder)
    out = folder / "out"
    options = ["--out", str(out), "--jobs", "1", "--seeds", "1"]
    for setting in (*settings, *more):
        options += ["--set", setting]
    command = side.command("run", str(file), *options)
    # The first run of a build compiles its modules and does not count.
    for _ in range(1 if side.compiled.exists() else 2):
        # A run that is there already would be reused.
        shutil.rmtree(out, ignore_errors=True)
        usage = run(command, side.environment())
    return usage, json.loads((out / "summary.json").read_text(encoding="utf-8"))


def speed(side: Side, figure: Figure, folder: Path) -> dict[str, float]:
    """Packet-hops for the time."""
    usage, summary = hull_run(side, figure, folder)
    return {
        "million_hops_per_cpu_second": summary["packet_hops"] / usage.user * 1e-6,
        "user_seconds": usage.user,
        "system_seconds": usage.system,
        "peak_megabytes": usage.peak_bytes * 1e-6,
    }


def cost(side: Side, figure: Figure, folder: Path) -> dict[str, float]:
    """Time and memory."""
    usage, _ = hull_run(side, figure, folder)
    return {
        "cpu_seconds": usage.user + usage.system,
        "peak_megabytes": usage.peak_bytes * 1e-6,
    }


def fixed(side: Side, figure: Figure, folder: Path) -> dict[str, float]:
    """Time beside the simulation."""
    usage, summary = hull_run(side, figure, folder)
    return {"seconds_beside_simulation": usage.user + usage.system - summary["cpu_seconds"]}


def threads(side: Side, figure: Figure, folder: Path) -> dict[str, float]:
    """What a second thread gains."""
    one, two = (hull_run(side, figure, folder, f"run.threads={n}")[0].clock for n in (1, 2))
    return {"times_as_fast": one / two, "one_thread_seconds": one, "two_threads_seconds": two}


def busy(side: Side, figure: Figure, folder: Path) -> dict[str, float]:
    """The same, with one processor taken."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        try:
            return threads(side, figure, folder)
        finally:
            other.kill()


def loop(side: Side, figure: Figure, folder: Path) -> dict[str, float]:
    """Against the throw-away simulator on the same list."""
    usage, summary = hull_run(side, figure, folder)
    _, settings = figure.prepare(folder)
    flows = settings[-1].removeprefix("workload.flows=")
    other = run([str(LOOP), flows])
    speeds = (
        summary["packet_hops"] / usage.user,
        json.loads(other.output)["packet_hops"] / other.user,
    )
    return {
        "times_as_fast_as_loop": speeds[0] / speeds[1],
        "million_hops_per_cpu_second": speeds[0] * 1e-6,
        "loop_million_hops_per_cpu_second": speeds[1] * 1e-6,
    }


MEASURES: dict[str, Callable[[Side, Figure, Path], dict[str, float]]] = {
    "speed": speed,
    "cost": cost,
    "fixed": fixed,
    "threads": threads,
    "busy": busy,
    "loop": loop,
}

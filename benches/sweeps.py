"""What sweeps cost: `python benches/sweeps.py [--executors threads,dask] [--runs N]`.

Runs table4 (four schemes) at one load with as many seeds as make N runs, into an empty store, for
several simulated times; then once more, so that all comes out of the store. Dask: a scheduler and
two workers of one thread each, started here as processes on loopback. Slurm: the cluster that
SLURM_CONF names. Prints a Markdown table; the load of the machine is in its last column.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from hull import scenarios

JOBS = 2
COLUMNS = (
    "executor",
    "runs",
    "CPU of a run, ms",
    "wall, s",
    "over CPU/2",
    "runs/s",
    "CPU beside the runs, ms a run",
    "RSS, MB",
    "again, s",
    "store, KB a run",
    "load",
)


@contextmanager
def dask() -> Iterator[list[str]]:
    """A scheduler with JOBS workers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-W", "ignore", "-m"]
    scheduler = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port)]
    worker = ["distributed.cli.dask_worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1"]
    with ExitStack() as stack:
        for arguments in (scheduler, *[[*worker, "--no-nanny"]] * JOBS):
            process = subprocess.Popen([*command, *arguments, "--no-dashboard"], **quiet)
            stack.enter_context(process)
            stack.callback(process.terminate)
        time.sleep(8)  # until all is there, so that only the sweep is measured
        yield ["--executor", f"dask://127.0.0.1:{port}"]


@contextmanager
def threads() -> Iterator[list[str]]:
    """Threads of the sweep's own process."""
    yield ["--jobs", str(JOBS)]


@contextmanager
def slurm() -> Iterator[list[str]]:
    """A cluster that is there."""
    yield ["--executor", "slurm", "--jobs", str(JOBS)]


def sweep(arguments: list[str]) -> tuple[float, float, float]:
    """Seconds on the clock and of the processor, largest memory in MB; of the command alone."""
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "hull", "sweep", "table4.toml", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    error = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, error.decode()
    return time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(name: str, engine: list[str], runs: int, duration: str) -> list[str]:
    """One line of the table."""
    with tempfile.TemporaryDirectory(prefix="hull-bench-", dir=Path.cwd()) as folder:
        arguments = ["--over", "workload.load=0.3", "--seeds", str(runs // 4)]
        arguments += ["--set", f"run.duration={duration}", "--set", "run.warmup=20ms"]
        arguments += ["--store", f"{folder}/store", "--out", f"{folder}/out.parquet"]
        wall_s, cpu_s, memory_mb = sweep([*arguments, *engine])
        load = os.getloadavg()[0]
        again_s = sweep(arguments)[0]
        lines = Path(folder, "store", "log.jsonl").read_text(encoding="utf-8").splitlines()
        in_runs_s = sum(json.loads(line)["cpu_seconds"] for line in lines)
        used = subprocess.run(
            ["du", "-sk", f"{folder}/store"], capture_output=True, text=True, check=True
        )
    beside = f"{1000 * (cpu_s - in_runs_s) / runs:.2f}" if name == "threads" else ""
    return [
        name,
        str(runs),
        f"{1000 * in_runs_s / runs:.1f}",
        f"{wall_s:.1f}",
        f"{100 * (wall_s / (in_runs_s / JOBS) - 1):+.0f}%",
        f"{runs / wall_s:.0f}",
        beside,
        f"{memory_mb:.0f}",
        f"{again_s:.1f}",
        f"{int(used.stdout.split()[0]) / runs:.1f}",
        f"{load:.1f}",
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executors", default="threads,dask")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--durations", default="200ms,2s,10s")
    given = parser.parse_args()
    engines = {"threads": threads, "dask": dask, "slurm": slurm}
    with tempfile.TemporaryDirectory(prefix="hull-bench-") as folder:
        os.chdir(folder)
        Path("table4.toml").write_text(scenarios.text("table4"), encoding="utf-8")
        print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}")
        for name in given.executors.split(","):
            for duration in given.durations.split(","):
                with engines[name]() as engine:
                    row = measure(name, engine, given.runs, duration)
                print(f"| {' | '.join(row)} |", flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()

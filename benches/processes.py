"""A command's cost: CPU time as the operating system charges it, time on the clock, memory."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeVar

Side = TypeVar("Side")


class Usage(NamedTuple):
    """Seconds and bytes of one process and those that it waited for."""

    user: float
    system: float
    clock: float
    peak_bytes: int
    output: str


def run(command: list[str], env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Usage:
    """Runs a command to its end; a message with what it printed where it fails."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=None if env is None else {**os.environ, **env},
        cwd=cwd,
    )
    output, errors = _read(process)
    _, status, usage = os.wait4(process.pid, 0)
    clock = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"bench: {' '.join(command)} failed\n{output}{errors}".rstrip())
    return Usage(usage.ru_utime, usage.ru_stime, clock, usage.ru_maxrss * 1024, output)


def _read(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What it prints until it closes both streams; what it uses stays for the caller to ask."""
    assert process.stdout is not None
    assert process.stderr is not None
    # The commands print a few lines of errors at most: they fit into the pipe.
    return process.stdout.read(), process.stderr.read()


def in_turn(
    sides: list[Side], runs: int, measure: Callable[[Side], dict[str, float]]
) -> list[dict[str, float]]:
    """Measures each side once, then each once more, so that what the machine does beside it meets
    all of them alike; the medians of each side's values."""
    measured: list[list[dict[str, float]]] = [[] for _ in sides]
    for _ in range(runs):
        for side, into in zip(sides, measured, strict=True):
            into.append(measure(side))
    return [{key: median(one[key] for one in of) for key in of[0]} for of in measured]

"""`slowest_tests.py COMMAND`: runs `cargo test ...`, shows its output, and names its slowest tests.

Stable Rust reports no time per test (`--report-time` needs nightly). cargo-nextest would be one
more program to install, and starts a process per test. But libtest starts the tests of a binary in
the order of their names, as many at a time as there are threads, and prints a line when one ends.
So a test starts when an earlier one ends. Times are wall-clock seconds.
"""

import os
import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence

RESULT = re.compile(r"test (.+?)(?: - should panic)? \.\.\. \w+")
SHOWN = 10


def threads() -> int:
    """How many tests libtest runs at a time."""
    return int(os.environ.get("RUST_TEST_THREADS") or len(os.sched_getaffinity(0)))


def durations(ended: Sequence[tuple[str, float]], at_once: int) -> Iterator[tuple[float, str]]:
    """Seconds and name of each test of a binary, from the names and times at which they ended."""
    waiting = deque(sorted(name for name, _ in ended))
    started = {waiting.popleft(): 0.0 for _ in range(min(at_once, len(waiting)))}
    for name, end in ended:
        if name in started:
            yield end - started.pop(name), name
        if waiting:
            started[waiting.popleft()] = end


def main(command: Sequence[str]) -> int:
    """Exits as the command does."""
    found: list[tuple[float, str]] = []
    ended: list[tuple[str, float]] = []
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            if line.startswith("running "):
                found += durations(ended, threads())
                ended, start = [], time.monotonic()
            elif result := RESULT.match(line):
                ended.append((result[1], time.monotonic() - start))
    found += durations(ended, threads())
    print(f"slowest {SHOWN} Rust tests:")
    for seconds, name in sorted(found, reverse=True)[:SHOWN]:
        print(f"{seconds:8.2f}s {name}")
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

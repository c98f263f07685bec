"""Ends a run, a sweep or a reproduction at a random moment: SIGKILL, SIGINT, SIGTERM, a limit on
file size (RLIMIT_FSIZE), or a full disk (a small file system, where one can be mounted).

Nothing partial may look complete, the output must be one message without a traceback, and the same
command must then complete with the same tables as an uninterrupted run. The moment is a time: a
seed reproduces the case, not always the same state.
"""

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import ctrl_c
from fuzz import messages
from fuzz.case import Outcome, draws
from hull import scenarios

NAME = "interruptions"

_SHORT = ("--set", "run.duration=2s", "--set", "run.warmup=20ms", "--jobs", "2")
COMMANDS = {
    "run": ("run", "s.toml", "--out", "out", "--seeds", "2", *_SHORT),
    "sweep": (
        *("sweep", "s.toml", "--over", "workload.load=0.1,0.2", "--seeds", "2"),
        *("--store", "store", "--out", "rows.parquet", *_SHORT),
    ),
    "reproduce": ("reproduce", "thesis-fig3-2", "--out", "rep", "--jobs", "2"),
}
AT_WORK = {"run": "out.partial/run.json", "sweep": "store", "reproduce": "rep/*/run.json"}
"""A path that exists once a command can be ended in an orderly way."""
MOST_S = 120.0


@dataclass(frozen=True)
class Interruption:
    """How a command is ended."""

    command: str
    how: str
    share: float
    """The moment, as a share of the command's run time or of the space that it needs."""

    @property
    def text(self) -> str:
        words = " ".join(COMMANDS[self.command])
        return f"# hull {words}\n# {self.how} at {self.share:.3f} of its time or room\n"


def make(seed: int, index: int) -> Interruption:
    """The case of this number."""
    draw = draws(NAME, seed, index)
    command = draw.choices(["run", "sweep", "reproduce"], [6, 6, 1])[0]
    how = draw.choice(["SIGKILL", "SIGINT", "SIGTERM", "file size", "full disk"])
    return Interruption(command, how, draw.uniform(0, 1))


def check(seed: int, index: int) -> Outcome:
    """Interrupt the command, then run it again."""
    made = make(seed, index)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if made.how == "full disk":
            with _mounted(folder, max(40_000, int(made.share * _room(made.command)))) as mounted:
                if not mounted:
                    return Outcome("skipped", made.text)
                return _ended_and_again(made, folder)
        return _ended_and_again(made, folder)


def _ended_and_again(made: Interruption, folder: Path) -> Outcome:
    whole, took_s = _whole(made.command)
    (folder / "s.toml").write_text(scenarios.text("epfl-table2"), encoding="utf-8")
    status, said = _ended(made, folder, took_s)
    problem = _said_wrong(status, said)
    left = tables(folder, made.command)
    wrong = [name for name, content in left.items() if whole.get(name) != content]
    if made.command == "run" and (folder / "out").exists() and left.keys() != whole.keys():
        problem = problem or "a folder looks whole and is not"
    if made.command == "sweep":
        wrong = [name for name in wrong if name != "rows.parquet" or status == 0]
    if wrong and not problem:
        problem = f"what is left is wrong: {wrong}"
    if made.how == "full disk":
        subprocess.run(["mount", "-o", "remount,size=1g", str(folder)], check=True)
    again = _start(made.command, folder)
    said_again = again.communicate(timeout=MOST_S)[1]
    if not problem and again.returncode:
        problem = f"given again, it ends with {again.returncode}: {said_again[-300:]}"
    if not problem and tables(folder, made.command) != whole:
        problem = "given again, it leaves other tables"
    what = "finished" if status == 0 else "ended"
    return Outcome(what, made.text, said[-2000:], problem)


def _said_wrong(status: int, said: str) -> str:
    if "Traceback" in said or "panicked" in said:
        return "a traceback"
    if status == 1:
        last = said.strip().splitlines()[-1] if said.strip() else ""
        if not last.startswith("hull: error: "):
            return "no error at the end"
        return messages.foreign(last)
    # A Ctrl-C after all work is done ends Python itself.
    allowed = (0, 130, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT)
    return "" if status in allowed else f"status {status}"


def tables(folder: Path, command: str) -> dict[str, bytes]:
    """Return by name the tables that a command left in places where they look complete."""
    places = {"run": ["out", "out.partial/parts"], "sweep": ["store/runs", "rows.parquet"]}
    found = {}
    for place in places.get(command, ["rep"]):
        top = folder / place
        for path in [top] if top.is_file() else sorted(top.rglob("*.parquet")):
            name = str(path.relative_to(folder)).replace("out.partial", "out")
            if command != "reproduce" or not (".partial" in name or "/cache/" in name):
                found[name] = path.read_bytes()
    return found


def _start(command: str, folder: Path, most: int | None = None) -> "subprocess.Popen[str]":
    def limit() -> None:
        ctrl_c.heard()
        if most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return subprocess.Popen(
        [sys.executable, "-m", "hull", *COMMANDS[command]],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
    )


def _ended(made: Interruption, folder: Path, took_s: float) -> tuple[int, str]:
    """Return the exit status and the text on stderr."""
    most = int(200 * (made.share * 2000) ** 1.2) if made.how == "file size" else None
    process = _start(made.command, folder, most)
    try:
        if made.how.startswith("SIG"):
            _wait_until_at_work(made.command, folder, process)
            time.sleep(made.share * took_s)
            process.send_signal(signal.Signals[made.how])
        said = process.communicate(timeout=MOST_S)[1]
    finally:
        process.kill()
        process.wait()
    return process.returncode, said


def _wait_until_at_work(command: str, folder: Path, process: "subprocess.Popen[str]") -> None:
    while process.poll() is None and not list(folder.glob(AT_WORK[command])):
        time.sleep(0.002)


@cache
def _whole(command: str) -> tuple[dict[str, bytes], float]:
    """Return an uninterrupted command's tables and its working time in seconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "s.toml").write_text(scenarios.text("epfl-table2"), encoding="utf-8")
        process = _start(command, folder)
        _wait_until_at_work(command, folder, process)
        started = time.monotonic()
        said = process.communicate(timeout=10 * MOST_S)[1]
        assert process.returncode == 0, said
        return tables(folder, command), time.monotonic() - started


@cache
def _room(command: str) -> int:
    """Twice the bytes of the command's tables: merging needs room for the parts as well."""
    return 2 * sum(map(len, _whole(command)[0].values()))


@contextmanager
def _mounted(folder: Path, size: int) -> Iterator[bool]:
    """Mount a small file system in a folder; yield False without the necessary privileges."""
    if os.geteuid() or not shutil.which("mount"):
        yield False
        return
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        yield False
        return
    try:
        yield True
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)

"""Runs workers in parallel: one that dies or takes too long is replaced, and its case fails."""

import importlib
import json
import os
import queue
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from fuzz.case import Outcome

HANG_S = 30.0
TESTS = Path(__file__).parents[1]


class Worker:
    """A sequence of worker processes, one at a time, in a folder of their own."""

    def __init__(self, generator: str, seed: int, hang_s: float) -> None:
        self._generator = generator
        self._seed = seed
        self._hang_s = hang_s
        self._process: subprocess.Popen[str] | None = None
        self._close = ExitStack()
        self._folder = self._close.enter_context(tempfile.TemporaryDirectory())
        self._errors = self._close.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        self._close.callback(self._stop)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._close.close()

    def carry_out(self, index: int) -> Outcome:
        """Return the outcome of a case, including one that ends the worker."""
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        before = self._errors.seek(0, os.SEEK_END)
        with suppress(BrokenPipeError):
            print(index, file=process.stdin, flush=True)
        ready, _, _ = select.select([process.stdout], [], [], self._hang_s)
        line = process.stdout.readline() if ready else ""
        if line.endswith("\n"):
            outcome = Outcome(**json.loads(line))
            said = self._said_since(before)
            if outcome.problem or "panicked" not in said:
                return outcome
            return Outcome("panicked", outcome.case, said, "a panic without a report")
        self._stop()
        said = self._said_since(before)
        if ready:
            why = f"ended by {_name(process.returncode)}"
            return Outcome("killed", self._text(index), said, why)
        return Outcome("hung", self._text(index), said, f"no end within {self._hang_s:.0f} s")

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self) -> subprocess.Popen[str]:
        path = os.pathsep.join([str(TESTS), *map(os.path.abspath, sys.path)])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.worker", self._generator, str(self._seed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            cwd=self._folder,
            env={
                **os.environ,
                "PYTHONPATH": path,
                "POLARS_MAX_THREADS": "2",
                "TMPDIR": self._folder,
            },
            start_new_session=True,  # Ctrl-C goes to the parent only.
        )
        return self._process

    def _said_since(self, before: int) -> str:
        self._errors.seek(before)
        return self._errors.read()[-3000:].decode(errors="replace")

    def _text(self, index: int) -> str:
        text: str = importlib.import_module(f"fuzz.{self._generator}").make(self._seed, index).text
        return text


def carry_out(
    generator: str, seed: int, indexes: Iterable[int], jobs: int, hang_s: float = HANG_S
) -> Iterator[tuple[int, Outcome]]:
    """Yield outcomes as they complete."""
    waiting = iter(indexes)
    lock = threading.Lock()
    found: queue.Queue[tuple[int, Outcome] | None] = queue.Queue()
    stopped = threading.Event()

    def work() -> None:
        try:
            with Worker(generator, seed, hang_s) as worker:
                while not stopped.is_set():
                    with lock:
                        index = next(waiting, None)
                    if index is None:
                        break
                    found.put((index, worker.carry_out(index)))
        finally:
            found.put(None)

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    try:
        for _ in threads:
            while (item := found.get()) is not None:
                yield item
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


def _name(status: int | None) -> str:
    return signal.Signals(-status).name if status is not None and status < 0 else f"exit {status}"

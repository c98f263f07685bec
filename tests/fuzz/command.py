"""Runs the command line in this process; checks its output and exit status."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from unittest import mock

from fuzz import messages


@dataclass(frozen=True)
class Done:
    """A finished command."""

    status: int
    out: str
    error: str

    @property
    def problem(self) -> str:
        """Why the exit status or the error is a failure; empty if neither is."""
        if self.status not in (0, 1, 2):
            return f"exit status {self.status}"
        if self.error.count("hull: error: ") != bool(self.status):
            return "not one error"
        if not self.status:
            return ""
        # A scenario's error has one line for each mistake.
        before, _, last = self.error.removesuffix("\n").rpartition("hull: error: ")
        if before and not before.endswith("\n"):
            return "no error at the beginning of a line"
        return messages.foreign(last)


def call(*arguments: str) -> Done:
    """Run `hull` with these arguments."""
    from hull.cli import main

    with _captured(1) as out, _captured(2) as error:
        with mock.patch.object(sys, "argv", ["hull", *arguments]):
            status = main()
        sys.stdout.flush()
        sys.stderr.flush()
        return Done(status, _read(out), _read(error))


@contextlib.contextmanager
def _captured(stream: int) -> Iterator[int]:
    """A file that captures a standard stream, including output from Rust."""
    kept = os.dup(stream)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), stream)
        try:
            yield file.fileno()
        finally:
            os.dup2(kept, stream)
            os.close(kept)


def _read(file: int) -> str:
    return os.pread(file, 1_000_000, 0).decode(errors="replace")

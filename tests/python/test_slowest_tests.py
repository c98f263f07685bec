"""Durations of Rust tests from libtest's output, printed here by a stand-in command."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "slowest_tests.py"
DURATIONS = runpy.run_path(str(TOOL))["durations"]


def test_a_test_starts_when_an_earlier_one_ends() -> None:
    """With two threads, a and b start first, c when b ends, and d when c ends."""
    ended = [("b", 1.0), ("c", 3.0), ("a", 4.0), ("d", 4.5)]
    assert list(DURATIONS(ended, 2)) == [(1.0, "b"), (2.0, "c"), (4.0, "a"), (1.5, "d")]


def test_one_thread_runs_them_in_turn() -> None:
    assert list(DURATIONS([("a", 2.0), ("b", 2.5)], 1)) == [(2.0, "a"), (0.5, "b")]


def test_output_and_status_are_passed_through() -> None:
    said = (
        "running 2 tests",
        "test a::one ... ok",
        "test b - should panic ... FAILED",
        "running 1 test",
        "test src/lib.rs - x (line 3) ... ok",
    )
    code = f"import sys; print({chr(10).join(said)!r}); sys.exit(101)"
    done = subprocess.run(
        [sys.executable, TOOL, sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "RUST_TEST_THREADS": "2"},
    )
    assert done.returncode == 101
    shown = done.stdout.splitlines()
    assert tuple(shown[:5]) == said
    assert shown[5] == "slowest 10 Rust tests:"
    assert {line.split("s ", 1)[1] for line in shown[6:]} == {
        "a::one",
        "b",
        "src/lib.rs - x (line 3)",
    }

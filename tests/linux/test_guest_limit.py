"""The guest's limit counts the emulator's processor time, with a stand-in for the emulator."""

import os
import subprocess
import time
from pathlib import Path

import pytest

BOOT = Path(__file__).parents[2] / "linux" / "guest" / "boot"
SAYS = "echo GUEST-BEGIN; echo it ran; echo GUEST-END 0"
LIMIT_S = 1


def boot(tmp_path: Path, emulator: str) -> tuple[subprocess.CompletedProcess[str], float]:
    """Boot with a shell script as the emulator; return its end and the time on the clock."""
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "none").touch(0o755)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "qemu-system-x86_64"
    program.write_text(f"#!/bin/sh\ndate +%s.%N > {tmp_path}/began\n{emulator}\n")
    program.chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        [BOOT, tmp_path / "programs", "true"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path, "GUEST_SECONDS": str(LIMIT_S)},
    )
    if done.returncode == 77:
        pytest.skip(done.stderr.strip())
    return done, time.time() - float((tmp_path / "began").read_text())


def test_a_guest_that_waits_for_the_processor_may_finish(tmp_path: Path) -> None:
    done, _ = boot(tmp_path, f"sleep {3 * LIMIT_S}; {SAYS}")
    assert (done.returncode, done.stdout) == (0, "it ran\n"), done.stderr


@pytest.mark.parametrize("emulator", ["while :; do :; done", "sleep 1000"])
def test_a_guest_that_hangs_is_ended(tmp_path: Path, emulator: str) -> None:
    done, took_s = boot(tmp_path, f"{emulator}; {SAYS}")
    assert done.returncode == 1
    assert "did not finish within 1 s of processor time and 10 s in all" in done.stderr
    assert took_s >= LIMIT_S

"""Shared fixtures: a short scenario, and the command as a user calls it."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

from hull import scenarios

SHORT = ["run.duration=200ms", "run.warmup=20ms", "run.seeds=2"]
"""Overrides that make the shipped scenarios short."""

# An example takes longer than hypothesis's 200 ms when other workers run simulations. The examples
# are the same at each run, so that a test fails because of a change only.
hypothesis.settings.register_profile("hull", deadline=None, derandomize=True)
hypothesis.settings.load_profile("hull")

Hull = Callable[..., subprocess.CompletedProcess[str]]
COMMAND = [sys.executable, "-m", "hull"]


def sets(overrides: list[str]) -> list[str]:
    """Overrides as command-line arguments."""
    return [word for override in overrides for word in ("--set", override)]


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by relative path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than processors: one waits for the longest fixture, others wait in tests
    that sleep or that get late answers."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Runs the file that uses the longest fixture most first, and the fixture's other users last:
    the other `pytest -n` workers run other tests meanwhile instead of waiting for it."""
    needing = [item.path for item in items if "everything" in getattr(item, "fixturenames", ())]
    most = max(needing, key=needing.count, default=None)
    items.sort(key=lambda item: 0 if item.path == most else 1 + (item.path in needing))


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder written by `hull reproduce --all --quick --out`, shared by `pytest -n` workers.
    HULL_RESULTS=DIR selects DIR instead, where only missing results are run."""
    given = os.environ.get("HULL_RESULTS")
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    out = Path(given).resolve() if given else shared / "everything"
    page = out / "all-quick" / "index.html"
    with (shared / "everything.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not given and page.exists():
            return out
        command = [*COMMAND, "reproduce", "--all", "--quick", "--out", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1500, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(page)
    return out


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory that holds only scenario.toml."""
    monkeypatch.chdir(tmp_path)
    Path("scenario.toml").write_text(scenarios.text("epfl-table2"), encoding="utf-8")
    return tmp_path


@pytest.fixture
def hull(place: Path) -> Hull:
    """Runs `hull` with arguments in `place`."""

    def call(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        done: subprocess.CompletedProcess[str] = subprocess.run(
            [*COMMAND, *arguments],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
            check=False,
            env={**os.environ, "COLUMNS": "200"},
            **options,  # type: ignore[call-overload]
        )
        return done

    return call

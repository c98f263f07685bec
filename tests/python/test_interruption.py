"""Killed, interrupted and disk-full runs never look complete, and all resume."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import ctrl_c
from conftest import COMMAND, SHORT, Hull, sets, snapshot
from hull import UsageError, cli, run
from hull.process import interrupts

RUN = ["run", "scenario.toml", "--out", "out"]
SLOW = ["run.duration=2s", "run.warmup=20ms", "run.seeds=2"]
ENDLESS = ["run.duration=100000s"]
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(place: Path) -> Iterator[Start]:
    """Starts a run in the background; kills it at the end of the test if it is still running."""
    with ExitStack() as stack:

        def begin(
            overrides: list[str], preexec_fn: Callable[[], None] = ctrl_c.heard
        ) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [*COMMAND, *RUN, *sets(overrides), "--jobs", "2"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=preexec_fn,
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield begin


def wait_for(process: subprocess.Popen[str], count: int, pattern: str) -> None:
    """Waits until `count` paths match `pattern`."""
    deadline = time.monotonic() + 60
    while len(list(Path().glob(pattern))) < count:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline, f"no {pattern}"
        time.sleep(0.005)


def tables(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in snapshot(folder).items() if name.endswith(".parquet")}


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_resumes_to_the_same_bytes(
    hull: Hull, place: Path, start: Start, how: signal.Signals
) -> None:
    process = start(SLOW)
    wait_for(process, 2, "out.partial/parts/*/*/seed-*")
    process.send_signal(how)
    error = process.communicate(timeout=30)[1]
    assert not Path("out").exists()
    kept = {path: path.stat().st_mtime_ns for path in Path("out.partial").glob("parts/*/*/seed-*")}
    assert kept
    assert all((path / "summary.json").exists() for path in kept)
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert f"{len(kept)} of 24 parts are kept" in error
        assert "Traceback" not in error

    again = hull(*RUN, *sets(SLOW))
    assert again.returncode == 0, again.stderr
    assert f"{len(kept)} of them reused" in again.stderr
    for path, made in kept.items():
        assert Path("out", *path.parts[1:]).stat().st_mtime_ns == made
    assert {path.name for path in place.iterdir()} == {"scenario.toml", "out"}
    assert hull("run", "scenario.toml", "--out", "whole", *sets(SLOW)).returncode == 0
    assert tables(Path("out")) == tables(Path("whole"))


def test_ctrl_c_stops_a_long_simulation_at_once(start: Start) -> None:
    process = start(ENDLESS)
    wait_for(process, 2, "out.partial/making/*")
    time.sleep(0.5)
    stopped = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - stopped < 3
    assert not Path("out").exists()


def test_a_run_in_the_background_ignores_ctrl_c(start: Start) -> None:
    process = start(SLOW, ctrl_c.ignored)
    wait_for(process, 2, "out.partial/making/*")
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=120)[1]
    assert process.returncode == 0, error
    assert Path("out").exists()


def test_two_runs_do_not_share_a_folder(hull: Hull, start: Start) -> None:
    process = start(ENDLESS)
    wait_for(process, 2, "out.partial/making/*")
    second = hull(*RUN, *sets(ENDLESS))
    assert second.returncode == 2
    assert "another hull" in second.stderr


def test_another_scenario_does_not_resume_leftovers(hull: Hull, place: Path, start: Start) -> None:
    process = start(SLOW)
    wait_for(process, 2, "out.partial/parts/*/*/seed-*")
    process.kill()
    process.wait()
    before = snapshot(place)
    refused = hull(*RUN, *sets(SHORT))
    assert refused.returncode == 2
    assert "another, unfinished run" in refused.stderr
    assert "give another --out, or --force to replace it" in refused.stderr
    said = "give another out, or force=True to replace it"
    with pytest.raises(UsageError, match=said):
        run("scenario.toml", "out", set=SHORT)
    assert snapshot(place) == before
    assert run("scenario.toml", "out", set=SHORT, force=True).summary["seeds"] == [1, 2]
    assert not Path("out.partial").exists()


def test_leftovers_without_a_whole_part_are_replaced(place: Path, start: Start) -> None:
    process = start(ENDLESS)
    wait_for(process, 2, "out.partial/making/*")
    with pytest.raises(UsageError, match="another hull is writing"):
        run("scenario.toml", "out", set=SHORT)
    process.kill()
    process.wait()
    assert run("scenario.toml", "out", set=SHORT).summary["seeds"] == [1, 2]
    assert not Path("out.partial").exists()


def test_a_file_that_cannot_be_written_fails_the_run(hull: Hull, place: Path) -> None:
    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

    failed = hull(*RUN, *sets(SHORT), preexec_fn=no_room)
    assert failed.returncode == 1
    assert failed.stdout == ""
    assert failed.stderr.count("hull: error: ") == 1
    assert "File too large" in failed.stderr
    assert "os error" not in failed.stderr
    assert "Traceback" not in failed.stderr
    assert not Path("out").exists()
    assert hull(*RUN, *sets(SHORT)).returncode == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(hull: Hull, place: Path) -> None:
    Path("locked").mkdir(mode=0o500)
    refused = hull("run", "scenario.toml", "--out", "locked/out")
    assert refused.returncode == 2
    assert "locked/out" in refused.stderr
    assert not list(Path("locked").iterdir())


def run_python(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        preexec_fn=ctrl_c.heard,
    )


def test_ctrl_c_while_the_command_is_loaded_is_one_line() -> None:
    ended = "import os, signal, sys; sys.argv = ['hull']; import hull; "
    at_once = f"{ended} os.kill(os.getpid(), signal.SIGINT); print('not here')"
    done = run_python(at_once)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "hull: stopped\n")


def test_ctrl_c_is_left_to_programs_that_import_hull() -> None:
    ended = "import os, signal; import hull; os.kill(os.getpid(), signal.SIGINT)"
    done = run_python(ended)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.endswith("KeyboardInterrupt\n")


def test_ctrl_c_waits_for_a_running_import() -> None:
    reached = []

    def load() -> None:
        with interrupts.held():
            signal.raise_signal(signal.SIGINT)
            reached.append("the end")

    with ctrl_c.raised():
        with pytest.raises(KeyboardInterrupt):
            load()
        assert reached
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_in_a_command_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["hull", "scenarios"])
    monkeypatch.setattr("hull.scenarios.names", stopped)
    assert cli.main() == 130
    assert capsys.readouterr().err.strip() == "hull: stopped"

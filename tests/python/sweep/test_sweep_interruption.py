"""Sweeps that end early: killed, stopped, out of space; unusable stores; bad input."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

import ctrl_c
from conftest import COMMAND, Hull, snapshot
from hull import RunError, _core, scenarios, sweep
from hull.sweeps.store import Store
from sweep_help import GRID, RUNS, SHORT, runs

MOMENTS = int(os.environ.get("HULL_KILLS", "5"))
"""Number of times a sweep is killed; 100 by hand, as CI has less time."""
SWEEP = ["sweep", "table4.toml", *GRID, *SHORT, "--seeds", "4"]
TOTAL = 4 * RUNS


@pytest.fixture(autouse=True)
def table4(place: Path) -> None:
    Path("table4.toml").write_text(scenarios.text("table4"), encoding="utf-8")


def begin(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=ctrl_c.heard,
    )


def test_resumes_to_the_same_rows_after_random_kills(hull: Hull) -> None:
    longer = [*SWEEP, "--set", "run.duration=2s", "--set", "run.warmup=20ms"]
    started = time.monotonic()
    assert hull(*longer, "--store", "whole", "--out", "whole.parquet").returncode == 0
    took_s = time.monotonic() - started
    whole, rows = runs(Path("whole")), Path("whole.parquet").read_bytes()
    moments = random.Random(1)
    landed = set()
    for number in range(MOMENTS):
        shutil.rmtree("results", ignore_errors=True)
        with begin(*longer) as killed:
            time.sleep(moments.uniform(0, took_s))
            killed.kill()
        there = runs(Path("results/store"))
        landed.add(len(there))
        assert there.items() <= whole.items(), f"moment {number}"
        again = hull(*longer)
        assert again.returncode == 0, again.stderr
        assert f"hull: {TOTAL - len(there)} runs made" in again.stderr, f"moment {number}"
        assert Path("results/table4-sweep.parquet").read_bytes() == rows, f"moment {number}"
        assert runs(Path("results/store")) == whole, f"moment {number}"
    print(f"{MOMENTS} kills, with {sorted(landed)} of {TOTAL} runs there")
    assert len(landed) > 1


def test_ctrl_c_keeps_finished_runs_and_says_so(hull: Hull) -> None:
    longer = [*SWEEP, "--set", "run.duration=2s"]
    with begin(*longer) as stopped:
        while len(runs(Path("results/store"))) < 5:
            assert stopped.poll() is None
            time.sleep(0.01)
        stopped.send_signal(signal.SIGINT)
        said = stopped.communicate(timeout=30)[1]
    assert stopped.returncode == 130
    kept = len(runs(Path("results/store")))
    assert f"hull: stopped; {kept} of {TOTAL} runs are kept in results/store; the same" in said
    assert "Traceback" not in said
    again = hull(*longer)
    assert f"hull: {TOTAL - kept} runs made, {kept} were in the store" in again.stderr


@contextmanager
def mounted(name: str, options: str) -> Iterator[None]:
    """Mount a small file system."""
    Path(name).mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", name]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system cannot be mounted here: that takes root")
    try:
        yield
    finally:
        subprocess.run(["umount", name], check=True)


def test_full_disk_is_one_message_and_finished_runs_are_kept(hull: Hull) -> None:
    with mounted("small", "size=400k"):
        full = hull(*SWEEP, "--store", "small/store", "--jobs", "2")
        kept = runs(Path("small/store"))
        assert full.returncode == 1, full.stderr
        message = full.stderr.splitlines()[-1]
        assert message.startswith("hull: error: small/store: No space left on device; ")
        assert f"{len(kept)} of {TOTAL} runs are kept there; the same command" in message
        assert full.stderr.count("error") == 1
        assert "Traceback" not in full.stderr
        assert 0 < len(kept) < TOTAL
        subprocess.run(["mount", "-o", "remount,size=8m", "small"], check=True)
        again = hull(*SWEEP, "--store", "small/store")
        assert f"{TOTAL - len(kept)} runs made, {len(kept)} were in the store" in again.stderr


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_no_room_for_the_result(hull: Hull, suffix: str) -> None:
    with mounted("small", "size=4k"):
        full = hull(*SWEEP, "--out", f"small/x.{suffix}")
        assert full.returncode == 1, full.stderr
        message = full.stderr.splitlines()[-1]
        assert message.startswith(f"hull: error: small/x.{suffix}: No space left on device")
        assert "Traceback" not in full.stderr
        assert not list(Path("small").iterdir())
    assert len(runs(Path("results/store"))) == TOTAL


def test_a_file_that_grows_too_large_is_one_message(hull: Hull) -> None:
    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    failed = hull(*SWEEP, preexec_fn=no_room)
    assert failed.returncode == 1
    assert failed.stderr.count("hull: error: ") == 1
    assert "results/store: File too large; 0 of 60 runs are kept there" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert not runs(Path("results/store"))
    assert hull(*SWEEP).returncode == 0


def test_output_that_cannot_be_printed(hull: Hull) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, *SWEEP], stdout=full, stderr=-1, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("hull: error: standard output: No space left on device\n")
    assert Path("results/table4-sweep.parquet").exists()
    closed = hull(*SWEEP, preexec_fn=lambda: os.closerange(1, 3))
    assert closed.returncode == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(hull: Hull) -> None:
    Path("locked").mkdir(mode=0o500)
    refused = hull(*SWEEP, "--store", "locked")
    assert refused.returncode == 2
    assert "--store: locked: Permission denied; expected a writable folder" in refused.stderr


def test_read_only_store_still_serves_its_runs(hull: Hull) -> None:
    with mounted("shared", "size=8m"):
        assert hull(*SWEEP, "--store", "shared/store").returncode == 0
        before = snapshot(Path("shared"))
        subprocess.run(["mount", "-o", "remount,ro", "shared"], check=True)
        taken = hull(*SWEEP, "--store", "shared/store")
        assert taken.returncode == 0, taken.stderr
        assert f"0 runs made, {TOTAL} were in the store" in taken.stderr
        refused = hull(*SWEEP, "--store", "shared/store", "--seeds", "5")
        assert refused.returncode == 2
        assert refused.stderr.splitlines()[-1] == (
            "hull: error: --store: shared/store: Read-only file system; expected a writable folder"
        )
        assert snapshot(Path("shared")) == before


def test_a_store_of_a_newer_version_is_left_alone(hull: Hull) -> None:
    assert hull(*SWEEP).returncode == 0
    marker = Path("results/store/hull-store.json")
    marker.write_text(json.dumps({"format": 2, "what": "we cannot know"}))
    before = snapshot(Path("results"))
    refused = hull(*SWEEP, "--seeds", "5")
    assert refused.returncode == 2
    assert "written by another version of hull (format 2, here 1)" in refused.stderr
    assert snapshot(Path("results")) == before


def test_unrelated_folder_is_not_a_store(hull: Hull) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("dear diary")
    refused = hull(*SWEEP, "--store", "mine")
    assert refused.returncode == 2
    assert "mine exists and is not a store of hull" in refused.stderr
    assert [path.name for path in Path("mine").iterdir()] == ["thesis.txt"]
    refused = hull(*SWEEP, "--store", "mine/thesis.txt")
    assert refused.returncode == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--over", "scheme.drian=1Gbps"], "--over scheme.drian: no key 'scheme.drian'"),
        (["--over", "workload.load"], "--over: 'workload.load'; the form is key=values"),
        (["--over", "workload.load="], "the form is key=values"),
        (["--over", "workload.load=0.6:0.2:0.1"], "which is empty"),
        (["--over", "workload.load=0.2:0.6:0"], "whose step is 0"),
        (["--over", "workload.load=0.2:0.6:ten"], "no number"),
        (["--over", "workload.load=140%"], "workload.requests.load: "),
        (["--over", "scheme.drain=fast"], '"fast" is invalid'),
        (["--over", "workload.load=1%", "--over", "workload.load=2%"], "given twice"),
        (["--seeds", "0"], "--seeds: 0 is invalid; expected a whole number"),
        (["--seeds", "ten"], "--seeds: ten"),
        (["--jobs", "0"], "--jobs: 0"),
        (["--max-seeds", "9"], "--max-seeds: given without --until"),
        (["--until", "fct.1KB.mean"], "--until: 'fct.1KB.mean'; the form is key=value"),
        (["--until", "fct.1KB.mean=200%"], "expected a share of the mean"),
        (["--out", "x.xlsx"], "--out: x.xlsx is invalid; expected a file that ends with .parquet"),
        (["--out", "table4.toml/x/y.csv"], "table4.toml is not a folder; expected a writable file"),
        (["--seeds", "9" * 30], "expected at most 10000000"),
        (["--set", "x"], "--set: 'x'; the form is key=value"),
        (["--slurm", "partition=x"], "--slurm: given without --executor slurm"),
    ],
)
def test_invalid_input(hull: Hull, arguments: list[str], said: str) -> None:
    refused = hull("sweep", "table4.toml", *SHORT, *arguments)
    assert refused.returncode == 2, refused.stderr
    assert said in refused.stderr
    assert refused.stderr.startswith("hull: error: ")
    assert refused.stderr.count("\n") == 1
    assert {path.name for path in Path().iterdir()} == {"scenario.toml", "table4.toml"}


def test_a_run_that_fails_is_reported_and_the_others_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = _core.Run

    def sometimes(
        scenario: _core.Resolved, condition: str, scheme: str, seed: int, own: None
    ) -> object:
        if scheme == "dctcp_30k" and seed == 2:
            raise RuntimeError("error in hull: NotConserved")
        return real(scenario, condition, scheme, seed, own)

    monkeypatch.setattr(_core, "Run", sometimes)
    with pytest.raises(RunError) as error:
        sweep("table4.toml", {"workload.load": [0.2]}, set=SHORT[1::2], seeds=3)
    assert str(error.value) == (
        "1 of 12 runs failed: load=0.2, dctcp_30k, seed 2: error in hull: NotConserved; the "
        "others are kept in results/store"
    )
    frame: pl.DataFrame = error.value.frame  # type: ignore[attr-defined]
    marks = frame.filter(pl.col("statistic") == "marks")
    assert dict(marks.select("scheme", "n").iter_rows())["dctcp_30k"] == 2
    assert len(marks) == 11
    assert len(runs(Path("results/store"))) == 11


def test_leftovers_of_killed_sweeps_are_removed_after_a_day(hull: Hull) -> None:
    store = Store(Path("results/store"))
    store.create()
    old, new = Path("results/store/.tmp/old"), Path("results/store/.tmp/new")
    old.write_text("x")
    new.write_text("x")
    os.utime(old, (1, 1))
    assert hull(*SWEEP).returncode == 0
    assert (old.exists(), new.exists()) == (False, True)

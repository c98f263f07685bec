"""`hull sweep` and `hull.sweep` with threads: rows, intervals, the store, no run repeated."""

import json
import math
import struct
import subprocess
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest

import hull
from conftest import COMMAND, Hull, snapshot
from hull import scenarios
from hull.files.checksums import digest
from hull.results.statistics import t975
from hull.runs.plan import build_hash
from hull.sweeps.grid import make_grid
from hull.sweeps.run import Run
from hull.sweeps.store import Store
from hull.sweeps.sums import Sums
from hull.sweeps.tasks import Task, WrongBuildError, perform
from sweep_help import GRID, RUNS, SHORT, runs

SETS = SHORT[1::2]
OVER = {"scheme.drain": "900Mbps,950Mbps", "workload.load": "0.2:0.6:0.2"}


@pytest.fixture
def table4(place: Path) -> Path:
    Path("table4.toml").write_text(scenarios.text("table4"), encoding="utf-8")
    return place


def sweep(**options: Any) -> pl.DataFrame:
    return hull.sweep("table4.toml", **{"over": OVER, "set": SETS, "seeds": 2, **options})


def test_the_command_writes_one_row_for_each_run_and_statistic(hull: Hull, table4: Path) -> None:
    done = hull("sweep", "table4.toml", *GRID, *SHORT, "--seeds", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "results/table4-sweep.parquet"
    assert f"{2 * RUNS} runs made" in done.stderr
    frame = pl.read_parquet("results/table4-sweep.parquet")
    keys = ["scheme.drain", "workload.load", "scheme", "seed", "statistic"]
    assert frame.columns == [*keys, "unit", "value", "mean", "ci95", "n"]
    assert frame.select(keys).is_unique().all()
    points = frame.select(keys[:4]).unique(maintain_order=True)
    assert len(points) == 2 * 3 * 4 * 2
    assert points["scheme.drain"].to_list()[:24] == ["900Mbps"] * 24
    assert points["workload.load"].to_list()[:9] == [0.2] * 8 + [0.4]
    assert dict(frame.select("statistic", "unit").unique().iter_rows())["fct.1KB.mean"] == "us"
    assert not {"cpu", "wall", "peak_rss_bytes", "threads"} & set(frame["statistic"])

    again = hull("sweep", "table4.toml", *GRID, *SHORT, "--seeds", "2", "--out", "again.csv")
    assert again.returncode == 0
    assert f"0 runs made, {2 * RUNS} were in the store" in again.stderr
    assert (
        pl.read_csv("again.csv")
        .select("value", "mean", "ci95")
        .equals(frame.select("value", "mean", "ci95"))
    )
    log = [json.loads(line) for line in Path("results/store/log.jsonl").read_text().splitlines()]
    assert len(log) == 2 * RUNS
    assert all(line["cpu_seconds"] > 0 for line in log)


def test_sweep_run_matches_hull_run(table4: Path) -> None:
    frame = sweep(over={"workload.load": ["20%"]})
    result = hull.run("table4.toml", set=[*SETS, "workload.requests.load=20%"], seeds=2)
    for cell in result.summary["cells"]:
        of_cell = frame.filter(pl.col("scheme") == cell["scheme"])
        for name, expected in [
            ("switch_latency.occupancy.mean", cell["switch_latency"]["occupancy"]["mean_us"]),
            ("throughput.goodput", cell["throughput"]["goodput_bps"]),
            ("marks", cell["marks"]),
        ]:
            row = of_cell.filter(pl.col("statistic") == name).row(0, named=True)
            assert (row["mean"], row["ci95"], row["n"]) == (expected["mean"], expected["ci95"], 2)


def test_interval_uses_students_t(table4: Path) -> None:
    frame = sweep(over={}, seeds=4)
    rows = frame.filter(
        (pl.col("scheme") == "tcp_droptail")
        & (pl.col("workload.requests.load") == "60%")
        & (pl.col("statistic") == "throughput.utilization")
    )
    values = rows["value"].to_list()
    assert len(values) == 4
    assert len(set(values)) > 2
    assert rows["mean"].to_list() == pytest.approx([mean(values)] * 4)
    assert rows["ci95"].to_list() == pytest.approx([t975(3) * stdev(values) / math.sqrt(4)] * 4)
    assert sweep(over={}, seeds=1)["ci95"].is_null().all()


def test_printed_n_is_that_behind_each_mean(hull: Hull, table4: Path) -> None:
    command = ["sweep", "table4.toml", *SHORT, "--over", "workload.load=0.2", "--seeds", "10"]
    done = hull(*command, "--show", "fct.1KB.mean", "--show", "fct.10MB.mean", "--show", "marks")
    row = next(line for line in done.stdout.splitlines() if "dctcp_30k" in line)
    frame = pl.read_parquet("results/table4-sweep.parquet").filter(
        pl.col("scheme") == "dctcp_30k", pl.col("statistic") == "fct.1KB.mean"
    )
    assert 1 < len(frame) < 10
    assert f"(n {len(frame)})  " in row
    assert row.split()[-4:] == ["0", "±", "0", "10"]


def test_two_sweeps_at_once_share_the_work(table4: Path) -> None:
    command = [*COMMAND, "sweep", "table4.toml", *GRID, "--seeds", "4", "--jobs", "1"]
    command += ["--set", "run.duration=4s", "--set", "run.warmup=20ms"]
    with ExitStack() as stack:
        sweeps = [
            stack.enter_context(
                subprocess.Popen([*command, "--out", name], stderr=subprocess.PIPE, text=True)
            )
            for name in ("one.csv", "two.csv")
        ]
        said = [sweep.communicate(timeout=120)[1] for sweep in sweeps]
    assert [sweep.returncode for sweep in sweeps] == [0, 0], said
    made = [int(text.split(" runs made")[0].rpartition(" ")[2]) for text in said]
    assert 4 * RUNS <= sum(made) < 1.5 * 4 * RUNS
    assert len(Path("results/store/log.jsonl").read_text().splitlines()) == sum(made)
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()


def test_added_values_and_seeds_run_only_new_cases(hull: Hull, table4: Path) -> None:
    def made(*arguments: str) -> str:
        done = hull("sweep", "table4.toml", *SHORT, *arguments)
        assert done.returncode == 0, done.stderr
        return next(line for line in done.stderr.splitlines() if "runs made" in line).split(
            " runs"
        )[0]

    assert made("--over", "workload.load=0.2", "--seeds", "2") == "hull: 8"
    assert made("--over", "workload.load=0.2", "--seeds", "3") == "hull: 4"
    assert made("--over", "workload.load=20%,0.4", "--seeds", "3") == "hull: 12"
    assert made("--over", "workload.load=0.4", "--over", "scheme.drain=950Mbps") == "hull: 0"
    assert made("--over", "workload.load=0.4", "--over", "scheme.drain=900Mbps") == "hull: 1"
    assert made("--over", "workload.load=0.4", "--set", "title=another") == "hull: 0"


def test_the_store_is_one_dataset_for_polars_pandas_and_duckdb(table4: Path) -> None:
    frame = sweep()
    once = (pl.col("scheme") == "dctcp_pq950_pacer") | (pl.col("scheme.drain") == "900Mbps")
    expected = len(frame.filter(once))
    pattern = "results/store/runs/*/*.parquet"
    one = pl.read_parquet(pattern)
    two = pd.concat(pd.read_parquet(path) for path in sorted(Path().glob(pattern)))
    three = duckdb.execute(
        "select condition, scenario->>'$.workload.requests.load' as load, seed, statistic, value "
        f"from '{pattern}'"
    ).fetchall()
    assert len(one) == len(two) == len(three) == expected
    assert list(one.columns) == list(two.columns)
    assert one["run"].n_unique() == 2 * RUNS
    assert pd.read_parquet("results/store/runs").shape == two.shape
    assert {row[1] for row in three} == {"20%", "40%", "60%"}
    assert {row[0] for row in three} >= {"load=0.2", "drain=900Mbps,load=0.2"}


def test_stored_run_can_be_rerun_from_its_scenario(table4: Path) -> None:
    sweep(over={"workload.load": [0.4]}, set=["run.duration=200ms"], seeds=1)
    row = pl.read_parquet("results/store/runs/*/*.parquet").filter(
        (pl.col("scheme") == "dctcp_pq950_pacer") & (pl.col("statistic") == "marks")
    )
    result = hull.run(json.loads(row["scenario"].item()), out="one")
    assert result.summary["parts"][0]["marks"] == row["value"].item() > 0


def with_another_value(path: Path) -> bytes | None:
    """Return a run's file with one bit of a number flipped, otherwise intact; None if compression
    left no number whole."""
    content = path.read_bytes()
    value = pl.read_parquet(path)["value"]
    for number in value.filter(value > 1).to_list():
        old = struct.pack("<d", number)
        if content.count(old) == 1:
            return content.replace(old, bytes([old[0] ^ 1]) + old[1:])
    return None


@pytest.mark.parametrize("damage", ["truncated", "empty", "foreign", "another run", "a bit"])
def test_damaged_file_is_reported_and_rerun(table4: Path, hull: Hull, damage: str) -> None:
    before = sweep()
    kept = runs(Path("results/store"))
    paths = sorted(Path("results/store").glob("runs/*/*.parquet"))
    # Names are hashes of the build too, so any run may come first.
    path, flipped = next((path, new) for path in paths if (new := with_another_value(path)))
    content = {
        "truncated": path.read_bytes()[:-100],
        "empty": b"",
        "foreign": b"something else" * 100,
        "another run": next(other for other in paths if other != path).read_bytes(),
        "a bit": flipped,
    }
    path.write_bytes(content[damage])
    done = hull("sweep", "table4.toml", *GRID, *SHORT, "--seeds", "2")
    assert done.returncode == 0, done.stderr
    assert f"{path}: truncated, or not a run of hull; that run is repeated" in done.stderr
    assert "hull: 1 runs made" in done.stderr
    assert pl.read_parquet("results/table4-sweep.parquet").equals(before)
    assert runs(Path("results/store")) == kept


def test_tables_are_kept_on_request(table4: Path) -> None:
    without = sweep(seeds=1)
    assert not Path("results/store/tables").exists()
    assert sweep(seeds=1, tables=True).equals(without)
    folders = list(Path("results/store/tables").glob("*/*"))
    assert {folder.name for folder in folders} == {
        path.stem for path in Path("results/store").glob("runs/*/*.parquet")
    }
    assert all(
        {"flows.parquet", "latency.parquet"} <= {p.name for p in f.iterdir()} for f in folders
    )


@pytest.mark.parametrize("damage", ["a bit", "missing", "record"])
def test_damaged_tables_are_made_again(table4: Path, hull: Hull, damage: str) -> None:
    sweep(seeds=1, tables=True)
    before = snapshot(Path("results/store/tables"))
    folder = next(Path("results/store/tables").glob("*/*"))
    table = folder / "latency.parquet"
    if damage == "a bit":
        content = bytearray(table.read_bytes())
        content[len(content) // 2] ^= 1
        table.write_bytes(content)
    elif damage == "missing":
        table.unlink()
    else:
        (folder / "run.json").write_text("{")
    again = ("sweep", "table4.toml", *GRID, *SHORT, "--seeds", "1")
    assert "hull: 0 runs made" in hull(*again).stderr
    done = hull(*again, "--tables")
    assert done.returncode == 0, done.stderr
    assert f"hull: {folder}: truncated, or not a run of hull" in done.stderr
    assert "hull: 1 runs made" in done.stderr
    assert snapshot(Path("results/store/tables")) == before


def test_sha256sum_reads_the_checksums_of_a_store(table4: Path) -> None:
    sweep(seeds=1)
    store = Path("results/store")
    lines = [line for file in (store / "sums").iterdir() for line in file.read_text().splitlines()]
    sums = {path: digest for digest, path in (line.split("  ") for line in lines)}
    paths = [str(path.relative_to(store)) for path in store.glob("runs/*/*.parquet")]
    assert sums == {path: digest(store / path) for path in paths}


def test_truncated_checksum_counts_as_missing(table4: Path) -> None:
    sweep(seeds=1)
    before = runs(Path("results/store"))
    for number, file in enumerate(sorted(Path("results/store/sums").iterdir())):
        if number % 3 == 0:
            file.unlink()
        elif number % 3 == 1:
            file.write_text(file.read_text()[:40])
    path = next(Path("results/store").glob("runs/*/*.parquet"))
    sums = Sums(Path("results/store"))
    sums.add(path.stem, digest(path))  # after a truncated line
    assert digest(path) in sums.of(path.stem)
    frame = sweep(seeds=1)
    assert len(frame)
    assert runs(Path("results/store")) == before


@pytest.mark.parametrize("wrong", [[("workload.load", [0.2])], "workload.load=0.2", {1: [0.2]}])
def test_non_dict_is_rejected(table4: Path, wrong: Any) -> None:
    for name in ("over", "until"):
        with pytest.raises(hull.UsageError, match=f"{name}: .*expected a dict"):
            sweep(**{name: wrong})
    assert not Path("results").exists()


def test_processes_match_threads(table4: Path) -> None:
    threads = sweep(store="a", jobs=2)
    with ProcessPoolExecutor(2) as pool:
        assert sweep(store="b", executor=pool).equals(threads)
    assert runs(Path("a")) == runs(Path("b"))


class KilledWorker(RuntimeError):  # noqa: N818
    """Named like Dask's own exception."""


class Backwards(Executor):
    """Runs every call immediately, but fails the first ones as if their workers had died."""

    def __init__(self, deaths: int, error: type[Exception] = RuntimeError) -> None:
        self.deaths = deaths
        self.error = error
        self.calls = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.calls += 1
        if self.calls <= self.deaths:
            future.set_exception(self.error("worker lost"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_dead_worker_costs_only_time(table4: Path) -> None:
    assert sweep(store="a", executor=Backwards(2)).equals(sweep(store="b"))


def test_a_run_whose_worker_dies_three_times_is_reported(table4: Path) -> None:
    with pytest.raises(hull.RunError, match=r"failed: .*its worker died 3 times \(worker lost\)"):
        sweep(executor=Backwards(10**9), over={}, seeds=1)


def test_run_dask_gave_up_on_is_not_retried(table4: Path) -> None:
    executor = Backwards(10**9, KilledWorker)
    with pytest.raises(hull.RunError, match=r"12 of 12 runs failed: .*died on each worker that"):
        sweep(executor=executor, over={}, seeds=1)
    assert executor.calls <= 2 * 12


def test_the_scenario_as_a_dict(table4: Path) -> None:
    import tomllib

    content = tomllib.loads(Path("table4.toml").read_text())
    assert hull.sweep(content, OVER, set=SETS, seeds=2).equals(sweep())


def task(folder: str, identity: str, build: str = "") -> Task:
    made = make_grid(Path("table4.toml").read_text(), "t", {"workload.load": [0.2]}, SETS)
    case = made.cases[0]
    one = Run(case.key(1), 0, 1, case.name, case.condition, case.scheme, case.scenario)
    return Task("s", build or build_hash(), (one,), store=folder, store_id=identity, keep=True)


def test_workers_write_to_the_store_only_if_it_is_theirs(table4: Path) -> None:
    store = Store(Path("a"))
    store.create()
    assert not perform(task("/nowhere/here", store.id))[0].kept
    assert not perform(task("a", "another"))[0].kept
    assert not runs(Path("a"))
    assert perform(task("a", store.id))[0].kept
    assert len(runs(Path("a"))) == 1
    again = perform(task("a", store.id))[0]
    assert (again.kept, again.cpu_s) == (True, 0.0)


def test_worker_with_another_build_is_rejected(table4: Path) -> None:
    with pytest.raises(WrongBuildError, match="another build of hull"):
        perform(task("", "", build="0" * 64))

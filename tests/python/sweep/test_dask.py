"""A real Dask cluster: scheduler and workers as processes on loopback; one worker is killed."""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread

import polars as pl
import pytest

import ctrl_c
from conftest import COMMAND, Hull
from hull import UsageError, scenarios
from hull.sweeps import dask_cluster
from hull.sweeps.dask_cluster import open_dask
from sweep_help import GRID, SHORT, runs

Client = pytest.importorskip("distributed", reason="needs hullnet[dask]").Client

LONGER = ["--set", "run.duration=2s", "--set", "run.warmup=20ms", "--seeds", "4"]
ENDLESS = [*LONGER[:-1], "400"]
"""More runs than complete before a test interrupts them, even on a busy machine."""
HANG_S = 300
"""Ends a test that hangs; nothing else depends on it."""


class Cluster:
    """A scheduler and its workers."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.place = f"127.0.0.1:{port}"
        self.executor = ["--executor", f"dask://{self.place}"]
        arguments = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
        self.scheduler = self._start("scheduler", arguments)

    def add_worker(self, name: str) -> subprocess.Popen[bytes]:
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name]
        return self._start("worker", [f"tcp://{self.place}", *options])

    def wait_for_workers(self, count: int) -> None:
        """Wait until the scheduler has this many workers: a sweep itself waits only for seconds."""
        deadline = time.monotonic() + HANG_S
        while time.monotonic() < deadline:
            assert self.scheduler.poll() is None
            with suppress(OSError, TimeoutError):
                with Client(f"tcp://{self.place}", set_as_default=False) as client:
                    client.wait_for_workers(count, timeout=HANG_S)
                return
        raise TimeoutError

    def wait_for_names(self, names: set[str]) -> None:
        """Wait until these are the scheduler's only workers: one that was killed is gone."""
        deadline = time.monotonic() + HANG_S
        with Client(f"tcp://{self.place}", set_as_default=False) as client:
            while {w["name"] for w in client.scheduler_info(-1)["workers"].values()} != names:
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def _start(self, what: str, arguments: list[str]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", f"distributed.cli.dask_{what}", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._stack.enter_context(process)
        self._stack.callback(process.kill)
        return process


@pytest.fixture
def cluster(place: Path) -> Iterator[Cluster]:
    """A cluster that is shut down with the test, also if it fails."""
    Path("table4.toml").write_text(scenarios.text("table4"), encoding="utf-8")
    with ExitStack() as stack:
        yield Cluster(stack)


def logged(store: str) -> list[str]:
    """Return the host and process of each run in a store."""
    try:
        lines = Path(store, "log.jsonl").read_text().splitlines()
    except FileNotFoundError:
        return []
    return [json.loads(line)["host"] for line in lines]


def wait_until(enough: int, store: str, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + HANG_S
    while len(logged(store)) < enough:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_lost_and_added_workers_give_the_rows_of_threads(cluster: Cluster, hull: Hull) -> None:
    first = cluster.add_worker("first")
    second = cluster.add_worker("second")
    cluster.wait_for_workers(2)
    command = [*COMMAND, "sweep", "table4.toml", *GRID, *LONGER, *cluster.executor]
    with subprocess.Popen(
        [*command, "--store", "dask", "--out", "dask.parquet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as sweep:
        wait_until(6, "dask", sweep)
        # The stopped worker leaves runs for the third, however late the third joins.
        first.send_signal(signal.SIGSTOP)
        second.kill()
        third = cluster.add_worker("third")
        cluster.wait_for_names({"first", "third"})
        first.send_signal(signal.SIGCONT)
        said = sweep.communicate(timeout=HANG_S)
    assert sweep.returncode == 0, said
    made_by = {int(host.rpartition(":")[2]) for host in logged("dask")}
    assert {first.pid, third.pid} <= made_by <= {first.pid, second.pid, third.pid}
    assert "60 runs made" in said[1]

    threads = [*GRID, *LONGER, "--store", "threads", "--out", "threads.parquet"]
    assert hull("sweep", "table4.toml", *threads).returncode == 0
    assert Path("dask.parquet").read_bytes() == Path("threads.parquet").read_bytes()
    assert runs(Path("dask")) == runs(Path("threads"))
    assert len(logged("dask")) <= 61  # only the killed run may have started twice


def test_two_sweeps_write_one_store_at_once(cluster: Cluster, hull: Hull) -> None:
    cluster.add_worker("only")
    cluster.wait_for_workers(1)
    command = [*COMMAND, "sweep", "table4.toml", *GRID, *SHORT, "--seeds", "8", "--store", "both"]
    with subprocess.Popen(
        [*command, *cluster.executor, "--out", "one.parquet"], stderr=subprocess.PIPE, text=True
    ) as one:
        two = hull(*command[len(COMMAND) :], "--out", "two.parquet")
        said = one.communicate(timeout=HANG_S)[1]
    assert (one.returncode, two.returncode) == (0, 0), said + two.stderr
    assert Path("one.parquet").read_bytes() == Path("two.parquet").read_bytes()
    assert len(runs(Path("both"))) == 8 * 15
    assert pl.read_parquet("both/runs/*/*.parquet")["run"].n_unique() == 8 * 15


def test_ctrl_c_keeps_finished_runs(cluster: Cluster) -> None:
    cluster.add_worker("only")
    cluster.wait_for_workers(1)
    command = [*COMMAND, "sweep", "table4.toml", *GRID, *ENDLESS, *cluster.executor]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, preexec_fn=ctrl_c.heard
    ) as sweep:
        wait_until(3, "results/store", sweep)
        sweep.send_signal(signal.SIGINT)
        said = sweep.communicate(timeout=HANG_S)[1]
    assert sweep.returncode == 130, said
    assert "of 6000 runs are kept in results/store; the same command resumes from there" in said
    assert "Traceback" not in said


def test_the_scheduler_goes_away(cluster: Cluster) -> None:
    cluster.add_worker("only")
    cluster.wait_for_workers(1)
    command = [*COMMAND, "sweep", "table4.toml", *GRID, *ENDLESS, *cluster.executor]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as sweep:
        wait_until(3, "results/store", sweep)
        cluster.scheduler.kill()
        said = sweep.communicate(timeout=HANG_S)[1]
    assert sweep.returncode == 1, said
    assert "of 6000 runs are kept in results/store" in said
    assert "Traceback" not in said


def test_missing_scheduler(hull: Hull, place: Path) -> None:
    Path("table4.toml").write_text(scenarios.text("table4"), encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    done = hull("sweep", "table4.toml", *SHORT, "--executor", f"dask://127.0.0.1:{port}")
    assert done.returncode == 2
    assert f"no Dask scheduler answered at 127.0.0.1:{port} in 10 s; check that" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", r"no Dask scheduler answered at 127\.0\.0\.1:\d+ in 1 s; check that"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", r"127\.0\.0\.1:\d+ is not a Dask scheduler; "),
    ],
)
def test_address_is_not_a_dask_scheduler(
    answer: bytes, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_cluster, "_CONNECT_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection = server.accept()[0]
                except OSError:
                    return
                connection.sendall(answer)
                held.append(connection)

        held: list[socket.socket] = []
        Thread(target=serve, daemon=True).start()
        with pytest.raises(UsageError, match=said):
            open_dask(f"dask://127.0.0.1:{server.getsockname()[1]}", None)
        server.shutdown(socket.SHUT_RDWR)
        for connection in held:
            connection.close()


def test_worker_address_is_not_a_scheduler(cluster: Cluster, hull: Hull) -> None:
    cluster.add_worker("only")
    cluster.wait_for_workers(1)
    assert hull("sweep", "table4.toml", *SHORT, *cluster.executor).returncode == 0
    with Client(f"tcp://{cluster.place}", set_as_default=False) as client:
        worker = next(iter(client.nthreads())).removeprefix("tcp://")
    done = hull("sweep", "table4.toml", *SHORT, "--executor", f"dask://{worker}")
    assert done.returncode == 2
    assert f"{worker} is not a Dask scheduler, but Dask's worker; " in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("executor", ["dask://", "dask://host", "dask://host:x", "ray", ""])
def test_invalid_executor(hull: Hull, place: Path, executor: str) -> None:
    done = hull("sweep", "scenario.toml", *SHORT, "--executor", executor)
    assert done.returncode == 2
    assert done.stderr.startswith("hull: error: --executor: ")

"""Executors: threads of this process, a Dask cluster, Slurm, or any object with the interface of
`concurrent.futures.Executor`; and what the schedule has to know of each.
"""

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hull.errors import UsageError, check_count
from hull.memory import fitting_jobs
from hull.options import option
from hull.runner import default_jobs
from hull.sweeps.tasks import watches


class Engine:
    """An executor that the caller opens and closes."""

    task_s = 0.5
    """Target duration of a task: long enough to make the cost of submitting it small."""
    least_s = 0.0
    """Shortest tasks near the end of a sweep, where short tasks let all workers finish together."""
    split = 3
    """Fewest tasks into which a worker's share of the remaining runs is split."""
    at_first = 20
    """Most runs in a task while the duration of a run is unknown."""
    workers_keep = False
    """Whether workers that can access the store write runs to it."""
    in_process = False
    lost = "the executor gave up its tasks"
    """Message for tasks that someone other than hull cancelled."""

    def __init__(self, executor: Executor, workers: int) -> None:
        """`workers`: number of concurrent tasks."""
        self.executor = executor
        self._workers = workers

    def workers(self) -> int:
        """Number of concurrent tasks at present."""
        return self._workers

    def waiting(self) -> int:
        """Number of tasks to submit ahead, so that no worker waits."""
        return self.workers()

    def stop(self, sweep: str) -> None:
        """Cancel the running tasks of a sweep, as far as the executor allows."""
        if sweep in watches:
            watches[sweep].cancel()

    def close(self) -> None:
        """Release what the engine opened."""


class Threads(Engine):
    """Threads of this process: the simulator releases the interpreter's lock."""

    task_s = 0.05
    in_process = True

    def __init__(self, jobs: int) -> None:
        """`jobs`: number of threads."""
        super().__init__(ThreadPoolExecutor(jobs, thread_name_prefix="hull"), jobs)

    def close(self) -> None:
        """Wait for the threads."""
        self.executor.shutdown(wait=True, cancel_futures=True)


ALLOWED = "threads, dask://host:port, slurm"


def open_engine(
    executor: Any,
    jobs: int | None,
    options: Mapping[str, str],
    shared: Path,
    needs: Iterable[int] = (),
) -> Engine:
    """The engine for a name as `--executor` takes it, or for an executor.

    `options` are those of Slurm, `shared` a folder that its machines see, `needs` the bytes that
    each run is estimated to need: threads share this process's memory.
    """
    jobs = None if jobs is None else check_count(option("jobs"), jobs)
    if options and executor != "slurm":
        raise UsageError(f"{option('slurm')}: given without {option('executor')} slurm")
    if executor is None or executor == "threads":
        return Threads(fitting_jobs(jobs or default_jobs(), needs))
    if isinstance(executor, str):
        if executor.startswith("dask://"):
            from hull.sweeps.dask_cluster import open_dask

            return open_dask(executor, jobs)
        if executor == "slurm":
            from hull.sweeps.slurm import open_slurm

            return open_slurm(jobs, dict(options), shared)
        raise UsageError(
            f"{option('executor')}: {executor!r} is invalid; expected one of {ALLOWED}"
        )
    if hasattr(executor, "get_executor"):  # a client of Dask
        from hull.sweeps.dask_cluster import Dask

        return Dask(executor, jobs, opened=False)
    if not callable(getattr(executor, "submit", None)):
        raise UsageError(
            f"executor: {executor!r} is invalid; expected one of {ALLOWED}, or an object like "
            "concurrent.futures.Executor"
        )
    workers = jobs or getattr(executor, "_max_workers", None) or os.cpu_count() or 1
    return Engine(executor, workers)

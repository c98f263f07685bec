"""Executors: threads of this process, a Dask cluster, Slurm, or any object with the interface of
`concurrent.futures.Executor`; and what the schedule has to know of each.
"""

import os
from collections.abc import Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hull.errors import UsageError, check_count
from hull.runner import default_jobs
from hull.sweeps.tasks import watches


class Engine:
    """An executor that the caller opened, and closes."""

    task_s = 0.5
    """How long a task should take: so long that handing it over costs little."""
    least_s = 0.0
    """How short tasks may become towards the end, so that workers end together."""
    split = 3
    """Into how many tasks a worker's share of what is left is split at least."""
    at_first = 20
    """Most runs of a task when nothing is known of how long they take."""
    workers_keep = False
    """Whether workers put runs into the store, where they see it."""
    in_process = False
    lost = "the executor gave up its tasks"
    """What is said when tasks come back cancelled, though hull did not cancel them."""

    def __init__(self, executor: Executor, workers: int) -> None:
        """`workers`: tasks that it can do at a time."""
        self.executor = executor
        self._workers = workers

    def workers(self) -> int:
        """Tasks that can be done at a time, now."""
        return self._workers

    def waiting(self) -> int:
        """Tasks that may be handed over before their turn, so that no worker waits."""
        return self.workers()

    def stop(self, sweep: str) -> None:
        """End what runs of a sweep, as far as that can be done."""
        if sweep in watches:
            watches[sweep].cancel()

    def close(self) -> None:
        """Give back what was opened."""


class Threads(Engine):
    """Threads of this process: the simulator releases the interpreter's lock."""

    task_s = 0.05
    in_process = True

    def __init__(self, jobs: int) -> None:
        """As many at a time as `jobs`."""
        super().__init__(ThreadPoolExecutor(jobs, thread_name_prefix="hull"), jobs)

    def close(self) -> None:
        """Wait for the threads."""
        self.executor.shutdown(wait=True, cancel_futures=True)


ALLOWED = "threads, dask://host:port, slurm"


def open_engine(
    executor: Any, jobs: int | None, options: Mapping[str, str], shared: Path
) -> Engine:
    """The engine for a name as `--executor` takes it, or for an executor.

    `options` are those of Slurm, `shared` a folder that its machines see.
    """
    jobs = None if jobs is None else check_count("--jobs", jobs)
    if options and executor != "slurm":
        raise UsageError("--slurm: given without --executor slurm")
    if executor is None or executor == "threads":
        return Threads(jobs or default_jobs())
    if isinstance(executor, str):
        if executor.startswith("dask://"):
            from hull.sweeps.dask_cluster import open_dask

            return open_dask(executor, jobs)
        if executor == "slurm":
            from hull.sweeps.slurm import open_slurm

            return open_slurm(jobs, dict(options), shared)
        raise UsageError(f"--executor: {executor!r} is invalid; expected one of {ALLOWED}")
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

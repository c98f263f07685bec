"""The executor that a caller names: threads of this process, Dask, Slurm, or an object of his."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hull.errors import UsageError, check_count
from hull.process.memory import fitting_jobs
from hull.runner import default_jobs
from hull.sweeps.engine import Engine, Threads
from hull.terminal.options import option

ALLOWED = "threads, dask://host:port, slurm"


def open_engine(
    executor: Any,
    jobs: int | None,
    options: Mapping[str, str],
    shared: Path,
    needs: Iterable[int] = (),
) -> Engine:
    """The engine for a name as `--executor` takes it, or for an executor.

    `options` are Slurm's, `shared` a folder that its machines see, `needs` the bytes that each run
    is estimated to need: threads share this process's memory.
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

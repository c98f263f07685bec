"""Slurm as an executor: tasks become jobs of arrays, submitted through submitit.

Jobs of submitit are no futures, so a thread submits what has come together, looks for results, and
asks `squeue` which jobs are still there: one that is gone without a result has died. (submitit
would ask `sacct`, which needs an accounting database that small clusters do not have.)
"""

import contextlib
import shutil
import subprocess
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from hull.errors import RunError, UsageError
from hull.process.extras import require
from hull.sweeps.engine import Engine
from hull.sweeps.tasks import WrongBuildError
from hull.terminal.options import option

JOBS = 100
"""Jobs at a time, where `--jobs` is not given."""
_POLL_S = 0.5
_ASK_EVERY_S = 3.0
_GONE_S = 10.0
_NUMBERS = ("time", "nodes", "cpus_per_task", "gpus_per_node", "array_parallelism")
_NAMES = ("partition", "account", "qos", "constraint", "exclude", "nodelist", "mem", "mem_per_cpu")


class JobDiedError(RuntimeError):
    """A job ended without a result."""


class SlurmExecutor(Executor):
    """submitit's executor with the interface of `concurrent.futures`."""

    def __init__(self, folder: Path, parameters: dict[str, Any]) -> None:
        """`folder` must be one that all machines of the cluster see."""
        from submitit import SlurmExecutor as Submitit

        self._name = f"hull-{uuid.uuid4().hex[:8]}"
        self._folder = folder / self._name
        self._submitit = Submitit(folder=self._folder)
        self._submitit.update_parameters(job_name=self._name, **parameters)
        self._lock = threading.Lock()
        self._new: list[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = []
        self._jobs: dict[Any, Future[Any]] = {}
        self._seen: dict[str, float] = {}
        self._asked = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="hull-slurm", daemon=True)
        self._thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Calls `fn` in a job, with `args` alone."""
        if self._ended.is_set() or kwargs:
            raise RuntimeError("the executor is shut down, or was given named arguments")
        future: Future[Any] = Future()
        with self._lock:
            self._new.append((future, fn, args))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop, and cancel the remaining jobs."""
        self._ended.set()
        self._thread.join(timeout=30)
        left = [job for job, future in self._jobs.items() if not future.done()]
        if left:
            _ask(["scancel", *(job.job_id for job in left)])
        for future in self._jobs.values():
            future.cancel()
        if not left:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _serve(self) -> None:
        while not self._ended.wait(_POLL_S):
            try:
                self._submit_new()
                self._look()
            except Exception as error:
                with self._lock:
                    futures = [*self._jobs.values(), *(future for future, _, _ in self._new)]
                for future in futures:
                    if not future.done():
                        future.set_exception(RunError(f"Slurm: {_reason(error)}"))
                return

    def _submit_new(self) -> None:
        with self._lock:
            new, self._new = self._new, []
        new = [one for one in new if one[0].set_running_or_notify_cancel()]
        if not new:
            return
        try:
            jobs = self._submitit.map_array(_call, [(fn, args) for _, fn, args in new])
        except Exception as error:
            for future, _, _ in new:
                future.set_exception(RunError(f"Slurm takes no job: {_reason(error)}"))
            return
        now = time.monotonic()
        with self._lock:
            for job, (future, _, _) in zip(jobs, new, strict=True):
                self._jobs[job] = future
                self._seen[job.job_id] = now

    def _look(self) -> None:
        with self._lock:
            running = [(job, future) for job, future in self._jobs.items() if not future.done()]
        for job, future in running:
            # The folder is listed again, as a network file system remembers what was not there.
            with contextlib.suppress(OSError):
                job.paths.folder.chmod(job.paths.folder.stat().st_mode)
            if job.paths.result_pickle.exists():
                _hand_back(job, future)
                with self._lock:
                    del self._jobs[job], self._seen[job.job_id]
        self._find_dead()

    def _find_dead(self) -> None:
        now = time.monotonic()
        if now - self._asked < _ASK_EVERY_S or not self._jobs:
            return
        self._asked = now
        listed = _ask(["squeue", "--noheader", "--array", "--format=%i", f"--name={self._name}"])
        if listed is None:
            return
        there = set(listed.split())
        for job, future in list(self._jobs.items()):
            if job.job_id in there:
                self._seen[job.job_id] = now
            elif now - self._seen[job.job_id] > _GONE_S:
                del self._jobs[job]
                future.set_exception(JobDiedError(f"job {job.job_id} is gone, without a result"))


class Slurm(Engine):
    """Jobs of a Slurm cluster."""

    task_s = 60.0
    least_s = 10.0  # to start a job takes a second or more
    split = 1
    at_first = 500
    workers_keep = True

    def waiting(self) -> int:
        """None: jobs wait in Slurm's own queue, if they have to."""
        return 0

    def stop(self, sweep: str) -> None:
        """Cancel the jobs."""
        super().stop(sweep)
        self.executor.shutdown(cancel_futures=True)

    def close(self) -> None:
        """Stop the thread that submits and polls jobs."""
        self.executor.shutdown()


def open_slurm(jobs: int | None, options: dict[str, str], folder: Path) -> Slurm:
    """Open Slurm with options of sbatch, such as partition and time (minutes)."""
    require("slurm", f"{option('executor')} slurm")
    if shutil.which("sbatch") is None or shutil.which("srun") is None:
        raise UsageError(
            f"{option('executor')} slurm: no sbatch and srun here; expected a machine that submits "
            "to Slurm"
        )
    parameters: dict[str, Any] = {"time": 60, "additional_parameters": {}}
    for key, value in options.items():
        name = key.replace("-", "_")
        if name in _NUMBERS:
            if not value.isdigit() or value == "0":
                unit = " of minutes" if name == "time" else ""
                form = f"a whole number{unit}"
                raise UsageError(f"{option('slurm')} {key}: {value} is invalid; expected {form}")
            parameters[name] = int(value)
        elif name in _NAMES:
            parameters[name] = value
        else:
            parameters["additional_parameters"][key] = value
    return Slurm(SlurmExecutor(folder, parameters), jobs or JOBS)


def _call(call: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    function, arguments = call
    return function(*arguments)


def _hand_back(job: Any, future: Future[Any]) -> None:
    try:
        future.set_result(job.result())
    except Exception as error:
        text = _reason(error)
        if WrongBuildError.__name__ in text:
            future.set_exception(WrongBuildError(text))
        else:
            future.set_exception(JobDiedError(text))


def _ask(command: list[str]) -> str | None:
    """Output of a Slurm command; None if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _reason(error: Exception) -> str:
    """The last line of what an error says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip("- ")]
    return lines[-1] if lines else type(error).__name__

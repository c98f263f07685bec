"""What the schedule has to know of an executor: any object with the interface of
`concurrent.futures.Executor`, and threads of this process.
"""

from concurrent.futures import Executor, ThreadPoolExecutor

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

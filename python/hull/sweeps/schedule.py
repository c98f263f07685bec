"""Hands runs to an executor, a task at a time, until all are done.

A task holds as many runs as take about the engine's `task_s`, by what such runs have taken so far;
what it has not begun when it has taken longer comes back. A task whose worker died is done again,
its runs one by one, each at most three times.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import replace

from hull.errors import RunError
from hull.sweeps.engine import Engine
from hull.sweeps.run import Run
from hull.sweeps.tasks import Outcome, Task, WrongBuildError, perform

_REFRESH_S = 0.2
_STOP_S = 5.0
_TRIES = 3
_MOST_RUNS = 500

Take = Callable[[Run, Outcome], Iterable[Run]]
"""Takes the outcome of a run and says which runs there are to be besides."""


class Schedule:
    """Submits the runs of a sweep to an executor and collects the results."""

    def __init__(self, engine: Engine, head: Task, take: Take) -> None:
        """`head`: a task without runs."""
        self._engine = engine
        self._head = head
        self._take = take
        self._queue: deque[Run] = deque()
        self._again: deque[Run] = deque()
        self._tries: dict[str, int] = {}
        self._running: dict[Future[list[Outcome]], Task] = {}
        self._seconds: dict[int, tuple[float, int]] = {}
        self._all_seconds = (0.0, 0)

    def carry_out(self, runs: Iterable[Run], refresh: Callable[[], None]) -> None:
        """Run until no run is left; calls `refresh` periodically."""
        self._queue.extend(runs)
        try:
            while self._queue or self._again or self._running:
                self._hand_over()
                if not self._running:  # no worker is there just now
                    time.sleep(_REFRESH_S)
                done, _ = wait(self._running, timeout=_REFRESH_S, return_when=FIRST_COMPLETED)
                for future in done:
                    self._finish(future, self._running.pop(future))
                refresh()
        except BaseException:
            self._stop()
            raise

    def _hand_over(self) -> None:
        room = self._engine.workers() + self._engine.waiting() - len(self._running)
        while room > 0 and (self._queue or self._again):
            task = replace(self._head, runs=self._next_runs(), limit_s=1.5 * self._engine.task_s)
            try:
                future = self._engine.executor.submit(perform, task)
            except RuntimeError as error:  # a broken pool, or one that was shut down
                raise RunError(f"the executor takes no more work: {error}") from error
            self._running[future] = task
            room -= 1

    def _next_runs(self) -> tuple[Run, ...]:
        if self._again:
            return (self._again.popleft(),)
        workers = max(self._engine.workers(), 1)
        seconds, count = self._all_seconds
        if not count:  # nothing is known yet; the task's time limit sees to its length
            share = -(-len(self._queue) // (self._engine.split * workers))
            count = min(share, self._engine.at_first)
            return tuple(self._queue.popleft() for _ in range(count))
        mean_s = seconds / count
        left_s = len(self._queue) * mean_s
        # Towards the end tasks become short, so that workers end together.
        aim_s = min(self._engine.task_s, left_s / (self._engine.split * workers))
        aim_s = max(aim_s, self._engine.least_s)
        runs, sum_s = [self._queue.popleft()], 0.0
        while self._queue and len(runs) < _MOST_RUNS:
            sum_s += self._expected_s(runs[-1], mean_s)
            if sum_s + self._expected_s(self._queue[0], mean_s) > aim_s:
                break
            runs.append(self._queue.popleft())
        return tuple(runs)

    def _expected_s(self, run: Run, otherwise_s: float) -> float:
        seconds, count = self._seconds.get(run.case, (0.0, 0))
        return seconds / count if count else otherwise_s

    def _finish(self, future: Future[list[Outcome]], task: Task) -> None:
        try:
            outcomes = future.result()
        except CancelledError:
            raise RunError(self._engine.lost) from None
        except RunError:
            raise
        except (WrongBuildError, ImportError) as error:
            raise RunError(f"a worker cannot do the runs: {error}") from error
        except OSError as error:
            raise RunError(f"the executor failed: {error}") from error
        except Exception as error:
            self._worker_died(task, error)
            return
        self._take_all(task, outcomes)

    def _take_all(self, task: Task, outcomes: list[Outcome]) -> None:
        for run, outcome in zip(task.runs, outcomes, strict=False):
            if outcome.wall_s:
                seconds, count = self._seconds.get(run.case, (0.0, 0))
                self._seconds[run.case] = (seconds + outcome.wall_s, count + 1)
                seconds, count = self._all_seconds
                self._all_seconds = (seconds + outcome.wall_s, count + 1)
            self._queue.extend(self._take(run, outcome))
        self._queue.extendleft(reversed(task.runs[len(outcomes) :]))

    def _worker_died(self, task: Task, error: Exception) -> None:
        for run in task.runs:
            tries = self._tries.get(run.key, 0) + 1
            self._tries[run.key] = tries
            # Dask has tried it on several workers by itself, but perhaps because of another run.
            given_up = type(error).__name__ == "KilledWorker" and len(task.runs) == 1
            if tries < _TRIES and not given_up:
                self._again.append(run)
                continue
            times = "on each worker that Dask tried" if given_up else f"{tries} times"
            reason = f"its worker died {times} ({str(error) or type(error).__name__})"
            self._queue.extend(self._take(run, Outcome(error=reason)))

    def _stop(self) -> None:
        """Cancel waiting tasks, stop those in this process, and keep finished runs."""
        for future in self._running:
            future.cancel()
        self._engine.stop(self._head.sweep)
        done, _ = wait(self._running, timeout=_STOP_S if self._engine.in_process else 0)
        for future in done:
            if not future.cancelled() and future.exception() is None:
                try:
                    self._take_all(self._running[future], future.result())
                except OSError:
                    return  # no room: what was kept before is all

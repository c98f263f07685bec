"""Carries out the parts of a plan, several at a time.

One thread per job: the simulator releases the interpreter's lock while it runs. The result of a
part depends on nothing but the part, so their number and order do not matter.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hull import _core
from hull.errors import RunError, reason_of
from hull.files.checksums import has_checksums, write_record
from hull.runs.cache import Cache
from hull.runs.folder import OutputFolder
from hull.runs.plan import Part
from hull.terminal.progress import Progress, State

_REFRESH_S = 0.2


class Watch:
    """Sees and stops the simulations that run in other threads."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._lock = threading.Lock()
        self._running: list[_core.Run] = []
        self._cancelled = False
        self._done = State()
        self._last: tuple[str, _core.Resolved] | None = None

    def resolved(self, scenario: str) -> _core.Resolved:
        """A resolved scenario (JSON) and its network; what equals the last one's is shared."""
        with self._lock:
            last = self._last
        if last is not None and last[0] == scenario:
            return last[1]
        found = _core.Resolved(scenario, last and last[1])
        with self._lock:
            self._last = scenario, found
        return found

    @contextmanager
    def over(self, run: _core.Run) -> Iterator[None]:
        """Watch a simulation while it runs."""
        with self._lock:
            self._running.append(run)
            if self._cancelled:
                run.cancel()
        try:
            yield
        finally:
            with self._lock:
                self._running.remove(run)

    def cancel(self) -> None:
        """Stop everything that runs, and start nothing more."""
        with self._lock:
            self._cancelled = True
            for run in self._running:
                run.cancel()

    def finished(self, summary: dict[str, Any]) -> None:
        """Count a part that is whole."""
        with self._lock:
            self._done += State(1.0, summary["simulated_seconds"], summary["packet_hops"])

    def taken_over(self) -> None:
        """Count a part that was there already."""
        with self._lock:
            self._done += State(1.0)

    def state(self) -> State:
        """What this process has simulated so far."""
        with self._lock:
            state = self._done
            for run in self._running:
                now_s, end_s, hops = run.progress()
                state += State(min(now_s / end_s, 1.0), now_s, hops)
            return state


def make_part(part: Part, folder: OutputFolder, watch: Watch, cache: Cache | None) -> None:
    """Simulate one part, or take it out of the cache, and move its results into place."""
    cell = part.cell
    made = folder.start_part()
    if cache is not None and cache.fetch(part, made):
        if not has_checksums(made):
            _write_record(made, part)
        folder.keep_part(part, made)
        watch.taken_over()
        return
    run = _core.Run(cell.resolved, cell.condition, cell.scheme, part.seed, cell.own)
    with watch.over(run):
        text = run.execute(str(made))
    summary = json.loads(text)
    (made / "summary.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    (made / "scenario.toml").write_text(cell.toml, encoding="utf-8")
    _write_record(made, part)
    if cache is not None:
        cache.keep(part, made)
    folder.keep_part(part, made)
    watch.finished(summary)


def _write_record(made: Path, part: Part) -> None:
    write_record(made, {"hull_version": _core.version(), "part": part.fingerprint})


def make_parts(
    parts: Sequence[Part],
    folder: OutputFolder,
    jobs: int,
    progress: Progress,
    cache: Cache | None = None,
) -> None:
    """Simulate parts; a failure or Ctrl-C stops the others and keeps those that are whole."""
    watch = Watch()
    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="hull")
    try:
        # A sweep goes from light to heavy as a rule; to begin with the heavy parts keeps all jobs
        # busy until the end.
        futures = {
            pool.submit(make_part, part, folder, watch, cache): part for part in reversed(parts)
        }
        pending = set(futures)
        while pending:
            done, pending = wait(pending, timeout=_REFRESH_S, return_when=FIRST_COMPLETED)
            progress.update(watch.state())
            for future in done:
                _raise_failure(future, futures[future])
    finally:
        watch.cancel()
        pool.shutdown(wait=True, cancel_futures=True)


def _raise_failure(future: Future[None], part: Part) -> None:
    error = future.exception()
    if error is None:
        return
    # What a user's congestion control raised, and not what wraps it.
    cause = error.__cause__ if type(error) is RuntimeError else None
    raise RunError(f"{part}: {reason_of(error)}") from (cause or error)

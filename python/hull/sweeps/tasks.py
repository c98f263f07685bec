"""What goes to an executor and what comes back: a task of some runs, and the outcome of each.

`perform` is a pure function of its task: of the scenarios and seeds of its runs, and of the build
of hull, which must be the sweep's. It may be called in a thread of the sweep, in another process or
on another machine.
"""

import json
import os
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hull import _core
from hull.inputs.congestion import check_same
from hull.runs.plan import build_hash
from hull.runs.pool import Watch
from hull.sweeps.numbers import Row, rows_of
from hull.sweeps.run import Run
from hull.sweeps.store import Store


@dataclass(frozen=True)
class Task:
    """Runs that a worker makes one after another."""

    sweep: str
    build: str
    runs: tuple[Run, ...]
    limit_s: float = 0.0
    """After so long no further run is begun."""
    store: str = ""
    """Folder of the store; a worker that sees it takes runs that are there by now."""
    store_id: str = ""
    keep: bool = False
    """Whether a worker that sees the store puts runs into it."""
    tables: bool = False


@dataclass
class Outcome:
    """The outcome of a run: its statistics or its failure."""

    rows: list[Row] = field(default_factory=list)
    error: str = ""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    hops: int = 0
    simulated_s: float = 0.0
    host: str = ""
    kept: bool = False
    """It is in the store."""
    taken: bool = False
    """Another sweep has put it there."""
    tables: dict[str, bytes] = field(default_factory=dict)


class WrongBuildError(RuntimeError):
    """The worker has another build of hull."""


watches: dict[str, Watch] = {}
"""The watches of the sweeps of this process, which see and stop its simulations."""


@contextmanager
def watched(sweep: str) -> Iterator[Watch]:
    """Watch a sweep's simulations in this process."""
    watches[sweep] = Watch()
    try:
        yield watches[sweep]
    finally:
        del watches[sweep]


def perform(task: Task) -> list[Outcome]:
    """Make a task's runs and return their outcomes: fewer if its time runs out or it is stopped."""
    if task.build != build_hash():
        raise WrongBuildError(
            f"the worker {_place()} has another build of hull ({build_hash()[:12]}) than this "
            f"sweep ({task.build[:12]}); install the same one on both sides"
        )
    watch = watches.get(task.sweep) or Watch()
    store = None
    if task.store and (Path(task.store) / "hull-store.json").is_file():
        seen = Store(Path(task.store))
        store = seen if seen.id == task.store_id else None
    outcomes: list[Outcome] = []
    started = time.monotonic()
    for run in task.runs:
        if outcomes and time.monotonic() - started > task.limit_s:
            break
        try:
            outcome = _taken(run, store, task) if store else None
            outcome = outcome or _outcome(run, watch, tables=task.tables)
        except _core.Cancelled:
            break
        except Exception as error:  # the others of the task are to be done all the same
            outcomes.append(Outcome(error=_reason(error), host=_place()))
            continue
        if store is not None and task.keep and not outcome.kept:
            _keep(run, outcome, store)
        outcomes.append(outcome)
    return outcomes


def log_line(run: Run, outcome: Outcome) -> dict[str, object]:
    """The line of a run in the store's log."""
    return {
        "run": run.key,
        "cpu_seconds": outcome.cpu_s,
        "wall_seconds": outcome.wall_s,
        "host": outcome.host,
        "unix_time": round(time.time(), 3),
    }


def _outcome(run: Run, watch: Watch, *, tables: bool) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="hull-") if tables else _nowhere() as folder:
        if run.own is not None:
            check_same(run.own, json.loads(run.scenario)["transport"]["own_sha256"])
        resolved = watch.resolved(run.scenario)
        simulation = _core.Run(resolved, run.condition, run.scheme, run.seed, run.own)
        with watch.over(simulation):
            summary = json.loads(simulation.execute(folder))
        files = {} if folder is None else {p.name: p.read_bytes() for p in Path(folder).iterdir()}
    return Outcome(
        rows=rows_of(summary),
        cpu_s=summary["cpu_seconds"],
        wall_s=summary["wall_seconds"],
        hops=summary["packet_hops"],
        simulated_s=summary["simulated_seconds"],
        host=_place(),
        tables=files,
    )


def _taken(run: Run, store: Store, task: Task) -> Outcome | None:
    """A run stored meanwhile by another sweep, or by a worker that died afterwards."""
    if not store.path(run.key).exists():
        return None
    if task.tables and not store.has_tables(run.key):
        return None
    rows = store.read([run.key])[0].get(run.key)
    if rows is None:
        return None
    return Outcome(rows=rows, host=_place(), kept=True, taken=not task.keep)


def _keep(run: Run, outcome: Outcome, store: Store) -> None:
    try:
        if outcome.tables:
            store.keep_tables(run.key, outcome.tables)
        store.keep(run, outcome.rows)
        store.log(log_line(run, outcome))
    except OSError:
        return  # the sweep itself tries, and says what is wrong
    outcome.kept = True
    outcome.tables = {}


@contextmanager
def _nowhere() -> Iterator[None]:
    yield None


def _place() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__

"""A sweep from a grid to a frame: takes what the store has, has the rest run, keeps it, and says
what became of it.
"""

import os
import random
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from hull.errors import Interrupted, RunError, UsageError
from hull.runs.plan import build_hash
from hull.runs.pool import Watch
from hull.sweeps.asked import check_asked, expanded
from hull.sweeps.engine import Engine
from hull.sweeps.frame import Found, make_frame
from hull.sweeps.grid import Grid
from hull.sweeps.numbers import Row
from hull.sweeps.run import Run
from hull.sweeps.schedule import Schedule
from hull.sweeps.seeds import Seeds
from hull.sweeps.store import Store
from hull.sweeps.tasks import Outcome, Task, log_line, watched
from hull.terminal.messages import say
from hull.terminal.options import caller, option
from hull.terminal.progress import Progress

if TYPE_CHECKING:
    import polars as pl

STORE = Path("results", "store")
"""The store, where none is named."""
_SHOWN = 5
_BATCH = 256


class FailedRuns(RunError):  # noqa: N818
    """Runs of a sweep that failed; `frame` has the others."""

    def __init__(self, message: str, frame: "pl.DataFrame") -> None:
        """`message` names them."""
        super().__init__(message)
        self.frame = frame


@dataclass
class Counts:
    """Counts of a sweep, and the cases that fell short of `--until`."""

    points: int = 0
    taken: int = 0
    """Runs that were in the store."""
    made: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    """Runs with what went wrong."""
    wide: list[str] = field(default_factory=list)
    """Cases whose intervals stayed wider than was asked."""
    without: list[str] = field(default_factory=list)
    """Cases of which no run has what was asked."""
    cpu_s: float = 0.0
    wall_s: float = 0.0


class Sweep:
    """Runs one sweep."""

    def __init__(
        self,
        grid: Grid,
        store: Store,
        *,
        until: Mapping[str, float],
        max_seeds: int | None = None,
        tables: bool = False,
        show: Sequence[str] = (),
    ) -> None:
        """`show`: statistics that are wanted. Nothing runs or is written before `perform`."""
        self.grid = grid
        self.counts = Counts(points=len(grid.places))
        self._store = store
        self._until = until
        self._tables = tables
        self._asked = [(option("until"), name) for name in until]
        self._asked += [(option("show"), name) for name in show]
        for asked_by, name in self._asked:
            check_asked(asked_by, name)
        self._not_begun = set(range(len(grid.cases)))
        self._seeds = Seeds(grid.first_seed, grid.seeds, until, max_seeds, len(grid.cases))
        self._found = Found()
        self._left = [len(self._seeds.at_first())] * len(grid.cases)
        self._total = 0
        self._broken: list[Path] = []

    def perform(self, engine: Engine, *, lines: bool = False) -> "pl.DataFrame":
        """Run what the store lacks and return the frame.

        Raises FailedRuns, RunError, UsageError or Interrupted.
        """
        started = time.monotonic()
        identity = uuid.uuid4().hex
        try:
            with watched(identity) as watch:
                self._run_all(engine, watch, identity, lines=lines)
        except KeyboardInterrupt:
            raise Interrupted(
                f"stopped; {len(self._found)} of {self._total} runs are kept in "
                f"{self._store.folder}; the same {caller()} resumes from there"
            ) from None
        except OSError as error:
            raise RunError(
                f"{self._store.folder}: {_reason(error)}; {len(self._found)} of "
                f"{self._total} runs are kept there; the same {caller()} resumes from there"
            ) from error
        except RunError as error:
            raise RunError(
                f"{error}; {len(self._found)} of {self._total} runs are kept in "
                f"{self._store.folder}; the same {caller()} resumes from there"
            ) from error
        self.counts.wall_s = time.monotonic() - started
        self._tell_wide()
        frame = make_frame(self.grid, self._found, self._seeds.shown)
        if self.counts.failed:
            raise FailedRuns(self._failures(), frame)
        return frame

    def _run_all(self, engine: Engine, watch: Watch, identity: str, *, lines: bool) -> None:
        # The first seed of every case, then the second: what a short look at it shows is broad.
        cases = range(len(self.grid.cases))
        first = [self._run(case, seed) for seed in self._seeds.at_first() for case in cases]
        self._total = len(first)
        missing = _mixed(self._without_kept(first), max(len(cases), _BATCH))
        self._tell_broken()
        if missing:
            self._store.create()
            self._store.clean()
        head = Task(
            sweep=identity,
            build=build_hash(),
            runs=(),
            store=str(self._store.folder.resolve()),
            store_id=self._store.id,
            keep=engine.workers_keep,
            tables=self._tables,
        )
        with Progress(
            self.grid.name, self._total, len(self._found), lines=lines, noun="runs"
        ) as progress:

            def take(run: Run, outcome: Outcome) -> list[Run]:
                further = self._take(run, outcome)
                watch.finished(
                    {"simulated_seconds": outcome.simulated_s, "packet_hops": outcome.hops}
                )
                progress.set_total(self._total)
                return further

            def refresh() -> None:
                progress.update(watch.state())

            if missing:
                Schedule(engine, head, take).carry_out(missing, refresh)
                refresh()
        self._tell_broken()

    def _run(self, case: int, seed: int) -> Run:
        of = self.grid.cases[case]
        return Run(of.key(seed), case, seed, of.name, of.condition, of.scheme, of.scenario, of.own)

    def _without_kept(self, runs: Iterable[Run]) -> list[Run]:
        """The runs that the store lacks, and the further seeds that stored runs call for."""
        missing: list[Run] = []
        wanted = list(runs)
        while wanted:
            batch, wanted = wanted[:_BATCH], wanted[_BATCH:]
            kept, broken = self._store.read(run.key for run in batch)
            self._broken += broken
            for run in batch:
                if run.key in kept and self._has_tables(run):
                    self.counts.taken += 1
                    wanted += self._add(run, kept[run.key])
                else:
                    missing.append(run)
        return missing

    def _has_tables(self, run: Run) -> bool:
        """Whether the tables of a run exist, or are not wanted."""
        if not self._tables or self._store.has_tables(run.key):
            return True
        if self._store.tables(run.key).is_dir():
            self._broken.append(self._store.tables(run.key))
        return False

    def _take(self, run: Run, outcome: Outcome) -> list[Run]:
        self.counts.cpu_s += outcome.cpu_s
        if outcome.error:
            self.counts.failed[str(run)] = outcome.error
            return self._without_kept(self._after(run.case))
        if not outcome.kept:
            if outcome.tables:
                self._store.keep_tables(run.key, outcome.tables)
            self._store.keep(run, outcome.rows)
        if outcome.taken:
            self.counts.taken += 1
        else:
            self.counts.made += 1
        further = self._add(run, outcome.rows)
        if not outcome.kept:
            self._store.log(log_line(run, outcome))
        return self._without_kept(further)

    def _add(self, run: Run, rows: list[Row]) -> list[Run]:
        self._found.add(run.case, run.seed, rows)
        return self._after(run.case)

    def _after(self, case: int) -> list[Run]:
        """Further runs of a case after one of its runs has finished."""
        if case in self._not_begun:
            self._not_begun.remove(case)
            if not self._not_begun:
                self._check_names()
        self._left[case] -= 1
        if self._left[case]:
            return []
        further = [self._run(case, seed) for seed in self._seeds.more(case, self._found.values)]
        self._left[case] = len(further)
        self._total += len(further)
        return further

    def _tell_broken(self) -> None:
        for path in self._broken:
            say(f"{path}: truncated, or not a run of hull; that run is repeated")
        self._broken.clear()

    def _check_names(self) -> None:
        """Reject unknown statistics, once each case has had a run."""
        names = self._found.names()
        for asked_by, name in self._asked:
            if names and not any(map(self._found.can_have, expanded([name], names))):
                near = get_close_matches(name, names, _SHOWN, 0.4) or names[:_SHOWN]
                raise UsageError(
                    f"{asked_by} {name}: no such statistic; nearest of {len(names)}: "
                    f"{', '.join(near)} ({len(self._found)} runs are kept in {self._store.folder})"
                )

    def _tell_wide(self) -> None:
        for index, case in enumerate(self.grid.cases):
            if self._seeds.is_narrow(index):
                continue
            values = [self._found.values(index, seed) for seed in self._seeds.shown(index)]
            has = {name for value in values if value is not None for name in value}
            wide = self.counts.wide if has.issuperset(self._until) else self.counts.without
            wide.append(", ".join(filter(None, (case.condition, case.scheme))))

    def _failures(self) -> str:
        failed = self.counts.failed
        listed = [f"{run}: {why}" for run, why in list(failed.items())[:_SHOWN]]
        more = f"; and {len(failed) - _SHOWN} more" if len(failed) > _SHOWN else ""
        return (
            f"{len(failed)} of {self._total} runs failed: {'; '.join(listed)}{more}; the others "
            f"are kept in {self._store.folder}"
        )


def _mixed(runs: list[Run], block: int) -> list[Run]:
    """Shuffle runs within blocks, so that concurrent sweeps on one store share the work."""
    blocks = [runs[begin : begin + block] for begin in range(0, len(runs), block)]
    return [run for part in blocks for run in random.sample(part, len(part))]


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)

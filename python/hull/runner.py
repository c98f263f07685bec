"""From a plan to a folder of results."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hull.errors import Interrupted, RunError, check_count
from hull.files.output_file import write_text
from hull.process.memory import fitting_jobs
from hull.result import Result, load
from hull.results.merged_tables import merge_tables
from hull.results.slowdown import add_by_size
from hull.results.summary import summarise
from hull.runs.cache import Cache
from hull.runs.folder import OutputFolder
from hull.runs.plan import Plan
from hull.runs.pool import make_parts
from hull.styles import declared
from hull.terminal.messages import say
from hull.terminal.options import caller, option
from hull.terminal.progress import Progress

if TYPE_CHECKING:
    from hull.report.page import Section

Evaluation = Callable[[Path, dict[str, Any]], "list[Section]"]
"""Adds to the folder and the summary of a run; returns its additions to the report."""


def default_jobs() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


def perform(
    plan: Plan,
    out: Path,
    *,
    jobs: int | None = None,
    force: bool = False,
    lines: bool = False,
    evaluate: Evaluation | None = None,
    cache: Cache | None = None,
) -> Result:
    """Run the parts of the plan that `out` lacks, and return the result.

    `evaluate` is called before the summary is written. Only a run with it has a report at once;
    other reports are built on request (`hull.run_report`).
    """
    jobs = default_jobs() if jobs is None else check_count(option("jobs"), jobs)
    folder = OutputFolder(out, plan)
    if folder.is_complete(force=force):
        problem = folder.damage()
        if problem is None:
            if lines:
                say(f"{plan.name}: {folder.out} already holds this run")
            return load(folder.out)
        say(f"{plan.name}: {problem}; it is repeated")
    folder.open()
    try:
        _fill(folder, plan, jobs, lines=lines, evaluate=evaluate, cache=cache)
    except KeyboardInterrupt:
        kept = sum(folder.has(part) for part in plan.parts)
        raise Interrupted(
            f"stopped; {kept} of {len(plan.parts)} parts are kept in {folder.partial}; "
            f"the same {caller()} resumes from there"
        ) from None
    except OSError as error:
        raise RunError(f"{error.filename or folder.partial}: {error.strerror}") from error
    finally:
        folder.close()
    return load(folder.out)


def _fill(
    folder: OutputFolder,
    plan: Plan,
    jobs: int,
    *,
    lines: bool,
    evaluate: Evaluation | None,
    cache: Cache | None,
) -> None:
    started = time.monotonic()
    missing = [part for part in plan.parts if not folder.take_up(part)]
    kept = len(plan.parts) - len(missing)
    with Progress(plan.name, len(plan.parts), kept, lines=lines) as progress:
        needs = [part.cell.memory["bytes"] for part in missing if part.cell.memory]
        make_parts(missing, folder, fitting_jobs(jobs, needs), progress, cache)
        merge_tables(folder.partial, plan.parts)
        paths = [folder.partial / part.path / "summary.json" for part in plan.parts]
        parts = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
        summary = summarise(plan, parts, time.monotonic() - started)
        if summary["cells"]:
            add_by_size(summary, folder.partial, plan.parts)
        added = None if evaluate is None else evaluate(folder.partial, summary)
        write_text(folder.partial / "scenario.toml", plan.text)
        write_text(folder.partial / "summary.json", json.dumps(summary, indent=2) + "\n")
        if added is not None:
            from hull.report.page import write_report

            write_report(
                folder.partial, summary, title=plan.title, looks=declared(summary), added=added
            )
        folder.finish()

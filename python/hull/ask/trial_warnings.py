"""Warnings about a trial, as `hull run` has them: before it runs, and of its runs.

The conditions of a trial are its seeds, each with flows of its own, so all runs of a scheme are
judged together. Drift is left out: `hull.ask.caveats` judges it by the answer's own size classes.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

from hull.ask.question import Question
from hull.ask.trial import Ran, Trial, lists_of, plan_of
from hull.errors import UsageError
from hull.results.summary import average
from hull.results.warnings import warnings_of
from hull.runs.plan import Cell, Plan
from hull.warnings.scenario import warnings_of_cells


class StrictError(UsageError):
    """Warnings of a trial that is not run because of them (`--strict`)."""

    def __init__(self, warnings: tuple[str, ...]) -> None:
        """With a sentence for each warning."""
        super().__init__("; ".join(warnings))
        self.warnings = warnings


def warnings_before(trial: Trial) -> tuple[str, ...]:
    """Warnings of the scenario, without a run; leaves no files behind."""
    with tempfile.TemporaryDirectory(prefix="hull-trial-") as folder:
        plan = plan_of(trial, lists_of(trial, 1), Path(folder), 1)
        return tuple(warnings_of_cells(_cells(trial.question, plan), {}))


def warnings_of_runs(question: Question, ran: Ran) -> tuple[str, ...]:
    """Warnings of the scenario, and warnings that follow from the runs."""
    cells = _cells(question, ran.plan)
    groups = [
        [
            {**part, "condition": "", "scheme": cell.scheme, "halves": None}
            for part in ran.result.summary["parts"]
            if part["scheme"] == name
        ]
        for name, cell in zip(question.schemes, cells, strict=True)
    ]
    whole = replace(ran.plan, cells=cells, seeds=tuple(range(1, len(groups[0]) + 1)))
    found = warnings_of(whole, [average(parts) for parts in groups], groups)
    return (*warnings_of_cells(cells, {}), *found)


def _cells(question: Question, plan: Plan) -> tuple[Cell, ...]:
    """One for each scheme, under its label."""
    of_scheme = {cell.scheme: cell for cell in reversed(plan.cells)}
    label = {scheme.name: scheme.label for scheme in question.looks}
    return tuple(
        replace(of_scheme[name], condition="", scheme=label[name]) for name in question.schemes
    )

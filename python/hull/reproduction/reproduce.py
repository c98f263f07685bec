"""Reproduction: an experiment's results beside the published ones, and the pages over experiments.

An experiment leaves its folder (docs/results.md) with a figure and, in summary.json, the rows of
the comparison and the claims. `Reproduction.write_site` gathers several such folders in one.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hull.errors import UsageError
from hull.experiments.common.claims import judge
from hull.experiments.common.experiment import Experiment, SizeName
from hull.experiments.common.measured import Results
from hull.experiments.common.sections import sections
from hull.experiments.common.stated import beside, rows
from hull.files.output_file import write_text
from hull.report.page import Section
from hull.reproduction.start_page import start_page
from hull.result import Result
from hull.runner import perform
from hull.runs.cache import Cache
from hull.runs.folder import OutputFolder
from hull.runs.plan import Plan
from hull.terminal.messages import say

FIGURE = "figure"
"""Name of the figure's files, without their ending."""


def compare(
    experiment: Experiment, plan: Plan, folder: Path, summary: dict[str, Any]
) -> list[Section]:
    """Add stated settings, comparison and claims to `summary` and draw the figure into `folder`;
    returns what they add to the page."""
    results = Results(folder, summary)
    summary["experiment"] = {
        "id": experiment.id,
        "source": experiment.source,
        "completion": experiment.completion,
    }
    size = "full" if results.is_full else "quick"
    summary["stated"] = rows(beside(experiment.stated, plan.cells, size))
    summary["comparison"] = experiment.rows(results)
    summary["claims"] = judge(experiment.claims, results, deterministic=experiment.deterministic)
    figure = experiment.draw(results)
    figure.set_layout_engine(None)  # the figure has its layout; it is not computed for each file
    # Without dates, so that the same results are the same bytes.
    figure.savefig(folder / f"{FIGURE}.pdf", metadata={"CreationDate": None})
    figure.savefig(folder / f"{FIGURE}.png", dpi=200, metadata={"Software": None})
    return sections(folder, summary, experiment.looks)


def claims_of(result: Result) -> list[dict[str, Any]]:
    """The claims as `--claims` prints them."""
    keys = ("id", "source", "claim", "kind", "bound", "measured", "holds", "state", "cause")
    return [{key: claim.get(key, "") for key in keys} for claim in result.summary["claims"]]


class Reproduction:
    """Several experiments in one size, run one after the other."""

    def __init__(
        self,
        experiments: Sequence[Experiment],
        size: SizeName,
        out: Path,
        cache: Cache,
        *,
        seeds: int | None = None,
        overrides: Sequence[str] = (),
        force: bool = False,
    ) -> None:
        """Check every folder that will be written before the first run."""
        self._size = size
        self._out = out
        self._cache = cache
        self._force = force
        self._work = [
            (experiment, experiment.plan(size, seeds, overrides)) for experiment in experiments
        ]
        for _, plan in self._work:
            OutputFolder(out / plan.name, plan).is_complete(force=force)

    def perform(self, jobs: int | None) -> Iterator[tuple[Experiment, Result]]:
        """Yield each experiment with its results; existing results are not computed again."""
        for number, (experiment, plan) in enumerate(self._work, start=1):
            if len(self._work) > 1:
                say(f"{number} of {len(self._work)}: {experiment.title}")
            result = perform(
                plan,
                self._out / plan.name,
                jobs=jobs,
                force=self._force,
                lines=True,
                evaluate=partial(compare, experiment, plan),
                cache=self._cache,
            )
            yield experiment, result

    def write_site(self, chosen: Sequence[tuple[Experiment, Result]]) -> Path:
        """Make the folder of pages about all these results; returns its start page.

        It replaces an earlier one atomically, and holds nothing that cannot be generated again.
        """
        out = self._out / f"all-{self._size}"
        if out.exists() and not (out / "comparison.json").exists():
            raise UsageError(f"--out: {out} exists and holds no pages of hull; remove it")
        making = out.with_name(out.name + ".making")
        shutil.rmtree(making, ignore_errors=True)
        (making / "figures").mkdir(parents=True)
        for experiment, result in chosen:
            shutil.copyfile(result.folder / "report.html", making / f"{experiment.id}.html")
            for ending in ("pdf", "png"):
                shutil.copyfile(
                    result.folder / f"{FIGURE}.{ending}",
                    making / "figures" / f"{experiment.id}.{ending}",
                )
        rows = [row for _, result in chosen for row in result.summary["comparison"]]
        claims = [claim for _, result in chosen for claim in claims_of(result)]
        write_text(making / "comparison.json", json.dumps(rows, indent=1) + "\n")
        write_text(making / "claims.json", json.dumps(claims, indent=1) + "\n")
        write_text(making / "index.html", start_page(chosen, self._size))
        shutil.rmtree(out, ignore_errors=True)
        making.rename(out)
        return out / "index.html"

"""A trial of a question: all its schemes on the flows of each seed, as a run of hull.

Each seed has flows of its own, drawn from the trace, or all replay the recorded ones. Parts that
have run before in the same folder are taken over.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hull.ask.answer import Row, rows_of
from hull.ask.fit import draw
from hull.ask.question import UNCHANGED, Question, scenario_text
from hull.ask.sizes import Sizes
from hull.files.output_file import whole_file
from hull.results.registry import NO_GROUP
from hull.runner import perform
from hull.runs.plan import Plan, make_plan

if TYPE_CHECKING:
    import polars as pl

    from hull.result import Result


@dataclass(frozen=True)
class Trial:
    """What is run."""

    question: Question
    flows: "pl.DataFrame"
    """As `Traffic.flows`; with transport if only some hosts change."""
    sizes: Sizes
    duration_ps: int
    title: str
    name: str
    """In messages about progress."""
    lists: Path
    """Folder for the flows of each seed."""
    runs: Path
    """Folder of the results."""
    jobs: int | None
    drawn: int | None = None
    """Flows of each seed where they are drawn; None for as many as the trace has."""


@dataclass(frozen=True)
class Ran:
    """What came out."""

    plan: Plan
    result: "Result"
    lists: "Sequence[pl.DataFrame]"
    """The flows of each seed, or of all."""
    finished: "pl.DataFrame"
    """A row for each flow that completed."""
    rows: list[Row]


def run(trial: Trial, seeds: int, *, force: bool) -> Ran:
    """Run it with a number of seeds; `force` replaces another run in the folder."""
    return run_lists(trial, lists_of(trial, seeds), seeds, force=force)


def run_lists(trial: Trial, lists: "Sequence[pl.DataFrame]", seeds: int, *, force: bool) -> Ran:
    """Run it with these flows: a list for each seed, or one for all."""
    question = trial.question
    plan = plan_of(trial, lists, trial.lists, seeds)
    result = perform(plan, trial.runs, jobs=trial.jobs, force=force, lines=True)
    conditions = list(dict.fromkeys(part["condition"] for part in result.summary["parts"]))
    asked = _asked(lists, conditions, len(plan.seeds))
    finished = _without_writes(_labelled(result.flows), asked)
    asked = asked.filter(~asked["write"])
    return Ran(plan, result, lists, finished, rows_of(question, finished, asked, trial.sizes))


def lists_of(trial: Trial, seeds: int) -> "list[pl.DataFrame]":
    """The flows of each seed, or the recorded ones for all."""
    if trial.question.replays:
        return [trial.flows]
    return [draw(trial.flows, seed, trial.drawn) for seed in range(1, seeds + 1)]


def plan_of(trial: Trial, lists: "Sequence[pl.DataFrame]", folder: Path, seeds: int) -> Plan:
    """What is to run; writes the lists of flows to a folder."""
    question = trial.question
    paths = [_write_flows(one, folder) for one in lists]
    runs = seeds if question.replays else 1
    last_ps = max(int(one["start_ps"].to_numpy().max()) for one in lists)
    text = scenario_text(question, paths, max(trial.duration_ps, last_ps + 1), runs, trial.title)
    return replace(make_plan(text, "hull ask", []), name=trial.name)


def _write_flows(flows: "pl.DataFrame", folder: Path) -> Path:
    """A flow list, named after its content, so that it never replaces an earlier run's list."""
    import hashlib
    import io

    columns = ["start_ps", "src", "dst", "bytes"]
    columns += ["transport"] if "transport" in flows.columns else []
    columns += ["group"] if (flows["group"] != NO_GROUP).any() else []
    content = io.BytesIO()
    flows.select(columns).write_parquet(content, compression="snappy", statistics=False)
    data = content.getvalue()
    path = folder / f"flows-{hashlib.sha256(data).hexdigest()[:12]}.parquet"
    if not path.exists():
        with whole_file(path) as file:
            file.write(data)
    return path


def _asked(
    lists: Sequence["pl.DataFrame"], conditions: Sequence[str], seeds: int
) -> "pl.DataFrame":
    """The flows of every condition, with the number of seeds that carry them."""
    import polars as pl

    return pl.concat(
        one.with_columns(pl.lit(condition).alias("condition"), pl.lit(seeds).alias("seeds"))
        for one, condition in zip(lists, conditions, strict=True)
    )


def _without_writes(finished: "pl.DataFrame", asked: "pl.DataFrame") -> "pl.DataFrame":
    """The rows that count, without paced transfers (`hull.ask.paced`)."""
    keys = ["condition", "start_ps", "src", "dst", "bytes"]
    writes = asked.filter(asked["write"]).select(keys).unique()
    if writes.is_empty():
        return finished
    types = {key: finished.schema[key] for key in keys}
    return finished.join(writes.cast(types), on=keys, how="anti", maintain_order="left")  # type: ignore[arg-type]


def _labelled(finished: "pl.DataFrame") -> "pl.DataFrame":
    """The rows of the runs with `group`, and with `changed` where only some hosts change."""
    import polars as pl

    there = finished.columns
    group = pl.col("group").fill_null(NO_GROUP) if "group" in there else pl.lit(NO_GROUP)
    changed = [pl.col("transport") != UNCHANGED] if "transport" in there else []
    return finished.with_columns(
        pl.col("condition", "scheme").cast(pl.String),
        group.alias("group"),
        *(of.alias("changed") for of in changed),
    )

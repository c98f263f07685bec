"""What could turn the advice: hosts with another queue, and the other half of the trace; and what
is left of it at switches without a phantom queue.

The first two are trials of half the flows with the least seeds, so that both together take at most
the time of the first answer again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hull.ask.answer import ALL, LARGE_MEAN, SMALL_P99, Row
from hull.ask.capacity import Load
from hull.ask.question import Question, hull_name
from hull.ask.trial import Ran, Trial, run
from hull.ask.verdict import LEAST_SEEDS, Advice, advise
from hull.results.changes import in_words
from hull.terminal.tables import number

_FIFO, _FAIR = "fifo", "fair"


def turning(
    trial: Trial, advice: Advice, most_loss: float, busiest: Load, seeds: int
) -> Iterator[str]:
    """A sentence for each check, whether the advice turns; none if there is no advice."""
    if not (advice.is_known or advice.is_undecided) or len(trial.flows) < 2:
        return
    seeds = min(seeds, LEAST_SEEDS)
    queue, other_hosts = _other_hosts(trial)
    rows = run(other_hosts, seeds, force=True).rows
    found = advise(other_hosts.question, rows, most_loss, busiest)
    what = "one FIFO for all flows" if queue == _FIFO else "a queue per flow"
    told = f'If hosts have {what} (host.queue = "{queue}"), '
    yield f"{told}{_compared(trial.question, advice, found)}{_tails(trial.question, rows)}"
    half = _later_half(trial)
    found = advise(half.question, run(half, seeds, force=True).rows, most_loss, busiest)
    yield f"In the later half of the trace alone, {_compared(trial.question, advice, found)}"


def without_phantom_queue(trial: Trial, ran: Ran, advice: Advice, seeds: int) -> str | None:
    """What a recommended headroom becomes where switches mark by their real queues; None for other
    advice.
    """
    question = trial.question
    if advice.scheme not in [hull_name(part) for part in question.give_up]:
        return None
    alone = replace(question, today=(), give_up=(), real_queue=True)
    shallow = _aside(trial, "real-queue", alone, trial.duration_ps)
    rows = run(shallow, seeds, force=True).rows
    base = next(row for row in ran.rows if (row.scheme, row.group) == (advice.base, ALL))
    found = next(row for row in rows if row.group == ALL).against(base)
    label = next(scheme.label for scheme in question.looks if scheme.name == advice.base)
    parts = [
        f"{what} {in_words(change)}"
        for what, of in (
            ("the 99th percentile of small flows", SMALL_P99),
            ("the mean of large flows", LARGE_MEAN),
        )
        if (change := found.change(of)) is not None
    ]
    return (
        f"Simulated with switches that have no phantom queue and mark at "
        f"{question.settings.phantom_threshold_bytes:,} bytes in the real one, and the same hosts: "
        f"{', '.join(parts)} against {label}."
    )


def _other_hosts(trial: Trial) -> tuple[str, Trial]:
    """The queue that hosts have instead, and half of the flows with it."""
    network = trial.question.network
    other = _FAIR if network.resolved["host"]["queue"] == _FIFO else _FIFO
    host = {**network.tables.get("host", {}), "queue": other}
    question = replace(
        trial.question, network=replace(network, tables={**network.tables, "host": host})
    )
    half = _aside(trial, f"{other}-hosts", question, trial.duration_ps // 2)
    if question.replays:
        flows = trial.flows.sort("start_ps", maintain_order=True)
        return other, replace(half, flows=flows.head(len(flows) // 2))
    return other, replace(half, drawn=len(trial.flows) // 2)


def _later_half(trial: Trial) -> Trial:
    import polars as pl

    flows = trial.flows.sort("start_ps", maintain_order=True)
    later = flows.tail(len(flows) - len(flows) // 2)
    later = later.with_columns(pl.col("start_ps") - pl.col("start_ps").min())
    half = _aside(trial, "later-half", trial.question, trial.duration_ps // 2)
    return replace(half, flows=later)


def _aside(trial: Trial, name: str, question: Question, duration_ps: int) -> Trial:
    """Another trial, in a folder of its own."""
    return replace(
        trial,
        question=question,
        duration_ps=max(1, duration_ps),
        name=f"{trial.name}, {name}",
        runs=trial.runs.parent / "checks" / name,
    )


def _compared(question: Question, advice: Advice, found: Advice) -> str:
    """The other advice beside the first."""
    if not found.is_known:
        reason = found.sentence.split(":")[0].lower()
        if found.is_undecided:
            return f"half the flows leave it {reason}: nothing is shown to turn the advice."
        return (
            f"half the flows are too few to judge: {found.sentence[:1].lower()}{found.sentence[1:]}"
        )
    if advice.is_undecided:
        return f"it is decided: {found.sentence}"
    if found.scheme == advice.scheme:
        return "the advice stays."
    headrooms = [hull_name(part) for part in question.give_up]
    if found.scheme in headrooms and advice.scheme in headrooms:
        return f"the advice stays, with another headroom: {found.sentence}"
    return f"the advice turns: {found.sentence}"


def _tails(question: Question, rows: Sequence[Row]) -> str:
    """What small flows take there, as a further sentence."""
    label = {scheme.name: scheme.label for scheme in question.looks}
    parts = [
        f"{number(value.mean)} us with {label[row.scheme]}"
        for row in rows
        if row.group == ALL and (value := row.value(SMALL_P99)) is not None
    ]
    told = f" There the 99th percentile of small flows is {', '.join(parts)}."
    return told if parts else ""

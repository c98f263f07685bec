"""`hull ask`: from a trace to a page. Nothing is written before trace and network are known to fit.

The folder has `ask.html`, `runbook.md`, `frontier.pdf`, `summary.json`, the flows that were
simulated (`flows-*.parquet`), `runs`, a folder as `hull run` leaves it, and such folders in
`checks`, of what could turn the advice.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hull.ask import runbook as runbooks
from hull.ask.answer import Row, as_json
from hull.ask.capacity import Load, check_capacity, loads
from hull.ask.caveats import caveats, drift_sentences
from hull.ask.checks import turning, without_phantom_queue
from hull.ask.deployment import changed_hosts, with_transports
from hull.ask.fit import Fit, compare
from hull.ask.network import Network, read_network
from hull.ask.page import Facts, answer_page
from hull.ask.picture import write_picture
from hull.ask.question import (
    UNCHANGED,
    Question,
    read_give_up,
    read_today,
    settings_for,
)
from hull.ask.runbook import runbook
from hull.ask.settle import Settled, settle
from hull.ask.sizes import choose_sizes
from hull.ask.traffic import Traffic, TrafficOptions, read_traffic
from hull.ask.trial import Trial
from hull.ask.trial_warnings import StrictError, warnings_before, warnings_of_runs
from hull.ask.verdict import LEAST_SEEDS, Advice, advise
from hull.errors import UsageError, check_count, shown
from hull.files.names import check_path
from hull.files.output_file import write_text
from hull.results.waits import Waits, waits_of

_MOST_SEEDS = 100
_LOADS_SHOWN = 5
TODAY = "cubic,dctcp"
"""Linux's default, and what data centres use that need no new switch or kernel."""


@dataclass(frozen=True)
class Request:
    """What the command line asks, as text where it has to be read."""

    traffic: TrafficOptions
    topology: str
    out: Path
    give_up: str = "2%,5%,10%"
    today: str | None = None
    rtt: str | None = None
    buffer: str | None = None
    deployed: str | None = None
    replay: bool = False
    seeds: int | None = None
    """None: at first the least, and the most of a second attempt if that is undecided."""
    small: int | None = None
    large: int | None = None
    most_loss: float = 0.1
    jobs: int | None = None
    force: bool = False
    strict: bool = False
    """Whether warnings that need no run prevent it."""


@dataclass(frozen=True)
class Answer:
    """What `hull ask` found."""

    page: Path
    runbook: Path
    rows: tuple[Row, ...]
    advice: Advice
    facts: Facts
    labels: dict[str, str]
    warnings: tuple[str, ...]
    """Also sentences of `facts.sure`."""


def ask(request: Request) -> Answer:
    """Carry it out. Raises UsageError before anything is written, Interrupted, RunError."""
    check_path("--out", request.out, "results/ask", inside=150)
    if request.seeds is not None and check_count("--seeds", request.seeds) > _MOST_SEEDS:
        raise UsageError(f"--seeds: {request.seeds} is invalid; expected 1 to {_MOST_SEEDS}")
    give_up = read_give_up(request.give_up)
    today = read_today(request.today or TODAY)
    network = read_network(request.topology, request.rtt, request.buffer)
    traffic = read_traffic(request.traffic, network)
    busiest = loads(network, traffic.flows, traffic.duration_ps, traffic.longest_ps)
    check_capacity(busiest)
    seeds = LEAST_SEEDS if request.seeds is None else request.seeds
    asked = {"give_up": list(give_up), "seeds": request.seeds}
    if (earlier := _earlier(request.out, asked)) is not None:
        seeds, give_up = earlier
    question = Question(
        network,
        give_up,
        today,
        settings_for(network),
        partly=request.deployed is not None,
        replays=request.replay,
    )
    flows = traffic.flows
    if request.deployed is not None:
        changed = changed_hosts(request.deployed, network.racks, flows)
        flows = with_transports(flows, changed, UNCHANGED)
    counted = flows.filter(~flows["write"])
    sizes = choose_sizes(counted["bytes"], request.small, request.large)

    trial = Trial(
        question,
        flows,
        sizes,
        traffic.duration_ps,
        title=f"hull ask: {request.traffic.trace.name} on {request.topology}",
        name="ask",
        lists=request.out,
        runs=request.out / "runs",
        jobs=request.jobs,
    )
    if request.strict and (warnings := warnings_before(trial)):
        raise StrictError(warnings)
    request.out.mkdir(parents=True, exist_ok=True)
    settled = settle(
        trial,
        lambda question, rows: advise(question, rows, request.most_loss, busiest[0], traffic.doubt),
        seeds,
        may_add_seeds=request.seeds is None,
        force=request.force,
    )
    settled.ran.result.report()
    return _write(request, asked, settled, traffic, busiest)


def _write(
    request: Request,
    asked: dict[str, Any],
    settled: Settled,
    traffic: Traffic,
    busiest: Sequence[Load],
) -> Answer:
    """Try what could turn the advice, and write page, picture and summary."""
    trial, ran, advice, seeds = settled.trial, settled.ran, settled.advice, settled.seeds
    question, rows = trial.question, ran.rows
    checks = tuple(turning(trial, advice, request.most_loss, busiest[0], seeds))
    fit = None if question.replays else compare(trial.flows, ran.lists[0])
    shallow = without_phantom_queue(trial, ran, advice, seeds)
    book = runbook(question, advice, switch_result=shallow)
    warnings = warnings_of_runs(question, ran)
    facts = Facts(
        title=trial.title,
        traffic=traffic.sentences,
        placement=traffic.placement,
        network=_about(question.network, seeds),
        checks=checks,
        without_phantom_queue=shallow,
        sure=caveats(
            question,
            rows,
            advice,
            (
                *drift_sentences(question, ran.finished, trial.sizes),
                *(f"{text}." for text in warnings),
            ),
            today_is_given=request.today is not None,
        ),
        waits=tuple(_waits(ran.result.summary)),
        cannot_say=_cannot_say(fit, partly=question.partly),
        runbook=book,
        loads=tuple(busiest[:_LOADS_SHOWN]),
        drawn=None if question.replays else (trial.flows, ran.lists[0]),
        most_loss=request.most_loss,
    )
    write_picture(question, rows, request.most_loss, request.out / "frontier.pdf")
    content = _summary(request, settled, traffic, facts, busiest, fit)
    content |= {"asked": asked, "seeds": seeds, "give_up": list(question.give_up)}
    write_text(request.out / "summary.json", json.dumps(content, indent=2) + "\n")
    write_text(request.out / runbooks.FILE, runbooks.markdown(book))
    page = request.out / "ask.html"
    write_text(page, answer_page(question, rows, trial.sizes, advice, facts))
    labels = {scheme.name: scheme.label for scheme in question.looks}
    return Answer(page, request.out / runbooks.FILE, tuple(rows), advice, facts, labels, warnings)


def _earlier(out: Path, asked: dict[str, Any]) -> tuple[int, tuple[float, ...]] | None:
    """Seeds and headrooms that an earlier answer to the same question came to: its runs are there
    to be taken over.
    """
    try:
        found = json.loads((out / "summary.json").read_text(encoding="utf-8"))
        if found["asked"] != asked:
            return None
        return int(found["seeds"]), tuple(map(float, found["give_up"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _waits(summary: dict[str, Any]) -> list[Waits]:
    """Of all seeds together, which are conditions where each has its own flows."""
    return waits_of({"parts": [{**part, "condition": ""} for part in summary["parts"]]})


def _about(network: Network, seeds: int) -> tuple[str, ...]:
    return (
        f"{network.name}: {len(network.hosts)} hosts at {len(network.racks)} switches; a round "
        f"trip between idle hosts takes up to {network.round_trip_s * 1e6:.4g} us.",
        *network.guessed,
        "Hosts start with a window of 10 segments, as Linux does, use windows up to 6 MB, and wait "
        "at least 10 ms before they retransmit lost data (Linux's default is 200 ms, which would "
        "make today's losses look worse).",
        "Receivers acknowledge every second packet, the first 16 of a connection each, and after "
        "1 ms at the latest; connections are open already. Ethernet's framing, 38 bytes a packet, "
        "is not counted.",
        f"Each scheme ran {seeds} times.",
    )


def _cannot_say(fit: Fit | None, *, partly: bool) -> tuple[str, ...]:
    found = [
        "Flows start at their recorded times, independent of earlier flows. If a flow waited for "
        "another, a faster network would have started it sooner and a slower one later, so the "
        "true gain is distributed differently.",
        "Time spent in applications, disks and processors is not simulated.",
    ]
    if fit is not None:
        found[0] = found[0].replace("at their recorded times", "as drawn")
        found.append(
            f"Flows are drawn from those seen: sizes differ by a KS distance of {fit.sizes_ks:.3g},"
            f" gaps by {fit.gaps_ks:.3g}, bytes are {fit.load:.3g} times those seen. Starts are "
            f"{fit.dispersion:.3g} times as uneven as a Poisson process, in the trace "
            f"{fit.seen_dispersion:.3g} times: drawing loses the difference; --replay keeps the "
            "recorded starts."
        )
    if partly:
        found.append(
            "A flow uses the new scheme if both of its hosts do; others keep CUBIC and share the "
            "queues."
        )
    return tuple(found)


def _summary(
    request: Request,
    settled: Settled,
    traffic: Traffic,
    facts: Facts,
    busiest: Sequence[Load],
    fit: Fit | None,
) -> dict[str, Any]:
    question = settled.trial.question
    settings = question.settings
    return {
        "trace": shown(request.traffic.trace),
        "topology": request.topology,
        "hosts": len(question.network.hosts),
        "round_trip_s": question.network.round_trip_s,
        "flows": len(traffic.flows),
        "duration_ps": traffic.duration_ps,
        "traffic": [*traffic.sentences, *traffic.placement],
        "sizes": asdict(settled.trial.sizes),
        "settings": {
            "thresholds_bytes": {f"{rate:.0f}": k for rate, k in settings.thresholds.items()},
            "g": settings.g,
            "phantom_threshold_bytes": settings.phantom_threshold_bytes,
            "pacer": settings.pacer,
        },
        "busiest": [asdict(load) for load in busiest[:_LOADS_SHOWN]],
        "fit": None if fit is None else asdict(fit),
        "frontier": as_json(settled.ran.rows),
        "waits": [asdict(one) for one in facts.waits],
        "advice": asdict(settled.advice),
        "checks": list(facts.checks),
        "without_phantom_queue": facts.without_phantom_queue,
        "sure": list(facts.sure),
        "cannot_say": list(facts.cannot_say),
        "runbook": asdict(facts.runbook),
    }

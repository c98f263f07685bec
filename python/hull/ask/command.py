"""`hull ask`: from a trace to a page. Nothing is written before trace and network are known to fit.

The folder has `ask.html`, `frontier.pdf`, `summary.json`, the flows that were simulated
(`flows-*.parquet`) and `runs`, a folder as `hull run` leaves it.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hull.ask.answer import Row, Sizes, as_json, choose_sizes, rows_of
from hull.ask.capacity import Load, check_capacity, loads
from hull.ask.deployment import changed_hosts, with_transports
from hull.ask.fit import Fit, compare, draw
from hull.ask.network import Network, read_network
from hull.ask.page import Facts, answer_page
from hull.ask.picture import write_picture
from hull.ask.question import (
    UNCHANGED,
    Question,
    hull_name,
    read_give_up,
    read_today,
    scenario_text,
    settings_for,
)
from hull.ask.traffic import Traffic, TrafficOptions, read_traffic
from hull.ask.verdict import LEAST_SEEDS, SEEDS_IF_UNDECIDED, Advice, advise
from hull.errors import UsageError, check_count, shown
from hull.file_names import check_path
from hull.output_file import whole_file, write_text
from hull.plan import make_plan
from hull.registry import NO_GROUP
from hull.runner import perform
from hull.waits import Waits, waits_of

if TYPE_CHECKING:
    import polars as pl

    from hull.result import Result

_MOST_SEEDS = 100
_LOADS_SHOWN = 5


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
    fit: bool = False
    seeds: int | None = None
    """None: at first the least, and the most of a second attempt if that is undecided."""
    small: int | None = None
    large: int | None = None
    most_loss: float = 0.1
    jobs: int | None = None
    force: bool = False


@dataclass(frozen=True)
class Answer:
    """What `hull ask` found."""

    page: Path
    rows: tuple[Row, ...]
    advice: Advice
    waits: tuple[Waits, ...]
    labels: dict[str, str]
    traffic: tuple[str, ...]
    """What was read from the trace and where it was placed: sentences of the page."""


def ask(request: Request) -> Answer:
    """Carry it out. Raises UsageError before anything is written, Interrupted, RunError."""
    check_path("--out", request.out, "results/ask", inside=150)
    seeds = check_count("--seeds", request.seeds or _first_seeds(request.out))
    if seeds > _MOST_SEEDS:
        raise UsageError(f"--seeds: {seeds} is invalid; expected 1 to {_MOST_SEEDS}")
    give_up = read_give_up(request.give_up)
    # Hosts that do not change have CUBIC, so that is what runs today.
    today = read_today(request.today or ("cubic,dctcp" if request.deployed else "dctcp,cubic"))
    network = read_network(request.topology, request.rtt, request.buffer)
    traffic = read_traffic(request.traffic, network)
    busiest = loads(network, traffic.flows, traffic.duration_ps, traffic.longest_ps)
    check_capacity(busiest)
    question = Question(
        network, give_up, today, settings_for(network), partly=request.deployed is not None
    )
    flows = traffic.flows
    if request.deployed is not None:
        changed = changed_hosts(request.deployed, network.racks, flows)
        flows = with_transports(flows, changed, UNCHANGED)
    sizes = choose_sizes(flows["bytes"], request.small, request.large)

    request.out.mkdir(parents=True, exist_ok=True)
    title = f"hull ask: {request.traffic.trace.name} on {request.topology}"
    lasts_ps = traffic.duration_ps
    ran = _run(request, question, flows, sizes, _Attempt(title, lasts_ps, seeds, request.force))
    advice = advise(question, ran.rows, request.most_loss, busiest[0])
    if advice.is_undecided and request.seeds is None and seeds < SEEDS_IF_UNDECIDED:
        seeds = SEEDS_IF_UNDECIDED
        ran = _run(request, question, flows, sizes, _Attempt(title, lasts_ps, seeds, force=True))
        advice = advise(question, ran.rows, request.most_loss, busiest[0])
    ran.result.report()
    lists, rows, waits = ran.lists, ran.rows, waits_of(ran.result.summary)
    fit = compare(flows, lists[0]) if request.fit else None
    facts = Facts(
        title=title,
        traffic=traffic.sentences,
        placement=traffic.placement,
        network=_about(network, seeds),
        waits=tuple(waits),
        cannot_say=_cannot_say(fit, partly=question.partly),
        commands=deploy_commands(question, advice),
        loads=tuple(busiest[:_LOADS_SHOWN]),
        drawn=(flows, lists[0]) if request.fit else None,
    )
    write_picture(question, rows, request.out / "frontier.pdf")
    content = _summary(request, question, traffic, rows, sizes, advice, facts, busiest, fit)
    content["seeds"] = seeds
    write_text(request.out / "summary.json", json.dumps(content, indent=2) + "\n")
    page = request.out / "ask.html"
    write_text(page, answer_page(question, rows, sizes, advice, facts))
    labels = {scheme.name: scheme.label for scheme in question.looks}
    told = (*traffic.sentences, *traffic.placement)
    return Answer(page, tuple(rows), advice, tuple(waits), labels, told)


def _first_seeds(out: Path) -> int:
    """The least, or the most if an answer is there that needed them: its runs are reused."""
    try:
        found = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return LEAST_SEEDS
    needed = found.get("seeds") if isinstance(found, dict) else None
    return SEEDS_IF_UNDECIDED if needed == SEEDS_IF_UNDECIDED else LEAST_SEEDS


@dataclass(frozen=True)
class _Attempt:
    title: str
    duration_ps: int
    seeds: int
    force: bool


@dataclass(frozen=True)
class _Ran:
    result: "Result"
    lists: "Sequence[pl.DataFrame]"
    """The flows of each seed, or of all."""
    rows: list[Row]


def _run(
    request: Request, question: Question, flows: "pl.DataFrame", sizes: Sizes, of: _Attempt
) -> _Ran:
    """Run all schemes with a number of seeds; parts that have run before are taken over."""
    lists = [draw(flows, seed) for seed in range(1, of.seeds + 1)] if request.fit else [flows]
    paths = [_write_flows(one, request.out) for one in lists]
    runs = 1 if request.fit else of.seeds
    duration_ps = max(of.duration_ps, *(int(one["start_ps"].to_numpy().max()) + 1 for one in lists))
    text = scenario_text(question, paths, duration_ps, runs, of.title)
    plan = make_plan(text, "hull ask", [])
    result = perform(plan, request.out / "runs", jobs=request.jobs, force=of.force, lines=True)
    conditions = list(dict.fromkeys(part["condition"] for part in result.summary["parts"]))
    asked = _asked(lists, conditions, runs)
    return _Ran(result, lists, rows_of(question, _labelled(result.flows), asked, sizes))


def _write_flows(flows: "pl.DataFrame", folder: Path) -> Path:
    """A flow list, named after its content, so that it never replaces that of an earlier run."""
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
    if fit is None:
        found.append(
            "All seeds carry the same flows, so intervals cover the variation of paths and of the "
            "pacer's draws, not that of another day's traffic. --fit draws new flows for each seed."
        )
    else:
        found.append(
            f"Flows are drawn from those seen: sizes differ by a KS distance of {fit.sizes_ks:.3g},"
            f" gaps by {fit.gaps_ks:.3g}, bytes are {fit.load:.3g} times those seen. Starts are "
            f"{fit.dispersion:.3g} times as uneven as a Poisson process, in the trace "
            f"{fit.seen_dispersion:.3g} times: drawing loses the difference."
        )
    if partly:
        found.append(
            "A flow uses the new scheme if both of its hosts do; others keep CUBIC and share the "
            "queues."
        )
    return tuple(found)


def deploy_commands(question: Question, advice: Advice) -> tuple[str, ...]:
    """What deploys the recommended setting on Linux hosts."""
    if advice.scheme is None:
        return ()
    if advice.scheme in question.today and advice.scheme != "dctcp":
        on = f"sysctl -w net.ipv4.tcp_congestion_control={advice.scheme}"
        return ("# on each host, as root", on)
    if advice.scheme == "dctcp":
        thresholds = question.settings.thresholds.items()
        return (
            *(
                f"# on ports of {rate / 1e9:g} Gbps: mark at {threshold:,} bytes in the queue"
                for rate, threshold in sorted(thresholds)
            ),
            "# on each host, as root",
            "hull linux dctcp on",
        )
    part = next(p for p in question.give_up if hull_name(p) == advice.scheme)
    settings, network = question.settings, question.network
    pacer = settings.pacer
    return (
        "# on each host, as root; eth0 is its link to the switch",
        "hull linux dctcp on",
        f"hull linux attach eth0 --rate {network.rate_bps / 1e9:g}Gbps "
        f"--drain {network.rate_bps * (1 - part) / 1e9:g}Gbps "
        f"--threshold {settings.phantom_threshold_bytes}B "
        f"--update-interval {pacer['update_interval_s'] * 1e6:.4g}us "
        f"--beta {pacer['beta']:.0f} --bucket {pacer['bucket_bytes']:.0f}B "
        f"--fifo {pacer['fifo_bytes']:.0f}B "
        f"--association-timeout {pacer['association_timeout_s'] * 1e6:.0f}us",
    )


def _summary(
    request: Request,
    question: Question,
    traffic: Traffic,
    rows: Sequence[Row],
    sizes: Sizes,
    advice: Advice,
    facts: Facts,
    busiest: Sequence[Load],
    fit: Fit | None,
) -> dict[str, Any]:
    settings = question.settings
    return {
        "trace": shown(request.traffic.trace),
        "topology": request.topology,
        "hosts": len(question.network.hosts),
        "round_trip_s": question.network.round_trip_s,
        "flows": len(traffic.flows),
        "duration_ps": traffic.duration_ps,
        "traffic": [*traffic.sentences, *traffic.placement],
        "sizes": asdict(sizes),
        "settings": {
            "thresholds_bytes": {f"{rate:.0f}": k for rate, k in settings.thresholds.items()},
            "g": settings.g,
            "phantom_threshold_bytes": settings.phantom_threshold_bytes,
            "pacer": settings.pacer,
        },
        "busiest": [asdict(load) for load in busiest[:_LOADS_SHOWN]],
        "fit": None if fit is None else asdict(fit),
        "frontier": as_json(rows),
        "waits": [asdict(one) for one in facts.waits],
        "advice": asdict(advice),
        "cannot_say": list(facts.cannot_say),
        "commands": list(facts.commands),
    }

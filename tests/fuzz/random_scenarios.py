"""Draws whole scenarios (`drawn_scenario`): networks, traffic, switches, hosts, transports, pacers.

Each must run, conserve packets, end in time and keep the limits of `invariants`. A second run, a
run on several threads and a run with additional measurements must leave the same tables and
numbers byte for byte, except for the added tables. With an ample drain every flow that has started
ends. A rejected scenario must be rejected with a message in hull's own terms.
"""

import json
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from fuzz import invariants, messages
from fuzz.case import Outcome, draws
from fuzz.drawn_scenario import drawn, flow_list
from fuzz.inside import Refused, plan_of
from hull import _core

NAME = "random_scenarios"
MACHINE = ("threads", "divided", "cpu_seconds", "wall_seconds", "peak_rss_bytes")
"""Entries of a summary that describe the machine, not the run."""
LIST = "list.csv"
AMPLE = "60s"
AMPLE_IF_SLOW = "600s"
"""A drain in which every flow ends. With loss, a packet of a few may take a timeout each; RCP with
gains outside its stable region may offer a few packets a second; a flow may have a gigabyte."""
AMPLE_IF_CRAWLING = "20000s"
"""Tells a flow that crawls from one that is stuck: BBR at 30% loss needs 19 minutes for 290 KB, and
RCP with gains outside its stable region 24. Such cases are counted as `slow`."""
SHORT = "1s"
"""The drain where headers can fill a link: a run that sends for ever takes long."""


@dataclass(frozen=True)
class Drawn:
    """A scenario and the seed of its run."""

    scenario: dict[str, Any]
    seed: int
    measured: tuple[str, ...]
    """Names of the measurements that are added."""
    rows: str
    """The flow list that the scenario replays, if it does."""

    @property
    def text(self) -> str:
        head = f"# seed {self.seed}; measured: {', '.join(self.measured)}\n"
        rows = "".join(f"# {LIST}: {row}\n" for row in self.rows.splitlines())
        return head + rows + tomli_w.dumps(self.scenario)

    @property
    def resolved(self) -> dict[str, Any]:
        """The scenario with its defaults, and one flow list."""
        Path(LIST).write_text(self.rows)
        scenario: dict[str, Any] = plan_of(self.text, "random.toml", []).cells[0].scenario
        return scenario


@dataclass(frozen=True)
class Left:
    """What a run leaves."""

    summary: dict[str, Any]
    files: dict[str, bytes]

    def table(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self.files[f"{name}.parquet"])


def make(seed: int, index: int) -> Drawn:
    """The case of this number."""
    draw = draws(NAME, seed, index)
    scenario, hosts = drawn(draw)
    rows = ""
    if hosts > 1 and draw.random() < 0.25:
        rows = flow_list(draw, hosts)
        scenario["workload"]["flows"] = LIST
    # With a probe a run uses one thread. Ports whose queues take turns do not allow a probe.
    has_queues = not scenario["switch"].keys().isdisjoint(("dualpi2", "fq_codel", "dwrr"))
    if draw.random() < 0.25 and not has_queues:
        scenario["measure"]["probe"] = {"interval": "100us"}
    names = ["ports", "changes", "pauses", "capture", "flows", "pacers", "sample_interval"]
    if "message" in scenario["transport"]:
        names.remove("capture")
    return Drawn(scenario, draw.randrange(2**31), _some_of(draw, names), rows)


def _some_of(draw: random.Random, names: list[str]) -> tuple[str, ...]:
    return tuple(draw.sample(names, draw.randint(1, len(names))))


def check(seed: int, index: int) -> Outcome:
    """Generate the case and compare its runs."""
    made = make(seed, index)
    try:
        first = _run(made, {})
    except Refused as refusal:
        return Outcome("rejected", made.text, str(refusal), messages.foreign(str(refusal)))
    threads = (2, 3, 4, 8)[index % 4]
    problem = (
        _wrong_with(made, first)
        or _difference("again", first, _run(made, {}))
        or _difference(f"on {threads} threads", first, _run(made, {"run": {"threads": threads}}))
        or _measured(made, first)
    )
    if problem:
        return Outcome("equal", made.text, "", problem)
    speed, problem = _ends(made, first)
    return Outcome(speed, made.text, "", problem)


def _run(made: Drawn, more: dict[str, dict[str, Any]]) -> Left:
    scenario = {**made.scenario}
    for table, keys in more.items():
        scenario[table] = {**scenario.get(table, {}), **keys}
    Path(LIST).write_text(made.rows)
    plan = plan_of(tomli_w.dumps(scenario), "random.toml", [])
    run = _core.Run(plan.cells[0].resolved, "", "", made.seed)
    with tempfile.TemporaryDirectory(dir=Path()) as name:
        folder = Path(name)
        summary = json.loads(run.execute(name))
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
    return Left({k: v for k, v in summary.items() if k not in MACHINE}, files)


def _wrong_with(made: Drawn, left: Left) -> str:
    packets = left.summary["packets"]
    if packets["sent"] != packets["delivered"] + packets["dropped"] + packets["in_flight"]:
        return f"packets are lost or invented: {packets}"
    times = [_core.quantity("time", text) for text in made.scenario["run"].values()]
    if not 0 < left.summary["simulated_seconds"] <= sum(times) * 1.000001:
        return f"{left.summary['simulated_seconds']} s simulated, {sum(times)} s asked for"
    if not {"flows.parquet", "latency.parquet", "links.parquet"} <= set(left.files):
        return f"tables are missing: {sorted(left.files)}"
    links = left.table("links")
    return (
        invariants.sums(left.summary, links)
        or invariants.waits(left.summary)
        or invariants.beaten_minimum(left.table("flows"), links)
    )


def _ends(made: Drawn, first: Left) -> tuple[str, str]:
    """Whether all flows ended in time (`equal`) or much later (`slow`), and which never do. Flows
    of an endless workload need not end.
    """
    workload = made.scenario["workload"]
    endless = "long_lived" in workload or "size" not in workload.get("bulk", {"size": ""})
    is_lossy = "loss" in made.scenario["switch"]
    # Flows of hundreds of megabytes take hours at such loss.
    flows = workload.get("flows", LIST)
    huge = "production" in workload or (flows != LIST and "fixed" not in flows["sizes"])
    resolved = made.resolved
    if endless or (is_lossy and huge) or invariants.cannot_end(resolved):
        return "equal", ""
    if invariants.headers_fill_a_link(resolved, first.table("links")):
        left = invariants.unfinished(_run(made, _with_drain(made, SHORT)).summary)
        return "equal", f"headers can fill a link: {left}" if left else ""
    may_crawl = is_lossy or "rcp" in made.scenario["switch"]
    drain = AMPLE_IF_SLOW if may_crawl or huge else AMPLE
    left = invariants.unfinished(_run(made, _with_drain(made, drain)).summary)
    if left and may_crawl:
        left = invariants.unfinished(_run(made, _with_drain(made, AMPLE_IF_CRAWLING)).summary)
        return "slow", left
    return "equal", left


def _with_drain(made: Drawn, drain: str) -> dict[str, dict[str, Any]]:
    more: dict[str, dict[str, Any]] = {"run": {"drain": drain}}
    if message := made.scenario["transport"].get("message"):
        # A timeout below the round trip under load may send the same packets for ever.
        own = {key: value for key, value in message.items() if key != "timeout"}
        more["transport"] = {"message": own}
    return more


def _difference(what: str, one: Left, other: Left) -> str:
    for key, value in one.summary.items():
        if other.summary.get(key) != value:
            return f"{what}: {key} of the summary is {other.summary.get(key)}, was {value}"
    if one.files.keys() != other.files.keys():
        return f"{what}: other files: {sorted(one.files.keys() ^ other.files.keys())}"
    changed = [name for name, content in one.files.items() if other.files[name] != content]
    return f"{what}: other bytes in {', '.join(changed)}" if changed else ""


def _measured(made: Drawn, bare: Left) -> str:
    """How a run with additional measurements differs from the bare run; empty if it does not."""
    tiers = sorted(bare.summary["links"])
    all_keys: dict[str, Any] = {
        "ports": {"ports": tiers},
        "changes": {"ports": tiers, "queue_changes": True},
        "pauses": {"pauses": True},
        "capture": {"capture": {"ports": tiers}},
        "flows": {"flows": {"count": 50, "interval": "20us"}},
        "pacers": {"pacers": {"interval": "30us"}} if "pacer" in made.scenario else {},
        "sample_interval": {"sample_interval": "13us"},
    }
    keys = {k: value for name in made.measured for k, value in all_keys[name].items()}
    measured = _run(made, {"measure": keys})
    if "changes" in made.measured:
        queues, links = measured.table("queues"), measured.table("links")
        if problem := invariants.overfull(made.resolved, queues, links):
            return problem
    left_out = ["latency.parquet"] if "sample_interval" in keys else []
    for key, value in bare.summary.items():
        other: Any = measured.summary[key]
        match key:
            case "queues":
                # Named ports replace the port that is measured by default.
                same = all(value[port] == other[port] for port in {*value} & {*other})
            case "fairness":
                same = value is None or value == other
            case _:
                same = value == other
        if not same:
            return f"measured: {key} of the summary is {other}, was {value}"
    for name, content in bare.files.items():
        if name not in left_out and measured.files.get(name) != content:
            return f"measured: other bytes in {name}"
    added = measured.files.keys() - bare.files.keys()
    optional = ("queues", "series", "pacers", "pause_events")
    allowed = {"capture.pcapng", *(f"{name}.parquet" for name in optional)}
    return "" if added <= allowed else f"measured: files that were not asked for: {sorted(added)}"

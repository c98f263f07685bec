"""Damages hull's input files: flow lists (CSV, Parquet), traces and captures, tables of sizes and
times, graphs (GraphML, node-link JSON), scenario files, results of a run that is resumed, traced,
reported, loaded or already finished, with and without checksums, and the store of a sweep. Damage:
truncation, single bytes, another encoding, swapped columns, numbers that are too large.

hull must either accept the input and run it without losing packets, or reject it with one message
that names the key or the file, in hull's own terms. A run resumed from damaged results must equal
an undamaged run. Results contain wall-clock times: there a seed repeats the damage only nearly.
"""

import io
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from fuzz import messages, traces
from fuzz.case import Outcome, draws
from fuzz.damage import damaged
from fuzz.inside import Refused, run_for_a_moment
from fuzz.left_behind import KINDS as LEFT_BEHIND
from fuzz.left_behind import SHORT, outcome_of, whole
from fuzz.places import ROOT
from hull import ScenarioError, UsageError, scenarios
from hull.runs.plan import make_plan, read_scenario

NAME = "damaged_inputs"

FLOWS = {"start_ps": [0, 500_000, 900_000], "src": [1, 2, 3], "dst": [0, 0, 1]} | {
    "bytes": [1000, 20_000, 1]
}
INTERVALS = ROOT / "crates/hull-sim/src/workload/intervals/production_queries.csv"
SIZES = ROOT / "crates/hull-sim/src/workload/sizes/websearch.csv"
GRAPHS = ROOT / "tests/graphs"
SCHEDULES = ROOT / "tests/schedules"


@dataclass(frozen=True)
class Kind:
    """A file that a key names."""

    file: str
    setting: str
    """The key with the file's name; further settings of the run."""
    contents: Callable[[], list[bytes]]
    text: bool = True


def _parquet() -> list[bytes]:
    found = []
    for codec in ("zstd", "snappy", "uncompressed"):
        buffer = io.BytesIO()
        pl.DataFrame(FLOWS).write_parquet(buffer, compression=codec)
        found.append(buffer.getvalue())
    return found


def _files(*paths: Path) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for path in paths]


_FLOWS = "workload={{flows={{flows_per_second=1000.0,sizes={{csv={!r}}}}}}}"
KINDS = {
    "flow list, CSV": Kind(
        "flows.csv",
        "workload={{flows={!r}}}",
        lambda: [pl.DataFrame(FLOWS).write_csv().encode()],
    ),
    "flow list, Parquet": Kind("flows.parquet", "workload={{flows={!r}}}", _parquet, text=False),
    "sizes": Kind("sizes.csv", _FLOWS, _files(SIZES)),
    "times": Kind(
        "times.csv", "workload={{production={{query_intervals={!r}}}}}", _files(INTERVALS)
    ),
    "job": Kind(
        "job.goal",
        "workload={{job={{schedule={!r}}}}}",
        _files(*sorted(SCHEDULES.glob("*.goal"))),
    ),
    "GraphML": Kind(
        "graph.graphml",
        "topology={{file={{path={!r}}}}}",
        _files(*sorted(GRAPHS.glob("*.graphml"))),
    ),
    "node-link": Kind(
        "graph.json", "topology={{file={{path={!r}}}}}", _files(*sorted(GRAPHS.glob("*.json")))
    ),
}


@dataclass(frozen=True)
class Damaged:
    """One damaged file."""

    kind: str
    file: str
    how: str
    content: bytes

    @property
    def text(self) -> str:
        return f"# {self.kind}: {self.file}: {self.how}\n{self.content[:20_000]!r}"


def make(seed: int, index: int) -> Damaged:
    """The case of this number."""
    draw = draws(NAME, seed, index)
    # Kinds that run a whole command are drawn less often.
    rare = dict.fromkeys(LEFT_BEHIND, 1)
    shares = {**dict.fromkeys(KINDS, 8), "scenario": 10, **dict.fromkeys(traces.KINDS, 4), **rare}
    shares["trace, Parquet"] = 2  # as each starts a process
    kind = draw.choices([*shares], [*shares.values()])[0]
    if kind in KINDS:
        of = KINDS[kind]
        how, content = damaged(draw, draw.choice(of.contents()), text=of.text)
        return Damaged(kind, of.file, how, content)
    if kind in traces.KINDS:
        trace = traces.KINDS[kind]
        how, content = damaged(draw, draw.choice(trace.contents()), text=False)
        return Damaged(kind, trace.file, how, content)
    if kind == "scenario":
        name = draw.choice(scenarios.names())
        how, content = damaged(draw, scenarios.text(name).encode(), text=True)
        return Damaged(kind, f"{name}.toml", how, content)
    folder, paths = whole(kind)
    path = draw.choice(paths)
    how, content = damaged(draw, path.read_bytes(), text=path.suffix != ".parquet")
    return Damaged(kind, str(path.relative_to(folder)), how, content)


def check(seed: int, index: int) -> Outcome:
    """Generate the case and classify hull's response."""
    made = make(seed, index)
    try:
        if made.kind in LEFT_BEHIND:
            return outcome_of(made.kind, made.file, made.content, made.text)
        if made.kind in traces.KINDS:
            traces.read(made.file, made.content)
            return Outcome("accepted", made.text)
        return _read(made, draws(f"{NAME} run", seed, index))
    except Refused as refusal:
        message = str(refusal)
        wrong = messages.foreign(message)
        if not wrong and not _names(made, message):
            wrong = "the message names neither the file nor its key"
        return Outcome("rejected", made.text, message, wrong)


def _names(made: Damaged, message: str) -> bool:
    key = KINDS[made.kind].setting.split("=")[0] if made.kind in KINDS else made.file
    # The columns of a trace are named in place of the trace.
    names = key in message or message.startswith("columns: ")
    return made.file in message or messages.known_key(message) or names


def _read(made: Damaged, draw: random.Random) -> Outcome:
    Path(made.file).write_bytes(made.content)
    try:
        if made.kind == "scenario":
            plan = make_plan(*read_scenario(made.file), [])
        else:
            own = KINDS[made.kind].setting.format(made.file)
            settings = [*SHORT, "workload={bulk={flows=3}}", own]
            plan = make_plan(scenarios.text("static"), "short.toml", settings)
    except (ScenarioError, UsageError) as error:
        raise Refused(str(error)) from None
    cell = draw.choice(plan.cells)
    summary = run_for_a_moment(cell.scenario, draw.randrange(1000))
    if summary is None:
        return Outcome("stopped", made.text)
    packets = summary["packets"]
    whole = packets["delivered"] + packets["dropped"] + packets["in_flight"]
    lost = "" if packets["sent"] == whole else f"packets are lost or invented: {packets}"
    return Outcome("accepted", made.text, "", lost)

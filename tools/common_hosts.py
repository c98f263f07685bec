"""Searches one set of hosts for all figures of one testbed (docs/experiments/common-hosts.md).

A candidate is a value for each axis below. It is put under every experiment of the document's
testbed, in its quick form, and its score is the number of predicted and fitted claims that then
hold in the experiments that the search sees. The others are held out: they are run for the hosts
as shipped and for the best found, at the end. The order is drawn once from a fixed seed: first the
hosts as shipped, then the sets that are shipped each for all, then draws from the grid,
and in the second half of the budget changes of the best along one axis.
Usage: common_hosts.py DOCUMENT SECONDS [FOLDER]; DOCUMENT is "paper" or "thesis". What was run is
kept in FOLDER (results/common-hosts by default) and is not run again.
"""

import itertools
import json
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hull.experiments import all_experiments
from hull.experiments.common.experiment import Experiment
from hull.reproduction.reproduce import Reproduction, claims_of
from hull.runs.cache import Cache

FOLDER = Path("results", "common-hosts")
Candidate = dict[str, str]
"""Axis -> value; empty is as shipped."""


def _receive(wait: str) -> str:
    if wait == "none":
        return 'host.receive={frames=1,wait="1us"}'
    return f'host.receive={{frames=4096,wait="{wait}",adaptive=true}}'


AXES: dict[str, Callable[[str], list[str]]] = {
    "stack": lambda value: [f"host.stack_delay={value}"],
    "jitter": lambda value: [f"host.stack_jitter.exponential={value}"],
    "interrupt": lambda value: [_receive(value)],
    "offload": lambda value: {
        "none": ["host.offload=1500B", "transport.tso_win_divisor=0"],
        "64KB": ["host.offload=64KB", "transport.tso_win_divisor=0"],
        "64KB, a third": ["host.offload=64KB", "transport.tso_win_divisor=3"],
    }[value],
    "framing": lambda value: [f"transport.framing={value}"],
}
"""Each axis's settings for one of its values."""


@dataclass(frozen=True)
class Document:
    """A testbed: its experiments, and the values between which its hosts are searched."""

    seen: tuple[str, ...]
    held_out: tuple[str, ...]
    values: dict[str, tuple[str, ...]]
    shipped: tuple[Candidate, ...]
    """Sets that one part of the experiments has, to be tried for all."""
    besides: Callable[[Experiment, Candidate], list[str]]
    """What follows from a candidate in one experiment: the same for all but the axes."""


def _us(value: str) -> float:
    return float(value.removesuffix("us"))


def _paper_besides(experiment: Experiment, candidate: Candidate) -> list[str]:
    """One NIC queue, header and window for both halves; what a message takes besides.

    That is what is missing to the 380 us of HULL's 1 KB (table 4, 20% load), of which 20 us are the
    applications' and 21 us the links'.
    """
    settings = [
        "host.nic_buffer=unlimited",
        "transport.header=52B",
        "transport.receive_window=2172",
    ]
    if experiment.scenario in ("table4", "table5"):
        missing = 380 - 41 - 4 * (_us(candidate["stack"]) + _us(candidate["jitter"]))
        scale = max(missing / 3, 1.0)
        settings.append(f'workload.requests.service={{gamma={{shape=3,scale="{scale:.0f}us"}}}}')
    return settings


DOCUMENTS = {
    "paper": Document(
        ("table1", "fig2", "fig6", "fig9", "table4"),
        ("fig5", "fig8", "fig10", "fig11", "table5"),
        {
            "stack": ("10us", "30us", "50us", "80us"),
            "jitter": ("0us", "5us", "15us", "30us"),
            "interrupt": ("20us", "60us", "125us"),
            "offload": ("none", "64KB", "64KB, a third"),
            "framing": ("0B", "38B"),
        },
        (
            {
                "stack": "80us",
                "jitter": "15us",
                "interrupt": "60us",
                "offload": "64KB",
                "framing": "0B",
            },
            {
                "stack": "30us",
                "jitter": "0us",
                "interrupt": "60us",
                "offload": "64KB, a third",
                "framing": "38B",
            },
        ),
        _paper_besides,
    ),
    "thesis": Document(
        (
            "thesis-fig1-2",
            "thesis-fig2-14",
            "thesis-fig2-18",
            "thesis-fig2-20",
            "thesis-fig2-22",
            "thesis-fig2-24",
            "thesis-table2-2",
        ),
        (
            "thesis-fig2-16",
            "thesis-fig2-17",
            "thesis-fig2-19",
            "thesis-fig2-21",
            "thesis-fig2-23",
            "thesis-fig2-25",
            "thesis-fig2-26",
        ),
        {
            "stack": ("5us", "10us", "20us", "40us"),
            "jitter": ("1us", "5us", "10us", "20us"),
            "interrupt": ("none", "20us", "60us", "125us"),
            "offload": ("none", "64KB", "64KB, a third"),
            "framing": ("0B", "38B"),
        },
        (
            {
                "stack": "10us",
                "jitter": "10us",
                "interrupt": "none",
                "offload": "none",
                "framing": "38B",
            },
            {
                "stack": "10us",
                "jitter": "10us",
                "interrupt": "none",
                "offload": "none",
                "framing": "0B",
            },
        ),
        lambda _experiment, _candidate: [],
    ),
}


@dataclass
class Run:
    """One experiment under one candidate."""

    claims: dict[str, bool | None]
    """Verdict of each claim; None where none could be given."""
    seconds: float


class Search:
    """The runs of one document's candidates."""

    def __init__(self, name: str, folder: Path) -> None:
        """Takes up what `folder` has of it."""
        self.document = DOCUMENTS[name]
        self.spent = 0.0
        """Wall-clock time of what was asked for, also when it was run before, in s."""
        self._folder = folder
        self._log = folder / f"{name}.jsonl"
        folder.mkdir(parents=True, exist_ok=True)
        lines = self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []
        self._found = {key: Run(claims, took) for key, claims, took in map(json.loads, lines)}

    def claims(self, candidate: Candidate, names: tuple[str, ...]) -> dict[str, bool | None]:
        """The verdicts of all claims of these experiments."""
        runs = [self._run(candidate, name) for name in names]
        self.spent += sum(run.seconds for run in runs)
        return {claim: holds for run in runs for claim, holds in run.claims.items()}

    def _run(self, candidate: Candidate, name: str) -> Run:
        key = json.dumps([candidate, name])
        if key in self._found:
            return self._found[key]
        experiment = all_experiments()[name]
        settings = [s for axis, value in candidate.items() for s in AXES[axis](value)]
        settings += self.document.besides(experiment, candidate) if candidate else []
        begin = time.monotonic()
        out = self._folder / "making"
        shutil.rmtree(out, ignore_errors=True)
        chosen = Reproduction([experiment], "quick", out, Cache(out / "cache"), overrides=settings)
        (_, result), *_ = chosen.perform(None)
        counted = (c for c in claims_of(result) if c["kind"] in ("predicted", "fitted"))
        claims = {c["id"]: c["holds"] for c in counted}
        run = Run(claims, time.monotonic() - begin)
        self._found[key] = run
        with self._log.open("a", encoding="utf-8") as log:
            log.write(json.dumps([key, run.claims, run.seconds]) + "\n")
        shutil.rmtree(out)
        return run


def score(verdicts: dict[str, bool | None]) -> int:
    """How many hold."""
    return sum(holds is True for holds in verdicts.values())


def candidates(document: Document, draw: random.Random) -> Iterator[Candidate]:
    """The sets that are shipped, then all others in a drawn order."""
    yield from ({}, *document.shipped)
    grid = [
        dict(zip(document.values, v, strict=True))
        for v in itertools.product(*document.values.values())
    ]
    draw.shuffle(grid)
    yield from grid


def neighbours(document: Document, best: Candidate, draw: random.Random) -> list[Candidate]:
    """What differs from the best along one axis, in a drawn order."""
    found = [
        {**best, axis: value}
        for axis, values in document.values.items()
        for value in values
        if value != best[axis]
    ]
    draw.shuffle(found)
    return found


def main(name: str, budget_s: float, folder: Path) -> None:
    """Search until the budget is spent, then show the held-out half."""
    search, draw = Search(name, folder), random.Random(16)
    document = search.document
    scores: dict[str, int] = {}

    def judge(candidate: Candidate) -> int:
        found = score(search.claims(candidate, document.seen))
        scores[json.dumps(candidate)] = found
        what = ", ".join(candidate.values()) or "as shipped"
        print(f"{search.spent:6.0f} s  {found}  {what}", flush=True)
        return found

    for candidate in candidates(document, draw):
        judge(candidate)
        if search.spent > budget_s / 2:
            break
    scores.pop("{}")
    first = max(scores, key=scores.__getitem__)
    best: Candidate = json.loads(first)
    highest = scores[first]
    waiting = neighbours(document, best, draw)
    while waiting and search.spent < budget_s:
        candidate = waiting.pop()
        if json.dumps(candidate) in scores:
            continue
        if (found := judge(candidate)) > highest:
            best, highest, waiting = candidate, found, neighbours(document, candidate, draw)
    print(f"{len(scores)} candidates; best: {best}")
    for half, names in (("seen", document.seen), ("held out", document.held_out)):
        shipped, common = search.claims({}, names), search.claims(best, names)
        print(f"{half}: shipped {score(shipped)}, common {score(common)} of {len(common)}")
        for claim, holds in common.items():
            if holds != shipped[claim]:
                print(f"  {claim}: {shipped[claim]} -> {holds}")
    print(f"{search.spent:.0f} s in all")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else FOLDER)

"""What `make bench` measures: each figure is a scheme of a scenario, with the keys that are set."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import lists

BENCHES = Path(__file__).resolve().parent
SCENARIOS = BENCHES.parent / "python" / "hull" / "scenarios"


class Figure(NamedTuple):
    """What is run; `kind` says what is measured of it: measures.py."""

    name: str
    kind: str
    scenario: str
    scheme: str
    settings: tuple[str, ...]
    hosts: int
    # The workload, where it is a list.
    rows: Callable[[], list[lists.Row]] | None = None
    # Takes minutes: measured when asked for.
    large: bool = False
    folder: Path = SCENARIOS

    def prepare(self, folder: Path) -> tuple[Path, list[str]]:
        """The scenario with this scheme only and nothing swept, and the keys to set."""
        text = (self.folder / f"{self.scenario}.toml").read_text(encoding="utf-8")
        head, *schemes = re.split(r"(?m)^(?=\[schemes\.)", text)
        head = re.sub(r"(?ms)^\[sweep\].*?(?=^\[|\Z)", "", head)
        [chosen] = [part for part in schemes if part.startswith(f"[schemes.{self.scheme}]")]
        file = folder / f"{self.name}.toml".replace(" ", "-")
        file.write_text(head + chosen, encoding="utf-8")
        settings = list(self.settings)
        if self.rows is not None:
            flows = file.with_suffix(".csv")
            if not flows.exists():
                lists.write(self.rows(), flows)
            settings.append(f"workload.flows={flows}")
        return file, settings


STAR = ("workload.requests.load=60%", "run.duration=120s")
# A connection for each flow, so that speeds compare with earlier versions.
TREE = ("workload.flows={load='15%',count=100000,sizes={pareto={shape=1.05,mean='100KB'}}}",)


def star(scheme: str) -> Figure:
    """Requests at 60% load over one switch."""
    return Figure(f"star {scheme}", "speed", "epfl-table2", scheme, STAR, 10)


def tree(scheme: str) -> Figure:
    """The tree of 192 hosts, 100,000 flows."""
    return Figure(f"tree192 {scheme}", "speed", "tree192", scheme, TREE, 192)


def fat_tree(k: int, count: int, *, large: bool = False) -> Figure:
    """Web search sizes at 30% of 100 Gbps, DCTCP."""
    hosts = k**3 // 4
    settings = (f"topology.fat_tree.k={k}", f"workload.flows.count={count}")
    return Figure(
        f"fat tree {hosts}", "speed", "fat-tree1024", "dctcp", settings, hosts, large=large
    )


# What makes the fat tree's scheme, DCTCP, another one.
SCHEMES = {
    "tcp": ("transport.congestion_control=newreno", "transport.ecn=false"),
    "dctcp": (),
    "hull": (
        "switch.phantom_queue={drain='95%',threshold='15KB'}",
        "pacer={update_interval='7.2us',beta=375,association_timeout='1ms'}",
    ),
}


def fat_tree_of(scheme: str, kind: str) -> Figure:
    """The same with 1,024 hosts and any scheme."""
    figure = fat_tree(16, 6_000)
    name = f"{figure.name} {scheme}, {kind}"
    return figure._replace(name=name, kind=kind, settings=figure.settings + SCHEMES[scheme])


def clos(scheme: str, flows: int) -> Figure:
    """Web search sizes at 50% of 100 Gbps in HPCC's Clos, RDMA with an ACK for each packet."""
    name = f"Clos 320 {scheme.replace('_', ' ')}"
    settings = (f"workload.flows.count={flows}",)
    return Figure(name, "speed", "clos", scheme, settings, 320, folder=BENCHES)


def permutation(k: int) -> Figure:
    """Every host sends 1 MB at 400 Gbps, all at once, DCTCP."""
    hosts = k**3 // 4
    rates = ("host.rate=400Gbps", "switch.rate=400Gbps")
    settings = (f"topology.fat_tree.k={k}", *rates)
    rows = partial(lists.permutation, hosts, 1_000_000)
    name = f"permutation {hosts}"
    return Figure(name, "speed", "fat-tree1024", "dctcp", settings, hosts, rows, large=True)


def one_flow(name: str, k: int, *, large: bool = False) -> Figure:
    """A single flow: what a run costs before and after its packets."""
    settings = (f"topology.fat_tree.k={k}", "workload.flows.count=1")
    return Figure(name, "cost", "fat-tree1024", "dctcp", settings, k**3 // 4, large=large)


def fixed() -> Figure:
    """A millisecond of one part: what a run costs beside its simulation."""
    settings = ("workload.requests.load=60%", "run.warmup=0s", "run.duration=1ms")
    return Figure("fixed cost of a run", "fixed", "epfl-table2", "dctcp_30k", settings, 10)


def loop(scheme: str) -> Figure:
    """300,000 flows of a list: the throw-away simulator of loop.rs reads the same one."""
    rows = partial(lists.pareto, 192, 300_000, 0.15, 10e9)
    return Figure(f"tree192 {scheme}, loop", "loop", "tree192", scheme, (), 192, rows)


FIGURES = (
    star("dctcp_30k"),
    star("tcp_droptail"),
    star("dctcp_pq950_pacer"),
    tree("tcp"),
    tree("dctcp"),
    tree("hull"),
    fat_tree(4, 4_000),
    fat_tree(8, 6_000),
    fat_tree(16, 6_000),
    fat_tree(32, 12_000, large=True),
    permutation(32),
    permutation(64),
    *(clos(scheme, 750) for scheme in ("hpcc", "hpcc_pfc", "dcqcn", "dcqcn_pfc")),
    fixed(),
    one_flow("a run of one flow", 4),
    one_flow("start of 65536", 64, large=True),
    *(fat_tree_of(scheme, kind) for kind in ("threads", "busy") for scheme in SCHEMES),
    loop("dctcp"),
    loop("hull"),
)

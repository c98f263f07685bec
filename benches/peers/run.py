"""hull beside other simulators, on the same lists of flows: user CPU seconds of whole processes.

    make peers [HTSIM=PROGRAM] [RUNS=N]

PROGRAM is htsim_dctcp (htsim.py says of which revision); ns-3 is measured where Debian's
libns3-dev is installed. The simulators run in turn, N times each, and the table has the medians.
Each runs every flow to its end, with DCTCP, the same packets, links, buffers and threshold. Their
TCPs are their own, so they do not send the same packets. Writes results/peers.json, or the file of
--out.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import lists
import records
import sides
from processes import in_turn, run

from peers.htsim import REVISION, Htsim
from peers.ns3 import PROGRAM, Ns3

SCENARIO = Path(__file__).with_name("tree.toml")


class Case(NamedTuple):
    """A list of flows on a tree; tree.toml has the other values."""

    name: str
    shape: dict[str, int]
    flows: int
    payload_bytes: int = 1460
    packet_bytes: int = 1502
    buffer_packets: int = 250
    gbps: int = 10
    delay_ns: int = 700
    load: float = 0.15

    @property
    def hosts(self) -> int:
        """How many there are."""
        return self.shape["pods"] * self.shape["tors_per_pod"] * self.shape["hosts_per_tor"]

    def rows(self) -> list[lists.Row]:
        """The flows."""
        return lists.pareto(self.hosts, self.flows, self.load, self.gbps * 1e9)


def fat_tree(k: int, flows: int) -> Case:
    """A fat tree of k-port switches."""
    half = k // 2
    keys = ("pods", "tors_per_pod", "hosts_per_tor", "aggs_per_pod", "cores")
    shape = dict(zip(keys, (k, half, half, half, half * half), strict=True))
    return Case(f"fat-tree-{k**3 // 4}", shape, flows)


TREE192 = {"pods": 8, "tors_per_pod": 4, "hosts_per_tor": 6, "aggs_per_pod": 2, "cores": 8}
BESIDE_HTSIM = (
    Case("tree192", TREE192, 100_000),
    fat_tree(8, 100_000),
    fat_tree(10, 100_000),
    fat_tree(16, 100_000),
)
# Not more: for each packet ns-3 looks through all of a host's end points, past flows included.
BESIDE_NS3 = (Case("tree192", TREE192, 4_000),)


class Hull:
    """The build of .venv."""

    name = "hull"

    def __init__(self, case: Case, rows: list[lists.Row], folder: Path):
        flows = folder / f"{case.name}.csv"
        lists.write(rows, flows)
        self.out = folder / "out"
        settings = [f"topology.tree.{key}={value}" for key, value in case.shape.items()]
        settings.append(f"workload.flows={flows}")
        options = [word for setting in settings for word in ("--set", setting)]
        options += ["--out", str(self.out), "--jobs", "1", "--seeds", "1"]
        self.side = sides.this()
        self.command = self.side.command("run", str(SCENARIO), *options)

    def measure(self) -> tuple[Any, dict[str, Any]]:
        """One run: what it took, and its summary."""
        # A run that is there already would be reused.
        shutil.rmtree(self.out, ignore_errors=True)
        usage = run(self.command, self.side.environment())
        return usage, json.loads((self.out / "summary.json").read_text(encoding="utf-8"))

    def resolved(self) -> Path:
        """The scenario with every value that hull chose."""
        return next(self.out.glob("parts/**/scenario.toml"))


def values(simulator: Any) -> dict[str, float]:
    """Of one run."""
    usage, printed = simulator.measure()
    found = {"user_seconds": usage.user, "peak_megabytes": usage.peak_bytes * 1e-6}
    if "packet_hops" in printed:
        found["packet_hops"] = printed["packet_hops"]
    return found


def compare(case: Case, runs: int, program: str | None) -> dict[str, Any]:
    """Both simulators on one case: htsim where there is a program, else ns-3."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = case.rows()
        hull = Hull(case, rows, folder)
        if program is None:
            hull.measure()
            peer: Any = Ns3(hull.resolved(), rows, folder)
        else:
            peer = Htsim(program, case, rows, folder)
        ours, theirs = in_turn([hull, peer], runs, values)
    return {
        "name": f"{case.name}, {peer.name}",
        "case": case.name,
        "hosts": case.hosts,
        "flows": case.flows,
        "peer": peer.name,
        "revision": hull.side.name,
        "runs": runs,
        "load": os.getloadavg()[0],
        "hull": ours,
        "theirs": theirs,
        "times_as_fast": theirs["user_seconds"] / ours["user_seconds"],
    }


def has_ns3() -> bool:
    """Whether the program for ns-3 is there, or can be built."""
    if not PROGRAM.exists():
        make = ["make", "-C", str(PROGRAM.parent.parent), "build/tree"]
        done = subprocess.run(make, capture_output=True, check=False)
        if done.returncode != 0:
            print("peers: ns-3 not found (Debian: libns3-dev): left out")
    return PROGRAM.exists()


def row(result: dict[str, Any]) -> str:
    """A line of the table."""
    speeds = [
        f"{side['packet_hops'] / side['user_seconds'] * 1e-6:9.2f}"
        if "packet_hops" in side
        else f"{'-':>9}"
        for side in (result["hull"], result["theirs"])
    ]
    seconds = [result[side]["user_seconds"] for side in ("hull", "theirs")]
    return (
        f"{result['case']:14} {result['flows']:8} {result['peer']:>6}"
        f"{seconds[0]:9.2f}{seconds[1]:9.2f}{result['times_as_fast']:8.2f}{''.join(speeds)}"
    )


def main() -> int:
    """Compares, prints, writes."""
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--htsim", metavar="PROGRAM", help="htsim_dctcp; htsim is left out without")
    parser.add_argument("--runs", metavar="N", type=int, default=5, help="of each simulator (5)")
    parser.add_argument("--only", metavar="TEXT", default="", help="cases with this in the name")
    default = sides.ROOT / "results" / "peers.json"
    parser.add_argument("--out", metavar="FILE", type=Path, default=default)
    options = parser.parse_args()
    todo = [(case, options.htsim) for case in BESIDE_HTSIM if options.htsim]
    todo += [(case, None) for case in BESIDE_NS3 if has_ns3()]
    todo = [
        (case, program)
        for case, program in todo
        if options.only in f"{case.name}, {(Htsim if program else Ns3).name}"
    ]
    print(
        f"{'':14} {'flows':>8} {'peer':>6}{'hull, s':>9}{'peer, s':>9}{'times':>8}"
        f"{'M hops/s':>10}{'peer':>8}"
    )
    for case, program in todo:
        result = compare(case, options.runs, program)
        records.add(options.out, "cases", {result["name"]: result}, htsim=REVISION)
        print(row(result), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

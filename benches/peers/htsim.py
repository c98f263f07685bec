"""htsim: its file of the tree and its list of flows, and the run of htsim_dctcp.cc.

htsim is at github.com/Broadcom/csg-htsim; REVISION was measured. htsim_dctcp.cc is a main program
for it, beside those in its folder sim/datacenter.
"""

import json
from pathlib import Path
from typing import Any

from lists import Row
from processes import Usage, run

REVISION = "841d9e7be46bb968eece766aa4b6c044c7799f67"


class Htsim:
    """The program, and what it is told of a case."""

    name = "htsim"

    def __init__(self, program: str, case: Any, rows: list[Row], folder: Path):
        self.topology = folder / f"{case.name}.topo"
        self.flows = folder / f"{case.name}.flows"
        self.topology.write_text(topology(case), encoding="utf-8")
        self.flows.write_text("".join(line(row, case) for row in rows), encoding="utf-8")
        options = [self.topology, self.flows, case.packet_bytes, case.buffer_packets]
        self.command = [program, *map(str, options)]

    def measure(self) -> tuple[Usage, dict[str, Any]]:
        """One run: what it took, and what it printed."""
        usage = run(self.command)
        return usage, json.loads(usage.output.splitlines()[-1])


def topology(case: Any) -> str:
    """htsim's file: from the ToR up, with the links down from each tier."""
    shape = case.shape
    hosts_per_pod = shape["tors_per_pod"] * shape["hosts_per_tor"]
    cores_per_agg = shape["cores"] // shape["aggs_per_pod"]
    link = f"Downlink_speed_Gbps {case.gbps}\nDownlink_Latency_ns {case.delay_ns}\n"
    return (
        f"Nodes {case.hosts}\nTiers 3\nPodsize {hosts_per_pod}\n"
        f"Tier 0\nRadix_Down {shape['hosts_per_tor']}\nRadix_Up {shape['aggs_per_pod']}\n"
        f"Oversubscribed {shape['hosts_per_tor'] // shape['aggs_per_pod']}\n{link}"
        f"Tier 1\nRadix_Down {shape['tors_per_pod']}\nRadix_Up {cores_per_agg}\n{link}"
        f"Tier 2\nRadix_Down {shape['pods']}\n{link}"
    )


def line(row: Row, case: Any) -> str:
    """A flow: htsim sends packets of one size only."""
    start_ps, src, dst, size = row
    return f"{start_ps} {src} {dst} {-(-size // case.payload_bytes)}\n"

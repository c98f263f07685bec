"""The paths of the flows in the tree, so that both simulators send a flow the same way.

Where paths are equally short, hull chooses by a hash of seed, flow, direction and switch
(crates/hull-sim/src/topology/routing.rs); ns-3 has no such routing. The choices are computed here
and given to ns-3 as a file.
"""

from pathlib import Path
from typing import Any

MASK = (1 << 64) - 1


def mix(x: int, steps: tuple[tuple[int, int], tuple[int, int]], last: int) -> int:
    """Two rounds of shift, exclusive or and multiplication modulo 2^64, and a last shift."""
    for shift, factor in steps:
        x = (x ^ (x >> shift)) * factor & MASK
    return x ^ (x >> last)


def flow_hash(seed: int, number: int, way: int) -> int:
    """Of flow `number`, counted from 1 by starts; `way` is 0 for data, 1 for acknowledgments."""
    steps = ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53))
    return mix(seed ^ mix(2 * number + way, steps, 33), steps, 33)


def choose(value: int, switch: int, ports: int) -> int:
    """One of `ports` at a switch, for a flow with this hash."""
    steps = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
    mixed = mix(value ^ ((switch + 1) * 0x9E3779B97F4A7C15 & MASK), steps, 64)
    return (mixed >> 32) * ports >> 32


def of_tree(tree: dict[str, Any], ends: list[tuple[int, int]], seed: int) -> list[list[int]]:
    """Aggregation switch and core, there and back, of the flows with these ends, in the order of
    their starts. hull numbers switches tier by tier: ToRs, then aggregation switches."""
    tors = tree["pods"] * tree["tors_per_pod"]
    group = tree["cores"] // tree["aggs_per_pod"]
    rows = []
    for number, pair in enumerate(ends, start=1):
        row = []
        for way, host in enumerate(pair):
            value = flow_hash(seed, number, way)
            tor = host // tree["hosts_per_tor"]
            agg = choose(value, tor, tree["aggs_per_pod"])
            above = tors + tor // tree["tors_per_pod"] * tree["aggs_per_pod"] + agg
            row += [agg, choose(value, above, group)]
        rows.append(row)
    return rows


def write(rows: list[list[int]], file: Path) -> None:
    """Writes the file that the ns-3 program reads."""
    lines = (",".join(map(str, row)) for row in rows)
    file.write_text("\n".join(["agg,core,back_agg,back_core", *lines]) + "\n")

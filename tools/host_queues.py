"""The figure and the table of docs/host.md: small flows beside a bulk flow of the same host, by the
host's queue, at four rates, for CUBIC, DCTCP and HULL.

Host 1 sends a bulk flow to host 0, and 1 KB to host 2 every 20 us on average; host 3 sends a bulk
flow to host 0 as well, so the switch has a queue too. Marking is at 65 packets per 10 Gbps (thesis,
chapter 2), the phantom queue at 600 bytes per Gbps. host_queues.py measures (seconds; the same
bytes each time), writes docs/host_queues.json and prints the table; host_queues.py --draw draws the
numbers of that file.
"""

import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
from drawings import DCTCP, DRAWINGS, HULL, STYLE, TCP, THIRD, panels, svg
from matplotlib.figure import Figure

import hull

RATES = (1, 10, 25, 100)
"""Gbps."""
QUEUES = {"fifo": TCP, "fair": DCTCP, "fq": HULL, "fq_codel": THIRD}
SCHEMES = {"cubic": "CUBIC", "dctcp": "DCTCP", "hull": "HULL"}
FLOWS = 1000
TABLE = DRAWINGS.parent / "host_queues.json"


def scenario(gbps: int, folder: Path) -> dict[str, Any]:
    """The network at one rate, with the three schemes."""
    random_starts = random.Random(1)
    start, rows = 20e-3 / gbps**0.5, ["start_ps,src,dst,bytes"]
    for _ in range(FLOWS):
        start += random_starts.expovariate(1 / 20e-6)
        rows.append(f"{round(start * 1e12)},1,2,1000")
    (folder / f"small-{gbps}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    link = {"rate": f"{gbps}Gbps", "delay": "1us"}
    marked = max(20, round(6.5 * gbps)) * 1500
    phantom = {"drain": "95%", "threshold": f"{max(1000, 600 * gbps)}B"}
    ecn = {"congestion_control": "dctcp", "ecn": True}
    return {
        "name": f"host-queues-{gbps}",
        "run": {"duration": f"{start + 1e-3:.6f}s", "drain": "1s"},
        "topology": {"star": {"hosts": 4}},
        "host": {**link, "stack_delay": "2us"},
        "switch": {**link, "buffer": "1MB"},
        "workload": {
            "flows": str(folder / f"small-{gbps}.csv"),
            "long_lived": {"flows": [{"src": 1, "dst": 0}, {"src": 3, "dst": 0}]},
        },
        "schemes": {
            "cubic": {"transport": {"congestion_control": "cubic"}},
            "dctcp": {"transport": ecn, "switch": {"marking": {"threshold": f"{marked}B"}}},
            "hull": {"transport": ecn, "switch": {"phantom_queue": phantom}, "pacer": {}},
        },
    }


def measured() -> dict[str, dict[str, dict[str, float]]]:
    """The 99th percentile of the small flows, us: by scheme, queue and rate."""
    found: dict[str, dict[str, dict[str, float]]] = {scheme: {} for scheme in SCHEMES}
    with tempfile.TemporaryDirectory() as name:
        for gbps in RATES:
            plan = scenario(gbps, Path(name))
            for queue in QUEUES:
                settings = [f"host.queue={queue}"]
                out = Path(name, f"{gbps}-{queue}")
                flows = hull.run(plan, set=settings, seeds=1, out=out).flows
                for scheme in SCHEMES:
                    rows = flows.filter((flows["scheme"] == scheme) & (flows["bytes"] == 1000))
                    assert rows.height == FLOWS, (gbps, queue, scheme, rows.height)
                    p99 = rows["fct_ps"].quantile(0.99, "nearest")
                    found[scheme].setdefault(queue, {})[str(gbps)] = round(float(p99 or 0) / 1e6, 1)
    return found


def figure(found: dict[str, dict[str, dict[str, float]]]) -> Figure:
    """A panel for each scheme: the percentile by rate, a line for each queue."""
    drawn, axes = panels(3, sharey=True)
    for axis, (scheme, title) in zip(axes, SCHEMES.items(), strict=True):
        for queue, colour in QUEUES.items():
            points = found[scheme][queue]
            axis.plot(
                list(map(float, points)), list(points.values()), "o-", color=colour, label=queue
            )
        axis.set(title=title, xscale="log", yscale="log", xlabel="link (Gbps)")
        axis.set_xticks(RATES, [str(gbps) for gbps in RATES])
        axis.minorticks_off()
    axes[0].set_ylabel("99th percentile of 1 KB (us)")
    axes[-1].legend()
    return drawn


def main() -> None:
    """Measure and keep the numbers, or draw them."""
    if sys.argv[1:] == ["--draw"]:
        draw(json.loads(TABLE.read_text(encoding="utf-8")))
        return
    found = measured()
    TABLE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for scheme, queues in found.items():
        for queue, points in queues.items():
            print(f"| {scheme} | {queue} | {' | '.join(map(str, points.values()))} |")


def draw(found: dict[str, dict[str, dict[str, float]]]) -> None:
    """The drawing of the page."""
    with mpl.rc_context(STYLE):
        drawing = svg(figure(found), "Small flows beside a bulk flow of the same host, by queue")
    (DRAWINGS / "host_queues.svg").write_text(drawing, encoding="utf-8")


if __name__ == "__main__":
    main()

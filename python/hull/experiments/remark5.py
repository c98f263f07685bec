"""Remark 5 of the paper: with packets of 300 bytes the receiver cannot keep up and drops packets.

Two and eight paced long-lived flows behind a phantom queue of 950 Mbps, and of 800 Mbps, which
avoids the drops. The time that the receiver takes for a packet is fitted with two flows and 300
bytes; the ring is e1000e's. Drops are caused by a full receive ring, and counted in the whole run.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding
from hull.experiments.common.decided import ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.long_lived import senders
from hull.experiments.common.measured import Results, Summary, throughput_mbps
from hull.experiments.common.stated import statements
from hull.report.schemes import BLUE, ORANGE, VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HULL = "dctcp_pq950_pacer"
FLOWS = (2, 8)
CASES = {"1500B/950Mbps": VERMILION, "300B/950Mbps": BLUE, "300B/800Mbps": ORANGE}
LARGE, SMALL, REDUCED = CASES
COST_US, RING = 2.85, 256
LOOKS = tuple(Scheme(case, case, color, (), "o") for case, color in CASES.items())


def _drops(part: Summary) -> float:
    return float(part["drops_by_place"]["receive_ring"])


def _row(results: Results, case: str) -> list[float]:
    """Packets dropped per 1,000 sent, by number of flows."""
    return [
        1000 * results.mean(f"{n}/{case}", HULL, _drops) / results.mean(f"{n}/{case}", HULL, _sent)
        for n in FLOWS
    ]


def _sent(part: Summary) -> float:
    return float(part["packets"]["sent"])


def _text(results: Results, case: str, numbers: tuple[int, ...]) -> str:
    found = [
        f"{results.mean(f'{n}/{case}', HULL, _drops):,.0f} packets at "
        f"{results.mean(f'{n}/{case}', HULL, throughput_mbps):.0f} Mbps with {n} flows"
        for n in numbers
    ]
    return ", ".join(found)


def _some(results: Results, numbers: tuple[int, ...]) -> Finding:
    drops = [results.mean(f"{n}/{SMALL}", HULL, _drops) for n in numbers]
    return Finding(_text(results, SMALL, numbers), all(ordered(0, drop) for drop in drops))


def _none(results: Results, case: str) -> Finding:
    drops = [results.mean(f"{n}/{case}", HULL, _drops) for n in FLOWS]
    return Finding(_text(results, case, FLOWS), max(drops) == 0)


def _fitted(results: Results) -> Finding:
    return _some(results, FLOWS[:1])


def _more_flows(results: Results) -> Finding:
    return _some(results, FLOWS[1:])


def _reduced(results: Results) -> Finding:
    return _none(results, REDUCED)


def _large(results: Results) -> Finding:
    return _none(results, LARGE)


CLAIMS = (
    Claim(
        id="remark5-drops",
        source="paper 6.1, remark 5",
        claim="with packets of 300 bytes the receiver's NIC cannot keep up and drops packets (two "
        "flows)",
        check=_fitted,
        kind="fitted",
        bound="document",
    ),
    Claim(
        id="remark5-drops-8",
        source="paper 6.1, remark 5",
        claim="... and with eight flows",
        check=_more_flows,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="remark5-reduced",
        source="paper 6.1, remark 5",
        claim="a drain rate of 800 Mbps avoids the drops (two and eight flows)",
        check=_reduced,
        kind="fitted",
        bound="document",
    ),
    Claim(
        id="remark5-large",
        source="paper 6.1, remark 5",
        claim="the MTU causes the drops: packets of 1500 bytes have none at 950 Mbps",
        check=_large,
        kind="by construction",
        bound="document",
    ),
)


def draw(results: Results) -> "Figure":
    """Dropped packets by number of flows."""
    from hull.figures import Line, Panel, plot_sweep

    lines = [Line(case, FLOWS, _row(results, case)) for case in CASES]
    return plot_sweep(
        [
            Panel(
                "Packets that found the ring full",
                "Number of long-lived flows",
                "Per 1,000 packets sent",
                lines,
                x_ticks=FLOWS,
            )
        ],
        looks=LOOKS,
        width=4.6,
        height=3.0,
    )


EXPERIMENT = Experiment(
    id="remark5",
    title="Paper remark 5: a receiver that cannot keep up with packets of 300 bytes",
    source="paper 6.1 (remark 5)",
    scenario="static",
    variants=tuple(
        Variant(
            {"": f"{count}/{case}"},
            overrides=(
                senders(count),
                f"transport.mtu={case.split('/')[0]}",
                f"measure.probe.size={case.split('/')[0]}",
                f"switch.phantom_queue.drain={case.split('/')[1]}",
                "switch.phantom_queue.threshold=6KB",
                f"host.receive.frame_cost={COST_US}us",
                f"host.receive.ring={RING}",
            ),
            schemes=(HULL,),
        )
        for count in FLOWS
        for case in CASES
    ),
    stated=statements("paper", "testbed", "static", "paced", "remark 5"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.warmup=500ms", "run.duration=1s"), seeds=1),
    full=Size(overrides=("run.warmup=500ms", "run.duration=2s"), seeds=5),
)

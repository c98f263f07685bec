"""Equation 5 of the paper: the headroom that a phantom queue needs to keep the real queue empty,
1 - gamma > N / (C RTT), with C RTT in packets.

Hosts send no bursts, so that only the flows' probing matters. A queue counts as empty below half a
packet on average; the headroom for this is interpolated between the drain rates.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, commands, unshipped
from hull.experiments.common.decided import at_most, ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.long_lived import senders
from hull.experiments.common.measured import Results, occupancy
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEME = "dctcp_pq_pacer"
FLOWS = (2, 4, 8)
STACKS = {250: 51, 500: 113, 1000: 238}  # round trip and stack delay that gives it, us
HEADROOMS = (1, 2, 4, 7, 10, 15, 20, 30)  # % of the line rate
FAST = "10Gbps"
ENOUGH_PACKETS = 0.5
RESOLUTION = 0.5  # of the interpolated headroom, % of the line rate


def _needed(results: Results, rate: str, rtt_us: int, flows: int) -> float:
    """Headroom, % of the line rate, at which the mean queue comes below half a packet."""
    packet_us = 12 if rate == "1Gbps" else 1.2
    queues = [
        results.mean(f"{rate}/{rtt_us}us/{flows}/{headroom}%", SCHEME, occupancy("mean"))
        / packet_us
        for headroom in HEADROOMS
    ]
    points = list(zip(HEADROOMS, queues, strict=True))
    if queues[0] <= ENOUGH_PACKETS:
        return HEADROOMS[0]
    for (low, above), (high, below) in pairwise(points):
        if below <= ENOUGH_PACKETS:
            return low + (high - low) * (above - ENOUGH_PACKETS) / (above - below)
    return HEADROOMS[-1]


def equation(rate: str, rtt_us: int, flows: int) -> float:
    """N / (C RTT), %."""
    packets = rtt_us / (12 if rate == "1Gbps" else 1.2)
    return 100 * flows / packets


def _table(results: Results) -> dict[int, list[float]]:
    return {rtt: [_needed(results, "1Gbps", rtt, n) for n in FLOWS] for rtt in STACKS}


def _words(table: dict[int, list[float]]) -> str:
    return "; ".join(
        f"{', '.join(f'{value:.1f}' for value in row)}% at {rtt} us" for rtt, row in table.items()
    )


def _flows(results: Results) -> Finding:
    table = _table(results)
    grows = all(ordered(a, b) for row in table.values() for a, b in pairwise(row))
    return Finding(f"with 2, 4, 8 flows {_words(table)}", grows)


def _round_trip(results: Results) -> Finding:
    table = _table(results)
    columns = list(zip(*table.values(), strict=True))
    falls = all(at_most(b - a, RESOLUTION) for column in columns for a, b in pairwise(column))
    return Finding(f"with 2, 4, 8 flows {_words(table)}", falls)


def _capacity(results: Results) -> Finding:
    slow, fast = (_needed(results, rate, 250, 8) for rate in ("1Gbps", FAST))
    return Finding(f"{slow:.1f}% at 1 Gbps, {fast:.1f}% at 10 Gbps", ordered(fast, slow))


def _bound(results: Results) -> Finding:
    above = [
        f"{flows} flows at {rtt} us: {value:.1f}% against {equation('1Gbps', rtt, flows):.1f}%"
        for rtt, row in _table(results).items()
        for flows, value in zip(FLOWS, row, strict=True)
        if not at_most(value, equation("1Gbps", rtt, flows))
    ]
    return Finding(
        "more is needed with " + "; ".join(above) if above else "in all cases", not above
    )


CLAIMS = (
    Claim(
        id="eq5-flows",
        source="paper 6.1, equation 5",
        claim="the required headroom grows with the number of flows",
        check=_flows,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="eq5-bdp",
        source="paper 6.1, equation 5",
        claim="... and falls, or stays within half a percent of the line rate, with a larger "
        "bandwidth-delay product",
        check=_round_trip,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="eq5-capacity",
        source="paper 6.1",
        claim="for a fixed round trip a higher link rate needs less headroom (8 flows, 250 us)",
        check=_capacity,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="eq5-bound",
        source="paper 6.1, equation 5",
        claim="headroom of N / (C RTT) prevents queueing (mean queue below half a packet)",
        check=_bound,
        kind="predicted",
        bound="hull",
        cause="mechanism",
        tried=(
            "It holds with a limit of one packet instead of half a packet: 8 flows need 8% at "
            "250 us and 4% at 1000, 4 flows 3% and 2%. At 1000 us the remaining queue is "
            "colliding packets of different senders, which no headroom prevents: constant-rate "
            "senders with the same load (the queue N D/D/1, hull.theory.periodic) have 0.56 "
            "packets where 8 flows have 0.58, and 0.47 where 4 have 0.58. Judged by the queue in "
            "excess of that, with a limit of a quarter or an eighth of a packet, the bound holds "
            "in all cases; with a tenth it fails for 4 flows."
        ),
        shown_by=(*commands("eq5", "--full"), *unshipped("limits other than half a packet")),
    ),
)


def draw(results: Results) -> "Figure":
    """Headroom needed by number of flows, a panel for each round trip, with equation 5."""
    from hull.figures import Line, Panel, plot_sweep

    table = _table(results)
    return plot_sweep(
        [
            Panel(
                f"Round trip {rtt} µs",
                "Number of long-lived flows",
                "Headroom (% of the line rate)",
                [Line(SCHEME, FLOWS, row)],
                x_ticks=FLOWS,
                y_limits=(0, 42),
                reference=[
                    (
                        "N / (C RTT)" if rtt == min(STACKS) else "",
                        FLOWS,
                        [equation("1Gbps", rtt, n) for n in FLOWS],
                    )
                ],
            )
            for rtt, row in table.items()
        ],
        columns=3,
        width=3.2,
    )


def _variant(rate: str, rtt_us: int, flows: int, headroom: int) -> Variant:
    fast = rate == FAST
    more = ("pacer.update_interval=7.2us", "pacer.beta=375", "run.duration=500ms") if fast else ()
    return Variant(
        {"": f"{rate}/{rtt_us}us/{flows}/{headroom}%"},
        overrides=(
            senders(flows),
            f"host.rate={rate}",
            f"switch.rate={rate}",
            f"host.stack_delay={56 if fast else STACKS[rtt_us]}us",
            f"switch.phantom_queue.drain={100 - headroom}%",
            *more,
        ),
    )


EXPERIMENT = Experiment(
    id="eq5",
    title="Paper equation 5: required headroom by number of flows and round trip",
    source="paper 6.1, equation 5",
    scenario="headroom",
    variants=tuple(
        _variant(rate, rtt, flows, headroom)
        for rate, rtt, flows in (
            *(("1Gbps", rtt, flows) for rtt in STACKS for flows in FLOWS),
            (FAST, 250, 8),
        )
        for headroom in HEADROOMS
    ),
    stated=statements("paper", "equation 5"),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=("run.warmup=500ms", "run.duration=800ms"), seeds=1),
    full=Size(overrides=("run.warmup=500ms", "run.duration=800ms"), seeds=10),
)

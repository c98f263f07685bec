"""Figure 2b of the EPFL ns-2 report: two to eight static flows, four schemes, 5 us of link delay.

Latency is the time-weighted queue of the client's port (us), throughput what its link carries
(Mbps).
"""

from statistics import median
from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, commands, within
from hull.experiments.common.decided import at_least, more_than, ordered
from hull.experiments.common.epfl_static import (
    ALL,
    DCTCP,
    FLOWS,
    FOLLOWED,
    HULL,
    MEAN,
    SCHEMES,
    SIX,
    TCP,
    lines,
    window,
)
from hull.experiments.common.experiment import Experiment, Size
from hull.experiments.common.long_lived import counts, series
from hull.experiments.common.measured import Results, throughput_mbps
from hull.experiments.common.phantom_queues import LOOKS
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    pass

DRAIN_MBPS = 900


def lead(results: Results, other: str) -> float:
    """Median over the numbers of flows of another scheme's mean latency over HULL's."""
    ours, theirs = (series(results, ALL, scheme, MEAN) for scheme in (HULL, other))
    return median(b / a if a > 0 else float("inf") for a, b in zip(ours, theirs, strict=True))


def _orders(results: Results) -> Finding:
    tcp, dctcp = lead(results, TCP), lead(results, DCTCP)
    ours = ", ".join(f"{value:.1f}" for value in series(results, ALL, HULL, MEAN))
    return Finding(
        f"factor {tcp:.0f} and {dctcp:.0f} (HULL: {ours} us)",
        at_least(tcp, 32) and at_least(dctcp, 5),
    )


def _converges(results: Results) -> Finding:
    six, ours = (series(results, ALL, scheme, MEAN) for scheme in (SIX, HULL))
    equal = [count for count, a, b in zip(ALL, six, ours, strict=True) if within(b / a, 0.75, 1.25)]
    return Finding(f"within 25% at {', '.join(equal) or 'no number of'} flows", bool(equal))


def _two_above_three(results: Results) -> Finding:
    two, three = (results.mean(count, HULL, MEAN) for count in ("2", "3"))
    return Finding(f"{two:.1f} us with 2, {three:.1f} us with 3", ordered(three, two))


def _same_throughput(results: Results) -> Finding:
    ours = series(results, ALL[2:], HULL, throughput_mbps)
    others = [series(results, ALL[2:], scheme, throughput_mbps) for scheme in (TCP, DCTCP, SIX)]
    least = min(a / b for theirs in others for a, b in zip(ours, theirs, strict=True))
    return Finding(f"at least {least:.2f} of the others'", within(least, 0.95, 1.05))


def _exceeds(results: Results) -> Finding:
    found = series(results, ALL[1:], HULL, throughput_mbps)
    return Finding(
        f"at least {min(found):.0f} Mbps", all(more_than(mbps, DRAIN_MBPS) for mbps in found)
    )


def _window_two(results: Results) -> Finding:
    found = window(results, "2", HULL)
    return Finding(f"{found:.1f} packets", within(found, 3.4 * 0.75, 3.4 * 1.25))


def _window_three(results: Results) -> Finding:
    found = window(results, "3", HULL)
    return Finding(f"{found:.2f} packets", within(found, 2, 2.05))


CLAIMS = (
    Claim(
        id="epfl-fig2b-orders",
        source="report III-A",
        claim="HULL's latency is two orders of magnitude (32 times or more: nearer to 100 than to "
        "10 on a logarithmic scale) below TCP's and one (5 times or more) below DCTCP's (median "
        "over the numbers of flows)",
        check=_orders,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="epfl-fig2b-converges",
        source="report III-A",
        claim="HULL's latency converges to that of DCTCP-6K (within 25%) within 8 flows",
        check=_converges,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="epfl-fig2b-two-above-three",
        source="report III-A",
        claim="HULL's latency is higher with 2 flows than with 3",
        check=_two_above_three,
        kind="fitted",
        bound="document",
    ),
    Claim(
        id="epfl-fig2b-same-throughput",
        source="report III-A",
        claim="from 4 to 8 flows HULL has the same throughput as the others (within 5%)",
        check=_same_throughput,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="epfl-fig2b-exceeds",
        source="report III-A",
        claim="with 3 or more flows HULL's senders, at their minimum windows, exceed the drain "
        "rate of 900 Mbps",
        check=_exceeds,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="epfl-fig2b-window-three",
        source="report III-A",
        claim="with 3 flows HULL's windows are fixed at 2 packets",
        check=_window_three,
        kind="fitted",
        bound="hull",
    ),
    Claim(
        id="epfl-fig2b-window-two",
        source="report III-A",
        claim="with 2 flows HULL's mean window is 3.4 packets (within 25%)",
        check=_window_two,
        kind="fitted",
        bound="document",
        cause="chance",
        tried="It holds for seed 1 (3.2 packets), but not for ten seeds (11.5). Five seeds have "
        "3.2 packets; five reach or stay in another state with 23.7, in which packets wait in "
        "their own hosts, whose NICs the pacers block as in the report's code. With the pacer of "
        "its text, which lets other flows' packets pass, seed 1 also has 3.2.",
        shown_by=commands("epfl-fig2b", "", "--full", "--set pacer.overtaking=any"),
    ),
)

EXPERIMENT = Experiment(
    id="epfl-fig2b",
    title="EPFL ns-2 report, figure 2b: two to eight static flows at 5 us of link delay",
    source="report III-A, figure 2b",
    scenario="epfl-static",
    variants=counts(FLOWS, overrides=FOLLOWED, schemes=SCHEMES),
    stated=statements("report", "all", "figure 2b", "static"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=lines,
    quick=Size(overrides=("run.duration=2s",), seeds=1),
    full=Size(overrides=("run.duration=2s",), seeds=10),
)

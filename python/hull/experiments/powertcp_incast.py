"""PowerTCP's burst: ten flows of 25 Gbps join one, beside recorded runs of its simulator.

Queue of the receiver's port (KB) and payload (Gbps). The burst begins at 1 ms.
"""

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from hull.experiments.common.claims import Claim, Finding, about, ratio, within
from hull.experiments.common.decided import at_least, at_most, more_than, ordered
from hull.experiments.common.experiment import Experiment, Point, Size, published
from hull.experiments.common.measured import Results
from hull.experiments.common.periods import Period, point, queue
from hull.experiments.common.stated import Stated
from hull.report.schemes import BLUE, GREEN, ORANGE, VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POWERTCP, THETA, HPCC, DCTCP = SCHEMES = ("powertcp", "theta", "hpcc", "dctcp")
SOURCE = "ns3-datacenter, burst10"
RECORDED: dict[str, dict[str, float]] = published("powertcp", "incast")
BURST_MS = 1.0
STEP_US, DRAINED_BYTES = 20, 10_000
ROUND_TRIP_US = 28.96
LAST = Period(3.5, 4.0, tuple(range(1, 12)), "last 500 us")
WHOLE = Period(BURST_MS, 4.0, LAST.sources, "burst")
LOOKS = (
    Scheme(POWERTCP, "PowerTCP", VERMILION, (1, 0), "o"),
    Scheme(THETA, "theta-PowerTCP", ORANGE, (5, 2), "s"),
    Scheme(HPCC, "HPCC", BLUE, (6, 2, 1, 2), "^"),
    Scheme(DCTCP, "DCTCP (rate)", GREEN, (10, 3), "v"),
)


def _means(results: Results, scheme: str) -> Any:
    """Mean queue of each 20 us from the burst on, bytes."""
    at, waiting = queue(results, "", scheme)
    steps = np.floor((at - BURST_MS) * 1e3 / STEP_US + 1e-6).astype(int)
    return np.array([waiting[steps == step].mean() for step in range(150)])


def drained_us(results: Results, scheme: str) -> float:
    """Time from the burst until no mean reaches 10 KB; infinite if that does not come."""
    high = np.flatnonzero(_means(results, scheme) >= DRAINED_BYTES)
    last = int(high[-1]) + 1 if len(high) else 0
    return float(STEP_US * last) if last < 150 else math.inf


def _largest(results: Results, scheme: str) -> float:
    return float(WHOLE.queue(results, scheme).max())


def _last_queue(results: Results, scheme: str) -> float:
    return float(LAST.queue(results, scheme).mean())


READ: dict[str, tuple[Period, str, str, Callable[[Results, str], float]]] = {
    "largest_bytes": (WHOLE, "queue_bytes", "max", _largest),
    "drained_us": (WHOLE, "drained_us", "value", drained_us),
    "sum_gbps": (LAST, "sum_gbps", "mean", LAST.sum),
    "jain": (LAST, "jain_index", "value", LAST.jain),
    "queue_bytes": (LAST, "queue_bytes", "mean", _last_queue),
}


def _points() -> Iterator[Point]:
    for scheme, found in RECORDED.items():
        for key, value in found.items():
            period, metric, statistic, read = READ[key]
            yield point(
                period,
                scheme,
                metric,
                statistic,
                value,
                lambda results, read=read, scheme=scheme: read(results, scheme),  # type: ignore[misc]
            )


def _drains(results: Results) -> Finding:
    found = drained_us(results, POWERTCP)
    trips = found / ROUND_TRIP_US
    return Finding(f"{found:.0f} us, {trips:.1f} round trips", at_most(trips, 20))


def _peak(results: Results) -> Finding:
    found, recorded = _largest(results, POWERTCP), RECORDED[POWERTCP]["largest_bytes"]
    return Finding(f"{found / 1e3:.0f} KB", about(found, recorded))


def _shares(results: Results) -> Finding:
    total, index = LAST.sum(results, POWERTCP), LAST.jain(results, POWERTCP)
    near = within(ratio(total, RECORDED[POWERTCP]["sum_gbps"]), 0.98, 1.02)
    return Finding(f"{total:.2f} Gbps, {index:.4f}", near and at_least(index, 0.99))


def _earlier(results: Results) -> Finding:
    theta, power = (drained_us(results, scheme) for scheme in (THETA, POWERTCP))
    return Finding(f"{theta:.0f} and {power:.0f} us", ordered(theta, power))


def _stays(results: Results) -> Finding:
    dctcp, power = (_last_queue(results, scheme) for scheme in (DCTCP, POWERTCP))
    times = ratio(dctcp, power)
    return Finding(
        f"{dctcp / 1e3:.1f} and {power / 1e3:.1f} KB, {times:.0f} times", more_than(times, 10)
    )


CLAIMS = (
    Claim(
        id="powertcp-incast-drains",
        source=SOURCE,
        claim="PowerTCP drains the incast's queue within 20 base round trips: from then on each "
        "mean over 20 us is below 10 KB (recorded: 300 us, 10.4 round trips)",
        check=_drains,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="powertcp-incast-peak",
        source=SOURCE,
        claim="PowerTCP's largest queue is within 25% of the recorded 328 KB",
        check=_peak,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="powertcp-incast-shares",
        source=SOURCE,
        claim="in the last 500 us eleven PowerTCP flows share the link: Jain's index at least "
        "0.99, the sum within 2% of the recorded 22.94 Gbps",
        check=_shares,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="powertcp-incast-theta",
        source=SOURCE,
        claim="theta-PowerTCP drains the queue earlier than PowerTCP (recorded: 160 and 300 us)",
        check=_earlier,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="powertcp-incast-dctcp",
        source=SOURCE,
        claim="DCTCP does not drain it: its mean queue of the last 500 us is more than 10 times "
        "PowerTCP's (recorded: 79 times)",
        check=_stays,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """Draw the queue after the burst, means over 20 us, and shares of flows at the end."""
    from hull.figures import Line, Panel, Published, plot_sweep

    times = [STEP_US * (step + 0.5) for step in range(150)]
    queues = [Line(s, times[:50], list(_means(results, s)[:50] / 1e3)) for s in SCHEMES]
    largest = [Published(s, [10.0], [RECORDED[s]["largest_bytes"] / 1e3]) for s in RECORDED]
    number = list(range(1, 12))
    rates = [Line(s, number, LAST.rates(results, s)) for s in SCHEMES]
    return plot_sweep(
        [
            Panel(
                "Queue; hollow: largest recorded", "Time from the burst (µs)", "KB", queues, largest
            ),
            Panel("Last 500 µs", "Flow", "Gbps", rates, y_limits=(0, 4), joined=False),
        ],
        looks=LOOKS,
    )


EXPERIMENT = Experiment(
    id="powertcp-incast",
    title="PowerTCP: ten flows join one, beside recorded runs of its simulator",
    source="ns3-datacenter, recorded runs",
    scenario="powertcp-incast",
    stated=(
        Stated(SOURCE, "delay of a link", "host.delay", "1us"),
        Stated(SOURCE, "buffer", "switch.memory.size", "4194304B"),
        Stated(SOURCE, "eta", "transport.powertcp.eta", "95%", schemes="powertcp"),
        Stated(
            SOURCE,
            "additive increase",
            "transport.powertcp.rate_ai",
            "150Mbps",
            schemes="powertcp|theta",
        ),
    ),
    points=tuple(_points()),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(seeds=3),
)

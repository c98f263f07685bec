"""Swift over paths of 2, 4 and 6 links: three flows share the last link of 200 Gbps.

Rates (Gbps, with headers) and the queue (KB) in five periods beside csg-htsim's recorded ones.
"""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from hull.experiments.common.claims import Claim, Finding, about, commands, ratio, within
from hull.experiments.common.decided import at_least
from hull.experiments.common.deviations import Deviation
from hull.experiments.common.experiment import Experiment, Point, Size, published
from hull.experiments.common.measured import Results
from hull.experiments.common.periods import Period, point, queue, rate_points, rates_over
from hull.experiments.common.stated import Stated
from hull.report.schemes import BLUE, GREEN, VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SWIFT, NO_LINKS = SCHEMES = ("swift", "no_links")
PACKET = 4000
WIRE = PACKET / (PACKET - 20)
SOURCE = "csg-htsim, multihop_swift"
RECORDED: list[dict[str, Any]] = published("csg-htsim", "swift_multihop")["periods"]
FLOWS = ("flow0", "flow1", "flow2")
"""From hosts 1, 2, 3 over 4, 2 and 6 links."""
FEWEST_FIRST = (1, 0, 2)
LOOKS = (
    Scheme("flow1", "2 links", VERMILION, (1, 0), "o"),
    Scheme("flow0", "4 links", BLUE, (5, 2), "s"),
    Scheme("flow2", "6 links", GREEN, (6, 2, 1, 2), "^"),
    Scheme("queue", "queue", "#000000", (1, 0), "D"),
)


CAUSE = (
    "the recorded queues show a target of 20 us for all flows; with links in the target, as "
    "documented, the flow over most links wins"
)
SHARED = ("30 to 49 ms", "55 to 74 ms", "80 to 99 ms")


def _active(row: dict[str, Any]) -> list[int]:
    return [flow for flow in FEWEST_FIRST if row["gbps"][flow]]


def period(row: dict[str, Any]) -> Period:
    """A recorded period; its sources are in the order of the number of links."""
    begin, end = row["ms"]
    sources = tuple(flow + 1 for flow in _active(row))
    return Period(begin, end, sources, f"{begin} to {end} ms", wire=WIRE)


def _queue_kb(row: dict[str, Any], statistic: str, results: Results, scheme: str) -> float:
    """The port is always busy: the packet in transmission counts."""
    waiting = period(row).queue(results, scheme)
    return (float(getattr(waiting, statistic)()) + PACKET) / 1e3


def _points() -> Iterator[Point]:
    for scheme, row in ((scheme, row) for scheme in SCHEMES for row in RECORDED):
        of, active = period(row), _active(row)
        recorded = [row["gbps"][flow] for flow in active]
        yield from rate_points(of, scheme, recorded, [FLOWS[flow] for flow in active])
        for statistic, value in zip(("mean", "max"), row.get("queue_kb", ()), strict=False):
            read = partial(_queue_kb, row, statistic, scheme=scheme)
            yield point(of, scheme, "queue_kb", statistic, value, read)


def _wins(results: Results) -> Finding:
    found = {}
    for row in RECORDED:
        rates = period(row).rates(results, SWIFT)
        if rates[1:]:
            found[period(row).name] = ratio(rates[0], max(rates[1:]))
    words = "; ".join(f"{name} {times:.1f} times" for name, times in found.items())
    return Finding(words, all(at_least(times, 4) for times in found.values()))


def _full(results: Results) -> Finding:
    ratios = [period(row).sum(results, SWIFT) / sum(row["gbps"]) for row in RECORDED]
    return Finding(
        f"{min(ratios):.4f} to {max(ratios):.4f} of the recorded sums",
        all(within(one, 0.99, 1.01) for one in ratios),
    )


def _rate_pairs(results: Results, scheme: str) -> list[tuple[float, float]]:
    """Measured and recorded rates, Gbps."""
    return [
        (rate, row["gbps"][flow])
        for row in RECORDED
        for rate, flow in zip(period(row).rates(results, scheme), _active(row), strict=True)
    ]


def _queue_pairs(results: Results, scheme: str) -> list[tuple[float, float]]:
    """Measured and recorded mean queues, KB."""
    return [
        (_queue_kb(row, "mean", results, scheme), row["queue_kb"][0])
        for row in RECORDED
        if "queue_kb" in row
    ]


def _rates(results: Results) -> Finding:
    pairs = _rate_pairs(results, SWIFT)
    words = "; ".join(f"{rate:.1f} of {recorded:.1f}" for rate, recorded in pairs)
    return Finding(f"{words} Gbps", all(about(*pair) for pair in pairs))


def _queues(results: Results) -> Finding:
    pairs = _queue_pairs(results, SWIFT)
    words = "; ".join(f"{found:.1f} of {recorded:.1f}" for found, recorded in pairs)
    return Finding(f"{words} KB", all(about(*pair) for pair in pairs))


def _without_links(results: Results) -> Finding:
    pairs = [*_rate_pairs(results, NO_LINKS), *_queue_pairs(results, NO_LINKS)]
    ratios = [found / recorded for found, recorded in pairs]
    return Finding(
        f"{min(ratios):.3f} to {max(ratios):.3f} of the recorded values",
        all(about(*pair, 0.05) for pair in pairs),
    )


TRIED = (
    "The recorded queues contradict the rule. 370.6 KB and the flow's unloaded round trip "
    "of 5.3 us are 20.1 us, 235.7 KB and the 10.6 us of the flow over 4 links 20.1 us: the "
    "target is 20 us, regardless of the number of links. With this one rule exchanged all rates "
    "and mean queues are within 1%. With the rule, a link adds 3.05 us to the target and 2.66 us "
    "to the round trip, so the flow with most links tolerates the longest queue: "
    "41.4 - 16.0 us, 635 KB."
)
SHOWN = commands(
    "swift-multihop",
    "--set transport.swift.base_target=20us --set transport.swift.per_hop=0s",
)
CLAIMS = (
    Claim(
        id="swift-multihop-no-links",
        source=SOURCE,
        claim="without the links' part of the target, 20 us for each flow, every rate and every "
        "mean queue is within 5% of the recorded one",
        check=_without_links,
        kind="fitted",
        bound="hull",
    ),
    Claim(
        id="swift-multihop-fewest",
        source=SOURCE,
        claim="in each period with several flows, the one with the fewest links has at least 4 "
        "times the rate of the next one (recorded: 8.6 times or more)",
        check=_wins,
        kind="predicted",
        bound="hull",
        cause="documents contradict",
        tried=TRIED,
        shown_by=SHOWN,
    ),
    Claim(
        id="swift-multihop-full",
        source=SOURCE,
        claim="the link is full in each period: the sum is within 1% of the recorded one",
        check=_full,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="swift-multihop-rates",
        source=SOURCE,
        claim="each rate is within 25% of the recorded one",
        check=_rates,
        kind="predicted",
        bound="document",
        cause="documents contradict",
        tried=TRIED,
        shown_by=SHOWN,
    ),
    Claim(
        id="swift-multihop-queues",
        source=SOURCE,
        claim="the mean queue of each period is within 25% of the recorded one",
        check=_queues,
        kind="predicted",
        bound="document",
        cause="documents contradict",
        tried=TRIED,
        shown_by=SHOWN,
    ),
)


def draw(results: Results) -> "Figure":
    """Draw rates and queue over time; hollow: recorded means of periods."""
    from hull.figures import Line, Panel, Published, plot_sweep

    panels = []
    with_queue = [row for row in RECORDED if "queue_kb" in row]
    middles = [sum(row["ms"]) / 2 for row in with_queue]
    means = Published("queue", middles, [row["queue_kb"][0] for row in with_queue])
    for scheme, name in ((SWIFT, "links in the target"), (NO_LINKS, "target of 20 µs")):
        lines, points = [], []
        for flow in FEWEST_FIRST:
            at, gbps = rates_over(results, "", scheme, flow + 1)
            lines.append(Line(FLOWS[flow], at, [WIRE * one for one in gbps]))
            of = [row for row in RECORDED if row["gbps"][flow]]
            recorded = [row["gbps"][flow] for row in of]
            points.append(Published(FLOWS[flow], [sum(row["ms"]) / 2 for row in of], recorded))
        at_ms, waiting = queue(results, "", scheme)
        shown = Line("queue", list(at_ms[::20]), list((waiting[::20] + PACKET) / 1e3))
        panels += [
            Panel(f"Rates, {name}", "Time (ms)", "Gbps", lines, points),
            Panel(f"Queue, {name}", "Time (ms)", "KB", [shown], [means], y_limits=(0, 800)),
        ]
    return plot_sweep(panels, looks=LOOKS)


EXPERIMENT = Experiment(
    id="swift-multihop",
    title="Swift: paths of 2, 4 and 6 links, beside csg-htsim's recorded run",
    source="csg-htsim, recorded runs",
    scenario="swift-multihop",
    stated=(
        Stated(SOURCE, "packets", "transport.mtu", "4000B"),
        Stated(SOURCE, "rate", "switch.rate", "200Gbps"),
        Stated(SOURCE, "delay of a link", "switch.delay", "1.25us"),
        Stated(SOURCE, "buffer", "switch.buffer", "1000pkts"),
    ),
    points=tuple(_points()),
    deviations=(
        Deviation(SWIFT, "rate_gbps", FLOWS, CAUSE, SHARED),
        Deviation(SWIFT, "queue_kb", ("mean", "max"), CAUSE, ("80 to 99 ms",)),
    ),
    claims=CLAIMS,
    deterministic=True,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("measure.flows.interval=5ms",), seeds=1),
    full=Size(seeds=1),
)

"""PowerTCP's fairness: four flows begin one after the other, and in `fairness4` stop so too.

Payload (Gbps) of each flow. `flow file` has the fork's network and starts; `fairness4` is one link
of 100 Gbps, for which runs of the fork were recorded.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hull.experiments.common.claims import Claim, Finding, about, ratio, within
from hull.experiments.common.decided import at_least, ordered
from hull.experiments.common.experiment import Experiment, Point, Size, Variant, published
from hull.experiments.common.measured import Results
from hull.experiments.common.periods import Period, rate_points, rates_over
from hull.experiments.common.stated import Stated
from hull.report.schemes import BLUE, GREEN, ORANGE, VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POWERTCP, THETA, HPCC = ("powertcp", "theta", "hpcc")
TITLES = {POWERTCP: "PowerTCP", THETA: "theta-PowerTCP", HPCC: "HPCC"}
"""Schemes."""
FILE, FOUR = "flow file", "fairness4"
SOURCE = "ns3-datacenter, fairness4"
RECORDED: dict[str, Any] = published("powertcp", "fairness4")
ACTIVE = ((0,), (0, 1), (0, 1, 2), (0, 1, 2, 3), (1, 2, 3), (2, 3), (3,))
"""Flows by ms."""
NAMES = tuple(f"flow{flow}" for flow in range(4))
PERIODS = tuple(
    Period(ms + 0.4, ms + 1.0, flows, f"{FOUR}, {ms + 0.4} to {ms + 1} ms", FOUR)
    for ms, flows in enumerate(ACTIVE)
)
FIRST_HOST = 32
"""Sources of the flow file; the receiver is host 0."""
GOODPUT_GBPS = 25 * 0.95 * 1000 / 1090 * 25.057471264 / 25
"""Payload of a link at eta."""
LOOKS = (
    Scheme("flow0", "flow 0", VERMILION, (1, 0), "o"),
    Scheme("flow1", "flow 1", BLUE, (5, 2), "s"),
    Scheme("flow2", "flow 2", GREEN, (6, 2, 1, 2), "^"),
    Scheme("flow3", "flow 3", ORANGE, (10, 3), "v"),
)


def file_periods(results: Results) -> list[Period]:
    """The last tenth of the time with 1, 2, 3 and 4 flows; a tenth of it in the short form."""
    unit = 100 if results.is_full else 10
    return [
        Period(
            (count - 0.1) * unit,
            count * unit,
            tuple(range(FIRST_HOST, FIRST_HOST + count)),
            f"{count} flows",
            FILE,
        )
        for count in (1, 2, 3, 4)
    ]


def _points() -> Iterator[Point]:
    for scheme, found in RECORDED.items():
        for period, rates in zip(PERIODS, found["gbps"], strict=True):
            names = [NAMES[flow] for flow in period.sources]
            yield from rate_points(period, scheme, rates, names)


def _fair(results: Results) -> Finding:
    found = {
        scheme: [period.jain(results, scheme) for period in file_periods(results)[1:]]
        for scheme in (POWERTCP, THETA)
    }
    words = "; ".join(
        f"{TITLES[scheme]} " + ", ".join(f"{one:.4f}" for one in values)
        for scheme, values in found.items()
    )
    return Finding(
        f"{words} with 2, 3, 4 flows",
        all(at_least(one, 0.99) for values in found.values() for one in values),
    )


def _used(results: Results) -> Finding:
    sums = [period.sum(results, POWERTCP) for period in file_periods(results)]
    words = ", ".join(f"{one:.2f}" for one in sums)
    return Finding(
        f"{words} of {GOODPUT_GBPS:.2f} Gbps",
        all(within(ratio(one, GOODPUT_GBPS), 0.97, 1.03) for one in sums),
    )


def _rates(results: Results) -> Finding:
    pairs = [
        pair
        for period, recorded in zip(PERIODS, RECORDED[POWERTCP]["gbps"], strict=True)
        for pair in zip(period.rates(results, POWERTCP), recorded, strict=True)
    ]
    ratios = [found / recorded for found, recorded in pairs]
    return Finding(
        f"{min(ratios):.3f} to {max(ratios):.3f} of the recorded rates",
        all(about(*pair) for pair in pairs),
    )


def _newcomer(results: Results) -> Finding:
    hpcc, power = (PERIODS[2].jain(results, scheme) for scheme in (HPCC, POWERTCP))
    return Finding(f"{power:.4f} and {hpcc:.4f}", ordered(hpcc, power))


def _sums(results: Results) -> Finding:
    ratios = [
        period.sum(results, scheme) / sum(recorded)
        for scheme, found in RECORDED.items()
        for period, recorded in zip(PERIODS, found["gbps"], strict=True)
    ]
    return Finding(
        f"{min(ratios):.4f} to {max(ratios):.4f} of the recorded sums",
        all(within(one, 0.97, 1.03) for one in ratios),
    )


CLAIMS = (
    Claim(
        id="powertcp-fairness-fair",
        source="ns3-datacenter, flow-fairnessExp.txt",
        claim="flow file: before each start and at the end, Jain's index of the active flows is at "
        "least 0.99 with PowerTCP and theta-PowerTCP",
        check=_fair,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="powertcp-fairness-used",
        source="ns3-datacenter, flow-fairnessExp.txt",
        claim="flow file: the link is used to eta, 95%, within 3%, in each of these times with "
        "PowerTCP",
        check=_used,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="powertcp-fairness-rates",
        source=SOURCE,
        claim="fairness4: each PowerTCP rate is within 25% of the recorded one",
        check=_rates,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="powertcp-fairness-newcomer",
        source=SOURCE,
        claim="fairness4: Jain's index with three flows, the third 1 ms old, is higher with "
        "PowerTCP than with HPCC",
        check=_newcomer,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="powertcp-fairness-sums",
        source=SOURCE,
        claim="fairness4: with each control the sum of each ms is within 3% of the recorded one",
        check=_sums,
        kind="predicted",
        bound="hull",
    ),
)

FAIRNESS4 = (
    'topology={dumbbell={pairs=4,bottleneck_rate="100.229885057Gbps",bottleneck_delay="1us"}}',
    'host.rate="100.229885057Gbps"',
    'switch.rate="100.229885057Gbps"',
    'switch.memory.size="32MiB"',
    'transport.message.round_trip="6225688ps"',
    'run.duration="7.2ms"',
    "workload={long_lived={flows=["
    + ",".join(
        f'{{src={flow},dst={flow + 4},start="{flow}ms",stop="{flow + 4}ms"}}' for flow in range(4)
    )
    + "]}}",
    'measure.sample_interval="1us"',
    'measure.flows.interval="200us"',
    *(f"schemes.{scheme}.switch.telemetry.unit_factor=4" for scheme in (POWERTCP, HPCC)),
)
"""Four pairs, 100 Gbps."""
SHORT_FILE = (
    'run.duration="40ms"',
    "workload={long_lived={flows=["
    f'{{src={FIRST_HOST},dst=0,start="0.1ms"}},'
    f'{{src="{FIRST_HOST + 1}-{FIRST_HOST + 3}",dst=0,start="10ms",start_interval="10ms"}}]}}}}',
    'measure.flows.interval="100us"',
)


def draw(results: Results) -> "Figure":
    """Draw rates over time in `fairness4`, hollow recorded, and PowerTCP's with the flow file."""
    from hull.figures import Line, Panel, Published, plot_sweep

    panels = []
    for scheme, title in TITLES.items():
        lines = [Line(NAMES[flow], *rates_over(results, FOUR, scheme, flow)) for flow in range(4)]
        points = []
        for flow in range(4):
            of = [
                (ms + 0.7, rates[period.sources.index(flow)])
                for ms, (period, rates) in enumerate(
                    zip(PERIODS, RECORDED[scheme]["gbps"], strict=True)
                )
                if flow in period.sources
            ]
            points.append(Published(NAMES[flow], *map(list, zip(*of, strict=True))))
        panels.append(Panel(f"{title}, fairness4", "Time (ms)", "Gbps", lines, points))
    lines = [
        Line(NAMES[flow], *rates_over(results, FILE, POWERTCP, FIRST_HOST + flow))
        for flow in range(4)
    ]
    panels.append(Panel("PowerTCP, flow file", "Time (ms)", "Gbps", lines))
    return plot_sweep(panels, looks=LOOKS)


EXPERIMENT = Experiment(
    id="powertcp-fairness",
    title="PowerTCP: flows begin one after the other, beside recorded runs of its simulator",
    source="ns3-datacenter, recorded runs",
    scenario="powertcp-fairness",
    variants=(
        Variant({"": FILE}, SHORT_FILE, sizes=("quick",)),
        Variant({"": FILE}, sizes=("full",)),
        Variant({"": FOUR}, FAIRNESS4),
    ),
    stated=(
        Stated(SOURCE, "delay of a link to a host", "host.delay", "1us"),
        Stated(SOURCE, "buffer", "switch.memory.size", "4194304B", conditions=FILE),
        Stated(SOURCE, "buffer", "switch.memory.size", "33554432B", conditions=FOUR),
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
    deterministic=True,
    looks=LOOKS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(seeds=1),
)

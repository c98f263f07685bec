"""Table 1 of the paper: two long-lived flows into one receiver, TCP and DCTCP with K = 30 KB.

Throughput is what the receiver's link carries, probes included; latency is the probes'. The second
condition has the testbed's NetFPGA in front of the receiver, with a clock that is 100 ppm slow.
"""

from typing import TYPE_CHECKING

from hull.claims import Claim, Finding, within
from hull.experiment import Experiment, Point, Size, Variant, cell, published
from hull.measured import Reader, Results, probe, throughput_mbps

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = {"tcp": "tcp_droptail", "dctcp_30k": "dctcp_30k"}
SWITCH_ALONE, NETFPGA = "switch_alone", "netfpga_slow_100ppm"
METRICS: dict[tuple[str, str], tuple[str, Reader]] = {
    ("throughput_mbps", "mean"): ("throughput_mbps", throughput_mbps),
    ("switch_latency_us", "mean"): ("latency_mean_us", probe("mean")),
    ("switch_latency_us", "p99"): ("latency_p99_us", probe("p99")),
}

POINTS = tuple(
    Point(
        condition,
        scheme,
        metric,
        statistic,
        published("hull-paper", "table1")[name][key],
        cell(condition, scheme, read),
    )
    for condition in (SWITCH_ALONE, NETFPGA)
    for name, scheme in SCHEMES.items()
    for (metric, statistic), (key, read) in METRICS.items()
)


def _order_of_magnitude(results: Results) -> Finding:
    ratios = [
        results.mean(condition, "tcp_droptail", probe("mean"))
        / results.mean(condition, "dctcp_30k", probe("mean"))
        for condition in (SWITCH_ALONE, NETFPGA)
    ]
    return Finding(
        f"factor {ratios[0]:.1f}; {ratios[1]:.1f} with the slow NetFPGA", min(ratios) >= 5
    )


def _near(condition: str, scheme: str) -> Claim:
    def check(results: Results) -> Finding:
        here = [p for p in POINTS if (p.condition, p.scheme) == (condition, scheme)]
        found = {(p.metric, p.statistic): (p.measure(results), p.published) for p in here}
        ratios = {key: m.mean / value for key, (m, value) in found.items() if m is not None}
        holds = len(ratios) == len(METRICS) and all(
            within(ratio, 0.95, 1.05)
            if metric == "throughput_mbps"
            else within(ratio, 1 / 1.5, 1.5)
            for (metric, _), ratio in ratios.items()
        )
        words = ", ".join(
            f"{metric.split('_')[-2]} {statistic} {ratio:.2f}"
            for (metric, statistic), ratio in ratios.items()
        )
        return Finding(f"measured / published: {words}", holds)

    place = "" if condition == SWITCH_ALONE else ", NetFPGA 100 ppm slow"
    return Claim(
        id=f"table1-near-{scheme.split('_')[0]}" + ("" if not place else "-netfpga"),
        source="paper 3.1, table 1",
        claim=f"{scheme}{place}: throughput within 5% and latencies within a factor of 1.5 of the "
        "published ones (bounds of this project)",
        check=check,
        tried=TRIED if (condition, scheme) == (SWITCH_ALONE, "tcp_droptail") else "",
    )


TRIED = (
    "A sawtooth in 700 KB swings between half and full, so its mean is above 2.8 ms; the published "
    "mean is 1.1 ms with a 99th percentile of 4.3. One key at a time (mean/p99 in us, as shipped "
    "4573/5533): CUBIC 4835/5548, min_rto 200 ms 4573/5533, shared memory 4336/5270, measured from "
    "the start 4625/5537, ack_every 1 4468/5545, nic_buffer 30 packets 4573/5533, interrupts each "
    "250 us 4534/5461, stack_jitter 40 us 4429/5494, receive window of 64 segments 1050/1094 (no "
    "tail). Losses outside the switch do it: a random share of 1e-4 1940/4123, 2e-4 1281/2690. "
    "The testbed has a cause for them: the NetFPGA between switch and receiver sends with a clock "
    "of its own; 100 ppm slower, which Ethernet allows, it drops 1 of 10,000 packets of a full "
    "link. Over 60 s from the start: 1552/5357 with 40 KB in it, 1600/4741 with 16, 1306/5456 with "
    "128, 4015/5525 with 512; 2476/5385 at 50 ppm, 804/4783 at 200."
)


def draw(results: Results) -> "Figure":
    """The table's columns as bars."""
    from hull.figures import BarPanel, plot_bars

    names = {SWITCH_ALONE: "switch alone", NETFPGA: "slow NetFPGA"}
    schemes = tuple(SCHEMES.values())

    def panel(metric: str, title: str, y_label: str, *, log_y: bool) -> BarPanel:
        here = [p for p in POINTS if p.metric == metric]
        several = len({p.statistic for p in here}) > 1
        values, spread, known = {}, {}, {}
        groups = []
        for point in here:
            estimate = point.measure(results)
            group = names[point.condition] + (f"\n{point.statistic}" if several else "")
            groups.append(group)
            known[group, point.scheme] = point.published
            if estimate is not None:
                values[group, point.scheme] = estimate.mean
                spread[group, point.scheme] = estimate.ci95
        return BarPanel(
            title, y_label, tuple(dict.fromkeys(groups)), schemes, values, spread, known, log_y
        )

    return plot_bars(
        [
            panel("switch_latency_us", "Switch latency", "Latency (µs)", log_y=True),
            panel("throughput_mbps", "Throughput", "Throughput (Mbps)", log_y=False),
        ],
        width=4.6,
    )


EXPERIMENT = Experiment(
    id="table1",
    title="Paper table 1: two long-lived flows, TCP and DCTCP, on the testbed",
    source="paper 3.1, table 1",
    scenario="static",
    variants=(
        Variant({"": SWITCH_ALONE}, schemes=tuple(SCHEMES.values())),
        Variant(
            {"": NETFPGA},
            scenario="netfpga-clock",
            overrides=("run.warmup=0s", "run.duration=60s"),
        ),
    ),
    points=POINTS,
    claims=(
        Claim(
            id="table1-order-of-magnitude",
            source="paper 3.1",
            claim="DCTCP's latency is an order of magnitude (a factor of 5 or more) below TCP's",
            check=_order_of_magnitude,
        ),
        *(_near(condition, s) for condition in (SWITCH_ALONE, NETFPGA) for s in SCHEMES.values()),
    ),
    draw=draw,
    quick=Size(overrides=("run.duration=10s",), seeds=1),
    full=Size(overrides=("run.duration=30s",), seeds=10),
)

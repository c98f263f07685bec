"""Table 1 of the paper: two long-lived flows into one receiver, TCP and DCTCP with K = 30 KB.

Throughput is what the receiver's link carries, probes included; latency is the probes'. The second
condition has the testbed's NetFPGA in front of the receiver, with a clock that is 100 ppm slow.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding
from hull.experiments.common.decided import at_least
from hull.experiments.common.deviations import Deviation
from hull.experiments.common.experiment import Experiment, Point, Size, Variant, cell, published
from hull.experiments.common.measured import Reader, Results, probe, throughput_mbps
from hull.experiments.common.stated import statements

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
        f"factor {ratios[0]:.1f}; {ratios[1]:.1f} with the slow NetFPGA",
        all(at_least(ratio, 5) for ratio in ratios),
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
    stated=statements("paper", "testbed", "static", "table 1"),
    points=POINTS,
    claims=(
        Claim(
            id="table1-order-of-magnitude",
            source="paper 3.1",
            claim="DCTCP's latency is an order of magnitude (a factor of 5 or more) below TCP's",
            check=_order_of_magnitude,
            kind="fitted",
            bound="hull",
        ),
    ),
    deviations=(
        Deviation(
            "tcp_droptail",
            "switch_latency_us",
            ("mean",),
            "a TCP sawtooth in 700 KB swings between half full and full, so its mean exceeds the "
            "published 1.1 ms; a NetFPGA clock 100 ppm slow, which drops 1 packet in 10,000, "
            "gives both mean and tail (netfpga_slow_100ppm)",
            (SWITCH_ALONE,),
        ),
    ),
    draw=draw,
    quick=Size(overrides=("run.duration=10s",), seeds=1),
    full=Size(overrides=("run.duration=30s",), seeds=10),
)

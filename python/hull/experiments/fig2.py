"""Figure 2 of the paper: drain rate of a phantom queue, TCP with ECN against DCTCP, both paced.

Latency is the probes' (us), throughput what the receiver's link carries (Mbps). The baselines are
as in table 1.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, within
from hull.experiments.common.decided import at_least, ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.long_lived import series
from hull.experiments.common.measured import Results, probe, throughput_mbps
from hull.experiments.common.stated import statements
from hull.report.schemes import PURPLE, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = (Scheme("tcp_ecn_pq_pacer", "TCP-ECN + PQ + pacer", PURPLE, (2, 1), "v"),)

TCP_ECN, DCTCP = "tcp_ecn_pq_pacer", "dctcp_pq_pacer"
BASELINE = "no_phantom_queue"
RATES = tuple(range(600, 1000, 50))
QUICK_RATES = (600, 700, 800, 900, 950)
MEAN, P99 = probe("mean"), probe("p99")


def _names(rates: tuple[int, ...]) -> dict[str, str]:
    return {f"drain={rate}Mbps": str(rate) for rate in rates}


def rates(results: Results) -> list[str]:
    """The drain rates that were run, Mbps."""
    return [condition for condition in results.conditions if condition != BASELINE]


def gaps(results: Results, scheme: str) -> list[float]:
    """Throughput below the drain rate, % of the line rate, by drain rate."""
    found = series(results, rates(results), scheme, throughput_mbps)
    return [(int(rate) - value) / 10 for rate, value in zip(rates(results), found, strict=True)]


def _between(scheme: str, low: float, high: float) -> Claim:
    def check(results: Results) -> Finding:
        found = gaps(results, scheme)
        words = ", ".join(f"{gap:.1f}" for gap in found)
        return Finding(
            f"{words}% at {', '.join(rates(results))} Mbps",
            all(within(round(gap), low, high) for gap in found),
        )

    name = "TCP-ECN" if scheme == TCP_ECN else "DCTCP"
    return Claim(
        id=f"fig2-{name.lower()}-loss",
        source="paper 3.1",
        claim=f"{name}'s throughput is {low:.0f} to {high:.0f}% of the line rate below the drain "
        "rate, in whole percent",
        check=check,
        kind="fitted",
        bound="document",
    )


def _loses_more(results: Results) -> Finding:
    pairs = list(zip(gaps(results, TCP_ECN), gaps(results, DCTCP), strict=True))
    smallest = min(tcp - dctcp for tcp, dctcp in pairs)
    return Finding(
        f"at least {smallest:.1f}% of the line rate more", all(ordered(d, tcp) for tcp, d in pairs)
    )


def _below(results: Results) -> Finding:
    found = [*gaps(results, TCP_ECN), *gaps(results, DCTCP)]
    return Finding(
        f"at least {min(found):.1f}% of the line rate below",
        all(ordered(0, gap) for gap in found),
    )


def _latency(results: Results) -> Finding:
    factors = [
        results.mean(BASELINE, baseline, MEAN) / max(series(results, rates(results), scheme, MEAN))
        for scheme, baseline in ((TCP_ECN, "tcp_droptail"), (DCTCP, "dctcp_30k"))
    ]
    return Finding(
        f"at least {factors[0]:.0f} times (TCP) and {factors[1]:.0f} times (DCTCP)",
        all(at_least(factor, 2) for factor in factors),
    )


def _ten_percent(results: Results) -> Finding:
    factors = {
        statistic: results.mean(BASELINE, "dctcp_30k", read) / results.mean("900", DCTCP, read)
        for statistic, read in (("mean", MEAN), ("p99", P99))
    }
    return Finding(
        "{:.0f} times (mean) and {:.0f} times (p99) below that without".format(*factors.values()),
        all(at_least(factor, 5) for factor in factors.values()),
    )


CLAIMS = (
    Claim(
        id="fig2-latency",
        source="paper 3.1",
        claim="at each drain rate TCP-ECN and DCTCP have a significantly (2 times or more) lower "
        "mean latency than without a phantom queue",
        check=_latency,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="fig2-below-drain",
        source="paper 3.1",
        claim="with both, throughput is below the drain rate",
        check=_below,
        kind="fitted",
        bound="document",
    ),
    Claim(
        id="fig2-tcp-ecn-more",
        source="paper 3.1",
        claim="TCP-ECN loses more throughput than DCTCP at each drain rate",
        check=_loses_more,
        kind="fitted",
        bound="document",
    ),
    Claim(
        id="fig2-ten-percent",
        source="paper abstract, 3.2",
        claim="even a small headroom (10%, DCTCP at 900 Mbps) reduces mean and 99th percentile "
        "latency dramatically (5 times or more)",
        check=_ten_percent,
        kind="predicted",
        bound="hull",
    ),
    _between(TCP_ECN, 17, 26),
    _between(DCTCP, 6, 8),
)


def draw(results: Results) -> "Figure":
    """Throughput and latency by drain rate, bars up to the 99th percentile."""
    from hull.figures import Line, Panel, plot_sweep

    names = rates(results)
    x = [int(rate) for rate in names]
    label = "PQ drain rate (Mbps)"
    speed = [
        Line(scheme, x, series(results, names, scheme, throughput_mbps))
        for scheme in (TCP_ECN, DCTCP)
    ]
    latency = [
        Line(scheme, x, series(results, names, scheme, MEAN), series(results, names, scheme, P99))
        for scheme in (TCP_ECN, DCTCP)
    ]
    return plot_sweep(
        [
            Panel(
                "Throughput",
                label,
                "Throughput (Mbps)",
                speed,
                reference=[("drain rate", x, x)],
                y_limits=(0, 1000),
            ),
            Panel("Switch latency", label, "Latency (µs)", latency),
        ],
        looks=LOOKS,
        width=4.2,
    )


EXPERIMENT = Experiment(
    id="fig2",
    title="Paper figure 2: drain rate of the phantom queue, TCP-ECN and DCTCP, on the testbed",
    source="paper 3.1, figure 2",
    scenario="drain-rate",
    variants=(
        Variant(_names(QUICK_RATES), schemes=(TCP_ECN, DCTCP), sizes=("quick",)),
        Variant(_names(RATES), schemes=(TCP_ECN, DCTCP), sizes=("full",)),
        Variant({"": BASELINE}, scenario="static", schemes=("tcp_droptail", "dctcp_30k")),
    ),
    stated=statements("paper", "testbed", "static", "paced", "figure 2"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.warmup=1s", "run.duration=10s"), seeds=1),
    full=Size(overrides=("run.warmup=1s", "run.duration=10s"), seeds=10),
)

"""Figure 8 of the paper: two to eight long-lived flows, four schemes.

Latency is the probes' (us), throughput what the receiver's link carries (Mbps).
"""

from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, commands, within
from hull.experiments.common.decided import at_least, at_most, more_than, ordered
from hull.experiments.common.experiment import Experiment, Point, Size, Variant, published
from hull.experiments.common.long_lived import counts, over, senders, series
from hull.experiments.common.measured import Reader, Results, occupancy, probe, throughput_mbps
from hull.experiments.common.stated import statements
from hull.report.schemes import GREY, PURPLE, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = ("tcp_droptail", "dctcp_30k", "dctcp_6k_pacer", "dctcp_pq950_pacer")
TCP, DCTCP, SIX, HULL = SCHEMES
ALL = tuple(str(count) for count in range(2, 9))
FEW = ("2", "3")  # "less than 4"
ONE = "1, no probes"
UNPACED, SMALLER = ", not paced", ", 1.5 KB"
INACTIVITY = ", T_i of inactivity"
"""The thesis's meaning of T_i (4.3.2): a flow's packets restart it."""
LOOKS = (
    Scheme("inactivity_hull", "HULL, T_i of inactivity", GREY, (2, 1), "v"),
    Scheme("inactivity_6k", "DCTCP-6K, T_i of inactivity", PURPLE, (6, 2, 1, 2), "P"),
)
INACTIVE = dict(zip((HULL, SIX), LOOKS, strict=True))
PACERS = tuple(
    f"{key}={value}"
    for key, values in (
        ("update_interval", ("32us", "128us")),
        ("eta", ("6.25%", "25%")),
        ("association_probability", ("6.25%", "25%")),
        ("association_timeout", ("5ms", "20ms")),
    )
    for value in values
)
"""Half and twice the parameters of table 3, one at a time, with two flows."""
PUBLISHED = published("hull-paper", "figure8")
MEAN, P99 = probe("mean"), probe("p99")


def _point(
    where: tuple[str, tuple[str, ...]], scheme: str, metric: str, statistic: str, value: float
) -> Point:
    condition, conditions = where
    read: Reader = probe(statistic) if metric == "switch_latency_us" else throughput_mbps
    return Point(
        condition,
        scheme,
        metric,
        statistic,
        value,
        lambda results: over(results, conditions, scheme, read),
    )


EVERY, UNDER_4 = ("2 to 8 flows", ALL), ("under 4 flows", FEW)
DCTCP_MEAN = PUBLISHED["dctcp_30k_latency_mean_us"]
POINTS = (
    _point(
        EVERY,
        TCP,
        "switch_latency_us",
        "mean",
        PUBLISHED["dctcp_30k_vs_tcp_latency_factor"] * DCTCP_MEAN,
    ),
    _point(EVERY, DCTCP, "switch_latency_us", "mean", DCTCP_MEAN),
    _point(
        UNDER_4, DCTCP, "switch_latency_us", "p99", PUBLISHED["dctcp_30k_latency_p99_us_at_least"]
    ),
    _point(EVERY, SIX, "switch_latency_us", "mean", PUBLISHED["dctcp_6k_pacer_latency_mean_us"]),
    _point(UNDER_4, SIX, "switch_latency_us", "p99", PUBLISHED["dctcp_6k_pacer_latency_p99_us"]),
    _point(
        UNDER_4, HULL, "switch_latency_us", "p99", PUBLISHED["hull_latency_p99_us_under_4_flows"]
    ),
    _point(UNDER_4, HULL, "throughput_mbps", "mean", PUBLISHED["hull_throughput_mbps"]),
)


def _ratio(results: Results, above: str, below: str) -> float:
    """Mean latency of one scheme over another's, both over all numbers of flows."""
    return fmean(series(results, ALL, above, MEAN)) / fmean(series(results, ALL, below, MEAN))


def _tcp(results: Results) -> Finding:
    ratio = _ratio(results, TCP, DCTCP)
    return Finding(f"factor {ratio:.1f}", within(ratio, 15, 25))


def _six(results: Results) -> Finding:
    ratio = _ratio(results, DCTCP, SIX)
    return Finding(f"factor {ratio:.1f}", within(ratio, 4.5, 7.5))


def _levels(results: Results) -> Finding:
    dctcp = fmean(series(results, ALL, DCTCP, MEAN))
    six = fmean(series(results, ALL, SIX, MEAN))
    return Finding(
        f"{dctcp:.0f} and {six:.1f} us", within(dctcp, 150, 250) and within(six, 22.5, 37.5)
    )


def _few(results: Results) -> Finding:
    ratios = [results.mean(count, SIX, MEAN) / results.mean(count, HULL, MEAN) for count in FEW]
    words = " and ".join(f"{ratio:.1f}" for ratio in ratios)
    return Finding(
        f"factor {words} with 2 and 3 flows", all(within(ratio, 2, 3) for ratio in ratios)
    )


def _jitter(results: Results) -> Finding:
    hull, six, dctcp = (fmean(series(results, FEW, s, P99)) for s in (HULL, SIX, DCTCP))
    holds = within(hull, 22.5, 37.5) and within(six, 75, 125) and more_than(dctcp, 300)
    return Finding(f"{hull:.1f}, {six:.1f} and {dctcp:.0f} us", holds)


def _throughput(results: Results) -> Finding:
    found = fmean(series(results, FEW, HULL, throughput_mbps))
    holds = within(found, 870 * 0.75, 870 * 1.25) and within(950 - found, 60, 100)
    return Finding(f"{found:.0f} Mbps, {(950 - found) / 10:.1f}% below the drain rate", holds)


def _less_effective(results: Results) -> Finding:
    latency = series(results, ALL, HULL, MEAN)
    gain = [
        results.mean(count, SIX, MEAN) / value for count, value in zip(ALL, latency, strict=True)
    ]
    grows = all(ordered(before, after) for before, after in pairwise(latency))
    words = ", ".join(f"{value:.1f}" for value in latency)
    return Finding(
        f"HULL's mean latency {words} us; DCTCP-6K's is {gain[0]:.1f} to {gain[-1]:.1f} times it",
        grows and ordered(gain[-1], gain[0]),
    )


def _one_flow(results: Results) -> Finding:
    waits = [results.mean(ONE, TCP, occupancy(statistic)) for statistic in ("mean", "p99")]
    return Finding(
        f"mean {waits[0]:.1f} us, 99th percentile {waits[1]:.1f} us with TCP",
        at_most(waits[1], 12.5),
    )


def _all_flows(results: Results, change: str = "") -> float:
    """DCTCP-6K's throughput, Mbps, over all numbers of flows."""
    return fmean(series(results, [count + change for count in ALL], SIX, throughput_mbps))


def _needs_pacing(results: Results) -> Finding:
    paced, not_paced = _all_flows(results), _all_flows(results, UNPACED)
    return Finding(
        f"{paced:.0f} Mbps with, {not_paced:.0f} without", at_least(paced - not_paced, 50)
    )


def _below_six(results: Results) -> Finding:
    six, less = _all_flows(results), _all_flows(results, SMALLER)
    return Finding(f"{six:.0f} Mbps with 6 KB, {less:.0f} with 1.5 KB", at_least(six - less, 100))


def _insensitive(results: Results) -> Finding:
    metrics = {"throughput": throughput_mbps, "mean latency": MEAN}
    ranges = {
        name: [results.mean(c, HULL, read) / results.mean("2", HULL, read) for c in PACERS]
        for name, read in metrics.items()
    }
    words = "; ".join(f"{n} {min(r):.2f} to {max(r):.2f} times" for n, r in ranges.items())
    return Finding(words, all(within(x, 0.75, 1.25) for r in ranges.values() for x in r))


TRIED = (
    "One key at a time, mean/p99 in us of HULL with 2 and 3 flows: as shipped 10/35, 12/46; "
    "stack_jitter 1 us 10/27, 13/39; 40 us 10/68, 11/71; stack_delay 30 us 10/27, 11/38; "
    "interrupts without wait 10/33, 12/47, after 125 us 10/55, 13/64; ack_every 1 9/26, 11/29. "
    "DCTCP-6K's mean with 2 flows is 26 to 36 us in all of these, as shipped 33. At 88% load a "
    "probe waits 5 us for the packet in transmission alone, so HULL's mean can hardly be less, "
    "and the published factor needs more than 10 us. Bursts raise DCTCP's p99 above K (240 us): "
    "264 us with stack_jitter 1 us, 269 as shipped, 287 with 40 us (its mean is then 159 us, "
    "table 1: 154), but HULL's p99 rises too. Hosts that vary more for DCTCP than for HULL, as "
    "the paper says of queueing in end hosts (6.2.1), are not modelled. Segments deferred to a "
    "third of the window, as in Linux, give DCTCP 285 us and more and DCTCP-6K 100, but HULL 57; "
    "with one ACK per packet HULL has 27, but the losses of figure 2 disappear. With the line's "
    "framing (984.4 Mbps, 1514 B) the factors are 2.3 and 2.1 and HULL's p99 41 us. Associations "
    "that last while a flow sends, as the thesis's wording of T_i suggests, give p99s of 26.2 us "
    "with HULL, 84.4 with DCTCP-6K and 273 with DCTCP, but factors of 3.6 and 3.2, and lower "
    "TCP-ECN's loss in figure 2 to 9 to 18%. With deferred segments as well the p99s are 36, 194 "
    "and 359 us, and figures 2 and 5 no longer agree with the paper."
)
SHOWN_BY = (
    *commands(
        "fig8",
        "",
        "--set host.stack_jitter.exponential=1us",
        "--set host.stack_jitter.exponential=40us",
        "--set host.stack_delay=30us",
        "--set host.receive.wait=0us",
        "--set host.receive.wait=125us",
        "--set transport.ack_every=1",
        "--set transport.tso_win_divisor=3",
        "--set transport.tso_win_divisor=3 --set transport.ack_every=1",
        "--set host.rate=984.4Mbps --set switch.rate=984.4Mbps "
        "--set transport.mtu=1514B --set transport.header=66B",
        "--set pacer.association_timeout=100s",
        "--set pacer.association_timeout=100s --set transport.tso_win_divisor=3",
    ),
    *commands("fig2", "--set transport.ack_every=1", "--set pacer.association_timeout=100s"),
)

CLAIMS = (
    Claim(
        id="fig8-dctcp-tcp",
        source="paper 6.1",
        claim="DCTCP's mean latency is more than an order of magnitude (10) below TCP's, about 20 "
        "times (within 25%)",
        check=_tcp,
        kind="fitted",
        bound="document",
    ),
    Claim(
        id="fig8-6k-dctcp",
        source="paper 6.1",
        claim="a marking threshold of 6 KB, with pacing, lowers the mean by another 6 times "
        "(within 25%)",
        check=_six,
        kind="fitted",
        bound="document",
    ),
    Claim(
        id="fig8-levels",
        source="paper 6.1",
        claim="mean latency is about 200 us with DCTCP and about 30 us with 6 KB and pacing "
        "(within 25%)",
        check=_levels,
        kind="fitted",
        bound="document",
    ),
    Claim(
        id="fig8-hull-6k",
        source="paper 6.1",
        claim="below four flows the phantom queue has a mean 2 to 3 times lower than DCTCP-6K's",
        check=_few,
        kind="fitted",
        bound="document",
        cause="testbed unknown",
        tried=TRIED,
        shown_by=SHOWN_BY,
    ),
    Claim(
        id="fig8-jitter",
        source="paper 6.1",
        claim="99th percentile below four flows: about 30 us with the phantom queue, about 100 "
        "with DCTCP-6K (within 25%), more than 300 with DCTCP",
        check=_jitter,
        kind="fitted",
        bound="document",
        cause="testbed unknown",
        tried=TRIED,
        shown_by=SHOWN_BY,
    ),
    Claim(
        id="fig8-throughput",
        source="paper 6.1",
        claim="throughput with the phantom queue is about 870 Mbps, 8% of the line rate below its "
        "drain rate (within 25% of both)",
        check=_throughput,
        kind="fitted",
        bound="document",
    ),
    Claim(
        id="fig8-less-effective",
        source="paper 6.1",
        claim="headroom becomes gradually less effective with more flows: HULL's latency grows "
        "with each flow and its lead over DCTCP-6K shrinks",
        check=_less_effective,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="fig8-one-flow",
        source="paper 6.1",
        claim="at least 2 servers must send to congest the switch: with a single TCP flow, and "
        "no probes from another server, at most one packet waits (99th percentile 12.5 us or "
        "less)",
        check=_one_flow,
        kind="by construction",
        bound="hull",
    ),
    Claim(
        id="fig8-6k-needs-pacing",
        source="paper 6.1",
        claim="a threshold of 6 KB needs pacing to avoid excessive loss of throughput (5% of the "
        "line rate or more without, mean over 2 to 8 flows)",
        check=_needs_pacing,
        kind="fitted",
        bound="hull",
    ),
    Claim(
        id="fig8-below-6k",
        source="paper 6.1",
        claim="below 6 KB throughput is severely degraded even with pacing (by 10% of the line "
        "rate or more with 1.5 KB, mean over 2 to 8 flows)",
        check=_below_six,
        kind="fitted",
        bound="hull",
    ),
    Claim(
        id="fig8-pacer-insensitive",
        source="paper 6",
        claim="the pacer is not sensitive to T_r, eta, p_a and T_i: halved or doubled, throughput "
        "and mean latency stay within 25% (2 flows)",
        check=_insensitive,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """Latency with bars to the 99th percentile, and throughput, by number of flows."""
    from hull.figures import Line, Panel, Published, plot_sweep

    flows = [int(count) for count in ALL]
    inactive = [count + INACTIVITY for count in ALL]

    def lines(read: Reader, high: Reader | None) -> list[Line]:
        return [
            Line(
                scheme,
                flows,
                series(results, ALL, scheme, read),
                None if high is None else series(results, ALL, scheme, high),
            )
            for scheme in SCHEMES
        ] + [
            Line(
                look.name,
                flows,
                series(results, inactive, scheme, read),
                None if high is None else series(results, inactive, scheme, high),
            )
            for scheme, look in INACTIVE.items()
        ]

    latency = [
        Published(point.scheme, [5 if point.condition == EVERY[0] else 2.5], [point.published])
        for point in POINTS
        if point.metric == "switch_latency_us"
    ]
    speed = [Published(HULL, [2.5], [PUBLISHED["hull_throughput_mbps"]])]
    return plot_sweep(
        [
            Panel(
                "Switch latency",
                "Number of long-lived flows",
                "Latency (µs)",
                lines(MEAN, P99),
                latency,
                log_y=True,
                x_ticks=flows,
            ),
            Panel(
                "Throughput",
                "Number of long-lived flows",
                "Throughput (Mbps)",
                lines(throughput_mbps, None),
                speed,
                x_ticks=flows,
                y_limits=(0, 1050),
            ),
        ],
        looks=LOOKS,
        width=4.2,
    )


EXPERIMENT = Experiment(
    id="fig8",
    title="Paper figure 8: two to eight long-lived flows, four schemes, on the testbed",
    source="paper 6.1, figure 8",
    scenario="static",
    variants=(
        *counts(range(2, 9)),
        Variant({"": ONE}, (senders(1), "measure.probe.interval=10s"), schemes=(TCP,)),
        *(
            Variant({"": count + name}, (senders(int(count)), change), schemes=(SIX,))
            for name, change in (
                (UNPACED, "pacer.association_probability=0%"),
                (SMALLER, "switch.marking.threshold=1500B"),
            )
            for count in ALL
        ),
        *(
            Variant(
                {"": count + INACTIVITY},
                (senders(int(count)), "pacer.association_end=packet"),
                schemes=tuple(INACTIVE),
            )
            for count in ALL
        ),
        *(Variant({"": change}, (f"pacer.{change}",), schemes=(HULL,)) for change in PACERS),
    ),
    stated=statements("paper", "testbed", "static", "figure 8", "paced"),
    points=POINTS,
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.warmup=1s", "run.duration=4s"), seeds=1),
    full=Size(overrides=("run.duration=6s",), seeds=7),
)

"""Figure 2.14 of the thesis: long flows, TCP and DCTCP.

(a) Distribution of the queue (packets of 1500 bytes) with 2 and 20 flows at 1 Gbps. (b) Goodput
(Gbps) against the marking threshold K (packets) with two flows at 10 Gbps from hosts that send
bursts.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, about, ratio
from hull.experiments.common.decided import at_least, less_than, more_than, ordered
from hull.experiments.common.experiment import Experiment, Point, Size, Variant, cell, published
from hull.experiments.common.measured import Results, goodput_mbps
from hull.experiments.common.queue_cdf import percentile, queue_cdf, samples
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = TCP, DCTCP = ("tcp", "dctcp")
FLOWS = TWO, TWENTY = ("2 flows", "20 flows")
LOW_K = "2 flows, K = 5"
FAST = "10 Gbps"
THRESHOLDS = (5, 10, 20, 30, 40, 50, 65, 80, 100)
PUBLISHED = published("thesis-dctcp", "figure2_14")
K = published("thesis-dctcp", "parameters")["k_1g_pkts"]
RECOMMENDED = published("thesis-dctcp", "parameters")["k_10g_pkts"]


def _name(threshold: int) -> str:
    return f"{FAST}, K = {threshold}"


def _gbps(results: Results, condition: str, scheme: str) -> float:
    return results.mean(condition, scheme, goodput_mbps) / 1e3


def _fast(results: Results, threshold: int) -> float:
    return _gbps(results, _name(threshold), DCTCP)


def _whole(results: Results) -> Finding:
    found = [_gbps(results, flows, scheme) for flows in FLOWS for scheme in SCHEMES]
    most = PUBLISHED["throughput_gbps_both"]
    words = ", ".join(f"{value:.3f}" for value in found)
    return Finding(f"{words} Gbps", all(about(value, most, 0.01) for value in found))


def _at_k(results: Results) -> Finding:
    found = percentile(results, TWO, DCTCP, 50)
    return Finding(f"median {found:.1f} packets", about(found, K))


def _k_plus_n(results: Results) -> Finding:
    found = percentile(results, TWENTY, DCTCP, 50)
    return Finding(f"median {found:.1f} packets", about(found, K + 20))


def _grows(results: Results) -> Finding:
    two, twenty = (percentile(results, flows, DCTCP, 50) for flows in FLOWS)
    return Finding(f"{two:.1f} to {twenty:.1f} packets", ordered(two, twenty))


def _ten_times(results: Results) -> Finding:
    ratios = [
        percentile(results, flows, TCP, 50) / percentile(results, flows, DCTCP, 50)
        for flows in FLOWS
    ]
    return Finding(
        f"{ratios[0]:.0f} and {ratios[1]:.0f} times",
        all(at_least(ratio, PUBLISHED["tcp_queue_factor"]) for ratio in ratios),
    )


def _varies(results: Results) -> Finding:
    found = []
    for scheme in SCHEMES:
        queue = samples(results, TWO, scheme)["queue_bytes"].to_numpy() / 1500
        found.append(float(queue.std()))
    return Finding(
        f"standard deviation {found[0]:.0f} and {found[1]:.1f} packets",
        more_than(ratio(*found), 10),
    )


def _insensitive(results: Results) -> Finding:
    low, usual = _gbps(results, LOW_K, DCTCP), _gbps(results, TWO, DCTCP)
    return Finding(f"{low:.3f} and {usual:.3f} Gbps", at_least(ratio(low, usual), 0.95))


def _full(results: Results) -> Finding:
    tcp = _gbps(results, FAST, TCP)
    found = [_fast(results, k) for k in THRESHOLDS if k >= RECOMMENDED]
    words = ", ".join(f"{value:.2f}" for value in found)
    return Finding(
        f"{words} Gbps, TCP {tcp:.2f}", all(at_least(ratio(gbps, tcp), 0.95) for gbps in found)
    )


def _lost(results: Results) -> Finding:
    small, most = _fast(results, 20), _gbps(results, FAST, TCP)
    return Finding(f"{small:.2f} Gbps, TCP {most:.2f}", less_than(ratio(small, most), 0.95))


CLAIMS = (
    Claim(
        id="thesis-fig2-14-throughput",
        source="thesis 2.3.1",
        claim="TCP and DCTCP both reach 0.95 Gbps (within 1%)",
        check=_whole,
        kind="fitted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-14-k",
        source="thesis 2.3.1, figure 2.14(a)",
        claim="with two flows DCTCP's queue is stable around K = 20 packets (median, within 25%)",
        check=_at_k,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-14-grows",
        source="thesis 2.3.1, figure 2.14(a)",
        claim="its queue grows with more flows",
        check=_grows,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-14-k-plus-n",
        source="thesis 2.3.1, figure 2.14(a)",
        claim="as K + N: 40 packets with 20 flows (median, within 25%)",
        check=_k_plus_n,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-14-factor",
        source="thesis 2.3.1",
        claim="TCP's queue is 10 times larger (or more)",
        check=_ten_times,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-14-varies",
        source="thesis 2.3.1",
        claim="and varies widely (its standard deviation more than 10 times DCTCP's)",
        check=_varies,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-14-insensitive",
        source="thesis 2.3.1",
        claim="at 1 Gbps K = 5 costs little throughput (less than 5%)",
        check=_insensitive,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-14-full",
        source="thesis 2.3.1, figure 2.14(b)",
        claim="at 10 Gbps DCTCP has full throughput from K = 65 on (TCP's, within 5%)",
        check=_full,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-14-bursts",
        source="thesis 2.2.4",
        claim="and loses some at K = 20, which would be enough without bursts (more than 5%)",
        check=_lost,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """Two distributions and the sweep of K."""
    from hull.figures import Line, Panel, plot_sweep

    tcp = _gbps(results, FAST, TCP)
    cdfs = [
        Panel(
            f"{flows} at 1 Gbps",
            "Queue (packets)",
            "Share of the time",
            [Line(scheme, *queue_cdf(results, flows, scheme)) for scheme in SCHEMES],
            y_limits=(0, 1.02),
        )
        for flows in FLOWS
    ]
    sweep = Panel(
        "2 flows at 10 Gbps",
        "Marking threshold K (packets)",
        "Goodput (Gbps)",
        [
            Line(TCP, (THRESHOLDS[0], THRESHOLDS[-1]), (tcp, tcp)),
            Line(DCTCP, THRESHOLDS, [_fast(results, k) for k in THRESHOLDS]),
        ],
    )
    return plot_sweep([*cdfs, sweep], columns=3, width=3.2)


EXPERIMENT = Experiment(
    id="thesis-fig2-14",
    title="Thesis figure 2.14: queue and throughput of long flows, TCP and DCTCP",
    source="thesis 2.3.1, figure 2.14",
    scenario="thesis-long",
    variants=(
        Variant({"": TWO}),
        Variant({"": TWENTY}, overrides=('workload.long_lived.flows=[{src="1-20",dst=0}]',)),
        Variant({"": LOW_K}, overrides=("switch.marking.threshold=7.5KB",), schemes=(DCTCP,)),
        Variant({"": FAST}, schemes=(TCP,), scenario="thesis-10g"),
        *(
            Variant(
                {"": _name(k)},
                overrides=(f"switch.marking.threshold={k * 1500}B",),
                schemes=(DCTCP,),
                scenario="thesis-10g",
            )
            for k in THRESHOLDS
        ),
    ),
    stated=statements("thesis", "long", "figure 2.14"),
    points=tuple(
        Point(
            flows,
            scheme,
            "goodput_mbps",
            "mean",
            1e3 * PUBLISHED["throughput_gbps_both"],
            cell(flows, scheme, goodput_mbps),
        )
        for flows in FLOWS
        for scheme in SCHEMES
    ),
    claims=CLAIMS,
    draw=draw,
    quick=Size(
        overrides=("run.warmup=1s", "run.duration=1s", "measure.sample_interval=1ms"), seeds=1
    ),
    full=Size(
        overrides=("run.warmup=2s", "run.duration=12s", "measure.sample_interval=10ms"), seeds=5
    ),
)

"""Figure 2.15 of the thesis: DCTCP beside TCP with RED at 10 Gbps, two long flows.

Distribution of the queue (packets of 1500 bytes). RED marks; untuned its thresholds are 50 and 150
packets, tuned 150 and 250.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, about, ratio
from hull.experiments.common.decided import at_least
from hull.experiments.common.experiment import Experiment, Point, Size, Variant, cell, published
from hull.experiments.common.measured import Results, goodput_mbps
from hull.experiments.common.queue_cdf import percentile, queue_cdf
from hull.experiments.common.stated import statements
from hull.report.schemes import ORANGE, PURPLE, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = (
    Scheme("red_untuned", "TCP, RED 50 to 150", PURPLE, (2, 1), "v"),
    Scheme("red_tuned", "TCP, RED 150 to 250", ORANGE, (10, 3), "^"),
)

SCHEMES = DCTCP, UNTUNED, TUNED = ("dctcp", "red_untuned", "red_tuned")
PUBLISHED = published("thesis-dctcp", "figure2_15")
GBPS = {
    UNTUNED: PUBLISHED["red_50_150_throughput_gbps"],
    TUNED: PUBLISHED["red_tuned_throughput_gbps"],
}


def _gbps(results: Results, scheme: str) -> float:
    return results.mean("", scheme, goodput_mbps) / 1e3


def _near(scheme: str):  # type: ignore[no-untyped-def]
    def check(results: Results) -> Finding:
        found = _gbps(results, scheme)
        return Finding(f"{found:.2f} Gbps", about(found, GBPS[scheme], 0.1))

    return check


def _twice(results: Results) -> Finding:
    red, dctcp = (percentile(results, "", scheme, 99) for scheme in (TUNED, DCTCP))
    return Finding(
        f"{red:.0f} and {dctcp:.0f} packets, {red / dctcp:.1f} times",
        at_least(ratio(red, dctcp), 2),
    )


def _oscillates(results: Results) -> Finding:
    widths = [
        percentile(results, "", scheme, 95) - percentile(results, "", scheme, 5)
        for scheme in (TUNED, DCTCP)
    ]
    return Finding(f"{widths[0]:.0f} and {widths[1]:.0f} packets", at_least(ratio(*widths), 2))


CLAIMS = (
    Claim(
        id="thesis-fig2-15-untuned",
        source="thesis 2.3.1",
        claim="with the recommended thresholds TCP drops to 7.8 Gbps (within 10%)",
        check=_near(UNTUNED),
        kind="fitted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-15-tuned",
        source="thesis 2.3.1",
        claim="with min_th = 150 it achieves 9.2 Gbps (within 10%)",
        check=_near(TUNED),
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-15-twice",
        source="thesis 2.3.1, figure 2.15",
        claim="RED needs twice DCTCP's buffer for it (99th percentile of the queue)",
        check=_twice,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-15-oscillates",
        source="thesis 2.3.1, figure 2.15",
        claim="RED's queue oscillates widely (5th to 95th percentile at least twice DCTCP's)",
        check=_oscillates,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """The distribution of the queue."""
    from hull.figures import Line, Panel, plot_sweep

    return plot_sweep(
        [
            Panel(
                "Two flows at 10 Gbps",
                "Queue (packets)",
                "Share of the time",
                [Line(scheme, *queue_cdf(results, "", scheme)) for scheme in SCHEMES],
                y_limits=(0, 1.02),
            )
        ],
        looks=LOOKS,
        width=5.4,
        height=3.2,
    )


EXPERIMENT = Experiment(
    id="thesis-fig2-15",
    title="Thesis figure 2.15: DCTCP beside RED at 10 Gbps",
    source="thesis 2.3.1, figure 2.15",
    scenario="thesis-10g",
    variants=(Variant(schemes=SCHEMES),),
    stated=statements("thesis", "figure 2.15"),
    points=tuple(
        Point(
            "", scheme, "goodput_mbps", "mean", 1e3 * GBPS[scheme], cell("", scheme, goodput_mbps)
        )
        for scheme in (UNTUNED, TUNED)
    ),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(
        overrides=("run.warmup=1s", "run.duration=1s", "measure.sample_interval=1ms"), seeds=1
    ),
    full=Size(
        overrides=("run.warmup=2s", "run.duration=20s", "measure.sample_interval=10ms"), seeds=5
    ),
)

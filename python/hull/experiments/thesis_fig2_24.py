"""Figure 2.24 of the thesis: queries of the production benchmark.

Completion time (ms): mean, 95th, 99th and 99.9th percentile, TCP and DCTCP, ten minutes.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.benchmark import (
    BASE,
    DCTCP,
    TCP,
    query_ms,
    timeout_pct,
    value,
    variants,
)
from hull.experiments.common.claims import Claim, Finding, about, commands
from hull.experiments.common.decided import at_most, ordered
from hull.experiments.common.experiment import Experiment, Point, Size, published
from hull.experiments.common.measured import Estimate, Results
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = (TCP, DCTCP)
STATISTICS = ("mean", "p95", "p99", "p99.9")
PUBLISHED = published("thesis-dctcp", "benchmark")


def _times(results: Results, scheme: str) -> list[float]:
    return [value(query_ms(results, BASE, scheme, statistic)) for statistic in STATISTICS]


def _better(results: Results) -> Finding:
    tcp, dctcp = (_times(results, scheme) for scheme in SCHEMES)
    words = ", ".join(f"{t:.2f} and {d:.2f}" for t, d in zip(tcp, dctcp, strict=True))
    return Finding(f"{words} ms", all(ordered(d, t) for t, d in zip(tcp, dctcp, strict=True)))


def _tail(results: Results) -> Finding:
    tcp, dctcp = (_times(results, scheme) for scheme in SCHEMES)
    ratios = [t / d for t, d in zip(tcp, dctcp, strict=True)]
    words = ", ".join(f"{ratio:.1f}" for ratio in ratios)
    return Finding(
        f"{words} times (mean to 99.9th percentile)",
        all(ordered(ratios[0], ratio) for ratio in ratios[1:]),
    )


def _tcp(results: Results) -> Finding:
    found = timeout_pct(results, BASE, TCP)
    return Finding(f"{found:.2f}%", about(found, PUBLISHED["tcp_queries_with_timeout_pct"]))


def _dctcp(results: Results) -> Finding:
    found = timeout_pct(results, BASE, DCTCP)
    return Finding(f"{found:.3f}%", at_most(found, PUBLISHED["dctcp_queries_with_timeout_pct"]))


CLAIMS = (
    Claim(
        id="thesis-fig2-24-better",
        source="thesis 2.3.3, figure 2.24",
        claim="DCTCP performs better than TCP (mean and all percentiles)",
        check=_better,
        kind="fitted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-24-tail",
        source="thesis 2.3.3, figure 2.24",
        claim="especially at the tail (the 95th and higher percentiles gain more than the mean)",
        check=_tail,
        kind="fitted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-24-tcp-timeouts",
        source="thesis 2.3.3",
        claim="1.15% of TCP's queries suffer timeouts (within 25%)",
        check=_tcp,
        kind="fitted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-24-dctcp-timeouts",
        source="thesis 2.3.3",
        claim="none of DCTCP's do",
        check=_dctcp,
        kind="fitted",
        bound="document",
        cause="chance",
        tried="It holds for the 6025 queries of 20 s. Of 187,050 in ten minutes two have one; "
        "they began 31 us apart. In that time DCTCP loses 230 packets, TCP 681,893.",
        shown_by=commands("thesis-fig2-24", "", "--full"),
    ),
)


def draw(results: Results) -> "Figure":
    """Bars for the mean and the percentiles."""
    from hull.figures import BarPanel, plot_bars

    values = {
        (name, scheme): found
        for scheme in SCHEMES
        for name, found in zip(STATISTICS, _times(results, scheme), strict=True)
    }
    panel = BarPanel("Queries", "Completion time (ms)", STATISTICS, SCHEMES, values, log_y=True)
    return plot_bars([panel], width=4.6)


def _timeouts(results: Results) -> Estimate | None:
    return Estimate(timeout_pct(results, BASE, TCP), None) if results.parts(BASE, TCP) else None


EXPERIMENT = Experiment(
    id="thesis-fig2-24",
    title="Thesis figure 2.24: queries of the production benchmark",
    source="thesis 2.3.3, figure 2.24",
    scenario="thesis-benchmark",
    completion="delivered",
    variants=variants(BASE, SCHEMES),
    stated=statements("thesis", "benchmark", "figure 2.24"),
    points=(
        Point(
            BASE,
            TCP,
            "queries_with_timeout_pct",
            "mean",
            PUBLISHED["tcp_queries_with_timeout_pct"],
            _timeouts,
        ),
    ),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=(), seeds=1),
    full=Size(overrides=(), seeds=3),
)

"""Figure 2.25 of the thesis: the production benchmark with updates and responses ten times as
large.

95th percentile of the completion time (ms) of short messages (100 KB to 1 MB) and of queries:
TCP, TCP with a deep-buffered switch, TCP with RED, DCTCP.
"""

from typing import TYPE_CHECKING

from hull.benchmark import (
    BASE,
    BOTH,
    DCTCP,
    DEEP,
    RED,
    TCP,
    query_ms,
    short_ms,
    timeout_pct,
    value,
    variants,
)
from hull.claims import Claim, Finding
from hull.experiment import Experiment, Size, published
from hull.measured import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = (TCP, DEEP, RED, DCTCP)
PUBLISHED = published("thesis-dctcp", "benchmark_10x")
PANELS = {"Short messages": short_ms, "Queries": query_ms}


def _short(results: Results, scheme: str, condition: str = BOTH) -> float:
    return value(short_ms(results, condition, scheme, "p95"))


def _query(results: Results, scheme: str) -> float:
    return value(query_ms(results, BOTH, scheme, "p95"))


def _near(found: float, stated: float) -> bool:
    return abs(found / stated - 1) <= 0.25


def _short_gain(results: Results) -> Finding:
    tcp, dctcp = _short(results, TCP), _short(results, DCTCP)
    stated = PUBLISHED["short_message_p95_gain_ms"]
    return Finding(f"{tcp:.1f} and {dctcp:.1f} ms", _near(tcp - dctcp, stated))


def _query_gain(results: Results) -> Finding:
    tcp, dctcp = _query(results, TCP), _query(results, DCTCP)
    return Finding(
        f"{tcp:.1f} and {dctcp:.1f} ms", _near(tcp - dctcp, PUBLISHED["query_p95_gain_ms"])
    )


def _significantly(results: Results) -> Finding:
    tcp, dctcp = _query(results, TCP), _query(results, DCTCP)
    shares = timeout_pct(results, BOTH, TCP), timeout_pct(results, BOTH, DCTCP)
    return Finding(
        f"{tcp:.1f} and {dctcp:.1f} ms; timeouts {shares[0]:.1f} and {shares[1]:.2f}%",
        tcp > dctcp
        and _short(results, TCP) > _short(results, DCTCP)
        and shares[0] > 10 * shares[1],
    )


def _tcp(results: Results) -> Finding:
    found = timeout_pct(results, BOTH, TCP)
    least = PUBLISHED["tcp_queries_with_timeout_pct_at_least"]
    return Finding(f"{found:.1f}%", found >= least)


def _dctcp(results: Results) -> Finding:
    found = timeout_pct(results, BOTH, DCTCP)
    return Finding(f"{found:.2f}%", found <= 1.25 * PUBLISHED["dctcp_queries_with_timeout_pct"])


def _unchanged(results: Results) -> Finding:
    base, scaled = _short(results, DCTCP, BASE), _short(results, DCTCP)
    return Finding(f"{base:.1f} and {scaled:.1f} ms", _near(scaled, base))


def _deep_queries(results: Results) -> Finding:
    share = timeout_pct(results, BOTH, DEEP)
    return Finding(f"{share:.2f}% of the queries", share < 1)


def _deep_short(results: Results) -> Finding:
    found = _short(results, DEEP)
    return Finding(
        f"{found:.0f} ms, TCP {_short(results, TCP):.0f}, DCTCP {_short(results, DCTCP):.0f}",
        found >= PUBLISHED["deep_buffer_short_message_ms_at_least"]
        and found > _short(results, TCP),
    )


def _red_short(results: Results) -> Finding:
    red, tcp = _short(results, RED), _short(results, TCP)
    return Finding(f"{red:.1f} and {tcp:.1f} ms", red < tcp)


def _red_queries(results: Results) -> Finding:
    found = timeout_pct(results, BOTH, RED)
    return Finding(f"{found:.1f}%", _near(found, PUBLISHED["red_queries_with_timeout_pct"]))


CLAIMS = tuple(
    Claim(id=f"thesis-fig2-25-{name}", source="thesis 2.3.3, figure 2.25", claim=text, check=check)
    for name, text, check in (
        (
            "better",
            "DCTCP is significantly better than TCP for both (lower 95th percentiles, less than a "
            "tenth of the timeouts)",
            _significantly,
        ),
        ("short", "short messages gain 14 ms at the 95th percentile (within 25%)", _short_gain),
        ("query", "queries gain 136 ms (within 25%)", _query_gain),
        ("tcp-timeouts", "over 92% of TCP's queries suffer timeouts", _tcp),
        ("dctcp-timeouts", "0.3% of DCTCP's do (within 25%, or fewer)", _dctcp),
        (
            "unchanged",
            "short messages take as long with DCTCP as in the baseline (95th percentile, "
            "within 25%)",
            _unchanged,
        ),
        ("deep-queries", "with deep buffers less than 1% of TCP's queries suffer", _deep_queries),
        (
            "deep-short",
            "but short messages take over 80 ms, more than with shallow ones",
            _deep_short,
        ),
        ("red-short", "RED improves short messages over drop-tail", _red_short),
        ("red-queries", "but 95% of its queries have a timeout (within 25%)", _red_queries),
    )
)


def draw(results: Results) -> "Figure":
    """A bar for each scheme."""
    from hull.figures import BarPanel, plot_bars

    return plot_bars(
        [
            BarPanel(
                title,
                "95th percentile (ms)",
                ("10x",),
                SCHEMES,
                {("10x", s): value(read(results, BOTH, s, "p95")) for s in SCHEMES},
            )
            for title, read in PANELS.items()
        ]
    )


EXPERIMENT = Experiment(
    id="thesis-fig2-25",
    title="Thesis figure 2.25: the production benchmark, ten times as large",
    source="thesis 2.3.3, figure 2.25",
    scenario="thesis-benchmark",
    variants=(*variants(BOTH, SCHEMES), *variants(BASE, (TCP, DCTCP))),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=(), seeds=1),
    full=Size(overrides=(), seeds=1),
)

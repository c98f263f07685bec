"""Figure 2.26 of the thesis: the production benchmark with either updates or responses ten times as
large.

95th percentile of the completion time (ms) of short messages (100 KB to 1 MB) and of queries.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.benchmark import (
    BACKGROUND,
    BASE,
    DCTCP,
    DEDICATED,
    QUERIES,
    TCP,
    query_ms,
    short_ms,
    timeout_pct,
    value,
    variants,
)
from hull.experiments.common.claims import Claim, Finding, commands, ratio, unshipped
from hull.experiments.common.decided import at_least, less_than, ordered
from hull.experiments.common.experiment import Experiment, Size
from hull.experiments.common.measured import Results
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = (TCP, DCTCP)
CONDITIONS = (BASE, BACKGROUND, QUERIES)


def _short(results: Results, condition: str, scheme: str) -> float:
    return value(short_ms(results, condition, scheme, "p95"))


def _query(results: Results, condition: str, scheme: str) -> float:
    return value(query_ms(results, condition, scheme, "p95"))


def _hurts(results: Results) -> Finding:
    short = [_short(results, c, TCP) for c in (BASE, BACKGROUND)]
    query = [_query(results, c, TCP) for c in (BASE, BACKGROUND)]
    return Finding(
        f"short {short[0]:.1f} to {short[1]:.1f}, queries {query[0]:.1f} to {query[1]:.1f} ms",
        ordered(*short) and ordered(*query),
    )


def _mitigates(results: Results) -> Finding:
    short = [_short(results, BACKGROUND, s) for s in SCHEMES]
    query = [_query(results, BACKGROUND, s) for s in SCHEMES]
    return Finding(
        f"short {short[0]:.1f} and {short[1]:.1f}, queries {query[0]:.1f} and {query[1]:.1f} ms",
        ordered(short[1], short[0]) and ordered(query[1], query[0]),
    )


def _severe(results: Results) -> Finding:
    tcp, dctcp = (_query(results, QUERIES, s) for s in SCHEMES)
    return Finding(f"{tcp:.1f} and {dctcp:.1f} ms", at_least(ratio(tcp, dctcp), 2))


def _fewer(results: Results) -> Finding:
    tcp, dctcp = (timeout_pct(results, QUERIES, s) for s in SCHEMES)
    return Finding(f"{tcp:.1f} and {dctcp:.2f}% of the queries", less_than(ratio(dctcp, tcp), 0.1))


_TRIED = (
    "The responses are 1 MB and the port has 667 KB of memory, as in the incast of figure 2.19, "
    "where 29% of the queries have a timeout. Share of queries with a timeout, and 95th "
    "percentile (DCTCP): as shipped 33% and 27.1 ms (14.3), in 12 s 35% and 27.7 (15.9), cwnd "
    "validation 23% and 25.8, byte counting 48% and 27.8 (14.7), one ACK per packet 44% and 28.0 "
    "(14.5), hosts without jitter 35% and 28.3 (13.9), an exact timer 33% and 22.0, offloads 35% "
    "and 27.1, half of the interarrival times 0 47% and 62 (54), memory with alpha of 10% 67% "
    "and 27.7 (13.6), dedicated cells 69% and 29.3 (14.5), which is half."
)
SHOWN_BY = (
    *commands(
        "thesis-fig2-26",
        "",
        "--set run.duration=12s",
        "--set transport.cwnd_validation=true",
        "--set transport.byte_counting=true",
        "--set transport.ack_every=1",
        "--set host.stack_jitter.exponential=0s",
        "--set transport.rto_granularity=0s",
        "--set host.offload=64KB",
        "--set switch.memory.alpha=10%",
        DEDICATED,
    ),
    *unshipped("half of the times between queries 0"),
)

CLAIMS = (
    Claim(
        id="thesis-fig2-26-hurts",
        source="thesis 2.3.3, figure 2.26(a)",
        claim="ten times larger updates hurt TCP's short messages and queries",
        check=_hurts,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-26-mitigates",
        source="thesis 2.3.3, figure 2.26(a)",
        claim="DCTCP mitigates that (both are faster than with TCP)",
        check=_mitigates,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-26-severe",
        source="thesis 2.3.3, figure 2.26(b)",
        claim="ten times larger responses degrade TCP's queries severely, not DCTCP's (half the "
        "time)",
        check=_severe,
        kind="predicted",
        bound="hull",
        cause="testbed unknown",
        tried=_TRIED,
        shown_by=SHOWN_BY,
    ),
    Claim(
        id="thesis-fig2-26-timeouts",
        source="thesis 2.3.3",
        claim="because DCTCP reduces the timeouts (less than a tenth of TCP's)",
        check=_fewer,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """A group of bars for each benchmark."""
    from hull.figures import BarPanel, plot_bars

    return plot_bars(
        [
            BarPanel(
                title,
                "95th percentile (ms)",
                CONDITIONS,
                SCHEMES,
                {(c, s): read(results, c, s) for c in CONDITIONS for s in SCHEMES},
            )
            for title, read in (("Short messages", _short), ("Queries", _query))
        ],
        width=4.2,
    )


EXPERIMENT = Experiment(
    id="thesis-fig2-26",
    title="Thesis figure 2.26: updates or responses ten times as large",
    source="thesis 2.3.3, figure 2.26",
    scenario="thesis-benchmark",
    completion="delivered",
    variants=tuple(v for c in CONDITIONS for v in variants(c, SCHEMES)),
    stated=statements("thesis", "benchmark", "figure 2.26"),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=(), seeds=1),
    full=Size(overrides=(), seeds=3),
)

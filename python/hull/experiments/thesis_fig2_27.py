"""Figure 2.27 of the thesis: share of the production benchmark's queries with a timeout (%), as
updates grow up to ten times and responses up to 1 MB together.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

from hull.experiments.common.benchmark import (
    DCTCP,
    DEDICATED,
    FACTORS,
    RESPONSES_KB,
    TCP,
    factor_name,
    response_name,
    timeout_pct,
    variants,
)
from hull.experiments.common.claims import Claim, Finding, commands, unshipped
from hull.experiments.common.decided import at_least, at_most, ordered
from hull.experiments.common.experiment import Experiment, Size
from hull.experiments.common.measured import Results
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = (TCP, DCTCP)
CONDITIONS = tuple(dict.fromkeys([*map(factor_name, FACTORS), *map(response_name, RESPONSES_KB)]))


def _by_updates(results: Results, scheme: str) -> list[float]:
    return [timeout_pct(results, factor_name(factor), scheme) for factor in FACTORS]


def _by_responses(results: Results, scheme: str) -> list[float]:
    return [timeout_pct(results, response_name(kb), scheme) for kb in RESPONSES_KB]


def _words(values: list[float]) -> str:
    return ", ".join(f"{value:.2g}" for value in values)


def _gradual(results: Results) -> Finding:
    tcp, dctcp = (_by_updates(results, scheme) for scheme in SCHEMES)
    return Finding(
        f"TCP {_words(tcp)}%, DCTCP {_words(dctcp)}%",
        all(ordered(a, b) for a, b in pairwise(tcp))
        and all(ordered(d, t, or_equal=True) for t, d in zip(tcp, dctcp, strict=True)),
    )


def _sharp(results: Results) -> Finding:
    tcp = _by_responses(results, TCP)
    rises = all(ordered(a, b, or_equal=True) for a, b in pairwise(tcp))
    return Finding(f"{_words(tcp)}%", at_most(10 * tcp[0] - tcp[-1], 0) and rises)


def _almost_all(results: Results) -> Finding:
    found = _by_responses(results, TCP)[RESPONSES_KB.index(1000)]
    return Finding(f"{found:.0f}% with 1 MB", at_least(found, 90))


def _graceful(results: Results) -> Finding:
    tcp, dctcp = (_by_responses(results, scheme) for scheme in SCHEMES)
    return Finding(
        f"{_words(dctcp)}%",
        all(at_most(d - 0.1 * t, 0) for t, d in zip(tcp, dctcp, strict=True)),
    )


CLAIMS = (
    Claim(
        id="thesis-fig2-27-gradual",
        source="thesis 2.3.3, figure 2.27(a)",
        claim="larger updates bring more timeouts to TCP at each step, and TCP has more of them "
        "than DCTCP",
        check=_gradual,
        kind="predicted",
        bound="document",
        cause="chance",
        tried="It holds in the full size: with factors of 1, 2, 4, 6, 8 and 10 0.93, 1.2, 1.6, "
        "2.1, 2.9 and 4.0% of TCP's queries have a timeout, at most 0.013% of DCTCP's. In the "
        "quick size 1.0, 1.4, 1.8, 1.1, 1.6 and 2.5%, but 3 s have 900 queries: 1.1 and 1.8% are "
        "10 and 16 of them.",
        shown_by=commands("thesis-fig2-27", "", "--full"),
    ),
    Claim(
        id="thesis-fig2-27-sharp",
        source="thesis 2.3.3, figure 2.27(b)",
        claim="TCP's rise sharply with the size of responses (tenfold at least)",
        check=_sharp,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-27-almost-all",
        source="thesis 2.3.3",
        claim="beyond 800 KB almost all of TCP's queries have one (90% and more)",
        check=_almost_all,
        kind="predicted",
        bound="hull",
        cause="testbed unknown",
        tried="The responses are 1 MB and the port has 667 KB of memory, as in the incast of "
        "figure 2.19, where 29% of the queries have a timeout. As shipped 33%, in 12 s 35; idle "
        "windows are not validated as shipped (validated 23); byte counting 48, one ACK per "
        "packet 44, both 48; hosts without jitter 35, an exact timer 33, offloads 35, windows up "
        "to 10,000 packets 34, half of the interarrival times 0 47, memory with alpha of 10% 67, "
        "with dedicated cells 69.",
        shown_by=(
            *commands(
                "thesis-fig2-27",
                "",
                "--set run.duration=12s",
                "--set transport.cwnd_validation=true",
                "--set transport.byte_counting=true",
                "--set transport.ack_every=1",
                "--set transport.byte_counting=true --set transport.ack_every=1",
                "--set host.stack_jitter.exponential=0s",
                "--set transport.rto_granularity=0s",
                "--set host.offload=64KB",
                "--set transport.max_window=10000",
                "--set switch.memory.alpha=10%",
                DEDICATED,
            ),
            *unshipped("half of the times between queries 0"),
        ),
    ),
    Claim(
        id="thesis-fig2-27-graceful",
        source="thesis 2.3.3, figure 2.27(b)",
        claim="DCTCP handles them much more gracefully (at most a tenth of TCP's, at each size)",
        check=_graceful,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """Share of queries with a timeout along both."""
    from hull.figures import Line, Panel, plot_sweep

    return plot_sweep(
        [
            Panel(
                "Larger updates",
                "Factor on updates",
                "Queries with a timeout (%)",
                [Line(scheme, FACTORS, _by_updates(results, scheme)) for scheme in SCHEMES],
            ),
            Panel(
                "Larger responses",
                "Responses together (KB)",
                "Queries with a timeout (%)",
                [Line(scheme, RESPONSES_KB, _by_responses(results, scheme)) for scheme in SCHEMES],
                y_limits=(-2, 105),
            ),
        ]
    )


EXPERIMENT = Experiment(
    id="thesis-fig2-27",
    title="Thesis figure 2.27: timeouts as updates or responses grow",
    source="thesis 2.3.3, figure 2.27",
    scenario="thesis-benchmark",
    completion="delivered",
    variants=tuple(v for c in CONDITIONS for v in variants(c, SCHEMES)),
    stated=statements("thesis", "benchmark", "figure 2.27"),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=(), seeds=1),
    full=Size(overrides=(), seeds=2),
)

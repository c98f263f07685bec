"""Figure 2.20 of the thesis: 41 servers ask each other, 25 KB from each of the 40 others, all at
once.

Distribution of the queries' completion times (ms). Each server waits for its own responses only
before it asks again.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, ratio
from hull.experiments.common.decided import at_most, more_than
from hull.experiments.common.experiment import Experiment, Size, Variant, published
from hull.experiments.common.incast import ALL_TO_ALL, completion_cdf, mean_ms, timeout_share
from hull.experiments.common.measured import Results
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = TCP, DCTCP = ("tcp", "dctcp")
PUBLISHED = published("thesis-dctcp", "all_to_all")


def _dctcp(results: Results) -> Finding:
    found = timeout_share(results, "", DCTCP)
    most = PUBLISHED["dctcp_queries_with_timeout_pct"]
    return Finding(f"{100 * found:.2f}% of the queries", at_most(100 * found, most))


def _tcp(results: Results) -> Finding:
    found = 100 * timeout_share(results, "", TCP)
    return Finding(f"{found:.0f}% of the queries", more_than(found, 55))


def _poorly(results: Results) -> Finding:
    tcp, dctcp = (mean_ms(results, "", scheme) for scheme in SCHEMES)
    return Finding(
        f"{tcp:.1f} against {dctcp:.1f} ms on average", more_than(ratio(tcp, dctcp), 1.25)
    )


CLAIMS = (
    Claim(
        id="thesis-fig2-20-dctcp",
        source="thesis 2.3.2",
        claim="DCTCP suffers no timeouts at all",
        check=_dctcp,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-20-tcp",
        source="thesis 2.3.2",
        claim="over 55% of TCP's queries suffer at least one",
        check=_tcp,
        kind="fitted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-20-poorly",
        source="thesis 2.3.2, figure 2.20",
        claim="TCP performs poorly (a mean time more than 25% above DCTCP's)",
        check=_poorly,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """The distribution of completion times, up to the worst."""
    from hull.figures import Line, Panel, plot_sweep

    return plot_sweep(
        [
            Panel(
                "41 incasts at once",
                "Query completion time (ms)",
                "Share of the queries",
                [Line(scheme, *completion_cdf(results, "", scheme)) for scheme in SCHEMES],
                y_limits=(0, 1.02),
            )
        ],
        width=4.6,
        height=3.2,
    )


EXPERIMENT = Experiment(
    id="thesis-fig2-20",
    title="Thesis figure 2.20: all-to-all incast",
    source="thesis 2.3.2, figure 2.20",
    scenario="thesis-rack",
    completion="delivered",
    variants=(Variant(overrides=ALL_TO_ALL, schemes=SCHEMES),),
    stated=statements("thesis", "rack", "figure 2.20", "incast"),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=("workload.incast.queries=10",), seeds=1),
    full=Size(overrides=("workload.incast.queries=250",), seeds=3),
)

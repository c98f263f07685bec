"""Figure 2.21 of the thesis: the incast of figure 2.20 over switches with deep and shallow buffers.

16 MB and 4 MB of shared memory, responses of 1 and 10 MB together; mean completion time (ms) and
share of queries with a timeout. The deep switch cannot mark.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.benchmark import LOOKS
from hull.experiments.common.claims import Claim, Finding
from hull.experiments.common.decided import less_than, more_than
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.incast import ALL_TO_ALL, mean_ms, timeout_share
from hull.experiments.common.measured import Results
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = TCP, DEEP, DCTCP = ("tcp", "tcp_deep", "dctcp")
SMALL, LARGE = "1 MB", "10 MB"


def _deep_small(results: Results) -> Finding:
    found = timeout_share(results, SMALL, DEEP)
    shallow = timeout_share(results, SMALL, TCP)
    return Finding(f"{100 * found:.1f}%, shallow {100 * shallow:.0f}%", less_than(found, 0.01))


def _deep_large(results: Results) -> Finding:
    found = timeout_share(results, LARGE, DEEP)
    return Finding(f"{100 * found:.0f}% of the queries", more_than(found, 0.05))


def _dctcp(results: Results) -> Finding:
    shares = [timeout_share(results, size, DCTCP) for size in (SMALL, LARGE)]
    return Finding(
        f"{100 * shares[0]:.2f} and {100 * shares[1]:.2f}%", all(less_than(s, 0.01) for s in shares)
    )


CLAIMS = (
    Claim(
        id="thesis-fig2-21-deep",
        source="thesis 2.3.2, figure 2.21",
        claim="deep buffers prevent TCP's timeouts at 1 MB (below 1% of the queries)",
        check=_deep_small,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-21-reappears",
        source="thesis 2.3.2, figure 2.21",
        claim="they are back at 10 MB (more than 5%)",
        check=_deep_large,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-21-dctcp",
        source="thesis 2.3.2, figure 2.21",
        claim="DCTCP handles both with the shallow switch (below 1%)",
        check=_dctcp,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """Mean time and share of queries with a timeout, a group of bars for each size."""
    from hull.figures import BarPanel, plot_bars

    def panel(title: str, y_label: str, read: object, *, log_y: bool) -> BarPanel:
        assert callable(read)
        values = {(size, s): read(results, size, s) for size in (SMALL, LARGE) for s in SCHEMES}
        return BarPanel(title, y_label, (SMALL, LARGE), SCHEMES, values, log_y=log_y)

    return plot_bars(
        [
            panel("Query completion", "Mean completion time (ms)", mean_ms, log_y=True),
            panel("Timeouts", "Share of queries with a timeout", timeout_share, log_y=False),
        ],
        looks=LOOKS,
    )


EXPERIMENT = Experiment(
    id="thesis-fig2-21",
    title="Thesis figure 2.21: all-to-all incast, deep and shallow buffers",
    source="thesis 2.3.2, figure 2.21",
    scenario="thesis-rack",
    completion="delivered",
    variants=(
        Variant({"": SMALL}, overrides=ALL_TO_ALL),
        Variant(
            {"": LARGE},
            overrides=(*ALL_TO_ALL, "workload.incast.total=10MB", "workload.incast.queries=2"),
            sizes=("quick",),
        ),
        Variant(
            {"": LARGE},
            overrides=(*ALL_TO_ALL, "workload.incast.total=10MB", "workload.incast.queries=25"),
            sizes=("full",),
        ),
    ),
    stated=statements("thesis", "rack", "figure 2.21", "incast"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("workload.incast.queries=10",), seeds=1),
    full=Size(overrides=("workload.incast.queries=250",), seeds=3),
)

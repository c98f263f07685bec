"""Figure 6 of the EPFL ns-2 report: queries of 100 bytes to 40 servers that take 100 us on average,
gamma distributed, beside 10 MB transfers. Times in us unless named otherwise.
"""

from collections.abc import Callable
from statistics import fmean
from typing import TYPE_CHECKING

from hull.experiments.common.claims import CUT_FORM, Claim, Finding, cut_as_published, within
from hull.experiments.common.decided import more_than, ordered
from hull.experiments.common.experiment import Experiment, Point, Size, Variant, published
from hull.experiments.common.measured import Estimate, Measure, Results, value
from hull.experiments.common.queries import (
    CONDITIONS,
    DCTCP,
    HULL,
    LOADED,
    TCP,
    Drawn,
    average_cut,
    completion,
    cuts,
    draw_queries,
    in_time,
    response,
)
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUERY_CUT = published("epfl-ns2", "gamma_service")["p99_query_cut_pct_hull_vs_dctcp"]
RESPONSE_CUT = published("epfl-ns2", "gamma_service")[
    "p99_mean_server_response_cut_pct_hull_vs_dctcp"
]
NOTEBOOK = published("epfl-repository", "fig6")


def _notebook(metric: str) -> dict[tuple[str, str], float]:
    return {
        (condition, scheme): values[metric]
        for condition, schemes in NOTEBOOK.items()
        for scheme, values in schemes.items()
    }


PLOTS = {
    "p99_query_ms": Drawn(
        "99th percentile query completion",
        "Time (ms)",
        completion,
        _notebook("p99_query_ms"),
        unit=1e3,
        log_y=True,
    ),
    "p99_mean_response_ms": Drawn(
        "99th percentile average server response",
        "Time (ms)",
        response,
        _notebook("p99_mean_response_ms"),
        unit=1e3,
        log_y=True,
    ),
    "worst_in_time": Drawn(
        "Within 1 ms, worst 1% of queries",
        "Responses of 40",
        in_time,
        _notebook("worst_in_time"),
    ),
}


def draw(results: Results) -> "Figure":
    """Completion, average response, responses in time."""
    return draw_queries(results, tuple(PLOTS.values()), columns=3)


def _cut(measure: Measure, number: float) -> Callable[[Results], Finding]:
    def check(results: Results) -> Finding:
        found = cuts(measure, results, DCTCP)
        by_load = ", ".join(f"{cut:.1f}" for cut in found)
        return cut_as_published(fmean(found), number, by_load)

    return check


def _less_than_constant(results: Results) -> Finding:
    found = fmean(cuts(completion, results, DCTCP))
    return Finding(f"{found:.1f}% here, 47.3% in figure 5", within(found, 0, 47.3))


def _outlives(results: Results) -> Finding:
    query, mean = (fmean(cuts(m, results, DCTCP)) for m in (completion, response))
    return Finding(
        f"{mean:.1f}% of the mean response, {query:.1f}% of the query", ordered(query, mean)
    )


def _against_tcp(results: Results) -> Finding:
    found = cuts(completion, results, TCP)
    return Finding(
        ", ".join(f"{cut:.0f}%" for cut in found), all(more_than(cut, 50) for cut in found)
    )


def _service(results: Results) -> Finding:
    found = [value(in_time, results, c, HULL) - value(in_time, results, c, DCTCP) for c in LOADED]
    shown = ", ".join(f"{more:+.2f}" for more in found)
    return Finding(f"{shown} responses of 40", all(ordered(0, more) for more in found))


CLAIMS = (
    Claim(
        "epfl-fig6-completion",
        "report III-B",
        "With variable service time HULL's 99th percentile of query completion is only 11% "
        f"({CUT_FORM}, averaged over the loads with background traffic) below DCTCP's.",
        _cut(completion, QUERY_CUT),
        kind="predicted",
        bound="document",
    ),
    Claim(
        "epfl-fig6-reduced",
        "report III-B",
        "The randomness of the service time reduces HULL's improvement: it is below the 47.3% of "
        "constant service time.",
        _less_than_constant,
        kind="predicted",
        bound="document",
    ),
    Claim(
        "epfl-fig6-response",
        "report III-B",
        "In the 99th percentile of the average server response HULL keeps its advantage of about "
        f"50% ({CUT_FORM}) over DCTCP.",
        _cut(response, RESPONSE_CUT),
        kind="predicted",
        bound="document",
    ),
    Claim(
        "epfl-fig6-response-ignores-variance",
        "report III-B",
        "The average server response ignores the variability of the application: HULL's advantage "
        "over DCTCP is larger there than in query completion.",
        _outlives,
        kind="predicted",
        bound="document",
    ),
    Claim(
        "epfl-fig6-quality",
        "report III-B, figure 6",
        "In the worst 1% of the queries more servers meet 1 ms with HULL than with DCTCP, at each "
        "load with background traffic.",
        _service,
        kind="predicted",
        bound="document",
    ),
    Claim(
        "epfl-fig6-tcp",
        "report IV",
        "HULL offers great improvements of the tail against TCP where there is background traffic: "
        "more than half of the 99th percentile of query completion, at each load.",
        _against_tcp,
        kind="predicted",
        bound="hull",
    ),
)


def _point(metric: str, condition: str, scheme: str, number: float) -> Point:
    plot = PLOTS[metric]

    def measure(results: Results) -> Estimate | None:
        found = plot.measure(results, condition, scheme)
        if found is None:
            return None
        return Estimate(found.mean / plot.unit, found.ci95 and found.ci95 / plot.unit)

    name = metric if metric.endswith("_ms") else f"{metric}_responses"
    return Point(condition, scheme, name, "mean", number, measure)


EXPERIMENT = Experiment(
    id="epfl-fig6",
    title="EPFL ns-2 report, figure 6: low latency queries with variable service time, on ns-2",
    source="report III-B, figure 6",
    scenario="epfl-fig6",
    completion="delivered",
    variants=(Variant(CONDITIONS),),
    stated=statements("report", "all", "loaded", "figure 6", "oldi"),
    points=(
        *(
            Point("200-600 Mbps", HULL, name, "mean", number, average_cut(measure, DCTCP))
            for name, number, measure in (
                ("p99_query_cut_vs_dctcp_pct", QUERY_CUT, completion),
                ("p99_mean_response_cut_vs_dctcp_pct", RESPONSE_CUT, response),
            )
        ),
        *(
            _point(metric, condition, scheme, number)
            for metric in PLOTS
            for (condition, scheme), number in _notebook(metric).items()
        ),
    ),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=("run.warmup=17s", "run.duration=10s"), seeds=1),
    full=Size(overrides=(), seeds=3),
)

"""Section 2.1.1 of the thesis: the quality of results against the deadline of workers, and the time
of queries in several iterations.

A client outside the rack asks 11 mid-level aggregators, each of which asks the 43 other servers of
its rack, beside the production benchmark. A worker that misses its deadline is left out. Servers
work without a service time, so the network alone makes them late. Times in ms.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

from hull.experiments.common.benchmark import DCTCP, PRODUCTION, TCP
from hull.experiments.common.claims import Claim, Finding, commands, ratio
from hull.experiments.common.decided import at_least, ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.measured import Reader, Results, Summary
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = (TCP, DCTCP)
DEADLINES_MS = (2, 10, 25, 100)
STATED_MS = (10, 25, 100)
"""Within the thesis's "usually on the order of 10-100ms"."""
ITERATIONS = (1, 4, 20)
ALL_UP_MS = 200
"""Lower end of the all-up SLA, "between 200-300ms"."""
CLIENT = 44
AGGREGATORS = range(0, 44, 4)


def _deadline(milliseconds: int) -> str:
    return f"deadline {milliseconds} ms"


def _iterations(number: int) -> str:
    return f"iterations {number}"


def _missing_pct(part: Summary) -> float:
    return 100 * (1 - float(part["aggregation"]["quality"]))


def _incomplete_pct(part: Summary) -> float:
    return 100 * (1 - float(part["aggregation"]["full_share"]))


def _late_pct(results: Results, condition: str, scheme: str) -> float:
    """Queries of the client that take longer than the all-up SLA, %."""
    import polars as pl

    seeds = [part["seed"] for part in results.parts(condition, scheme)]
    tables = [results.table("queries", condition, scheme, seed) for seed in seeds]
    queries = pl.concat(tables).filter(pl.col("client") == CLIENT)["completion_ps"]
    return 100 * float((queries > ALL_UP_MS * 10**9).mean())


def _dctcp(results: Results) -> Finding:
    missing = {
        scheme: [results.mean(_deadline(d), scheme, _missing_pct) for d in STATED_MS]
        for scheme in SCHEMES
    }
    words = ", ".join(f"{t:.3f} and {d:.3f}" for t, d in zip(*missing.values(), strict=True))
    pairs = zip(missing[DCTCP], missing[TCP], strict=True)
    return Finding(f"{words}% of the answers missing", all(ordered(d, t) for d, t in pairs))


def _timeouts(results: Results) -> Finding:
    short, long = (results.mean(_deadline(d), TCP, _missing_pct) for d in (10, 100))
    return Finding(f"{short:.3f} and {long:.3f}%", at_least(ratio(long, short), 0.5))


def _users(results: Results) -> Finding:
    missing, incomplete = (
        results.mean(_deadline(10), TCP, read) for read in (_missing_pct, _incomplete_pct)
    )
    return Finding(
        f"{missing:.3f}% of the answers, {incomplete:.2f}% of the results",
        at_least(ratio(incomplete, missing), 10),
    )


def _add_up(results: Results) -> Finding:
    late = [_late_pct(results, _iterations(n), TCP) for n in ITERATIONS]
    words = ", ".join(f"{share:.1f}" for share in late)
    return Finding(f"{words}% of the queries", all(ordered(*two) for two in pairwise(late)))


CLAIMS = (
    Claim(
        id="thesis-deadlines-dctcp",
        source="thesis 2.1.1 and 2.4",
        claim="DCTCP prevents timeouts, which miss deadlines: at each deadline from 10 to 100 ms "
        "fewer answers are missing than with TCP",
        check=_dctcp,
        kind="fitted",
        bound="document",
        cause="chance",
        tried="The short form, 5 s of one seed, has no answer of TCP that is later than 100 ms, so "
        "the two are equal there; its slowest takes 80 ms.",
        shown_by=commands("thesis-deadlines", ""),
    ),
    Claim(
        id="thesis-deadlines-timeouts",
        source="thesis 2.1.3",
        claim="a response that incurs incast almost certainly misses the deadline: at 100 ms at "
        "least half as many answers are missing as at 10 ms (TCP)",
        check=_timeouts,
        kind="fitted",
        bound="hull",
        cause="mechanism",
        tried="A lost answer need not wait for the timeout: the packets of the next answer on its "
        "connection reveal the loss, and queries arrive at random times, some soon after the loss. "
        "With queries at equal intervals of 143.6 ms, where the next answer always comes after "
        "100 ms, 0.148% of the answers are missing at 10 ms and 0.176% at 100 ms (0.119 and "
        "0.034% at random times).",
        shown_by=commands(
            "thesis-deadlines",
            "--full",
            "--full --set workload.aggregation_tree.arrivals=fixed",
        ),
    ),
    Claim(
        id="thesis-deadlines-users",
        source="thesis 2.1.1",
        claim="with 100s of workers a few slow responses affect many users: the share of "
        "incomplete results is at least 10 times the share of missing answers (TCP, 10 ms)",
        check=_users,
        kind="fitted",
        bound="hull",
    ),
    Claim(
        id="thesis-deadlines-iterations",
        source="thesis 2.1.1",
        claim="lags add up over iterations to threaten the all-up SLA: 1, 4 and 20 iterations "
        "without deadlines, more queries each time take above 200 ms (TCP)",
        check=_add_up,
        kind="fitted",
        bound="document",
    ),
)


def draw(results: Results) -> "Figure":
    """Missing answers and incomplete results by deadline, and late queries by iterations."""
    from hull.figures import Line, Panel, plot_sweep

    def by_deadline(read: Reader) -> list[Line]:
        return [
            Line(
                scheme,
                DEADLINES_MS,
                [results.mean(_deadline(d), scheme, read) for d in DEADLINES_MS],
            )
            for scheme in SCHEMES
        ]

    late = [
        Line(scheme, ITERATIONS, [_late_pct(results, _iterations(n), scheme) for n in ITERATIONS])
        for scheme in SCHEMES
    ]
    label = "Deadline of a worker (ms)"
    return plot_sweep(
        [
            Panel("Quality", label, "Missing answers (%)", by_deadline(_missing_pct), log_x=True),
            Panel("Results", label, "Incomplete (%)", by_deadline(_incomplete_pct), log_x=True),
            Panel("No deadline", "Iterations", "Queries above 200 ms (%)", late),
        ],
        columns=3,
        width=3,
    )


def _variant(condition: str, workers: str) -> Variant:
    others = [host for a in AGGREGATORS for host in range(44) if host != a]
    levels = f"{{hosts={list(AGGREGATORS)}}},{{hosts={others},{workers}}}"
    # As often as a server of the benchmark sends a query.
    tree = f'client={CLIENT},interval="143.6ms",levels=[{levels}]'
    return Variant(
        {"": condition},
        overrides=(*PRODUCTION, f"workload.aggregation_tree={{{tree}}}"),
        schemes=SCHEMES,
    )


EXPERIMENT = Experiment(
    id="thesis-deadlines",
    title="Thesis 2.1.1: quality of results against deadlines",
    source="thesis 2.1.1",
    scenario="thesis-benchmark",
    completion="delivered",
    variants=(
        *(_variant(_deadline(d), f'deadline="{d}ms"') for d in DEADLINES_MS),
        *(_variant(_iterations(n), f"iterations={n}") for n in ITERATIONS),
    ),
    stated=statements("thesis", "deadlines"),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=("run.duration=5s",), seeds=1),
    full=Size(overrides=("run.duration=6s",), seeds=6),
)

"""Section 2.4 of the thesis: responses pulled in small batches, against incast.

The rack of section 2.1.3 with TCP, as in the comparison with and without jitter: a query asks 43
servers at once, or in batches, each after the responses of the one before. Completion times in ms.
"""

from functools import partial
from typing import TYPE_CHECKING

from hull.experiments.common.benchmark import PRODUCTION, TCP, query_ms, timeout_pct, value
from hull.experiments.common.claims import Claim, Finding, commands
from hull.experiments.common.decided import ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.measured import Results
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AT_ONCE, JITTERED = "at once", "jittered over 10 ms"
BATCHES = (16, 8, 4)
"""Servers that are asked at the same time: the thesis says "small"."""
SMALL = "batches of 8"
CONDITIONS = (AT_ONCE, *(f"batches of {n}" for n in BATCHES), JITTERED)
PERCENTILES = (50, 95, 99, 99.9)
_SETUP = (*PRODUCTION, "switch.memory.alpha=3.33%")


def _time(results: Results, condition: str, percentile: float) -> float:
    return value(query_ms(results, condition, TCP, f"p{percentile:g}"))


def _median(results: Results) -> Finding:
    once, batches = (_time(results, c, 50) for c in (AT_ONCE, SMALL))
    return Finding(f"{once:.2f} to {batches:.2f} ms", ordered(once, batches))


def _tail(results: Results, *, percentile: float) -> Finding:
    once, batches = (_time(results, c, percentile) for c in (AT_ONCE, SMALL))
    return Finding(f"{once:.1f} to {batches:.1f} ms", ordered(batches, once))


def _timeouts(results: Results) -> Finding:
    once, batches = (timeout_pct(results, c, TCP) for c in (AT_ONCE, SMALL))
    return Finding(f"{once:.2f} to {batches:.2f}% of the queries", ordered(batches, once))


_SOURCE = "thesis 2.4, incast"
CLAIMS = (
    Claim(
        id="thesis-batches-median",
        source=_SOURCE,
        claim="batching (8 servers at a time) increases the median response time",
        check=_median,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-batches-p999",
        source=_SOURCE,
        claim="while curbing the higher percentiles: the 99.9th falls",
        check=partial(_tail, percentile=99.9),
        kind="predicted",
        bound="document",
        cause="mechanism",
        tried="It is the minimum RTO, 300 ms, in all conditions, because more than one query in "
        "1000 has a timeout in each: 0.77% at once, 0.49% in batches of 16, 0.41% of 8, 0.23% of "
        "4, and 0.41% with jitter.",
        shown_by=commands("thesis-batches", "--full"),
    ),
    Claim(
        id="thesis-batches-p99",
        source=_SOURCE,
        claim="... and the 99th falls",
        check=partial(_tail, percentile=99),
        kind="fitted",
        bound="document",
    ),
    Claim(
        id="thesis-batches-timeouts",
        source="thesis 2.1.3 and 2.4, incast",
        claim="it does so by avoiding timeouts: fewer queries have one",
        check=_timeouts,
        kind="fitted",
        bound="document",
    ),
)


def draw(results: Results) -> "Figure":
    """The percentiles, and the queries with a timeout."""
    from hull.figures import BarPanel, plot_bars

    groups = tuple(f"{p:g}" for p in PERCENTILES)
    times = {
        (group, condition): _time(results, condition, p)
        for p, group in zip(PERCENTILES, groups, strict=True)
        for condition in CONDITIONS
    }
    shares = {("", condition): timeout_pct(results, condition, TCP) for condition in CONDITIONS}
    return plot_bars(
        [
            BarPanel(
                "Queries by percentile",
                "Completion time (ms)",
                groups,
                CONDITIONS,
                times,
                log_y=True,
            ),
            BarPanel("Timeouts", "Queries with a timeout (%)", ("",), CONDITIONS, shares),
        ],
        width=4.2,
        height=3,
    )


def _variant(condition: str, *overrides: str) -> Variant:
    return Variant({"": condition}, overrides=(*_SETUP, *overrides), schemes=(TCP,))


EXPERIMENT = Experiment(
    id="thesis-batches",
    title="Thesis 2.4: responses in batches, against incast",
    source=_SOURCE,
    scenario="thesis-benchmark",
    completion="delivered",
    variants=(
        _variant(AT_ONCE),
        *(_variant(f"batches of {n}", f"workload.production.batch={n}") for n in BATCHES),
        _variant(JITTERED, "workload.production.jitter=10ms"),
    ),
    stated=statements("thesis", "jitter"),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=("run.duration=10s",), seeds=1),
    full=Size(overrides=("run.duration=20s",), seeds=6),
)

"""Figures 2.2, 2.3, 2.4 and 2.6 of the thesis: the traffic of a production cluster, from the
generator of the production benchmark.

A rack of 44 servers with TCP, a minimum RTO of 300 ms and 14 ms of memory for one busy port, as in
figure 2.8. The shapes of the distributions behind figures 2.2 and 2.3 are invented; counts, shares
and limits are the text's. Times in ms.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from hull.experiments.common.benchmark import PRODUCTION, TCP
from hull.experiments.common.claims import Claim, Finding, about, commands, unshipped, within
from hull.experiments.common.concurrency import UPDATE_BYTES, concurrent_flows
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.measured import Results
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SERVERS = 44
OUTSIDE = 44
MEDIAN, TAIL = 36, 1600
"""Concurrent flows: median and 99.99th percentile."""
EVENT_MS, RTO_MS, SPREAD_MS, MEMORY_MS = 13.5, 300, 12, 14
_PS = 1e9
_LAST_PACKET = 2000 - 1460 + 40
"""A response has 2 KB, a full segment 1460 bytes."""
_MS_PER_BYTE = 8e-6


def _tables(results: Results, name: str) -> list[Any]:
    return [results.table(name, "", TCP, part["seed"]) for part in results.parts("", TCP)]


@lru_cache(maxsize=8)
def _concurrent(results: Results, per_answer: int = 2) -> tuple[Any, Any]:
    import numpy as np

    pairs = zip(_tables(results, "flows"), _tables(results, "queries"), strict=True)
    found = [
        concurrent_flows(flows, queries.drop_nulls("completion_ps"), SERVERS, per_answer=per_answer)
        for flows, queries in pairs
    ]
    everything, large = (np.concatenate(counts) for counts in zip(*found, strict=True))
    return everything, large[large > 0]


def _between(tables: list[Any], servers: Any) -> Any:
    """Times between the rows of each server, ms, ascending."""
    import numpy as np
    import polars as pl

    gaps = [
        table.with_columns(server=servers)
        .sort("server", "start_ps")
        .select(pl.col("start_ps").diff().over("server"))
        .drop_nulls()["start_ps"]
        .to_numpy()
        for table in tables
    ]
    return np.sort(np.concatenate(gaps)) / _PS


def _background(results: Results) -> Any:
    import polars as pl

    starter = pl.when(pl.col("src") == OUTSIDE).then("dst").otherwise("src")
    return _between(_tables(results, "flows"), starter)


def _sizes(results: Results) -> Any:
    import numpy as np

    sizes = [flows["bytes"].to_numpy() for flows in _tables(results, "flows")]
    return np.sort(np.concatenate(sizes))


class Event(NamedTuple):
    """A query of which one response is lost: figure 2.6. Times since its start, ms."""

    completion: float
    arrivals: list[float]
    """Of the responses that find the aggregator's port busy."""
    queues: list[float]
    """That each of them finds, as its drain time."""
    longest: float
    """Queue of the aggregator's port before the minimum RTO, as its drain time."""

    @property
    def others(self) -> float:
        """Arrival of the last response but the lost one; NaN if all found the port idle."""
        return max((t for t in self.arrivals if t < RTO_MS), default=float("nan"))

    @property
    def spread(self) -> float:
        """Time over which the responses but the lost one arrive."""
        in_time = [t for t in self.arrivals if t < RTO_MS]
        return max(in_time) - min(in_time) if in_time else float("nan")

    @property
    def as_published(self) -> bool:
        """Whether a response may have been lost at the aggregator's port, and times are near the
        figure's. Without a long queue that port loses nothing: then the request was lost."""
        return (
            self.longest >= MEMORY_MS / 2
            and abs(self.spread / SPREAD_MS - 1) <= 0.25
            and abs(self.others / EVENT_MS - 1) <= 0.25
            and RTO_MS <= self.completion <= 1.25 * RTO_MS
        )


@lru_cache(maxsize=8)
def _events(results: Results) -> list[Event]:
    """Queries with one timeout that end after the minimum RTO, those nearest to the figure first.

    Queries of aggregators that send another query before the end are left out: its responses look
    the same.
    """
    found = []
    for queries, queues in zip(
        _tables(results, "queries"), _tables(results, "queues"), strict=True
    ):
        for query in queries.drop_nulls("completion_ps").iter_rows(named=True):
            if query["timeouts"] == 1 and query["completion_ps"] >= RTO_MS * _PS:
                event = _event(query, queues)
                others = [t for t in event.arrivals if t < RTO_MS]
                if 0 < len(others) <= SERVERS - 1:
                    found.append(event)
    return sorted(found, key=lambda event: abs(event.others - EVENT_MS))


def _event(query: dict[str, Any], queues: Any) -> Event:
    import polars as pl

    start, end = query["start_ps"], query["start_ps"] + query["completion_ps"]
    port = queues.filter(pl.col("port") == f"switch->h{query['client']}").select(
        "time_ps", pl.col("bytes", "packets").cast(pl.Int64)
    )
    arrived = port.with_columns(
        before=pl.col("bytes").shift(1, fill_value=0),
        more=pl.col("packets") - pl.col("packets").shift(1, fill_value=0),
    ).filter(
        pl.col("time_ps").is_between(start, end)
        & (pl.col("more") == 1)
        & (pl.col("bytes") - pl.col("before") == _LAST_PACKET)
    )
    times = ((arrived["time_ps"] - start) / _PS).to_list()
    before_rto = port.filter(pl.col("time_ps").is_between(start, start + int(RTO_MS * _PS)))
    return Event(
        query["completion_ps"] / _PS,
        times,
        (arrived["before"] * _MS_PER_BYTE).to_list(),
        float(before_rto["bytes"].max() or 0) * _MS_PER_BYTE,
    )


def _median(results: Results) -> Finding:
    import numpy as np

    two, one = (float(np.median(_concurrent(results, n)[0])) for n in (2, 1))
    return Finding(f"{two:.0f}; {one:.0f} with one for both", about(two, MEDIAN))


def _connections(results: Results) -> Finding:
    import numpy as np

    found = float(np.median(_concurrent(results, 1)[0]))
    return Finding(f"{found:.0f}", about(found, MEDIAN))


def _tail(results: Results) -> Finding:
    import numpy as np

    found = float(np.percentile(_concurrent(results)[0], 99.99))
    return Finding(f"{found:.0f}", about(found, TAIL))


def _large(results: Results) -> Finding:
    import numpy as np

    median, upper = np.percentile(_concurrent(results)[1], [50, 75])
    return Finding(f"{median:g} and {upper:g}", within(median, 1, 1) and within(upper, 2, 2))


def _lost(results: Results) -> Finding:
    events = _events(results)
    if not events:
        return Finding("none", False)
    nearest = next((event for event in events if event.as_published), events[0])
    return Finding(
        f"of {len(events)} events {sum(event.as_published for event in events)}; nearest: others "
        f"over {nearest.spread:.1f} ms, by {nearest.others:.1f}, the lost one after "
        f"{nearest.completion:.0f}, {nearest.longest:.1f} ms of queue at the aggregator",
        nearest.as_published,
    )


def _hugs(results: Results) -> Finding:
    gaps = _background(results)
    share = float((gaps == 0).mean())
    spread = float(gaps.std() / gaps.mean())
    return Finding(
        f"{100 * share:.0f}%, {spread:.1f} times the mean", about(share, 0.5) and spread > 2
    )


def _bytes_in_large(results: Results) -> Finding:
    sizes = _sizes(results)
    small = float((sizes < 50_000).mean())
    large = float(sizes[sizes > UPDATE_BYTES].sum() / sizes.sum())
    return Finding(f"{100 * small:.0f}% and {100 * large:.0f}%", small > 0.5 and large > 0.5)


CLAIMS = (
    Claim(
        id="thesis-workload-zero",
        source="thesis 2.1.2, figure 2.2(b)",
        claim="0 ms interarrivals explain the CDF hugging the axis up to the 50th percentile "
        "(within 25%); the variance is very high (standard deviation more than twice the mean, "
        "which is an exponential distribution's)",
        check=_hugs,
        kind="by construction",
        bound="hull",
    ),
    Claim(
        id="thesis-workload-bytes",
        source="thesis 2.1.2, figure 2.3",
        claim="most background flows are small (below 50 KB), but most of the bytes are part of "
        "large flows (above 1 MB)",
        check=_bytes_in_large,
        kind="by construction",
        bound="document",
    ),
    Claim(
        id="thesis-workload-median",
        source="thesis 2.1.2, figure 2.4",
        claim="the median number of concurrent flows is 36 (within 25%; a request and its "
        "response are two)",
        check=_median,
        kind="fitted",
        bound="document",
    ),
    Claim(
        id="thesis-workload-connections",
        source="thesis 2.1.2, figure 2.4",
        claim="the median is 36 (within 25%) also if connections are counted, as the caption says: "
        "a request and its response are one",
        check=_connections,
        kind="predicted",
        bound="document",
        cause="documents contradict",
        tried="Figure 2.4's caption has connections, its text flows; a query has one connection to "
        "each server. With a request and its response as two flows the same runs have 36 to 40.",
        shown_by=commands("thesis-workload", "", "--full"),
    ),
    Claim(
        id="thesis-workload-tail",
        source="thesis 2.1.2, figure 2.4",
        claim="the 99.99th percentile is over 1,600 (1,600 within 25%)",
        check=_tail,
        kind="predicted",
        bound="document",
        cause="documents contradict",
        tried="A server that sends k queries in a window has 86 k flows of them. 1,600 would take "
        "18 queries of one server in 50 ms, where the text's counts give one in 143.6 ms on "
        "average. The same paragraph has a server with a median of 1,200 connections, of a service "
        "that the text does not describe.",
        shown_by=(
            *commands("thesis-workload", "--full"),
            *unshipped("the services of servers with more connections"),
        ),
    ),
    Claim(
        id="thesis-workload-large",
        source="thesis 2.1.2, figure 2.4",
        claim="the median number of concurrent flows above 1 MB is 1, and the 75th percentile 2 "
        "(windows with such a flow)",
        check=_large,
        kind="predicted",
        bound="document",
        cause="testbed unknown",
        tried="The benchmark draws flows independently (footnote 6), so two updates rarely "
        "overlap: 5% of the flows, 12 MB on average, use 4% of the links. In production, polling "
        "may start updates together.",
        shown_by=(
            *commands("thesis-workload", "--full"),
            *unshipped("updates that start together"),
        ),
    ),
    Claim(
        id="thesis-workload-incast",
        source="thesis 2.1.3, figure 2.6",
        claim="incast events occur in which a response is lost at the aggregator's port: the "
        "arrivals of the others are distributed over about 12 ms (within 25%), all but one return "
        "by 13.5 ms (within 25%), and the lost one after the minimum RTO of 300 ms (300 to 375 ms)",
        check=_lost,
        kind="predicted",
        bound="document",
        cause="testbed unknown",
        tried="The timeouts are of requests that are lost at a worker's port, not of responses. In "
        "10 s one query with one timeout ends after 300 ms; the others arrive within 1.2 ms, one "
        "of them at 6.1, and the aggregator's port has at most 0.5 ms of queue. Of 13 in 60 s the "
        "nearest to the figure has others over 10.3 ms and by 10.5, with 1.3 ms of queue. The "
        "thesis does not say which long flows an aggregator receives.",
        shown_by=commands("thesis-workload", "", "--full"),
    ),
)


def draw(results: Results) -> "Figure":
    """The distribution functions of figures 2.2 to 2.4, and the event of figure 2.6."""
    import numpy as np

    from hull.figures import Line, Panel, plot_sweep

    def cdf(values: Any, weights: Any = None) -> Line:
        mass = np.cumsum(np.ones(len(values)) if weights is None else weights)
        at = np.unique(np.linspace(0, len(values) - 1, 400).astype(int))
        return Line(TCP, values[at], (mass / mass[-1])[at])

    queries = _between(_tables(results, "queries"), "client")
    sizes, (everything, large) = _sizes(results), _concurrent(results)
    panels = [
        Panel("2.2(a)", "Time between queries (ms)", "CDF", [cdf(queries)]),
        Panel("2.2(b)", "Time between background flows (ms)", "CDF", [cdf(_background(results))]),
        Panel("2.3: flows", "Flow size (KB)", "CDF", [cdf(sizes / 1e3)], log_x=True),
        Panel("2.3: bytes", "Flow size (KB)", "CDF", [cdf(sizes / 1e3, sizes)], log_x=True),
        Panel("2.4: all", "Concurrent flows", "CDF", [cdf(np.sort(everything))]),
        Panel("2.4: above 1 MB", "Concurrent flows", "CDF", [cdf(np.sort(large))]),
    ]
    if events := _events(results):
        event = Line(TCP, events[0].arrivals, events[0].queues)
        label = "Response since the query (ms)"
        panels.append(Panel("2.6", label, "Queue found (ms)", [event], log_x=True, joined=False))
    return plot_sweep(panels, columns=3, width=3)


_PORTS = [f"switch->h{host}" for host in range(SERVERS)]
EXPERIMENT = Experiment(
    id="thesis-workload",
    title="Thesis figures 2.2, 2.3, 2.4 and 2.6: traffic of a production cluster",
    source="thesis 2.1.2 and 2.1.3, figures 2.2 to 2.4 and 2.6",
    scenario="thesis-benchmark",
    completion="delivered",
    variants=(
        Variant(
            overrides=(
                *PRODUCTION,
                "switch.memory.alpha=77.8%",  # 14 ms of 1 Gbps, 1.75 of 4 MB, for one busy port
                "measure.queue_changes=true",
                f"measure.ports={_PORTS}".replace("'", '"'),
            ),
            schemes=(TCP,),
        ),
    ),
    stated=statements("thesis", "figure 2.8"),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=("run.duration=10s",), seeds=1),
    full=Size(overrides=("run.duration=20s",), seeds=3),
)

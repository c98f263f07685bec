"""Figure 4 of the EPFL ns-2 report: search queries to ten servers that take 2.53 ms on average,
gamma distributed, beside 10 MB transfers; a response above 25 ms is late.

Completion and response times in us, the queue's latency in us, averaged over 10 ms each time.
"""

import math
from collections.abc import Callable
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from hull.experiments.common.claims import (
    CUT_FORM,
    Claim,
    Finding,
    about,
    commands,
    cut_as_published,
    cut_pct,
    ratio,
    unshipped,
    within,
)
from hull.experiments.common.decided import at_least, less_than, more_than, ordered
from hull.experiments.common.experiment import Experiment, Point, Size, Variant, published
from hull.experiments.common.measured import (
    Estimate,
    Measure,
    Results,
    from_summary,
    from_table,
    goodput_mbps,
    interval_means,
    query,
    value,
)
from hull.experiments.common.queries import (
    ALONE,
    CONDITIONS,
    DCTCP,
    HULL,
    LOADED,
    TCP,
    Drawn,
    completion,
    cuts,
    draw_queries,
    in_time,
    response,
)
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

PUBLISHED = published("epfl-ns2", "search")
AT = LOADED[0]
"""The load of the report's numbers, 200 Mbps."""
QUEUES = dict(
    zip((HULL, DCTCP, TCP), PUBLISHED["p99_queue_latency_us_at_200mbps"].values(), strict=True)
)
latency = from_table("latency", interval_means("p99"))
mean_latency = from_table("latency", interval_means("mean"))
mean_completion = from_summary(query("mean"))

PLOTS = (
    Drawn("(a) 99th percentile query completion", "Time (ms)", completion, unit=1e3),
    Drawn("(b) 99th percentile average server response", "Time (ms)", response, unit=1e3),
    Drawn("(c) Within 25 ms, worst 1% of queries", "Responses of 10", in_time),
    Drawn(
        "(d) 99th percentile switch queueing latency",
        "Latency (µs)",
        latency,
        {(AT, scheme): number for scheme, number in QUEUES.items()},
        log_y=True,
    ),
)


def draw(results: Results) -> "Figure":
    """The report's four plots."""
    return draw_queries(results, PLOTS, columns=2)


# Associations, from the whole run. Of the 40 flows that are followed the first 20 are the
# background's, two for each server; those that host 0 sends carry requests.

_SERVERS = 10
_PACKETS = {"search": 4 / 3500, "background": 1 / 950}
"""Packets for each byte, as the report counts them; for search, with requests of 3500 B."""
_TIME_PS = 150e12
"""Simulated time of the report's counts, to which ours are scaled."""


class Pacing(NamedTuple):
    """Flow association in the servers' pacers for one kind of flow, in 150 s, mean over servers."""

    packets: float
    associations: float
    """ECN-Echoes that associated the flow, also where it was associated already."""
    begun: float
    """Those where it was not: as many associations have ended, or one fewer."""

    @property
    def share_pct(self) -> float:
        """Associations, in percent of the packets."""
        return 100 * ratio(self.associations, self.packets)

    @property
    def ended_pct(self) -> float:
        """Associations that ended, in percent of all."""
        return 100 * ratio(self.begun, self.associations)


def pacing(results: Results, kind: str) -> Pacing:
    """With "search" or "background" flows, at 200 Mbps."""
    counts = ("packets", "associations", "associations_begun")
    found = [
        results.of_table("series", AT, HULL, partial(_count, kind=kind, count=count))
        for count in counts
    ]
    return Pacing(*(math.nan if count is None else count.mean for count in found))


def _count(series: "pl.DataFrame", kind: str, count: str) -> float:
    import polars as pl

    last = series.sort("time_ps").group_by("flow", maintain_order=True).last()
    scale = _TIME_PS / float(last["time_ps"].max()) / _SERVERS  # type: ignore[arg-type]
    flows = last.filter(pl.col("flow") >= 20 if kind == "search" else pl.col("flow") < 20)
    asks = flows["src"] == 0
    if count == "packets":
        carriers = flows.filter(asks if kind == "search" else ~asks)
        return float(carriers["delivered_bytes"].sum()) * _PACKETS[kind] * scale
    return float(flows.filter(~asks)[count].sum()) * scale


ASSOCIATIONS = PUBLISHED["pacer_associations_at_200mbps"]


def _share(kind: str) -> Callable[[Results], Finding]:
    number = 100 * ASSOCIATIONS[kind] / ASSOCIATIONS[f"{kind}_packets"]

    def check(results: Results) -> Finding:
        found = pacing(results, kind)
        shown = f"{found.share_pct:.2f}%: {found.associations:.0f} of {found.packets:.0f}"
        return Finding(f"{shown} (source {number:.1f}%)", about(found.share_pct, number))

    return check


def _ended(kind: str) -> Callable[[Results], Finding]:
    number = 100 * ASSOCIATIONS[f"{kind}_disassociated"] / ASSOCIATIONS[kind]

    def check(results: Results) -> Finding:
        found = pacing(results, kind)
        shown = f"{found.ended_pct:.2f}%: {found.begun:.0f} of {found.associations:.0f}"
        return Finding(f"{shown} (source {number:.1f}%)", about(found.ended_pct, number))

    return check


def _selects(results: Results) -> Finding:
    search, background = pacing(results, "search"), pacing(results, "background")
    shown = f"{search.ended_pct:.0f}% of the search, {background.ended_pct:.1f}% of the background"
    return Finding(shown, more_than(search.ended_pct, 50) and less_than(background.ended_pct, 5))


def _ratio(other: str, number: float) -> Callable[[Results], Finding]:
    def check(results: Results) -> Finding:
        hull, high = (value(latency, results, AT, scheme) for scheme in (HULL, other))
        factor = ratio(high, hull)
        shown = f"{high:.0f} us to {hull:.1f} us, factor {factor:.0f}"
        return Finding(shown, about(factor, number))

    return check


def _same_as_dctcp(measure: Measure) -> Callable[[Results], Finding]:
    """The differences from DCTCP are below 5%."""

    def check(results: Results) -> Finding:
        found = cuts(measure, results, DCTCP, (ALONE, *LOADED))
        return Finding(
            ", ".join(f"{-cut:+.2f}%" for cut in found), all(within(cut, -5, 5) for cut in found)
        )

    return check


def _at_30_ms(results: Results) -> Finding:
    found = [value(completion, results, AT, scheme) / 1e3 for scheme in (DCTCP, HULL)]
    number = PUBLISHED["p99_query_completion_ms"]
    shown = " and ".join(f"{ms:.1f} ms" for ms in found)
    return Finding(shown, all(about(ms, number) for ms in found))


def _outperform(results: Results) -> Finding:
    """DCTCP's and HULL's percentiles are below TCP's at 400 and 600 Mbps."""
    shown, holds = [], True
    for scheme, name in ((DCTCP, "DCTCP"), (HULL, "HULL")):
        for measure in (completion, response):
            for c in LOADED[1:]:
                low, high = (value(measure, results, c, s) for s in (scheme, TCP))
                shown.append(f"{cut_pct(low, high):.1f}")
                holds &= ordered(low, high)
        shown[-1] += f"% ({name})"
    return Finding(", ".join(shown), holds)


def _means_outperform(results: Results) -> Finding:
    means = [value(mean_completion, results, LOADED[2], s) / 1e3 for s in (TCP, DCTCP, HULL)]
    shown = "{:.2f} ms (TCP), {:.2f} (DCTCP), {:.2f} (HULL) at 600 Mbps".format(*means)
    holds = all(
        ordered(value(mean_completion, results, c, s), value(mean_completion, results, c, TCP))
        for c in LOADED[1:]
        for s in (DCTCP, HULL)
    )
    return Finding(shown, holds)


def _up_to_40(results: Results) -> Finding:
    found = cuts(completion, results, TCP)
    return cut_as_published(max(found), 40, ", ".join(f"{cut:.1f}" for cut in found))


def _quality(results: Results) -> Finding:
    """The share of responses in time barely depends on the background traffic."""
    shown, holds = [], True
    for scheme, name in ((DCTCP, "DCTCP"), (HULL, "HULL")):
        found = [value(in_time, results, c, scheme) for c in (ALONE, *LOADED)]
        shown.append(f"{name} " + ", ".join(f"{n:.2f}" for n in found))
        holds &= all(about(n, found[0], 0.05) for n in found)
    return Finding("; ".join(shown) + " of 10", holds)


def _order_of_10_us(results: Results) -> Finding:
    """Means over time, averaged over the loads."""
    hull, dctcp = (
        fmean(value(mean_latency, results, c, scheme) for c in LOADED) for scheme in (HULL, DCTCP)
    )
    holds = within(hull, 10 / 5, 10 * 5) and at_least(ratio(dctcp, hull), 5)
    return Finding(f"{hull:.1f} us, DCTCP {ratio(dctcp, hull):.0f} times that", holds)


def _traffic(results: Results) -> Finding:
    found = results.mean(ALONE, TCP, goodput_mbps)
    return Finding(f"{found:.1f} Mbps", about(found, 26.5))


CLAIMS = (
    Claim(
        "epfl-fig4-traffic",
        "report III-B",
        "The search workload alone puts 26.5 Mbps of payload (within 25%) on the client's link.",
        _traffic,
        kind="fitted",
        bound="document",
    ),
    Claim(
        "epfl-fig4-latency-dctcp",
        "report III-B",
        "At 200 Mbps HULL's 99th percentile of queueing latency is 46 times (within 25%) lower "
        "than DCTCP's.",
        _ratio(DCTCP, 46),
        kind="predicted",
        bound="document",
    ),
    Claim(
        "epfl-fig4-latency-tcp",
        "report III-B",
        "At 200 Mbps it is 355 times (within 25%) lower than TCP's.",
        _ratio(TCP, 355),
        kind="predicted",
        bound="document",
    ),
    Claim(
        "epfl-fig4-completion",
        "report III-B",
        "Against DCTCP this is no measurable improvement of the 99th percentile of query "
        "completion (less than 5% difference at each load).",
        _same_as_dctcp(completion),
        kind="predicted",
        bound="hull",
    ),
    Claim(
        "epfl-fig4-30ms",
        "report III-B",
        "The 99th percentile of query completion hovers around 30 ms (within 25%), for DCTCP and "
        "HULL at 200 Mbps.",
        _at_30_ms,
        kind="predicted",
        bound="document",
    ),
    Claim(
        "epfl-fig4-response",
        "report III-B",
        "The same applies to the 99th percentile of the average server response (less than 5% "
        "difference between DCTCP and HULL at each load).",
        _same_as_dctcp(response),
        kind="predicted",
        bound="hull",
    ),
    Claim(
        "epfl-fig4-higher-loads",
        "report III-B",
        "At the higher loads DCTCP and HULL outperform TCP on both 99th percentiles.",
        _outperform,
        kind="predicted",
        bound="document",
    ),
    Claim(
        "epfl-fig4-higher-loads-means",
        "report III-B",
        "At the higher loads they also outperform TCP on the mean query completion time.",
        _means_outperform,
        kind="predicted",
        bound="document",
    ),
    Claim(
        "epfl-fig4-tcp-40",
        "report, abstract and I",
        "HULL's 99th percentile of query completion is up to 40% "
        f"({CUT_FORM}) below TCP's, depending on the background load.",
        _up_to_40,
        kind="predicted",
        bound="document",
        cause="testbed unknown",
        tried="It is 10.5% at 600 Mbps: TCP has 34.6 ms (53.0 in an earlier run in the report's "
        "repository). Most likely cause: timeouts of tens of ms. The report's script sets ns-2's "
        "clock tick to 10 ns, its round-trip estimator keeps differences in 16 bits (0.33 ms at "
        "that tick), and the repository's longest responses grow from 44 ms at the start of "
        "the run to 118 at its "
        "end. With a minimum RTO of 80 ms and without limited transmit hull's 99th percentile is "
        "39.9% below TCP's. Single keys at 600 Mbps, seed 1: TCP's 34.8 ms become 32.3 without "
        "restart after idle, 36.1 with an initial window of 1, 35.5 with a minimum RTO of 200 ms, "
        "and 34.5 without limited transmit or with NICs of 500 packets. ns-2 itself, with the same "
        "arrivals and a sound tick, has 35.9 ms; with the script's tick the timeouts of 10 MB "
        "connections grow, but the queries' do not, so ns-2 2.35 does not reproduce the 53 ms.",
        shown_by=(
            *commands(
                "epfl-fig4",
                "--full --seeds 1",
                "--full --seeds 1 --set transport.min_rto=80ms --set transport.initial_rto=80ms "
                "--set transport.limited_transmit=false",
                "--full --seeds 1 --set transport.idle_restart=false",
                "--full --seeds 1 --set transport.initial_window=1",
                "--full --seeds 1 --set transport.min_rto=200ms",
                "--full --seeds 1 --set transport.limited_transmit=false",
                "--full --seeds 1 --set host.nic_buffer=500pkts",
            ),
            *unshipped("validation/ns2/compare.py --rules, which needs ns-2"),
        ),
    ),
    Claim(
        "epfl-fig4-quality",
        "report III-B",
        "With DCTCP and HULL background traffic hardly affects the number of responses within 25 "
        "ms in the worst 1% of the queries (less than 5% difference from no background).",
        _quality,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        "epfl-fig4-order-of-10us",
        "report I",
        "Overall HULL keeps the queueing latency in the order of 10 us (a factor of 5 either way), "
        "and DCTCP's is an order of magnitude (5 times or more) higher: means, averaged over the "
        "loads with background traffic.",
        _order_of_10_us,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        "epfl-fig4-search-associations",
        "report III-B",
        "At 200 Mbps a server's pacer associates the search flow for 3.5% (within 25%) of its "
        "packets.",
        _share("search"),
        kind="predicted",
        bound="document",
    ),
    Claim(
        "epfl-fig4-background-associations",
        "report III-B",
        "It associates the background flow for 4.6% (within 25%) of its packets.",
        _share("background"),
        kind="predicted",
        bound="document",
    ),
    Claim(
        "epfl-fig4-search-ended",
        "report III-B",
        "82% (within 25%) of the search flow's associations end.",
        _ended("search"),
        kind="predicted",
        bound="document",
    ),
    Claim(
        "epfl-fig4-background-ended",
        "report III-B",
        "0.8% (within 25%) of the background flow's associations end.",
        _ended("background"),
        kind="predicted",
        bound="document",
    ),
    Claim(
        "epfl-fig4-selects",
        "report III-B",
        "The pacer selects the flows that need pacing: the query after a paced one is mostly not "
        "paced (more than half of the associations end), a background transfer stays paced "
        "(fewer than 5% end).",
        _selects,
        kind="predicted",
        bound="hull",
    ),
)


def _queue_point(scheme: str, number: float) -> Point:
    measure = partial(latency, condition=AT, scheme=scheme)
    return Point(AT, scheme, "switch_latency_us", "p99", number, measure)


def _query_point(scheme: str) -> Point:
    def measure(results: Results) -> Estimate | None:
        found = completion(results, AT, scheme)
        return found and Estimate(found.mean / 1e3, found.ci95 and found.ci95 / 1e3)

    number = PUBLISHED["p99_query_completion_ms"]
    return Point(AT, scheme, "query_completion_ms", "p99", number, measure)


def _pacing_point(kind: str, metric: str, number: float, read: Callable[[Pacing], float]) -> Point:
    def measure(results: Results) -> Estimate | None:
        return Estimate(read(pacing(results, kind)), None) if results.parts(AT, HULL) else None

    return Point(AT, HULL, f"{kind}_{metric}", "mean", number, measure)


EXPERIMENT = Experiment(
    id="epfl-fig4",
    title="EPFL ns-2 report, figure 4: search queries beside 10 MB transfers, on ns-2",
    source="report III-B, figure 4",
    scenario="epfl-fig4",
    completion="delivered",
    variants=(Variant(CONDITIONS),),
    stated=statements("report", "all", "loaded", "figure 4", "oldi"),
    points=(
        *(_queue_point(scheme, number) for scheme, number in QUEUES.items()),
        *(_query_point(scheme) for scheme in (DCTCP, HULL)),
        *(
            _pacing_point(kind, metric, ASSOCIATIONS[f"{kind}{end}"], read)
            for kind in ("search", "background")
            for metric, end, read in (
                ("sent_packets", "_packets", lambda found: found.packets),
                ("associations_count", "", lambda found: found.associations),
                ("disassociations_count", "_disassociated", lambda found: found.begun),
            )
        ),
    ),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=("run.warmup=6s", "run.duration=60s"), seeds=1),
    full=Size(overrides=(), seeds=6),
)

"""Figure 2.18 of the thesis: incast over a switch with a fixed buffer of 100 KB at each port.

A client requests 1 MB / N from each of N servers, waits for all, and repeats. Mean completion time
(ms) and share of the queries with a timeout, TCP and DCTCP, minimum RTO of 300 and 10 ms.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, about, within
from hull.experiments.common.decided import at_least, more_than, ordered
from hull.experiments.common.experiment import Experiment, Size, published
from hull.experiments.common.incast import (
    FAN_INS,
    LOOKS,
    MANY,
    draw_fan_in,
    fan_ins,
    first_timeouts,
    mean_ms,
    timeout_share,
)
from hull.experiments.common.measured import Results
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TCP, TCP_SLOW = "tcp_10ms", "tcp_300ms"
DCTCP, DCTCP_SLOW = "dctcp_10ms", "dctcp_300ms"
SCHEMES = (TCP_SLOW, TCP, DCTCP_SLOW, DCTCP)
FLOOR_MS = published("thesis-dctcp", "incast")["query_floor_ms"]


def _floor(results: Results) -> Finding:
    found = min(mean_ms(results, n, scheme) for n in FAN_INS for scheme in SCHEMES)
    return Finding(f"{found:.2f} ms", about(found, FLOOR_MS, 0.1))


def _tcp_begins(results: Results) -> Finding:
    found = [first_timeouts(results, scheme) for scheme in (TCP_SLOW, TCP)]
    return Finding(
        f"{found[0]} servers with 300 ms, {found[1]} with 10 ms",
        all(within(n, 7, 13) for n in found),
    )


def _dctcp_begins(results: Results) -> Finding:
    found = [first_timeouts(results, scheme) for scheme in (DCTCP_SLOW, DCTCP)]
    return Finding(
        f"{found[0]} servers with 300 ms, {found[1]} with 10 ms",
        all(within(n, 30, 40) for n in found),
    )


def _better(results: Results) -> Finding:
    ratios = [
        mean_ms(results, n, TCP) / mean_ms(results, n, DCTCP) for n in FAN_INS if 20 <= n <= 35
    ]
    return Finding(
        f"{min(ratios):.1f} to {max(ratios):.1f} times", all(at_least(ratio, 2) for ratio in ratios)
    )


def _converges(results: Results) -> Finding:
    ratios = [
        mean_ms(results, MANY, tcp) / mean_ms(results, MANY, dctcp)
        for tcp, dctcp in ((TCP_SLOW, DCTCP_SLOW), (TCP, DCTCP))
    ]
    return Finding(
        f"TCP's is {ratios[0]:.2f} of DCTCP's with 300 ms, {ratios[1]:.2f} with 10 ms",
        all(within(ratio, 0.75, 1.25) for ratio in ratios),
    )


def _smaller_floor(results: Results) -> Finding:
    pairs = [(mean_ms(results, n, TCP_SLOW), mean_ms(results, n, TCP)) for n in FAN_INS if n >= 15]
    return Finding(
        f"at {MANY} servers {pairs[-1][0]:.0f} and {pairs[-1][1]:.1f} ms",
        all(ordered(fast, slow) for slow, fast in pairs),
    )


def _all_queries(results: Results) -> Finding:
    found = [timeout_share(results, MANY, scheme) for scheme in (TCP_SLOW, TCP)]
    return Finding(
        f"{100 * found[0]:.0f}% with 300 ms, {100 * found[1]:.0f}% with 10 ms",
        all(more_than(share, 0.9) for share in found),
    )


CLAIMS = (
    Claim(
        id="thesis-fig2-18-floor",
        source="thesis 2.3.2",
        claim="the shortest mean time is the link's, around 8 ms (within 10%)",
        check=_floor,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-18-tcp-begins",
        source="thesis 2.3.2, figure 2.18(b)",
        claim="TCP's timeouts (5% of the queries) begin beyond 10 servers (between 7 and 13)",
        check=_tcp_begins,
        kind="fitted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-18-dctcp-begins",
        source="thesis 2.3.2, figure 2.18(b)",
        claim="DCTCP's begin beyond 35 (between 30 and 40)",
        check=_dctcp_begins,
        kind="fitted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-18-better",
        source="thesis 2.3.2, figure 2.18(a)",
        claim="until then DCTCP's mean is far below TCP's (half or less from 20 to 35 servers)",
        check=_better,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-18-converges",
        source="thesis 2.3.2, figure 2.18(a)",
        claim="with 40 servers both take equally long (within 25%)",
        check=_converges,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-18-floor-of-rto",
        source="thesis 2.3.2, figure 2.18(a)",
        claim="a minimum RTO of 10 ms is better for TCP than one of 300 ms (from 15 servers on)",
        check=_smaller_floor,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-18-all-queries",
        source="thesis 2.3.2, figure 2.18(b)",
        claim="with many servers nearly every TCP query has a timeout (above 90% at 40)",
        check=_all_queries,
        kind="fitted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """Mean time and share of queries with a timeout by number of servers."""
    return draw_fan_in(results, SCHEMES, log_y=True)


EXPERIMENT = Experiment(
    id="thesis-fig2-18",
    title="Thesis figure 2.18: incast with a fixed buffer per port",
    source="thesis 2.3.2, figure 2.18",
    scenario="thesis-incast-static",
    completion="delivered",
    variants=fan_ins(),
    stated=statements("thesis", "rack", "incast", "figure 2.18"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("workload.incast.queries=100",), seeds=1),
    full=Size(overrides=("workload.incast.queries=1000",), seeds=3),
)

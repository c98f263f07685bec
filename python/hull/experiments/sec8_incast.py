"""Section 8 of the paper, an open question: the buffer for incast with HULL, with and without
pacing at the servers.

A client requests 1 MB / N from each of N servers, waits for all, and repeats, as in thesis 2.3.2.
Measured are the longest queue in an unlimited buffer (KB) and the share of queries with a timeout
behind small buffers.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, commands, within
from hull.experiments.common.decided import at_most, ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.incast import mean_ms, timeout_share
from hull.experiments.common.measured import Results, occupancy
from hull.experiments.common.phantom_queues import LOOKS
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TCP, DCTCP, UNPACED, PACED = SCHEMES = ("tcp", "dctcp_30k", "dctcp_pq950", "dctcp_pq950_pacer")
MARKED = SCHEMES[1:]
SERVERS = (1, 5, 10, 20, 30, 40)
BUFFERS_KB = (15, 50, 100, 200, 400)
FEW, MANY = 10, 40
"""Numbers of servers for the buffers."""
FIRST_WINDOW_KB = 4.5
"""Three packets (the testbed's Linux)."""
_BYTES_PER_US = 125


def _needed_kb(results: Results, servers: int, scheme: str) -> float:
    """The longest queue."""
    longest_us = results.mean(f"unlimited/{servers}", scheme, occupancy("max"))
    return longest_us * _BYTES_PER_US / 1e3


def _share(results: Results, servers: int, buffer_kb: int, scheme: str) -> float:
    return timeout_share(results, f"{buffer_kb}KB/{servers}", scheme)


def _buffers(scheme: str) -> tuple[int, ...]:
    """DCTCP-30K needs more than its threshold."""
    return BUFFERS_KB[1:] if scheme == DCTCP else BUFFERS_KB


def _first_windows(results: Results) -> Finding:
    ratios = {
        scheme: [_needed_kb(results, n, scheme) / (n * FIRST_WINDOW_KB) for n in (20, 30, 40)]
        for scheme in (UNPACED, PACED)
    }
    words = "; ".join(
        f"{scheme} " + ", ".join(f"{ratio:.2f}" for ratio in found)
        for scheme, found in ratios.items()
    )
    return Finding(
        words + " of it with 20, 30 and 40 servers",
        all(within(ratio, 0.5, 1.25) for found in ratios.values() for ratio in found),
    )


def _less_than_dctcp(results: Results) -> Finding:
    pairs = [(_needed_kb(results, n, PACED), _needed_kb(results, n, DCTCP)) for n in SERVERS]
    words = ", ".join(f"{hull:.0f} for {dctcp:.0f}" for hull, dctcp in pairs)
    return Finding(words + " KB", all(ordered(hull, dctcp) for hull, dctcp in pairs))


def _shallow(results: Results) -> Finding:
    found = [_share(results, n, 15, PACED) for n in (FEW, MANY)]
    return Finding(
        f"{100 * found[0]:.0f}% of the queries with {FEW} servers, {100 * found[1]:.0f}% with "
        f"{MANY}",
        all(at_most(share, 0.05) for share in found),
    )


CLAIMS = (
    Claim(
        id="sec8-incast-first-windows",
        source="paper 8, thesis 2.2.2",
        claim="as thesis 2.2.2 says for DCTCP, incast needs buffer for what all servers send "
        "before a mark reaches them: with HULL too the longest queue is the sum of the initial "
        "windows of 3 packets (half to 1.25 times that, with 20 or more servers)",
        check=_first_windows,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="sec8-incast-less",
        source="paper 8",
        claim="the bandwidth that HULL gives up saves buffer in incast as well: its longest "
        "queue is below DCTCP-30K's with each number of servers",
        check=_less_than_dctcp,
        kind="predicted",
        bound="hull",
        cause="mechanism",
        tried="With 5, 10 and 20 servers it is 50, 59 and 80 KB; DCTCP-30K has 83, 107 and 123. "
        "With 30 and 40 the initial windows of all servers collide before any mark arrives: 122 "
        "and 164 KB with each scheme. One server alone is no incast: 1 KB with each scheme.",
        shown_by=commands("sec8-incast", ""),
    ),
    Claim(
        id="sec8-incast-shallow",
        source="paper 6.2.2",
        claim="HULL copes with very shallow buffers (10 packets, 15 KB) in incast as well, as "
        "6.2.2 says for its own traffic (timeouts in at most 5% of the queries)",
        check=_shallow,
        kind="predicted",
        bound="hull",
        cause="mechanism",
        tried="The initial windows of 10 servers are 45 KB. Queries with a timeout with buffers "
        "of 50, 100 and 200 KB: 0, 0 and 0% with 10 servers, 100, 77 and 0% with 40.",
        shown_by=commands("sec8-incast", ""),
    ),
)


def draw(results: Results) -> "Figure":
    """Longest queue and mean time by number of servers, and timeouts by buffer."""
    from hull.figures import Line, Panel, plot_sweep

    def timeouts(servers: int) -> Panel:
        return Panel(
            f"Timeouts, {servers} servers",
            "Buffer (KB)",
            "Share of queries with a timeout",
            [
                Line(s, _buffers(s), [_share(results, servers, kb, s) for kb in _buffers(s)])
                for s in SCHEMES
            ],
            y_limits=(-0.02, 1.05),
            log_x=True,
            x_ticks=BUFFERS_KB,
        )

    first = [n * FIRST_WINDOW_KB for n in SERVERS]
    return plot_sweep(
        [
            Panel(
                "Buffer that incast needs",
                "Servers",
                "Longest queue (KB)",
                [Line(s, SERVERS, [_needed_kb(results, n, s) for n in SERVERS]) for s in MARKED],
                reference=[("first windows", SERVERS, first)],
                y_limits=(0, 200),
            ),
            Panel(
                "Query completion, unlimited buffer",
                "Servers",
                "Mean completion time (ms)",
                [
                    Line(s, SERVERS, [mean_ms(results, f"unlimited/{n}", s) for n in SERVERS])
                    for s in SCHEMES
                ],
            ),
            timeouts(FEW),
            timeouts(MANY),
        ],
        looks=LOOKS,
    )


EXPERIMENT = Experiment(
    id="sec8-incast",
    title="Paper section 8: buffer for incast with HULL, with and without pacing",
    source="paper 8",
    scenario="hull-incast",
    completion="delivered",
    variants=(
        *(
            Variant({"": f"unlimited/{n}"}, overrides=(f"workload.incast.fan_in={n}",))
            for n in SERVERS
        ),
        *(
            Variant(
                {"": f"{kb}KB/{n}"},
                # By the port: DCTCP-30K's threshold, which is not run with 15 KB, would be refused.
                overrides=(f"workload.incast.fan_in={n}", f'switch.ports=[{{buffer="{kb}KB"}}]'),
                schemes=tuple(scheme for scheme in SCHEMES if kb in _buffers(scheme)),
            )
            for kb in BUFFERS_KB
            for n in (FEW, MANY)
        ),
    ),
    stated=(*statements("paper", "paced", "section 8"), *statements("thesis", "section 8")),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("workload.incast.queries=30",), seeds=1),
    full=Size(overrides=("workload.incast.queries=100",), seeds=4),
)

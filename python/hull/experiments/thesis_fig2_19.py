"""Figure 2.19 of the thesis: the incast of figure 2.18 over a switch with its shared memory.

Of 4 MB one busy port may take 667 KB. Mean completion time (ms) and share of queries with a
timeout.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, ratio
from hull.experiments.common.decided import at_most, more_than, ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.incast import (
    FAN_INS,
    LOOKS,
    MANY,
    draw_fan_in,
    fan_ins,
    mean_ms,
    timeout_share,
)
from hull.experiments.common.measured import Results
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TCP, DCTCP = "tcp", "dctcp"
FIXED, FIXED_TCP = "fixed buffer, 40", "tcp_10ms"


def _none(results: Results) -> Finding:
    worst = max(timeout_share(results, n, DCTCP) for n in FAN_INS)
    return Finding(f"{100 * worst:.2f}% of the queries at worst", worst == 0)


def _tcp_suffers(results: Results) -> Finding:
    found = timeout_share(results, MANY, TCP)
    return Finding(f"{100 * found:.0f}% of the queries with {MANY}", more_than(found, 0.05))


def _mitigated(results: Results) -> Finding:
    shared, fixed = timeout_share(results, MANY, TCP), timeout_share(results, FIXED, FIXED_TCP)
    return Finding(
        f"{100 * shared:.0f}% of the queries, {100 * fixed:.0f}% there", ordered(shared, fixed)
    )


def _flat(results: Results) -> Finding:
    found = [mean_ms(results, n, DCTCP) for n in FAN_INS]
    return Finding(
        f"{min(found):.2f} to {max(found):.2f} ms", at_most(ratio(max(found), min(found)), 1.1)
    )


CLAIMS = (
    Claim(
        id="thesis-fig2-19-dctcp",
        source="thesis 2.3.2, figure 2.19(b)",
        claim="DCTCP has no timeouts with up to 40 servers",
        check=_none,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig2-19-flat",
        source="thesis 2.3.2, figure 2.19(a)",
        claim="its completion time does not suffer from their number (within 10%)",
        check=_flat,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-19-tcp",
        source="thesis 2.3.2, figure 2.19(b)",
        claim="TCP still suffers timeouts (more than 5% of the queries with 40)",
        check=_tcp_suffers,
        kind="fitted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig2-19-mitigated",
        source="thesis 2.3.2",
        claim="they are fewer than with the fixed buffer of figure 2.18",
        check=_mitigated,
        kind="predicted",
        bound="document",
    ),
)


def draw(results: Results) -> "Figure":
    """Mean time and share of queries with a timeout by number of servers."""
    return draw_fan_in(results, (TCP, DCTCP), log_y=False)


EXPERIMENT = Experiment(
    id="thesis-fig2-19",
    title="Thesis figure 2.19: incast with shared switch memory",
    source="thesis 2.3.2, figure 2.19",
    scenario="thesis-rack",
    completion="delivered",
    variants=(
        *fan_ins(schemes=(TCP, DCTCP)),
        Variant({"": FIXED}, schemes=(FIXED_TCP,), scenario="thesis-incast-static"),
    ),
    stated=statements("thesis", "rack", "figure 2.19", "incast"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("workload.incast.queries=100",), seeds=1),
    full=Size(overrides=("workload.incast.queries=1000",), seeds=3),
)

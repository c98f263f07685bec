"""Figure 12 of Uno (SC'25): the flows of figure 10 with queues by the bandwidth-delay product.

Ports at the border have 0.1 times the product of a path between the data centres, 2.24 MB, and all
others that of a path within one, 175,344 bytes; 40% load, us until the last acknowledgment. The
published values are constants of a script whose comments call them dummy data.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim
from hull.experiments.common.experiment import Experiment, Point, Size, published
from hull.experiments.common.measured import Results
from hull.experiments.common.stated import Stated
from hull.experiments.common.uno_workload import (
    ECMP,
    LOOKS,
    PLACES,
    PUBLISHED,
    STATED,
    UNO,
    Read,
    completion,
    distribution,
    met,
    ordered,
    point,
    read,
    variant,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE = published("uno", "figure12")
SOURCE = "Uno figure 12"
CONDITION = "bdp"
STATISTICS = ("mean", "p99")
BORDER = ",".join(
    f'{{tier="{tier}",buffer="2240051B"}}'
    for tier in ("core-border", "border-border", "border-core")
)


def _known(kept: str, statistic: str, scheme: str) -> float:
    return float(FIGURE[f"{statistic}_us"][kept][PUBLISHED.index(scheme)])


def _points() -> Iterator[Point]:
    for kept in ("all", *PLACES):
        for statistic in STATISTICS:
            for scheme in PUBLISHED:
                yield point(
                    CONDITION,
                    scheme,
                    f"{kept}_fct_us",
                    statistic,
                    _known(kept, statistic, scheme),
                    completion(kept, statistic),
                )


def _claims() -> Iterator[Claim]:
    def at(scheme: str, kept: str, statistic: str) -> Read:
        return read(completion(kept, statistic), CONDITION, scheme)

    yield ordered(
        "uno-fig12-intra-tail",
        SOURCE,
        "UnoLB's 99th percentile within a data centre is less than half of that with one path per "
        "flow (163 against 542 us)",
        at(UNO, "intra", "p99"),
        at(ECMP, "intra", "p99"),
        factor=2,
    )
    yield ordered(
        "uno-fig12-inter-tail",
        SOURCE,
        "UnoLB's 99th percentile between the two is below that with one path per flow",
        at(UNO, "inter", "p99"),
        at(ECMP, "inter", "p99"),
    )
    for scheme, words in ((ECMP, "one path per flow"), (UNO, "UnoLB")):
        for kept, where in PLACES.items():
            known = {s: _known(kept, s, scheme) for s in STATISTICS}
            yield met(
                f"uno-fig12-{scheme.replace('_', '-')}-{kept}",
                SOURCE,
                f"{words}, {where}",
                known,
                {s: at(scheme, kept, s) for s in known},
                "us",
            )


def draw(results: Results) -> "Figure":
    """The distributions, up to the worst."""
    from hull.figures import Panel, plot_sweep

    panels = [
        Panel(
            where.capitalize(),
            "Completion time (ms)",
            "Share of the flows",
            [distribution(results, CONDITION, scheme, kept) for scheme in PUBLISHED],
            log_x=True,
            y_limits=(0, 1.02),
        )
        for kept, where in PLACES.items()
    ]
    return plot_sweep(panels, looks=LOOKS)


EXPERIMENT = Experiment(
    id="uno-fig12",
    title="Uno figure 12: queues by the bandwidth-delay product",
    source=SOURCE,
    scenario="uno-workload",
    completion="acked",
    variants=(variant(CONDITION, 40, 'switch.buffer="175344B"', f"switch.ports=[{BORDER}]"),),
    points=tuple(_points()),
    stated=(
        *STATED,
        Stated("Uno, htsim", "queues within", "switch.buffer", "175344B"),
        Stated("Uno, htsim", "border delay", "topology.two_datacentres.border_delay", "886.5us"),
    ),
    claims=tuple(_claims()),
    looks=LOOKS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(seeds=3),
)

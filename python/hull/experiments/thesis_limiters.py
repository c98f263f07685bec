"""QCN with few rate limiters (thesis 2.4, 5.1): a long flow beside the short flows of its host.

Four hosts send a long flow each to a congested port, and short flows of 20 KB to an idle one. A
host has 1 to 64 rate limiters, to which its flows are hashed, or one for each flow. Completion
times of the short flows (us), goodput of the congested port (Gbps).
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding
from hull.experiments.common.decided import ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.measured import Results, fct, goodput_mbps
from hull.experiments.common.stated import statements
from hull.report.schemes import BLUE, GREEN, VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LIMITERS = (1, 2, 4, 8, 16, 64)
FEW = (1, 2, 4)
QCN = "qcn"
OWN = "one for each flow"
SHARED, EACH, FORMULA = "shared", "each", "formula"
LOOKS = (
    Scheme(QCN, "QCN", BLUE, (), "s"),
    Scheme(SHARED, "shared limiters", VERMILION, (), "o"),
    Scheme(EACH, OWN, GREEN, (5, 2), "D"),
    Scheme(FORMULA, "expected", BLUE, (2, 2), "P"),
)
MEAN, P99 = fct("(10KB, 100KB]", "mean"), fct("(10KB, 100KB]", "p99")


def _mean(results: Results, limiters: str) -> float:
    return results.mean(limiters, QCN, MEAN)


def _shared_fate(results: Results) -> Finding:
    own = _mean(results, OWN)
    few = [_mean(results, str(number)) for number in FEW]
    words = ", ".join(f"{value:.0f}" for value in few)
    return Finding(
        f"mean {words} us with 1, 2 and 4 limiters, {own:.0f} with one for each flow",
        all(ordered(own, value) for value in few),
    )


CLAIMS = (
    Claim(
        id="thesis-limiters-fate",
        source="thesis 2.4",
        claim="flows that share few rate limiters share fate: short flows that do not pass the "
        "congested port complete later, on average, with 1, 2 and 4 limiters than with one for "
        "each flow",
        check=_shared_fate,
        kind="by construction",
        bound="document",
    ),
)


def draw(results: Results) -> "Figure":
    """Completion times and the congested port's goodput by number of limiters. Expected is the mean
    if one flow in N has the limiter of its host's long flow, and the others have one of their own.
    """
    from hull.figures import Line, Panel, plot_sweep

    ends = (LIMITERS[0], LIMITERS[-1])
    names = [str(number) for number in LIMITERS]
    own, worst = _mean(results, OWN), _mean(results, names[0])

    def gbps(condition: str) -> float:
        return results.mean(condition, QCN, goodput_mbps) / 1e3

    def panel(title: str, y_label: str, lines: list[Line], *, log_y: bool = False) -> Panel:
        return Panel(
            title, "Rate limiters", y_label, lines, log_x=True, log_y=log_y, x_ticks=LIMITERS
        )

    times = [
        Line(
            SHARED,
            LIMITERS,
            [_mean(results, name) for name in names],
            [results.mean(name, QCN, P99) for name in names],
        ),
        Line(EACH, ends, [own] * 2, [results.mean(OWN, QCN, P99)] * 2),
        Line(FORMULA, LIMITERS, [own + (worst - own) / number for number in LIMITERS]),
    ]
    port = [
        Line(SHARED, LIMITERS, [gbps(name) for name in names]),
        Line(EACH, ends, [gbps(OWN)] * 2),
    ]
    return plot_sweep(
        [
            panel("Short flows to an idle port", "FCT (µs), mean to p99", times, log_y=True),
            panel("Long flows to the congested port", "Goodput (Gbps)", port),
        ],
        looks=LOOKS,
        width=4.2,
    )


EXPERIMENT = Experiment(
    id="thesis-limiters",
    title="Thesis 2.4: QCN with few rate limiters, whose flows share fate",
    source="thesis 2.4, 5.1",
    scenario="thesis-limiters",
    variants=(
        *(
            Variant({"": str(number)}, (f"transport.qcn.rate_limiters={number}",))
            for number in LIMITERS
        ),
        Variant({"": OWN}),
    ),
    stated=statements("thesis", "limiters"),
    claims=CLAIMS,
    completion="delivered",
    looks=LOOKS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(overrides=("run.duration=1s",), seeds=10),
)

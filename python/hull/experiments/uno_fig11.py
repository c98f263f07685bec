"""Figure 11 of Uno (SC'25): slowdown against the ratio of the two round trips.

The flows of 40% load, with border delays that make the round trip between the data centres 8 to 512
times that within one. Slowdown is completion time over size at 100 Gbps plus one round trip, at
least 1. The published values are constants of a script whose comments call them dummy data.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim
from hull.experiments.common.experiment import Experiment, Point, Size, published
from hull.experiments.common.measured import Results
from hull.experiments.common.uno_workload import (
    ECMP,
    LOOKS,
    NAMES,
    PUBLISHED,
    STATED,
    STATISTICS,
    UNO,
    Read,
    met,
    ordered,
    point,
    read,
    slowdown,
    variant,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE = published("uno", "figure11")
SOURCE = "Uno figure 11"
RATIOS = (8, 32, 128, 512)
DELAYS = dict(zip(RATIOS, FIGURE["border_delay_us"], strict=True))
CLAIMED = ((8, UNO), (8, ECMP), (512, UNO), (512, ECMP))
"""Ratios and schemes of the short form."""


def _known(ratio: int, scheme: str, statistic: str) -> float:
    values = FIGURE[f"slowdown_{statistic}"][RATIOS.index(ratio)]
    return float(values[PUBLISHED.index(scheme)])


def _at(ratio: int, scheme: str, statistic: str) -> Read:
    return read(slowdown(statistic, DELAYS[ratio]), f"ratio{ratio}", scheme)


def _points() -> Iterator[Point]:
    for ratio in RATIOS:
        for scheme in PUBLISHED:
            for statistic in STATISTICS:
                yield point(
                    f"ratio{ratio}",
                    scheme,
                    "slowdown_ratio",
                    statistic,
                    _known(ratio, scheme, statistic),
                    slowdown(statistic, DELAYS[ratio]),
                )


def _claims() -> Iterator[Claim]:
    yield ordered(
        "uno-fig11-mean",
        SOURCE,
        "UnoLB's mean slowdown falls from a ratio of 8 to one of 512 (3.29 to 1.65)",
        _at(512, UNO, "mean"),
        _at(8, UNO, "mean"),
        unit="",
    )
    yield ordered(
        "uno-fig11-tail",
        SOURCE,
        "UnoLB's 99th percentile at 512 is less than half of that at 8 (6.16 against 24.3)",
        _at(512, UNO, "p99"),
        _at(8, UNO, "p99"),
        factor=2,
        unit="",
    )
    yield ordered(
        "uno-fig11-paths",
        SOURCE,
        "at 512, UnoLB's 99th percentile is less than half of that with one path per flow (6.16 "
        "against 28.5)",
        _at(512, UNO, "p99"),
        _at(512, ECMP, "p99"),
        factor=2,
        unit="",
    )
    for ratio, scheme in CLAIMED:
        known = {s: _known(ratio, scheme, s) for s in STATISTICS}
        yield met(
            f"uno-fig11-{scheme.replace('_', '-')}-{ratio}",
            SOURCE,
            f"{NAMES[scheme]}, slowdown at a ratio of {ratio}",
            known,
            {s: _at(ratio, scheme, s) for s in known},
        )


def draw(results: Results) -> "Figure":
    """Slowdown by ratio, with the published values."""
    from hull.figures import Line, Panel, Published, plot_sweep

    panels = []
    for statistic, title in (("mean", "Mean"), ("p99", "99th percentile")):
        lines = []
        for scheme in PUBLISHED:
            ratios = [r for r in RATIOS if results.parts(f"ratio{r}", scheme)]
            measured = [_at(ratio, scheme, statistic)(results) for ratio in ratios]
            lines.append(Line(scheme, ratios, measured))
        known = [
            Published(scheme, RATIOS, [_known(r, scheme, statistic) for r in RATIOS])
            for scheme in PUBLISHED
        ]
        panels.append(
            Panel(
                title, "Ratio of the round trips", "Slowdown", lines, known,
                log_x=True, x_ticks=RATIOS,
            )
        )  # fmt: skip
    return plot_sweep(panels, looks=LOOKS)


EXPERIMENT = Experiment(
    id="uno-fig11",
    title="Uno figure 11: slowdown by the ratio of the round trips",
    source=SOURCE,
    scenario="uno-workload",
    completion="acked",
    variants=tuple(
        variant(
            f"ratio{ratio}",
            40,
            f"topology.two_datacentres.border_delay={delay}us",
            sizes=("quick", "full") if (ratio, scheme) in CLAIMED else ("full",),
            schemes=(scheme,),
        )
        for ratio, delay in DELAYS.items()
        for scheme in PUBLISHED
    ),
    points=tuple(_points()),
    stated=STATED,
    claims=tuple(_claims()),
    looks=LOOKS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(seeds=3),
)

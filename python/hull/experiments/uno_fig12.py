"""Figure 12 of Uno (SC'25): the flows of figure 10 with queues by the bandwidth-delay product.

Ports at the border have 0.1 times the product of a path between the data centres, 2.24 MB, and all
others 0.1 times the product of a path within one, 175,344 bytes; 40% load, us until the last
acknowledgment. The published values are constants of a script whose comments call them dummy data.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.experiment import Experiment, Size, published
from hull.experiments.common.measured import Results
from hull.experiments.common.stated import Stated
from hull.experiments.common.uno_workload import (
    ECMP,
    LOOKS,
    PLACES,
    PUBLISHED,
    STATED,
    Why,
    draw_places,
    numbers,
    points,
    tails,
    variant,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE = published("uno", "figure12")
SOURCE = "Uno figure 12"
CONDITION = "bdp"
BORDER = ",".join(
    f'{{tier="{tier}",buffer="2240051B"}}'
    for tier in ("core-border", "border-border", "border-core")
)

PATHS = Why(
    "in six seeds the 99th percentile is 11, 14, 22, 24, 26 and 57% above the published one, the "
    "mean 7 to 10% below",
    ("--full",),
    "chance",
)


def _known(kept: str, statistic: str, scheme: str) -> float:
    return float(FIGURE[f"{statistic}_us"][kept][PUBLISHED.index(scheme)])


def draw(results: Results) -> "Figure":
    """The distributions, up to the worst."""
    titles = {kept: where.capitalize() for kept, where in PLACES.items()}
    return draw_places(results, CONDITION, PUBLISHED, LOOKS, titles)


EXPERIMENT = Experiment(
    id="uno-fig12",
    title="Uno figure 12: queues by the bandwidth-delay product",
    source=SOURCE,
    scenario="uno-workload",
    completion="acked",
    variants=(variant(CONDITION, 40, 'switch.buffer="175344B"', f"switch.ports=[{BORDER}]"),),
    points=tuple(points(CONDITION, _known)),
    stated=(
        *STATED,
        Stated("Uno, htsim", "queues within", "switch.buffer", "175344B"),
        Stated("Uno, htsim", "border delay", "topology.two_datacentres.border_delay", "886.5us"),
    ),
    claims=(
        *tails("uno-fig12", SOURCE, CONDITION, _known, ""),
        *numbers("uno-fig12", SOURCE, CONDITION, _known, "", {(ECMP, "inter"): PATHS}),
    ),
    looks=LOOKS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(seeds=6),
)

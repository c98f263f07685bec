"""Figure 10 of Uno (SC'25): completion times within and between two data centres, by load.

5000 flows at 40, 60 and 80% of the hosts' links, us until the last acknowledgment. The published
values are constants of a script whose comments call them dummy data. hull has neither Gemini nor
MPRDMA with BBR; DCTCP stands in for a sender without phantom queue.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim
from hull.experiments.common.experiment import Experiment, Size, published
from hull.experiments.common.measured import Results
from hull.experiments.common.stated import Stated
from hull.experiments.common.uno_workload import (
    ECMP,
    LOOKS,
    PLACES,
    PUBLISHED,
    STATED,
    UNO,
    Known,
    Read,
    Why,
    draw_places,
    numbers,
    ordered,
    points,
    tails,
    time_of,
    variant,
)
from hull.report.schemes import BLUE, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE = published("uno", "figure10")
SOURCE = "Uno figure 10"
LOADS = (40, 60, 80)
DCTCP = "dctcp"
SENDER = (
    'schemes.dctcp={transport={congestion_control="dctcp",initial_window=10,ack_every=1,'
    "max_window=8000,receive_window=8000},"
    'switch.marking={threshold="250KB",max_threshold="750KB",on="sent"}}'
)
"""DCTCP over one path per flow: an ACK for each packet, and the marks of the source's runs without
phantom queue."""
ALL_LOOKS = (*LOOKS, Scheme(DCTCP, "DCTCP", BLUE, (5, 2), "s"))
FIRST = "load40"
UNITS = {"all": ("ms", 1000), "intra": ("us", 1), "inter": ("ms", 1000)}
"""Unit of each class's published values, and its us."""

INSIDE = Why(
    "DCTCP's mean is 19.8 us (3 seeds), with an initial window of 43 packets, the bandwidth-delay "
    "product of a path within, 19.6. DCTCP's flows between the two start with 10 packets and lose "
    "next to nothing (0 to 5 timeouts); UnoCC's start with 22.4 MB, and 397,000 of their packets "
    "time out",
    ("--full", "--set schemes.dctcp.transport.initial_window=43"),
    "not found",
)
PATHS = Why(
    "the hash and the list of flows decide: over 3 seeds the 99th percentile is 510, 511 and 843 "
    "us, its mean 3% below the published one, and the claim holds in the full form; other lists "
    "have 843, 529 and 508 us with the first seed",
    ("--full",),
    "chance",
)


def _known(condition: str) -> Known:
    def known(kept: str, statistic: str, scheme: str) -> float:
        unit, in_us = UNITS[kept]
        values = FIGURE[f"{kept}_{statistic}_{unit}"][condition]
        return float(values[PUBLISHED.index(scheme)]) * in_us

    return known


def _means() -> Iterator[Claim]:
    def at(scheme: str, kept: str) -> Read:
        return time_of(FIRST, scheme, kept, "mean")

    yield ordered(
        "uno-fig10-intra-mean",
        SOURCE,
        "at 40%, UnoLB's mean within a data centre is below that with one path per flow",
        at(UNO, "intra"),
        at(ECMP, "intra"),
    )
    yield ordered(
        "uno-fig10-inter-mean",
        SOURCE,
        "at 40%, UnoLB's mean between the two is above that with one path per flow (9.6 against "
        "8.6 ms)",
        at(ECMP, "inter"),
        at(UNO, "inter"),
    )
    for kept, where in PLACES.items():
        yield ordered(
            f"uno-fig10-dctcp-{kept}",
            "Uno 5, with DCTCP in place of Gemini and MPRDMA with BBR",
            f"at 40%, UnoLB's mean {where} is below DCTCP's",
            at(UNO, kept),
            at(DCTCP, kept),
            why=INSIDE if kept == "intra" else Why(),
        )


def draw(results: Results) -> "Figure":
    """The distributions at 40%, up to the worst."""
    titles = {kept: f"40%, {where}" for kept, where in PLACES.items()}
    return draw_places(results, FIRST, results.schemes, ALL_LOOKS, titles)


EXPERIMENT = Experiment(
    id="uno-fig10",
    title="Uno figure 10: flows within and between two data centres",
    source=SOURCE,
    scenario="uno-workload",
    completion="acked",
    variants=(
        variant(FIRST, 40, SENDER),
        *(variant(f"load{load}", load, SENDER, sizes=("full",)) for load in LOADS[1:]),
    ),
    points=tuple(p for load in LOADS for p in points(f"load{load}", _known(f"load{load}"))),
    stated=(
        *STATED,
        Stated("Uno, htsim", "border delay", "topology.two_datacentres.border_delay", "886.5us"),
        Stated("Uno, htsim", "queues", "switch.buffer", "1MB"),
    ),
    claims=(
        *tails("uno-fig10", SOURCE, FIRST, _known(FIRST), "at 40%, "),
        *_means(),
        *numbers("uno-fig10", SOURCE, FIRST, _known(FIRST), "at 40%, ", {(ECMP, "intra"): PATHS}),
    ),
    looks=ALL_LOOKS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(seeds=6),
)

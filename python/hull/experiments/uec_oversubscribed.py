"""Oversubscribed leaves under Ultra Ethernet's transport: a permutation of 2 MB between 1,024
hosts, whose leaves have a quarter or an eighth of their hosts' rate towards the spines.

Tails beside uet-htsim's recorded ones and beside the lower bound of the links to the spines.
"""

from typing import TYPE_CHECKING

from hull.experiments.common import ultra_ethernet as uec
from hull.experiments.common.claims import Claim, Finding
from hull.experiments.common.decided import at_most
from hull.experiments.common.experiment import Experiment, Size
from hull.experiments.common.measured import Results
from hull.experiments.common.ultra_ethernet import BOTH, NSCC, RCCC, variant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE = "oversubscribed"
RUNS = uec.recorded(TABLE)
TWO_TIERS = uec.queue(29, 6, 24, to_hosts="leaf-host")
"""A round trip over four links, and 20 and 80% of it."""


def _least(results: Results) -> Finding:
    alone_us = uec.uncontended_us(2_000_000, links=4)
    ratios = {
        f"{scheme}, {condition}": uec.tail_us(results, condition, scheme)
        / (alone_us * int(condition[0]))
        for condition, scheme, _ in RUNS
        if results.parts(condition, scheme)
    }
    return Finding(
        "; ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()),
        all(at_most(ratio, 1.2) for ratio in ratios.values()),
    )


CLAIMS = (
    uec.tails_claim("uec-oversubscribed", "uec_* with leaf_spine_1024_oversub*.topo", RUNS),
    Claim(
        id="uec-oversubscribed-least",
        source="uet-htsim, rule of its targets",
        claim="the tail is at most 1.2 times the oversubscription times the duration of an "
        "uncontended message, the limit of the runs' authors",
        check=_least,
        kind="predicted",
        bound="document",
    ),
)


def _leaves(spines: int) -> tuple[str, ...]:
    return (
        f"topology={{leaf_spine={{leaves=32,spines={spines},hosts_per_leaf=32}}}}",
        *TWO_TIERS,
        uec.PATHS,
    )


def draw(results: Results) -> "Figure":
    """Tails by oversubscription."""
    return uec.draw_tails(
        results,
        TABLE,
        {
            "1,024 hosts, 8 to 1": {"8 to 1": "a permutation of 2 MB"},
            "1,024 hosts, 4 to 1": {"4 to 1": "a permutation of 2 MB"},
        },
    )


EXPERIMENT = Experiment(
    id="uec-oversubscribed",
    title="Ultra Ethernet: oversubscribed leaves, beside uet-htsim's recorded runs",
    source="uet-htsim, recorded runs",
    scenario="uec",
    completion="acked",
    variants=(
        variant("8 to 1", (NSCC,), *_leaves(4), quick=True),
        variant("8 to 1", (BOTH,), *_leaves(4)),
        variant("4 to 1", (RCCC,), *_leaves(8)),
    ),
    points=uec.points(TABLE),
    stated=uec.STATED,
    claims=CLAIMS,
    looks=uec.LOOKS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(seeds=5),
)

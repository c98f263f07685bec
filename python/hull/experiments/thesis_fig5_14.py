"""Figure 5.14 of the thesis: AP-RCP beside PD-RCP, to which it is nearly equivalent.

As in figure 5.13, with the beta that the thesis prints and with a tenth of it.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, about, commands
from hull.experiments.common.experiment import Experiment, Size, published
from hull.experiments.common.measured import Results
from hull.experiments.common.rcp_runs import (
    BETAS,
    LOOKS,
    QUICK,
    TRIED,
    TRIED_WITH,
    draw_rates,
    settles,
    sides,
    swing,
    swings,
    variant,
)
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = ("ap_rcp", "pd_rcp")
RTTS: tuple[int, int] = tuple(published("thesis-qcn", "rcp")["pd_rcp"].values())
"""The published sides of the boundary, in ms."""
SHOWN: dict[int, tuple[str, ...]] = dict.fromkeys(RTTS, SCHEMES)
"""What is drawn at each."""


def _sides(results: Results) -> Finding:
    found = {scheme: sides(results, scheme, *RTTS) for scheme in SCHEMES}
    words = "; ".join(f"{scheme}: {words}" for scheme, (words, _) in found.items())
    right = all(settles(stable) and swings(moves) for _, (stable, moves) in found.values())
    return Finding(words, right)


def _similar(results: Results) -> Finding:
    words, holds = [], True
    for ending, beta in BETAS.items():
        for rtt_ms in RTTS:
            ap, pd = (swing(results, rtt_ms, ending, scheme) for scheme in SCHEMES)
            words.append(f"{ap:.1%} and {pd:.1%} at {rtt_ms} ms with beta = {beta:g}")
            if ending == "":
                holds &= about(pd, ap)
    return Finding("; ".join(words) + " (of the link)", holds)


CLAIMS = (
    Claim(
        id="thesis-fig5-14-sides",
        source="thesis 5.5.3, figure 5.14",
        claim="AP-RCP and PD-RCP are both stable with 240 ms and both unstable with 250 ms",
        check=_sides,
        kind="predicted",
        bound="hull",
        cause="documents contradict",
        tried=TRIED,
        shown_by=commands("thesis-fig5-13", *TRIED_WITH),
    ),
    Claim(
        id="thesis-fig5-14-similar",
        source="thesis 5.5.3, figure 5.14",
        claim="the oscillations of their rates are very similar (extents within 25%)",
        check=_similar,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """The rate of all sources over time."""
    return draw_rates(results, SHOWN)


EXPERIMENT = Experiment(
    id="thesis-fig5-14",
    title="Thesis figure 5.14: AP-RCP beside PD-RCP",
    source="thesis 5.5.3, figure 5.14",
    scenario="thesis-rcp",
    variants=tuple(variant(rtt_ms, ending, SCHEMES) for ending in BETAS for rtt_ms in RTTS),
    stated=statements("thesis", "rcp"),
    deterministic=True,
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=QUICK, seeds=1),
    full=Size(overrides=("run.duration=120s",), seeds=1),
)

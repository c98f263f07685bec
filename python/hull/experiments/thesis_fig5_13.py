"""Figure 5.13 of the thesis: RCP, AP-RCP and AP2-RCP with growing round trips.

Each round trip is run with the beta that the thesis prints, 1, and with a tenth of it. Rates are in
Gbit/s, for all ten sources together.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, commands
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


PUBLISHED = published("thesis-qcn", "rcp")
SHOWN = {
    110: ("rcp", "ap_rcp", "ap2_rcp"),
    115: ("rcp", "ap_rcp", "ap2_rcp"),
    240: ("ap_rcp", "ap2_rcp"),
    250: ("ap_rcp", "ap2_rcp"),
    480: ("ap2_rcp",),
    490: ("ap2_rcp",),
}
"""Round trips in ms, and what is drawn there."""


def _rcp(results: Results) -> Finding:
    words, moves = sides(results, "rcp", **PUBLISHED["rcp"])
    return Finding(words, settles(moves[0]) and swings(moves[1]))


def _ap_rcp(results: Results) -> Finding:
    words, moves = sides(results, "ap_rcp", **PUBLISHED["ap_rcp"])
    return Finding(words, settles(moves[0]) and swings(moves[1]))


def _ap2_rcp(results: Results) -> Finding:
    words, moves = sides(results, "ap2_rcp", PUBLISHED["ap2_rcp"]["stable_ms"], 490)
    return Finding(words, settles(moves[0]))


def _order(results: Results) -> Finding:
    rcp, ap = (swing(results, 115, "", scheme) for scheme in ("rcp", "ap_rcp"))
    ap_late, ap2_late = (swing(results, 250, "", scheme) for scheme in ("ap_rcp", "ap2_rcp"))
    return Finding(
        f"at 115 ms RCP {rcp:.0%} of the link and AP-RCP {ap:.1%}; at 250 ms AP-RCP {ap_late:.0%} "
        f"and AP2-RCP {ap2_late:.1%}",
        settles(ap) and swings(rcp) and settles(ap2_late) and swings(ap_late),
    )


SHOWN_BY = commands("thesis-fig5-13", *TRIED_WITH)
CLAIMS = (
    Claim(
        id="thesis-fig5-13-rcp",
        source="thesis 5.5.3, figure 5.13",
        claim="RCP is stable with a round trip of 110 ms and unstable with 115 ms",
        check=_rcp,
        kind="predicted",
        bound="hull",
        cause="documents contradict",
        tried=TRIED,
        shown_by=SHOWN_BY,
    ),
    Claim(
        id="thesis-fig5-13-ap-rcp",
        source="thesis 5.5.3, figure 5.13",
        claim="AP-RCP is stable with 240 ms and unstable with 250 ms",
        check=_ap_rcp,
        kind="predicted",
        bound="hull",
        cause="documents contradict",
        tried=TRIED,
        shown_by=SHOWN_BY,
    ),
    Claim(
        id="thesis-fig5-13-ap2-rcp",
        source="thesis 5.5.3, figure 5.13",
        claim="AP2-RCP is stable with 480 ms",
        check=_ap2_rcp,
        kind="predicted",
        bound="hull",
        cause="documents contradict",
        tried=TRIED,
        shown_by=SHOWN_BY,
    ),
    Claim(
        id="thesis-fig5-13-order",
        source="thesis 5.5.3",
        claim="where RCP is unstable, AP-RCP is stable; where AP-RCP is unstable, AP2-RCP is "
        "stable",
        check=_order,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """The rate of all sources over time, and at its end the extent of the first scheme's model."""
    return draw_rates(results, SHOWN)


EXPERIMENT = Experiment(
    id="thesis-fig5-13",
    title="Thesis figure 5.13: RCP with the averaging principle and long round trips",
    source="thesis 5.5.3, figure 5.13",
    scenario="thesis-rcp",
    variants=tuple(
        variant(rtt_ms, ending, schemes) for ending in BETAS for rtt_ms, schemes in SHOWN.items()
    ),
    stated=statements("thesis", "rcp"),
    deterministic=True,
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=QUICK, seeds=1),
    full=Size(overrides=("run.duration=120s",), seeds=1),
)

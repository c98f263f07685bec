"""Figure 5.5 of the thesis: the rate of a QCN source and of a QCN-AIMD source over time.

One source over a link of 10 Gbps, both algorithms as the thesis describes them; the round trip is
the shortest of section 5.6. Rates are R_C in Mbit/s, sampled each 1 us, which is less than a packet
takes. R_T is what R_C was before the last decrease.
"""

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hull.experiments.common.claims import Claim, Finding, about
from hull.experiments.common.experiment import Experiment, Size, Variant, published
from hull.experiments.common.measured import Results
from hull.experiments.common.qcn_runs import LOOKS
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
QCN, AIMD = SCHEMES = ("qcn", "qcn_aimd")
PARAMETERS = published("thesis-qcn", "parameters")
R_AI = float(PARAMETERS["r_ai_mbps"])
RECOVERY = int(PARAMETERS["fast_recovery_cycles"])
WARMUP_MS = 20
SHOWN_MS = 20
SHOWN_EVERY = 20
ROUNDING = 0.01
"""Mbit/s: rates are whole bit/s."""
_CONDITION = ""


class Cycle(NamedTuple):
    """What follows a decrease, up to the next."""

    before: float
    """R_T: R_C before the decrease."""
    low: float
    """R_C after it."""
    rises: list[float]
    """R_C after each increase."""


def rates(results: Results, scheme: str, seed: int) -> tuple[Array, Array]:
    """Times (ms) since the warm-up and rates."""
    rows = results.table("series", _CONDITION, scheme, seed).sort("time_ps")
    times = rows["time_ps"].to_numpy() / 1e9 - WARMUP_MS
    kept = times >= 0
    return times[kept], rows["rate_bps"].to_numpy()[kept] / 1e6


def cycles(results: Results, scheme: str) -> list[Cycle]:
    """All that begin and end in the measured time.

    An increase may fall between the same two samples as the decrease that follows it. Then R_T is
    what that increase made of R_C, which the first increase after the decrease tells.
    """
    found: list[Cycle] = []
    for part in results.parts(_CONDITION, scheme):
        _, values = rates(results, scheme, part["seed"])
        last: Cycle | None = None
        falls = np.flatnonzero(np.diff(values) < 0)
        for fall, following in pairwise(falls):
            path = values[fall + 1 : following + 1]
            rises = [float(rise) for rise in path[1:][np.diff(path) > 0]]
            low, before = float(path[0]), float(values[fall])
            if last and rises and abs(rises[0] - (low + _next(last)) / 2) <= ROUNDING:
                before = _next(last)
            last = Cycle(before, low, rises)
            found.append(last)
    return found


def _next(cycle: Cycle) -> float:
    """QCN's rate after one more increase than the cycle has."""
    rate = cycle.rises[-1] if cycle.rises else cycle.low
    probes = max(0, len(cycle.rises) + 1 - RECOVERY)
    return (rate + cycle.before + probes * R_AI) / 2


def _halves(results: Results) -> Finding:
    """Fast Recovery: each of the first five increases takes back half of what is missing."""
    counted = wrong = 0
    for cycle in cycles(results, QCN):
        rate = cycle.low
        for found in cycle.rises[:RECOVERY]:
            expected = (rate + cycle.before) / 2
            counted += 1
            wrong += abs(found - expected) > ROUNDING
            rate = found
    return Finding(f"{counted - wrong} of {counted} increases", counted > 0 and wrong == 0)


def _probes(results: Results) -> Finding:
    """Active Increase: after that R_T grows by R_AI a cycle."""
    counted = wrong = 0
    for cycle in cycles(results, QCN):
        if len(cycle.rises) <= RECOVERY:
            continue
        rate, target = cycle.rises[RECOVERY - 1], cycle.before
        for found in cycle.rises[RECOVERY:]:
            target += R_AI
            counted += 1
            wrong += abs(found - (rate + target) / 2) > ROUNDING
            rate = found
    return Finding(f"{counted - wrong} of {counted} increases", counted > 0 and wrong == 0)


def _aimd(results: Results) -> Finding:
    """R_AI in each cycle, from the first on."""
    steps = [
        rise - rate
        for cycle in cycles(results, AIMD)
        for rate, rise in zip([cycle.low, *cycle.rises], cycle.rises, strict=False)
    ]
    right = sum(abs(step - R_AI) <= ROUNDING for step in steps)
    return Finding(f"{right} of {len(steps)} increases are {R_AI:g} Mbps", 0 < right == len(steps))


def _below(results: Results) -> Finding:
    """Remark 5.1."""
    found = cycles(results, QCN)
    above = sum(max(cycle.rises[:RECOVERY], default=0.0) > cycle.before for cycle in found)
    return Finding(f"above in {above} of {len(found)}", bool(found) and above == 0)


def _longer(results: Results) -> Finding:
    """What both have taken back after the time of Fast Recovery."""
    shares = {}
    for scheme in SCHEMES:
        kept = [cycle for cycle in cycles(results, scheme) if len(cycle.rises) >= RECOVERY]
        back = [(c.rises[RECOVERY - 1] - c.low) / (c.before - c.low) for c in kept]
        shares[scheme] = float(np.mean(back)) if back else float("nan")
    words = (
        f"QCN {shares[QCN]:.1%}, QCN-AIMD {shares[AIMD]:.1%} of the decrease after "
        f"{RECOVERY} cycles"
    )
    return Finding(words, about(shares[QCN], 31 / 32, 0.01) and shares[AIMD] < shares[QCN])


CLAIMS = (
    Claim(
        id="thesis-fig5-5-recovery",
        source="thesis 5.2.2, figure 5.5",
        claim="in Fast Recovery, 5 cycles, QCN's rate moves halfway to the target each time",
        check=_halves,
        kind="by construction",
        bound="document",
    ),
    Claim(
        id="thesis-fig5-5-increase",
        source="thesis 5.2.2",
        claim="after that, in Active Increase, the target grows by R_AI, 5 Mbps, in each cycle",
        check=_probes,
        kind="by construction",
        bound="document",
    ),
    Claim(
        id="thesis-fig5-5-aimd",
        source="thesis 5.4.1, figure 5.5",
        claim="QCN-AIMD begins Active Increase immediately after a decrease: R_AI in each cycle",
        check=_aimd,
        kind="by construction",
        bound="document",
    ),
    Claim(
        id="thesis-fig5-5-below",
        source="thesis remark 5.1",
        claim="throughout Fast Recovery QCN's rate stays below the target: it takes back less than "
        "the decrease",
        check=_below,
        kind="by construction",
        bound="document",
    ),
    Claim(
        id="thesis-fig5-5-search",
        source="thesis remark 5.1",
        claim="averaging finds the old rate sooner than a linear search: 31/32 of a decrease "
        "after 5 cycles, QCN-AIMD less",
        check=_longer,
        kind="by construction",
        bound="document",
    ),
)


def draw(results: Results) -> "Figure":
    """The rate of each algorithm over time."""
    from hull.figures import Line, Panel, plot_sweep

    panels = []
    for scheme, title in ((QCN, "QCN"), (AIMD, "QCN-AIMD")):
        times, values = rates(results, scheme, results.parts(_CONDITION, scheme)[0]["seed"])
        kept = times < SHOWN_MS
        panels.append(
            Panel(
                title,
                "Time (ms)",
                "R_C (Mbps)",
                [Line(scheme, list(times[kept][::SHOWN_EVERY]), list(values[kept][::SHOWN_EVERY]))],
                y_limits=(8000, 10500),
            )
        )
    return plot_sweep(panels, looks=LOOKS)


EXPERIMENT = Experiment(
    id="thesis-fig5-5",
    title="Thesis figure 5.5: the rate of a QCN and of a QCN-AIMD source",
    source="thesis 5.4.1, figure 5.5",
    scenario="thesis-rates",
    variants=(
        Variant(
            schemes=SCHEMES, overrides=(f"run.warmup={WARMUP_MS}ms", "measure.flows.interval=1us")
        ),
    ),
    stated=statements("thesis", "rates", "figure 5.5"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.duration=100ms",), seeds=1),
    full=Size(overrides=("run.duration=500ms",), seeds=3),
)

"""Figure 5.6 of the thesis: the queue of ten QCN and QCN-AIMD sources as the round trip grows.

Each as the thesis describes it in 5.2, and with the details of IEEE 802.1Qau that it leaves out
and refers to the standard for. The statements are judged of both.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from hull.experiments.common.claims import Bound, Claim, Finding, about, commands, unshipped
from hull.experiments.common.decided import at_most, more_than
from hull.experiments.common.experiment import Experiment, Size, published
from hull.experiments.common.measured import Results
from hull.experiments.common.qcn_runs import (
    AIMD,
    AIMD_STANDARD,
    LOOKS,
    QCN,
    QCN_STANDARD,
    of_queue,
    queue,
    seeds,
    variant,
)
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHORT, MIDDLE, LONG = DRAWN = (50, 200, 350)
BEYOND = 700
"""Some way beyond the 500 us after which QCN's queue begins to underflow."""
EQUILIBRIUM = published("thesis-qcn", "parameters")["q_eq_pkts"]
MARGINS = published("thesis-qcn", "figure5_6")
AS_DESCRIBED, AS_STANDARD = PAIRS = ((QCN, AIMD), (QCN_STANDARD, AIMD_STANDARD))
UNDERFLOW_PCT = 0.1
"""A queue underflows when more of the samples than this find it empty."""
SHOWN_MS = (60, 90)


def _short(pair: tuple[str, str], results: Results) -> Finding:
    found = [of_queue(results, SHORT, scheme) for scheme in pair]
    holds = all(about(q.mean, EQUILIBRIUM) and at_most(q.empty_pct, UNDERFLOW_PCT) for q in found)
    return Finding(f"QCN {found[0].words()}; QCN-AIMD {found[1].words()}", holds)


def _middle(pair: tuple[str, str], results: Results) -> Finding:
    qcn, aimd = (of_queue(results, MIDDLE, scheme) for scheme in pair)
    holds = at_most(qcn.empty_pct, UNDERFLOW_PCT) and more_than(aimd.empty_pct, UNDERFLOW_PCT)
    return Finding(f"QCN {qcn.words()}; QCN-AIMD {aimd.words()}", holds)


def _long(pair: tuple[str, str], results: Results) -> Finding:
    found = of_queue(results, LONG, pair[0])
    holds = about(found.mean, EQUILIBRIUM) and at_most(found.empty_pct, UNDERFLOW_PCT)
    return Finding(found.words(), holds)


def _beyond(pair: tuple[str, str], results: Results) -> Finding:
    found = of_queue(results, BEYOND, pair[0])
    return Finding(found.words(), more_than(found.empty_pct, UNDERFLOW_PCT))


def _margins(_: Results) -> Finding:
    from hull.theory.qcn import Qcn
    from hull.theory.qcn_stability import aimd_loop, qcn_loop, tau_hat_s, tau_star_s

    model = Qcn()
    star, hat = 1e6 * tau_star_s(model), 1e6 * tau_hat_s(model)
    exact = [1e6 * loop(model).margin_s() for loop in (qcn_loop, aimd_loop)]
    words = (
        f"theorem 5.1 {star:.1f} us (exact {exact[0]:.1f}), "
        f"theorem 5.2 {hat:.1f} us (exact {exact[1]:.1f})"
    )
    printed = MARGINS["tau_star_us"], MARGINS["tau_hat_us"]
    holds = all(abs(a - b) < 0.5 for a, b in zip((star, hat), printed, strict=True))
    return Finding(words, holds)


TRIED_MARGINS = (
    "Equation 5.20 with 5.21 gives 216.3 us at the parameters of section 5.4, and so do the "
    "exact frequency response and the rightmost root of the delay equation. 5.21 as typeset, "
    "with the second root outside the first, gives 0.3 us. 189 us would be right for 4 to 5 "
    "sources."
)
SHOWN_BY_MARGINS = commands("thesis-fig5-6", "")


TRIED = (
    "As described, QCN is empty 0.3% of the time at 200 us (1 seed of 300 ms); it has 12.0 "
    "packets at 350 us and is empty 2.4% of the time, and QCN-AIMD has 17.5 packets at 50 us and "
    "is empty 0.16% (5 seeds of 1 s). With the details of IEEE 802.1Qau, to which section 5.2 "
    "refers, all four statements hold. With feedback after half of the round trip QCN as "
    "described has 18.7 packets at 200 us and 17.4 at 350, empty 0.03 and 0.10% of the time "
    "(0.19% at 350 us over 5 seeds of 1 s); section 5.4.2 uses the whole round trip as the delay."
)


SHOWN_BY = (
    *commands("thesis-fig5-6", "--full"),
    *unshipped("feedback after half of the round trip"),
)


def _claims(
    name: str,
    source: str,
    text: str,
    check: Callable[[tuple[str, str], Results], Finding],
    bound: Bound,
) -> tuple[Claim, Claim]:
    """A statement of the algorithm as described, and of it as 802.1Qau, which was chosen because
    all four hold with it."""
    return (
        Claim(
            f"thesis-fig5-6-{name}",
            source,
            text,
            partial(check, AS_DESCRIBED),
            kind="predicted",
            bound=bound,
            cause="documents contradict",
            tried=TRIED,
            shown_by=SHOWN_BY,
        ),
        Claim(
            f"thesis-fig5-6-{name}-8021qau",
            source,
            f"{text}, as 802.1Qau",
            partial(check, AS_STANDARD),
            kind="fitted",
            bound=bound,
        ),
    )


CLAIMS = (
    *_claims(
        "short",
        "thesis 5.4.2, figure 5.6 (a)",
        "at 50 us both keep the queue about 22 packets (within 25%)",
        _short,
        "document",
    ),
    *_claims(
        "middle",
        "thesis 5.4.2, figure 5.6 (b)",
        "at 200 us QCN-AIMD's queue underflows and QCN's does not",
        _middle,
        "hull",
    ),
    *_claims(
        "long",
        "thesis 5.4.2, figure 5.6 (c)",
        "at 350 us QCN keeps it about 22 packets and it does not underflow",
        _long,
        "hull",
    ),
    *_claims(
        "beyond",
        "thesis 5.4.2",
        "beyond 500 us (here at 700) QCN's queue underflows",
        _beyond,
        "hull",
    ),
    Claim(
        id="thesis-fig5-6-margins",
        source="thesis 5.4.2, theorems 5.1 and 5.2",
        claim="the linear margins are 249 us for QCN and 189 us for QCN-AIMD",
        check=_margins,
        kind="mathematics",
        bound="document",
        cause="documents contradict",
        tried=TRIED_MARGINS,
        shown_by=SHOWN_BY_MARGINS,
    ),
)


def draw(results: Results) -> "Figure":
    """Queues over time: a column for each round trip; as described above, as 802.1Qau below."""
    from hull.figures import Line, Panel, plot_sweep

    panels = []
    for pair in PAIRS:
        for rtt_us in DRAWN:
            lines = []
            for scheme in pair[::-1]:
                seed = seeds(results, rtt_us, scheme)[0]
                lines.append(Line(scheme, *queue(results, rtt_us, scheme, seed).shown(*SHOWN_MS)))
            span = [0.0, float(SHOWN_MS[1] - SHOWN_MS[0])]
            panels.append(
                Panel(
                    f"RTT {rtt_us} us",
                    "Time (ms)",
                    "Queue (packets)",
                    lines,
                    y_limits=(0, 45),
                    reference=[("Q_eq", span, [EQUILIBRIUM] * 2)],
                )
            )
    return plot_sweep(panels, looks=LOOKS, columns=3, width=3.2)


EXPERIMENT = Experiment(
    id="thesis-fig5-6",
    title="Thesis figure 5.6: queue of QCN and QCN-AIMD by round trip",
    source="thesis 5.4.2, figure 5.6",
    scenario="thesis-qcn",
    variants=(
        *(variant(rtt_us, (*AS_DESCRIBED, *AS_STANDARD)) for rtt_us in DRAWN),
        variant(BEYOND, (QCN, QCN_STANDARD)),
    ),
    stated=statements("thesis", "qcn", "figure 5.6"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.duration=300ms",), seeds=1),
    full=Size(overrides=("run.duration=1s",), seeds=10),
)

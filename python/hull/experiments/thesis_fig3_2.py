"""Figure 3.2 of the thesis: the queue of two DCTCP flows with a large gain, g = 0.4: fluid model,
Sawtooth model and simulation."""

from typing import TYPE_CHECKING

import numpy as np

from hull.experiments.common.claims import Claim, Finding, ratio
from hull.experiments.common.cycles import LOOKS
from hull.experiments.common.decided import more_than, ordered
from hull.experiments.common.experiment import Experiment, Size
from hull.experiments.common.measured import Results
from hull.experiments.common.one_link import (
    cycle,
    cycle_swing,
    flow_over,
    flows_variant,
    fluid_over,
    link,
    queue_over,
    sawtooth_of,
    sawtooth_over,
)
from hull.experiments.common.stated import statements
from hull.experiments.common.swings import Swing, swing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = SCHEME, PER_ACK = ("dctcp", "dctcp_rtt_fair")
G, THRESHOLD = 0.4, 65
AT = link(2, THRESHOLD)
SHOWN_MS = 8


def _saw() -> Swing:
    saw = sawtooth_of(AT)
    return Swing(
        saw.period_rtts * AT.round_trip_s,
        saw.queue_min,
        saw.queue_max,
        (saw.queue_min + saw.queue_max) / 2,
    )


def _words(swings: Swing) -> str:
    return f"{swings.amplitude:.1f} packets in {swings.period_s * 1e3:.2f} ms"


def _all(results: Results) -> str:
    found, per_ack = (_words(swing(results, "2", scheme)) for scheme in SCHEMES)
    fluid, clocked = (_words(cycle_swing(AT, G, clocked=c)) for c in (False, True))
    return (
        f"DCTCP {found}, fluid model {fluid}, Sawtooth {_words(_saw())}; with a cut on each marked "
        f"ACK {per_ack}, fluid model with 2.3 {clocked}"
    )


def _poor(results: Results) -> Finding:
    found, saw = swing(results, "2", SCHEME), _saw()
    off = max(abs(found.amplitude / saw.amplitude - 1), abs(found.period_s / saw.period_s - 1))
    return Finding(_all(results), more_than(off, 0.5))


def _better(results: Results) -> Finding:
    found, fluid, saw = swing(results, "2", SCHEME), cycle_swing(AT, G), _saw()

    def off(model: Swing) -> tuple[float, float]:
        return (
            abs(np.log(model.amplitude / found.amplitude)),
            abs(np.log(model.period_s / found.period_s)),
        )

    pairs = list(zip(off(fluid), off(saw), strict=True))
    words = " and ".join(f"{np.exp(a):.2f} against {np.exp(b):.2f}" for a, b in pairs)
    return Finding(
        f"off by factors of {words} (amplitude and period)", all(ordered(a, b) for a, b in pairs)
    )


def _alpha(results: Results) -> Finding:
    alpha = flow_over(results, "2", SCHEME, 0)[2]
    low, high = np.percentile(alpha, [2, 98])
    model = cycle(AT, G).path.alpha
    return Finding(
        f"{low:.2f} to {high:.2f}, fluid model {model.min():.2f} to {model.max():.2f}, Sawtooth "
        f"{sawtooth_of(AT).alpha:.2f}",
        more_than(ratio(high, low), 2),
    )


CLAIMS = (
    Claim(
        id="thesis-fig3-2-sawtooth",
        source="thesis 3.1.1, figure 3.2",
        claim="with g = 0.4 the Sawtooth's prediction of the queue is very poor (off by more than "
        "half in amplitude or period)",
        check=_poor,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig3-2-fluid",
        source="thesis 3.1.1, figure 3.2",
        claim="the fluid model is much nearer (in amplitude and in period)",
        check=_better,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig3-2-alpha",
        source="thesis 3.1.1, figure 3.2",
        claim="alpha, which the Sawtooth assumes constant, fluctuates (by a factor above 2)",
        check=_alpha,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """Queue and alpha over time, a row for each scheme, over both models."""
    from hull.figures import Line, Panel, plot_sweep

    fluid, saw = fluid_over(AT, G, SHOWN_MS), sawtooth_over(AT, SHOWN_MS)
    panels = []
    for scheme in SCHEMES:
        shown = queue_over(results, "2", scheme, THRESHOLD, SHOWN_MS)
        for name, model in (("Fluid model", fluid), ("Sawtooth", saw)):
            panels.append(
                Panel(
                    name,
                    "Time (ms)",
                    "Queue (packets)",
                    [Line(scheme, *shown)],
                    y_limits=(0, 90),
                    reference=[("model", list(model.time), list(model.queue))],
                )
            )
    return plot_sweep(panels, looks=LOOKS, columns=2, width=4)


EXPERIMENT = Experiment(
    id="thesis-fig3-2",
    title="Thesis figure 3.2: two DCTCP flows with g = 0.4, both models and simulation",
    source="thesis 3.1.1, figure 3.2",
    scenario="thesis-fluid",
    variants=(flows_variant(2, f"transport.dctcp.g={G}"),),
    stated=statements("thesis", "fluid", "figure 3.2"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.duration=100ms",), seeds=1),
    full=Size(overrides=("run.duration=1s",), seeds=5),
)

"""Figure 1.2 of the thesis: the queue (KB) of a port over time, two long flows at 1 Gbps.

The switch shares 4 MB between its ports and gives a single busy one some 600 KB. Sampled each 10
ms, where the thesis has 125 ms, so that the sawtooth can be seen.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, about, ratio
from hull.experiments.common.decided import at_most, more_than
from hull.experiments.common.experiment import Experiment, Size, Variant, published
from hull.experiments.common.measured import Results
from hull.experiments.common.queue_cdf import percentile
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = TCP, DCTCP = ("tcp", "dctcp")
LIMIT_KB = published("thesis-dctcp", "figure1_2")["tcp_queue_limit_kb"]
SHOWN_S = 4
"""Of the measured time."""


def _kb(results: Results, scheme: str, percent: float) -> float:
    return percentile(results, "", scheme, percent) * 1.5


def _limit(results: Results) -> Finding:
    found = _kb(results, TCP, 100)
    return Finding(f"{found:.0f} KB", about(found, LIMIT_KB))


def _sawtooth(results: Results) -> Finding:
    low, high = _kb(results, TCP, 1), _kb(results, TCP, 99)
    return Finding(
        f"{low:.0f} to {high:.0f} KB (1st and 99th percentile)", more_than(ratio(high, low), 1.3)
    )


def _stable(results: Results) -> Finding:
    low, high = (_kb(results, DCTCP, percent) for percent in (1, 99))
    return Finding(f"{low:.0f} to {high:.0f} KB (1st and 99th percentile)", at_most(high - low, 30))


CLAIMS = (
    Claim(
        id="thesis-fig1-2-limit",
        source="thesis 2.3.1, figure 1.2",
        claim="the switch lets TCP's queue grow to about 600 KB (within 25%)",
        check=_limit,
        kind="fitted",
        bound="document",
    ),
    Claim(
        id="thesis-fig1-2-sawtooth",
        source="thesis 2.3.1, figure 1.2",
        claim="it is a sawtooth (its 99th percentile more than 1.3 times its 1st)",
        check=_sawtooth,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig1-2-stable",
        source="thesis 2.3.1, figure 1.2",
        claim="DCTCP's is stable and low (98% of the time within 30 KB, a threshold's height)",
        check=_stable,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """The queue of the first seed over some seconds."""
    from hull.figures import Line, Panel, plot_sweep

    lines = []
    for scheme in SCHEMES:
        seed = results.parts("", scheme)[0]["seed"]
        table = results.table("latency", "", scheme, seed).drop_nulls("queue_bytes")
        time_s = table["time_ps"].to_numpy() * 1e-12
        shown = time_s - time_s[0] <= SHOWN_S
        queue = table["queue_bytes"].to_numpy() / 1e3
        lines.append(Line(scheme, time_s[shown] - time_s[0], queue[shown]))
    return plot_sweep(
        [Panel("Two flows at 1 Gbps", "Time (s)", "Queue (KB)", lines)], width=6.4, height=2.8
    )


EXPERIMENT = Experiment(
    id="thesis-fig1-2",
    title="Thesis figure 1.2: queue over time, TCP and DCTCP",
    source="thesis 1.1.1, figure 1.2",
    scenario="thesis-long",
    variants=(Variant(overrides=("measure.sample_interval=10ms",)),),
    stated=statements("thesis", "long", "figure 1.2"),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=("run.duration=5s",), seeds=1),
    full=Size(overrides=("run.duration=60s",), seeds=5),
)

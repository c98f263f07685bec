"""Figure 3.8 of the thesis: DCTCP's throughput as its marking threshold K falls.

The thesis computes the worst case over all windows; here that is drawn over eight flows whose
average window is the worst one, packet by packet. Throughput is of the link's rate.
"""

from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding
from hull.experiments.common.cycles import LOOKS, SCHEME, SCHEMES, Cycle
from hull.experiments.common.decided import at_least, ordered
from hull.experiments.common.experiment import Experiment, Size, published
from hull.experiments.common.measured import Results, Summary
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAINS = (0.05, 0.4)
PSIS = (0.01, 0.05, 0.1, 0.17, 0.25, 0.35)
WINDOW = 14
CYCLES = {g: tuple(Cycle(WINDOW, g, psi) for psi in PSIS) for g in GAINS}
SMALL, LARGE = GAINS
LEAST = published("thesis-dctcp", "figure3_8")["throughput_pct_at_least_for_g_below_0_1"]


def _percent(part: Summary) -> float:
    return 100 * float(part["throughput"]["utilization"])


def _throughput(results: Results, g: float, scheme: str = SCHEME) -> list[float]:
    return [results.mean(cycle.name, scheme, _percent) for cycle in CYCLES[g]]


def _words(values: list[float]) -> str:
    return ", ".join(f"{value:.1f}" for value in values)


def _least(results: Results) -> Finding:
    found = _throughput(results, SMALL)
    return Finding(
        f"{_words(found)}% for K from 1 to 35% of C d", all(at_least(pct, LEAST) for pct in found)
    )


def _whole(results: Results) -> Finding:
    found = _throughput(results, SMALL)[PSIS.index(0.17)]
    return Finding(f"{found:.2f}%", at_least(found, 99.5))


def _gain(results: Results) -> Finding:
    small, large = _throughput(results, SMALL), _throughput(results, LARGE)
    less = all(ordered(b, a) for a, b in zip(small[:3], large[:3], strict=True))
    return Finding(f"{_words(small)} and with g = 0.4 {_words(large)}%", less)


CLAIMS = (
    Claim(
        id="thesis-fig3-8-least",
        source="thesis 3.2.3",
        claim="throughput is at least 94% for g below 0.1, however low K is",
        check=_least,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-fig3-8-whole",
        source="thesis 3.2.3",
        claim="for small g there is full throughput (99.5% and more) from K = 17% of C d on",
        check=_whole,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-fig3-8-g",
        source="thesis 3.2.3, figure 3.8",
        claim="a larger g loses more throughput, below K = 17% of C d",
        check=_gain,
        kind="predicted",
        bound="document",
    ),
)


def draw(results: Results) -> "Figure":
    """Throughput by threshold, a panel for each g, over the model's worst case."""
    from hull.figures import Line, Panel, plot_sweep
    from hull.theory.throughput import worst_throughput

    return plot_sweep(
        [
            Panel(
                f"g = {g:g}",
                "K over C d",
                "Throughput (% of the rate)",
                [Line(scheme, PSIS, _throughput(results, g, scheme)) for scheme in SCHEMES],
                y_limits=(85, 101),
                reference=[
                    (
                        "fluid model, worst window",
                        PSIS,
                        [100 * worst_throughput(g, psi).throughput for psi in PSIS],
                    )
                ],
            )
            for g in GAINS
        ],
        looks=LOOKS,
    )


EXPERIMENT = Experiment(
    id="thesis-fig3-8",
    title="Thesis figure 3.8: DCTCP's throughput against its threshold, model and simulation",
    source="thesis 3.2.3, figure 3.8",
    scenario="thesis-cycle",
    variants=tuple(cycle.variant() for g in GAINS for cycle in CYCLES[g]),
    stated=statements("thesis", "cycle"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.warmup=1s", "run.duration=3s"), seeds=1),
    full=Size(overrides=("run.warmup=2s", "run.duration=20s"), seeds=5),
)

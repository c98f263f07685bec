"""Theorem 3.2 of the thesis: distance of DCTCP's windows from the fair share, against its bound.

The Hybrid Model from many starts, and the two flows of figure 3.11 in packets (scenario
thesis-convergence): at each congestion event, that is each sample before a window shrinks, the
distance of the farther window from W*. Windows in packets, times in round trips since the second
flow joined, of d + K / C as in the model; events of the simulation are counted, too.
"""

import math
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hull.experiments.common.claims import Claim, Finding, commands, within
from hull.experiments.common.decided import less_than
from hull.experiments.common.experiment import Experiment, Size, Variant, published
from hull.experiments.common.gains import GAINS, LOOKS
from hull.experiments.common.measured import Results
from hull.experiments.common.stated import statements
from hull.theory.bottleneck import Bottleneck

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {
    "g_high": "g = 0.0707, 1/root of W_max",
    "g_guideline": "g = 0.025, 5/W_max",
    "g_low": "g = 0.005, 1/W_max",
}
FLOWS, MAX_WINDOW = 2, 200.0
FAIR = MAX_WINDOW / FLOWS
TCP_FACTOR = float(
    published("thesis-dctcp", "convergence_rate")["beta_tcp_over_beta_dctcp_at_most"]
)
DECAY = (60.0, 10.0)
"""Packets between the two windows from which and down to which a rate is measured."""
_SEGMENT = 1460
_LINK = Bottleneck(10e9 / 12000, 200e-6, 35, 2)


class Event(NamedTuple):
    """A congestion event."""

    time: float
    """Round trips since the second flow joined."""
    distance: float
    """Of the farther window from W*."""
    gap: float
    """Between the windows."""


def _join_ms(results: Results) -> float:
    return 1000 if results.is_full else 300


def _rows(results: Results, scheme: str, seed: int) -> "tuple[np.ndarray, np.ndarray]":
    """Times in round trips, and the windows of both flows."""
    import polars as pl

    rows: pl.DataFrame = results.table("series", "", scheme, seed)
    wide = rows.pivot(on="flow", index="time_ps", values="cwnd_bytes").drop_nulls().sort("time_ps")
    times = wide["time_ps"].to_numpy() / 1e12 - _join_ms(results) / 1e3
    windows = wide.drop("time_ps").to_numpy() / _SEGMENT
    kept = times >= 0
    return times[kept] / _LINK.round_trip_s, windows[kept]


def events(results: Results, scheme: str, seed: int) -> list[Event]:
    """Each sample after which a window shrinks, the two flows' events a round trip apart as one."""
    times, windows = _rows(results, scheme, seed)
    found: list[Event] = []
    for at in np.flatnonzero((np.diff(windows, axis=0) < 0).any(axis=1)):
        if found and times[at] - found[-1].time < 1.5:
            continue
        pair = windows[at]
        distance = float(np.abs(pair - FAIR).max())
        found.append(Event(float(times[at]), distance, float(abs(pair[0] - pair[1]))))
    return found


def _seeds(results: Results, scheme: str) -> list[int]:
    return [part["seed"] for part in results.parts("", scheme)]


@cache
def _model(g: float, count: int) -> list[Event]:
    """The Hybrid Model from windows of 199 and 1 packets and alphas of 0 and 1."""
    from hull.theory.hybrid import episodes

    found = []
    for episode in islice(episodes([MAX_WINDOW - 1, 1], [0, 1], g), count):
        first, second = (float(w) for w in episode.windows)
        found.append(Event(episode.time, max(abs(first - FAIR), abs(second - FAIR)),
                           abs(first - second)))  # fmt: skip
    return found


def _slope(path: list[Event]) -> float:
    """Rate at which the gap decays from the first to the second of DECAY, per round trip."""
    last = next((n for n, event in enumerate(path) if event.gap < DECAY[1]), len(path))
    first = next((n for n, event in enumerate(path) if event.gap < DECAY[0]), last)
    part = path[first : last + 1]
    if len(part) < 3:
        return math.nan
    logs = [math.log(max(event.gap, 1e-9)) for event in part]
    return -float(np.polyfit([event.time for event in part], logs, 1)[0])


def _starts(results: Results) -> list[tuple[list[float], list[float], float]]:
    """Windows, alphas and g within 3.20."""
    random = np.random.default_rng(32)
    found = []
    for flows in (2, 3, 5, 10, 20):
        for fair in (2.001, 10.0, 100.0, 1000.0):
            for share in (0.999, 0.3, 0.05):
                for _ in range(10 if results.is_full else 2):
                    windows = random.dirichlet(np.full(flows, 0.3)) * flows * fair
                    alphas = random.uniform(0, 1, flows)
                    g = share / math.sqrt(flows * fair)
                    found.append((list(windows), list(alphas), g))
    return found


def _bound_in_the_model(results: Results) -> Finding:
    from hull.theory.hybrid import convergence, episodes

    broken, events_, nearest = 0, 0, 0.0
    starts = _starts(results)
    for windows, alphas, g in starts:
        most = sum(windows)
        theorem = convergence(len(windows), most, g)
        fair = most / len(windows)
        for n, episode in enumerate(islice(episodes(windows, alphas, g), 600)):
            distance = float(np.abs(episode.windows - fair).max())
            # Sums of floating point are no nearer than this.
            share = max(0.0, distance - 1e-9 * fair) / theorem.bound(n, episode.time)
            nearest = max(nearest, share)
            broken += share >= 1
            events_ += 1
    return Finding(
        f"{broken} of {events_:,} events of {len(starts)} starts above it; at most {nearest:.2g} "
        "of the bound",
        broken == 0,
    )


def _bound_in_packets(results: Results) -> Finding:
    from hull.theory.hybrid import convergence

    words, largest = [], []
    for scheme, g in GAINS.items():
        theorem = convergence(FLOWS, MAX_WINDOW, g)
        cut = theorem.alpha * FAIR / 2
        shares = [
            event.distance / bound
            for seed in _seeds(results, scheme)
            for n, event in enumerate(events(results, scheme, seed))
            if cut <= (bound := theorem.bound(n, event.time)) < FAIR
        ]
        if shares:
            largest.append(max(shares))
            above = sum(share >= 1 for share in shares)
            words.append(
                f"g {g:g}: {above} of {len(shares)} above, at most {largest[-1]:.2f} of it"
            )
        else:
            words.append(f"g {g:g}: none there")
    holds = bool(largest) and all(less_than(share, 1) for share in largest)
    return Finding("; ".join(words), holds)


def _rate(results: Results) -> Finding:
    from hull.theory.hybrid import convergence

    words, ratios = [], []
    for scheme in ("g_high", "g_guideline"):
        g = GAINS[scheme]
        beta = convergence(FLOWS, MAX_WINDOW, g).beta
        slopes = [_slope(events(results, scheme, seed)) for seed in _seeds(results, scheme)]
        mean = sum(slopes) / len(slopes)
        model = _slope(_model(g, 400))
        ratios.append(mean / beta)
        words.append(f"g {g:g}: {mean:.4f} (beta {beta:.4f}, model {model:.4f})")
    return Finding("; ".join(words), all(within(ratio, 0.75, 1.25) for ratio in ratios))


def _slower(_: Results) -> Finding:
    from hull.theory.hybrid import convergence

    words, holds = [], True
    for scheme, g in GAINS.items():
        theorem = convergence(FLOWS, MAX_WINDOW, g)
        limit = "g" if theorem.beta == g else "the windows"
        words.append(f"g {g:g}: gamma {theorem.gamma:.4f}, {limit}")
        holds = holds and (limit == "g") == (scheme == "g_low")
    return Finding("; ".join(words), holds)


def _alphas(results: Results) -> Finding:
    """Mean alpha over the last quarter of the time, of both flows."""
    import polars as pl

    from hull.theory.hybrid import steady_alpha

    words, ratios = [], []
    for scheme in ("g_high", "g_guideline"):
        means = []
        for seed in _seeds(results, scheme):
            rows: pl.DataFrame = results.table("series", "", scheme, seed)
            end, join = int(rows["time_ps"].max()), _join_ms(results) * 1e9  # type: ignore[arg-type]
            late = rows.filter(pl.col("time_ps") >= end - (end - join) / 4)
            means.append(float(late["alpha"].mean()))  # type: ignore[arg-type]
        mean, star = sum(means) / len(means), steady_alpha(FAIR, GAINS[scheme])
        ratios.append(mean / star)
        words.append(f"g {GAINS[scheme]:g}: {mean:.3f} (alpha* {star:.3f})")
    return Finding("; ".join(words), all(within(ratio, 0.75, 1.25) for ratio in ratios))


def _tcp(_: Results) -> Finding:
    from hull.theory.hybrid import convergence, tcp_rate

    found = {}
    for window in (10, 100, 1000, 10_000):
        g = 1 / math.sqrt(2 * window)
        found[window] = tcp_rate(window) / convergence(2, 2 * window, g).beta
    words = ", ".join(f"{ratio:.2f} at {window:,}" for window, ratio in found.items())
    return Finding(f"{words} packets", all(1 < ratio <= TCP_FACTOR for ratio in found.values()))


TRIED_TCP = (
    "1.4 is the limit for large windows: it follows from (3.25), which omits the 1 in the "
    "denominator of (3.23)."
)

CLAIMS = (
    Claim(
        id="thesis-theorem3-2-model",
        source="thesis theorem 3.2",
        claim="in the Hybrid Model every window at every congestion event is within the bound, "
        "from any start",
        check=_bound_in_the_model,
        kind="mathematics",
        bound="document",
    ),
    Claim(
        id="thesis-theorem3-2-packets",
        source="thesis theorem 3.2, 3.3.3",
        claim="simulations verify it: two flows in packets are within the bound wherever it is "
        "below W* and above one cut, alpha* W*/2 packets, by which flows that do not cut together "
        "differ (the values of g whose run reaches that)",
        check=_bound_in_packets,
        kind="fitted",
        bound="hull",
    ),
    Claim(
        id="thesis-theorem3-2-rate",
        source="thesis 3.3.2",
        claim="the windows converge at the rate beta (in packets, within 25%, g of 1/root of W_max "
        "and 5/W_max)",
        check=_rate,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-theorem3-2-slower",
        source="thesis 3.3.3",
        claim="with g of 1/root of W_max and 5/W_max the windows limit the rate; with 1/W_max, g "
        "limits it",
        check=_slower,
        kind="mathematics",
        bound="document",
    ),
    Claim(
        id="thesis-theorem3-2-alpha",
        source="thesis theorem 3.2",
        claim="alpha converges to alpha* (mean of the last quarter in packets, within 25%, the "
        "first two g)",
        check=_alphas,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-theorem3-2-tcp",
        source="thesis 3.3.2",
        claim="with g of 1/root of W_max TCP's rate is above DCTCP's and at most 1.4 times that",
        check=_tcp,
        kind="mathematics",
        bound="document",
        cause="documents contradict",
        tried=TRIED_TCP,
        shown_by=commands("thesis-theorem3-2", ""),
    ),
)


def draw(results: Results) -> "Figure":
    """Distance from the fair share at each event, packets, model and bound; a panel for each g."""
    from hull.figures import Line, Panel, plot_sweep
    from hull.theory.hybrid import convergence

    panels = []
    for scheme, g in GAINS.items():
        theorem = convergence(FLOWS, MAX_WINDOW, g)
        found = events(results, scheme, _seeds(results, scheme)[0])
        end = found[-1].time
        model = [event for event in _model(g, 3000) if event.time <= end]
        bounds = [(event.time, theorem.bound(n, event.time)) for n, event in enumerate(model)]
        shown = [(time, bound) for time, bound in bounds if bound < 1e4]
        reference = [
            (
                "model",
                [event.time for event in model],
                [max(event.distance, 1e-3) for event in model],
            )
        ]
        if shown:
            reference.append(("bound", [t for t, _ in shown], [max(b, 1e-3) for _, b in shown]))
        panels.append(
            Panel(
                TITLES[scheme],
                "Time since it joined (round trips)",
                "Distance from W* (packets)",
                [
                    Line(
                        "packets",
                        [event.time for event in found],
                        [max(event.distance, 1e-3) for event in found],
                    )
                ],
                log_y=True,
                y_limits=(1e-3, 1e4),
                reference=reference,
            )
        )
    return plot_sweep(panels, looks=LOOKS, columns=3, width=3.2)


EXPERIMENT = Experiment(
    id="thesis-theorem3-2",
    title="Thesis theorem 3.2: convergence rate of DCTCP's windows in bound, model and packets",
    source="thesis 3.3.2, theorem 3.2",
    scenario="thesis-convergence",
    variants=(Variant(schemes=tuple(GAINS)),),
    stated=statements("thesis", "convergence"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(
        overrides=(
            "run.warmup=300ms",
            'workload.long_lived.flows=[{src=1,dst=0},{src=2,dst=0,start="300ms"}]',
        ),
        seeds=1,
    ),
    full=Size(overrides=(), seeds=10),
)

"""Remark 5.5 of the thesis: mechanisms that speed up transients of control loops.

QCN's timer, extra fast recovery and target-rate reduction, and, from the standard, its hyper-active
increase: ten sources that all start at the rate of their links ("start"), and nine of ten that stop
("stop"). BIC-TCP's Fast Convergence: a second flow joins ("join"). Times in ms.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from hull.experiments.common.claims import Claim, Finding
from hull.experiments.common.decided import ordered
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.measured import Results, Summary
from hull.experiments.common.qcn_runs import LOOKS
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QCN, TIMER, EXTRA, REDUCTION, HYPER = (
    "qcn",
    "timer",
    "extra_fast_recovery",
    "target_rate_reduction",
    "hyper_increase",
)
FAST, WITHOUT = ("fast_convergence", "without")
START, STOP, JOIN = ("start", "stop", "join")
STOP_MS = 40
ENOUGH_GBPS = 9.0
FIRST_MS = 50
JOIN_MS = 100
_SEGMENT = 1460


def _seeds(results: Results, condition: str, scheme: str) -> list[int]:
    return [part["seed"] for part in results.parts(condition, scheme)]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def _utilization(results: Results, scheme: str) -> float:
    """Percent of the link in the measured time, which is the first 50 ms."""

    def read(part: Summary) -> float:
        return 100 * float(part["throughput"]["utilization"])

    return _mean([read(part) for part in results.parts(START, scheme)])


def _drops(results: Results, scheme: str) -> float:
    return _mean([float(part["packets"]["dropped"]) for part in results.parts(START, scheme)])


def _lasting(results: Results, scheme: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Time since the others stopped and the rate of the flow that lasts, Gbit/s."""
    import polars as pl

    rows = results.table("series", STOP, scheme, seed)
    last = rows.filter(pl.col("flow") == rows["flow"].min()).sort("time_ps")
    return last["time_ps"].to_numpy() / 1e9 - STOP_MS, last["rate_bps"].to_numpy() / 1e9


def _refill_ms(results: Results, scheme: str) -> float:
    """Until the flow that lasts has 9 of the 10 Gbps; infinite where it never has."""
    found = []
    for seed in _seeds(results, STOP, scheme):
        times, rates = _lasting(results, scheme, seed)
        reached = times[(times > 0) & (rates >= ENOUGH_GBPS)]
        found.append(float(reached[0]) if len(reached) else math.inf)
    return _mean(found)


def _join_ms(results: Results, scheme: str) -> float:
    """Until both windows are within 25% of each other's mean; infinite where they never are."""
    found = []
    for seed in _seeds(results, JOIN, scheme):
        times, windows = _windows(results, scheme, seed)
        mean = windows.mean(axis=1)
        near = np.abs(windows - mean[:, None]).max(axis=1) <= 0.25 * mean
        reached = times[(times > 0) & near]
        found.append(float(reached[0]) if len(reached) else math.inf)
    return _mean(found)


def _windows(results: Results, scheme: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Time since the second flow joined and both windows, packets."""
    rows = results.table("series", JOIN, scheme, seed)
    wide = rows.pivot(on="flow", index="time_ps", values="cwnd_bytes").drop_nulls().sort("time_ps")
    times = wide["time_ps"].to_numpy() / 1e9 - JOIN_MS
    return times, wide.drop("time_ps").to_numpy() / _SEGMENT


def _timer(results: Results) -> Finding:
    plain, timer = (_utilization(results, scheme) for scheme in (QCN, TIMER))
    words = f"{timer:.1f}% of the link in the first {FIRST_MS} ms, {plain:.1f}% without"
    return Finding(words, ordered(plain, timer))


def _extra(results: Results) -> Finding:
    plain, extra = (_utilization(results, scheme) for scheme in (TIMER, EXTRA))
    words = f"{extra:.1f}% of the link in the first {FIRST_MS} ms, {plain:.1f}% without"
    return Finding(words, ordered(plain, extra))


def _reduction(results: Results) -> Finding:
    plain, reduced = (_drops(results, scheme) for scheme in (EXTRA, REDUCTION))
    used = [_utilization(results, scheme) for scheme in (EXTRA, REDUCTION)]
    words = (
        f"{reduced:.0f} drops, {plain:.0f} without; {used[1]:.1f}% of the link, {used[0]:.1f}% "
        "without"
    )
    return Finding(words, ordered(reduced, plain))


def _hyper(results: Results) -> Finding:
    plain, timer, hyper = (_refill_ms(results, scheme) for scheme in (QCN, TIMER, HYPER))
    words = f"{hyper:.0f} ms, {timer:.0f} ms with the timer alone, {plain:.0f} ms without both"
    return Finding(words, ordered(hyper, timer))


def _fast(results: Results) -> Finding:
    with_, without = (_join_ms(results, scheme) for scheme in (FAST, WITHOUT))
    words = f"{with_:.0f} ms, {without:.0f} ms without"
    return Finding(words, ordered(with_, without))


CLAIMS = (
    Claim(
        id="thesis-remark5-5-timer",
        source="thesis remarks 5.2 and 5.5",
        claim="the timer improves the transient: after a start at full rate the link is used more "
        "than with the byte counter alone",
        check=_timer,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-remark5-5-extra",
        source="thesis remark 5.5",
        claim="so does extra fast recovery",
        check=_extra,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-remark5-5-reduction",
        source="thesis remark 5.5",
        claim="so does target-rate reduction: fewer packets are dropped",
        check=_reduction,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-remark5-5-hyper",
        source="IEEE 802.1Qau, beside thesis remark 5.5",
        claim="hyper-active increase uses freed bandwidth (9 of 10 Gbps) sooner than the timer "
        "alone",
        check=_hyper,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-remark5-5-bic",
        source="thesis remark 5.5",
        claim="Fast Convergence improves BIC-TCP's transient: a second flow's window is within 25% "
        "of the mean sooner",
        check=_fast,
        kind="predicted",
        bound="hull",
    ),
)


def _rates(results: Results, scheme: str) -> tuple[list[float], list[float]]:
    """Sum of the sources' rates after they start, Gbit/s."""
    import polars as pl

    rows = results.table("series", START, scheme, _seeds(results, START, scheme)[0])
    sums = (
        rows.group_by("time_ps", maintain_order=True).agg(pl.col("rate_bps").sum()).sort("time_ps")
    )
    return list(sums["time_ps"].to_numpy() / 1e9), list(sums["rate_bps"].to_numpy() / 1e9)


def draw(results: Results) -> "Figure":
    """Rates after the start and the stop; the second flow's window after it joined."""
    from hull.figures import Line, Panel, plot_sweep

    starts = [Line(scheme, *_rates(results, scheme)) for scheme in (QCN, TIMER, EXTRA, REDUCTION)]
    stops = []
    for scheme in (QCN, TIMER, HYPER):
        times, rates = _lasting(results, scheme, _seeds(results, STOP, scheme)[0])
        kept = times >= -10
        stops.append(Line(scheme, list(times[kept][::5]), list(rates[kept][::5])))
    joins = []
    for scheme in (FAST, WITHOUT):
        times, windows = _windows(results, scheme, _seeds(results, JOIN, scheme)[0])
        joins.append(Line(scheme, list(times[::5]), list(windows[::5, -1])))
    return plot_sweep(
        [
            Panel(
                "Ten QCN sources start",
                "Time (ms)",
                "Rate of all sources (Gbps)",
                starts,
                y_limits=(0, 20),
            ),
            Panel("Nine of ten stop", "Time (ms)", "Rate of the tenth (Gbps)", stops),
            Panel("A second BIC-TCP flow joins", "Time (ms)", "Its window (packets)", joins),
        ],
        looks=LOOKS,
        columns=3,
        width=3.2,
    )


EXPERIMENT = Experiment(
    id="thesis-remark5-5",
    title="Thesis remark 5.5: mechanisms of QCN and BIC-TCP for transients",
    source="thesis 5.5.2, remark 5.5",
    scenario="thesis-transience",
    variants=(
        Variant(
            {"": START},
            overrides=(f"run.duration={FIRST_MS}ms",),
            schemes=(QCN, TIMER, EXTRA, REDUCTION),
        ),
        Variant(
            {"": STOP},
            overrides=(
                "workload.long_lived.flows=[{src=0,dst=10},"
                f'{{src="1-9",dst="11-19",stop="{STOP_MS}ms"}}]',
                "transport.qcn.initial_rate=1Gbps",
                "run.duration=700ms",
                "measure.sample_interval=1ms",
            ),
            schemes=(QCN, TIMER, HYPER),
        ),
        Variant({"": JOIN}, scenario="thesis-join"),
    ),
    stated=statements("thesis", "remark 5.5"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(seeds=1),
    full=Size(seeds=10),
)

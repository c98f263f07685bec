"""DCTCP flows over one link of 10 Gbps with a round trip of 100 us (scenario thesis-fluid).

Predictions of the thesis's models (figures 2.12, 3.1, 3.2) and the measurements.

Units: packets of 1500 bytes, ms. Time 0 is the moment at which windows are cut.
"""

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hull.experiments.common.experiment import Variant
from hull.experiments.common.measured import Results
from hull.experiments.common.swings import Swing, queue
from hull.theory.bottleneck import Bottleneck

if TYPE_CHECKING:
    from hull.theory.limit_cycle import LimitCycle
    from hull.theory.sawtooth import Sawtooth

Array = NDArray[np.float64]
CAPACITY_PPS, DELAY_S = 10e9 / 12000, 100e-6
_SEGMENT = 1460
_POINTS = 1201


def link(flows: int, threshold: float) -> Bottleneck:
    """The link with a threshold K (packets)."""
    return Bottleneck(CAPACITY_PPS, DELAY_S, threshold, flows)


def flows_variant(flows: int, *overrides: str, schemes: tuple[str, ...] | None = None) -> Variant:
    """`flows` flows, each from its own host; named by the number."""
    senders = f'workload.long_lived.flows=[{{src="1-{flows}",dst=0}}]'
    return Variant({"": str(flows)}, overrides=(senders, *overrides), schemes=schemes)


@cache
def cycle(at: Bottleneck, g: float, *, clocked: bool = False) -> "LimitCycle":
    """The fluid model's limit cycle on a link."""
    from hull.theory.fluid import Fluid
    from hull.theory.limit_cycle import limit_cycle

    return limit_cycle(Fluid(at.window, g, at.psi, clocked=clocked))


def cycle_swing(at: Bottleneck, g: float, *, clocked: bool = False) -> Swing:
    """The range of its queue."""
    found = cycle(at, g, clocked=clocked)
    low, high, mean = (
        at.threshold_packets + value * at.max_window
        for value in (found.undershoot, found.overshoot, found.mean_queue)
    )
    return Swing(found.period * at.round_trip_s, low, high, mean)


class Shown(NamedTuple):
    """A model's solution over time; shape (n,) each."""

    time: Array
    window: Array
    alpha: Array
    queue: Array


def fluid_over(at: Bottleneck, g: float, shown_ms: float) -> Shown:
    """The fluid model from where windows begin to fall, one R* after the queue has passed K."""
    found = cycle(at, g)
    unit = at.round_trip_s * 1e3
    count = int(np.ceil(shown_ms / (found.period * unit))) + 2
    starts = [i * found.period - found.below - 1 for i in range(count)]
    times = np.concatenate([found.path.time + start for start in starts]) * unit
    shown = np.linspace(0, shown_ms, _POINTS)
    packets = found.path.queue * at.max_window + at.threshold_packets
    columns = (found.path.window, found.path.alpha, packets)
    return Shown(shown, *(np.interp(shown, times, np.tile(x, count)) for x in columns))


def sawtooth_over(at: Bottleneck, shown_ms: float) -> Shown:
    """The Sawtooth model over the same time."""
    saw = sawtooth_of(at)
    shown = np.linspace(0, shown_ms, _POINTS)
    period = saw.period_rtts * at.round_trip_s * 1e3
    grown = (shown / period % 1) * saw.window_amplitude
    window = at.window + 1 - saw.window_amplitude + grown
    return Shown(shown, window, np.full(_POINTS, saw.alpha), at.flows * window - at.bdp_packets)


def sawtooth_of(at: Bottleneck) -> "Sawtooth":
    """The Sawtooth model of a link."""
    from hull.theory.sawtooth import sawtooth

    return sawtooth(at)


def flow_over(
    results: Results, condition: str, scheme: str, flow: int
) -> tuple[Array, Array, Array]:
    """Time (ms of the run), window and alpha of one flow in the measured time; first seed."""
    import polars as pl

    seed = results.parts(condition, scheme)[0]["seed"]
    rows = results.table("series", condition, scheme, seed).filter(
        (pl.col("flow") == flow) & (pl.col("time_ps") >= 250 * 10**9)
    )
    window = rows["cwnd_bytes"].to_numpy() / _SEGMENT
    return rows["time_ps"].to_numpy() / 1e9, window, rows["alpha"].to_numpy()


def queue_over(
    results: Results, condition: str, scheme: str, threshold: float, shown_ms: float
) -> tuple[list[float], list[float]]:
    """Time and queue of the first seed, from where it first falls through K, every fifth sample."""
    seed = results.parts(condition, scheme)[0]["seed"]
    times, packets = queue(results.table("latency", condition, scheme, seed))
    falls = np.flatnonzero((packets[:-1] > threshold) & (packets[1:] <= threshold))
    start = int(falls[0]) if len(falls) else 0
    since = (times - times[start]) * 1e3
    shown = (since >= 0) & (since <= shown_ms)
    return list(since[shown][::5]), list(packets[shown][::5])

"""Figure 5.15 of the thesis: utilisation and queue of one TCP or QCN source by round trip.

The runs are the same as for table 5.1. QCN is judged as described and with IEEE 802.1Qau's details,
both with feedback after half of the round trip, as with a switch in the middle of the path.
Feedback after the whole round trip is shown as well.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, commands, ratio
from hull.experiments.common.decided import at_least, less_than
from hull.experiments.common.experiment import Experiment, Size
from hull.experiments.common.measured import Results
from hull.experiments.common.one_source import (
    HALF,
    PLACES,
    QCN,
    RTTS,
    STANDARD,
    TCP,
    WHOLE,
    condition,
    variant,
)
from hull.experiments.common.qcn_runs import LOOKS, utilization_pct
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

SCHEMES = (TCP, QCN, STANDARD)
FULL_PCT = 99.5
SHOWN_MS = 200
_WARMUP_MS = 200
_SAMPLES_A_MS = 50


def _used(results: Results, scheme: str, place: str = WHOLE) -> list[float]:
    return [results.mean(condition(rtt, place), scheme, utilization_pct) for rtt in RTTS]


def _words(values: list[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values) + "%"


def _full(scheme: str, results: Results) -> Finding:
    tcp, qcn = _used(results, TCP)[0], _used(results, scheme, HALF)[0]
    whole = _words(_used(results, scheme)[:1])
    words = f"TCP {tcp:.2f}%, QCN {qcn:.2f}% (feedback after the RTT: {whole})"
    return Finding(words, at_least(tcp, FULL_PCT) and at_least(qcn, FULL_PCT))


def _tcp_loses(results: Results) -> Finding:
    used = _used(results, TCP)[1:]
    return Finding(_words(used), all(less_than(pct, FULL_PCT) for pct in used))


def _keeps(scheme: str, results: Results) -> Finding:
    used, whole = (_used(results, scheme, place)[1:] for place in (HALF, WHOLE))
    words = f"{_words(used)} (feedback after the RTT: {_words(whole)})"
    return Finding(words, all(at_least(pct, FULL_PCT) for pct in used))


def _less(scheme: str, results: Results) -> Finding:
    tcp, qcn = _used(results, TCP), _used(results, scheme, HALF)
    lost = [100 - value for value in (*tcp[1:], *qcn[1:])]
    words = f"TCP loses {lost[0]:.1f} and {lost[1]:.1f}%, QCN {lost[2]:.2f} and {lost[3]:.2f}%"
    return Finding(
        words, all(less_than(ratio(q, t), 0.2) for t, q in zip(lost[:2], lost[2:], strict=True))
    )


TRIED = (
    "With one source QCN as section 5.2 describes it exceeds its stability margin: theorem 5.1 "
    "allows 102 us of delay, and throughput is already lost at a round trip of 120 us. With IEEE "
    "802.1Qau's details the statements hold with feedback after half of the round trip. With "
    "feedback after the whole round trip the second fails at 500 us, and the third narrowly "
    "fails there (2.26% against a fifth of 11.0%)."
)


SHOWN_BY = commands("thesis-fig5-15", "")


def _claims(
    name: str, source: str, text: str, check: Callable[[str, Results], Finding]
) -> tuple[Claim, Claim]:
    """A statement of QCN as described, and of QCN as 802.1Qau, which was chosen because the
    statements hold with it."""
    return (
        Claim(
            f"thesis-fig5-15-{name}",
            source,
            text,
            partial(check, QCN),
            kind="predicted",
            bound="hull",
            cause="documents contradict",
            tried=TRIED,
            shown_by=SHOWN_BY,
        ),
        Claim(
            f"thesis-fig5-15-{name}-8021qau",
            source,
            f"{text}, as 802.1Qau",
            partial(check, STANDARD),
            kind="fitted",
            bound="hull",
        ),
    )


CLAIMS = (
    *_claims(
        "full",
        "thesis 5.6, figure 5.15 (a)",
        "at 120 us both have full throughput (99.5% and more)",
        _full,
    ),
    Claim(
        id="thesis-fig5-15-tcp",
        source="thesis 5.6",
        claim="at 250 and 500 us TCP loses throughput (it has less than 99.5%)",
        check=_tcp_loses,
        kind="predicted",
        bound="hull",
    ),
    *_claims("qcn", "thesis 5.6", "at 250 and 500 us QCN does not (99.5% and more)", _keeps),
    *_claims("less", "thesis 5.6", "QCN loses far less than TCP (a fifth at most)", _less),
)


def _shown(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows that are drawn, with the time since the warm-up in ms."""
    import polars as pl

    times = rows.with_columns(time_ms=pl.col("time_ps") / 1e9 - _WARMUP_MS)
    return times.filter((pl.col("time_ms") >= 0) & (pl.col("time_ms") <= SHOWN_MS))


def _cell(rtt_us: int, scheme: str, place: str) -> tuple[str, str]:
    """TCP has no feedback that a place would delay."""
    return condition(rtt_us, WHOLE if scheme == TCP else place), scheme


Points = tuple[list[float], list[float]]


def _throughput(results: Results, rtt_us: int, scheme: str, place: str) -> Points:
    """Time (ms) and what arrived in each ms, percent of the link's rate."""
    import numpy as np

    rows = _shown(results.table("series", *_cell(rtt_us, scheme, place)))[::_SAMPLES_A_MS]
    arrived = np.diff(rows["delivered_bytes"].to_numpy()) * 1500 / 1460
    return list(rows["time_ms"].to_numpy()[1:]), list(arrived * 8e-5)


def _queue(results: Results, rtt_us: int, scheme: str, place: str) -> Points:
    """Time (ms) and queue (packets), every 100 us."""
    latency = results.table("latency", *_cell(rtt_us, scheme, place)).drop_nulls("queue_bytes")
    rows = _shown(latency)[::5]
    return list(rows["time_ms"]), list(rows["queue_bytes"] / 1500)


def draw(results: Results) -> "Figure":
    """Utilisation above, queues below, a column for each round trip; below both the same with
    feedback after the whole of it."""
    from hull.figures import Line, Panel, plot_sweep

    panels = [
        Panel(
            f"RTT {rtt_us} us, feedback after {'half of it' if place == HALF else 'it'}",
            "Time (ms)",
            label,
            [Line(scheme, *read(results, rtt_us, scheme, place)) for scheme in SCHEMES],
            y_limits=limits,
        )
        for place in PLACES[::-1]
        for label, read, limits in (
            ("Utilisation (%)", _throughput, (50, 105)),
            ("Queue (packets)", _queue, (0, 110)),
        )
        for rtt_us in RTTS
    ]
    return plot_sweep(panels, looks=LOOKS, columns=3, width=3.2)


EXPERIMENT = Experiment(
    id="thesis-fig5-15",
    title="Thesis figure 5.15: utilisation and queue of one TCP or QCN source",
    source="thesis 5.6, figure 5.15",
    scenario="thesis-qcn-one",
    variants=tuple(variant(rtt_us, place) for place in PLACES for rtt_us in RTTS),
    stated=statements("thesis", "one_source"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=(), seeds=1),
    full=Size(overrides=("run.duration=10s",), seeds=3),
)

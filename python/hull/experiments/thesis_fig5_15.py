"""Figure 5.15 of the thesis: utilisation and queue of one TCP or QCN source by round trip.

The runs are those of table 5.1, with feedback after the whole round trip.
"""

from typing import TYPE_CHECKING

from hull.claims import Claim, Finding
from hull.experiment import Experiment, Size
from hull.experiments.thesis_table5_1 import QCN, RTTS, STANDARD, TCP, condition, variant
from hull.measured import Results
from hull.qcn_runs import utilization_pct

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

SCHEMES = (TCP, QCN, STANDARD)
FULL_PCT = 99.5
SHOWN_MS = 200
_WARMUP_MS = 200
_SAMPLES_A_MS = 50


def _used(results: Results, scheme: str) -> list[float]:
    return [results.mean(condition(rtt_us), scheme, utilization_pct) for rtt_us in RTTS]


def _words(values: list[float]) -> str:
    return ", ".join(f"{value:.1f}" for value in values) + "%"


def _full(results: Results, qcn: str) -> Finding:
    tcp, other = _used(results, TCP)[0], _used(results, qcn)[0]
    return Finding(f"TCP {tcp:.2f}%, QCN {other:.2f}%", min(tcp, other) >= FULL_PCT)


def _full_described(results: Results) -> Finding:
    return _full(results, QCN)


def _full_standard(results: Results) -> Finding:
    return _full(results, STANDARD)


def _tcp_loses(results: Results) -> Finding:
    used = _used(results, TCP)[1:]
    return Finding(_words(used), max(used) < FULL_PCT)


def _keeps(results: Results, scheme: str) -> Finding:
    used = _used(results, scheme)[1:]
    return Finding(_words(used), min(used) >= FULL_PCT)


def _keeps_described(results: Results) -> Finding:
    return _keeps(results, QCN)


def _keeps_standard(results: Results) -> Finding:
    return _keeps(results, STANDARD)


def _more(results: Results) -> Finding:
    tcp, qcn = _used(results, TCP), _used(results, STANDARD)
    lost = [100 - value for value in (*tcp[1:], *qcn[1:])]
    words = f"TCP loses {lost[0]:.1f} and {lost[1]:.1f}%, QCN {lost[2]:.2f} and {lost[3]:.2f}%"
    return Finding(words, lost[2] < lost[0] / 5 and lost[3] < lost[1] / 5)


TRIED = (
    "Theorem 5.1 allows one source 102 us of delay: past it R_C swings (thesis-table5-1). "
    "Utilisation at 120, 250 and 500 us, one change at a time: as described 98.0, 96.1, 92.0%; "
    "samples at even distances 100.0, 98.9, 92.2%; with the standard's steps too 100.0, 99.3, "
    "94.9%; with extra fast recovery too 100.0, 100.0, 98.6%. With feedback after half of the "
    "round trip the last is 100.0% at each."
)

CLAIMS = (
    Claim(
        id="thesis-fig5-15-full",
        source="thesis 5.6, figure 5.15 (a)",
        claim="at 120 us both have full throughput (99.5% and more), as described",
        check=_full_described,
        tried=TRIED,
    ),
    Claim(
        id="thesis-fig5-15-full-8021qau",
        source="thesis 5.6, figure 5.15 (a)",
        claim="the same, as 802.1Qau",
        check=_full_standard,
    ),
    Claim(
        id="thesis-fig5-15-tcp",
        source="thesis 5.6",
        claim="at 250 and 500 us TCP loses throughput",
        check=_tcp_loses,
    ),
    Claim(
        id="thesis-fig5-15-qcn",
        source="thesis 5.6",
        claim="QCN does not (99.5% and more), as described",
        check=_keeps_described,
        tried=TRIED,
    ),
    Claim(
        id="thesis-fig5-15-qcn-8021qau",
        source="thesis 5.6",
        claim="the same, as 802.1Qau",
        check=_keeps_standard,
        tried=TRIED,
    ),
    Claim(
        id="thesis-fig5-15-less",
        source="thesis 5.6",
        claim="QCN, as 802.1Qau, loses far less than TCP (a fifth at most)",
        check=_more,
    ),
)


def _shown(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows that are drawn, with the time since the warm-up in ms."""
    import polars as pl

    times = rows.with_columns(time_ms=pl.col("time_ps") / 1e9 - _WARMUP_MS)
    return times.filter((pl.col("time_ms") >= 0) & (pl.col("time_ms") <= SHOWN_MS))


def _throughput(results: Results, rtt_us: int, scheme: str) -> tuple[list[float], list[float]]:
    """Time (ms) and what arrived in each ms, percent of the link's rate."""
    import numpy as np

    rows = _shown(results.table("series", condition(rtt_us), scheme))[::_SAMPLES_A_MS]
    arrived = np.diff(rows["delivered_bytes"].to_numpy()) * 1500 / 1460
    return list(rows["time_ms"].to_numpy()[1:]), list(arrived * 8e-5)


def _queue(results: Results, rtt_us: int, scheme: str) -> tuple[list[float], list[float]]:
    """Time (ms) and queue (packets), every 100 us."""
    latency = results.table("latency", condition(rtt_us), scheme).drop_nulls("queue_bytes")
    rows = _shown(latency)[::5]
    return list(rows["time_ms"]), list(rows["queue_bytes"] / 1500)


def draw(results: Results) -> "Figure":
    """Utilisation above, queues below, a column for each round trip."""
    from hull.figures import Line, Panel, plot_sweep

    panels = [
        Panel(
            f"RTT {rtt_us} us",
            "Time (ms)",
            label,
            [Line(scheme, *read(results, rtt_us, scheme)) for scheme in SCHEMES],
            y_limits=limits,
        )
        for label, read, limits in (
            ("Utilisation (%)", _throughput, (50, 105)),
            ("Queue (packets)", _queue, (0, 110)),
        )
        for rtt_us in RTTS
    ]
    return plot_sweep(panels, columns=3, width=3.2)


EXPERIMENT = Experiment(
    id="thesis-fig5-15",
    title="Thesis figure 5.15: utilisation and queue of one TCP or QCN source",
    source="thesis 5.6, figure 5.15",
    scenario="thesis-qcn-one",
    variants=tuple(variant(rtt_us) for rtt_us in RTTS),
    claims=CLAIMS,
    draw=draw,
    quick=Size(overrides=(), seeds=1),
    full=Size(overrides=("run.duration=10s",), seeds=3),
)

"""Remark 5.6 of the thesis: rate variation of BIC-TCP and CUBIC, between TCP's and QCN's.

As in table 5.1, one source at 10 Gbps has round trips of 120, 250 and 500 us. Marks at 150 KB, the
size of the thesis's buffer, cut windows. Rates are the data sent per ms, for all algorithms alike,
in Mbit/s. QCN has IEEE 802.1Qau's details; as in table 5.1 its feedback arrives after half of the
round trip, and in a claim of its own after the whole. BIC-TCP cuts an eighth of the window, as in
its paper and the remark; CUBIC cuts three tenths, as in RFC 9438.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from hull.experiments.common.claims import Claim, Finding, commands
from hull.experiments.common.decided import ordered
from hull.experiments.common.experiment import Experiment, Size, published
from hull.experiments.common.measured import Results, from_table, value
from hull.experiments.common.one_source import HALF, RTTS, WHOLE, condition, variant
from hull.experiments.common.qcn_runs import LOOKS
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

TCP, CUBIC, BIC, STANDARD = SCHEMES = ("tcp", "cubic", "bic", "qcn_8021qau")
PUBLISHED = published("thesis-qcn", "table5_1")
CUT = float(published("thesis-qcn", "remark5_6")["decrease"])
SEGMENT = 1460


def _warmup_ps(results: Results) -> int:
    return (200 if results.is_full else 100) * 10**9


def _deviation(series: "pl.DataFrame", warmup_ps: int) -> float:
    """Standard deviation of what was sent in each ms, Mbit/s."""
    import numpy as np
    import polars as pl

    rows = series.filter(pl.col("time_ps") >= warmup_ps)[::50]
    sent = (rows["delivered_bytes"] + rows["in_flight_bytes"]).to_numpy() * 1500 / SEGMENT
    return float(np.diff(sent).std()) * 8e-3


def _cuts(series: "pl.DataFrame", warmup_ps: int) -> float:
    """Median share of the window that a reduction takes."""
    import numpy as np
    import polars as pl

    windows = series.filter(pl.col("time_ps") >= warmup_ps)["cwnd_bytes"].to_numpy().astype(float)
    shares = 1 - windows[1:] / windows[:-1]
    falls = shares[shares > 0.02]
    return float(np.median(falls)) if len(falls) else float("nan")


def deviations(results: Results, scheme: str, place: str = WHOLE) -> list[float]:
    """By round trip, Mbit/s."""
    measure = from_table("series", partial(_deviation, warmup_ps=_warmup_ps(results)))
    return [value(measure, results, condition(rtt, place), scheme) for rtt in RTTS]


def _words(values: list[float]) -> str:
    return ", ".join(f"{value:.0f}" for value in values)


def _below_tcp(results: Results) -> Finding:
    tcp, bic, cubic = (deviations(results, scheme) for scheme in (TCP, BIC, CUBIC))
    words = f"BIC {_words(bic)}, CUBIC {_words(cubic)}, TCP {_words(tcp)} Mbps"
    return Finding(
        words, all(ordered(max(b, c), t) for b, c, t in zip(bic, cubic, tcp, strict=True))
    )


def _above_qcn(results: Results, place: str) -> Finding:
    bic, cubic = (deviations(results, scheme) for scheme in (BIC, CUBIC))
    qcn = deviations(results, STANDARD, place)
    words = f"BIC {_words(bic)}, CUBIC {_words(cubic)}, QCN {_words(qcn)} Mbps"
    return Finding(
        words, all(ordered(q, min(b, c)) for b, c, q in zip(bic, cubic, qcn, strict=True))
    )


def _cut(results: Results) -> Finding:
    read = partial(_cuts, warmup_ps=_warmup_ps(results))
    found = {s: value(from_table("series", read), results, "500us", s) for s in (BIC, CUBIC)}
    words = f"BIC {found[BIC]:.3f}, CUBIC {found[CUBIC]:.3f} of the window"
    return Finding(words, all(abs(share / CUT - 1) <= 0.1 for share in found.values()))


TRIED_WHOLE = (
    "BIC-TCP has 247 Mbps at 500 us and QCN 257; at 120 and 250 us the remark holds by factors of "
    "8 and 1.8. The loop of one QCN source is stable for delays up to 102 us (theorem 5.1); the "
    "whole round trip is five times that."
)
TRIED_CUT = (
    "It holds for BIC-TCP. CUBIC's cut is 0.3 in RFC 9438, which hull follows, and 0.2 in the "
    "CUBIC paper; 0.125 is BIC-TCP's."
)

CLAIMS = (
    Claim(
        id="thesis-remark5-6-tcp",
        source="thesis remark 5.6",
        claim="the rates of BIC-TCP and CUBIC vary less than TCP's (120, 250 and 500 us)",
        check=_below_tcp,
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-remark5-6-qcn",
        source="thesis remark 5.6",
        claim="and more than QCN's (as 802.1Qau, feedback after half of the round trip)",
        check=lambda results: _above_qcn(results, HALF),
        kind="predicted",
        bound="document",
    ),
    Claim(
        id="thesis-remark5-6-qcn-whole",
        source="thesis remark 5.6",
        claim="the same with feedback after the whole round trip",
        check=lambda results: _above_qcn(results, WHOLE),
        kind="predicted",
        bound="document",
        cause="documents contradict",
        tried=TRIED_WHOLE,
        shown_by=commands("thesis-remark5-6", ""),
    ),
    Claim(
        id="thesis-remark5-6-cut",
        source="thesis remark 5.6",
        claim="both cut the window by 0.125 of it (within 10%)",
        check=_cut,
        kind="by construction",
        bound="hull",
        cause="documents contradict",
        tried=TRIED_CUT,
        shown_by=commands("thesis-remark5-6", ""),
    ),
)


def draw(results: Results) -> "Figure":
    """Deviations by round trip, hollow where table 5.1 has them; windows over time at 500 us."""
    import polars as pl

    from hull.figures import Line, Panel, Published, plot_sweep

    lines = [Line(scheme, RTTS, deviations(results, scheme)) for scheme in (TCP, CUBIC, BIC)]
    lines.append(Line(STANDARD, RTTS, deviations(results, STANDARD, HALF)))
    windows = []
    start = _warmup_ps(results)
    for scheme in (TCP, CUBIC, BIC):
        rows = results.table("series", "500us", scheme).filter(pl.col("time_ps") >= start)
        rows = rows.filter(pl.col("time_ps") < start + 250 * 10**9)[::25]
        times = (rows["time_ps"].to_numpy() - start) / 1e9
        windows.append(Line(scheme, list(times), list(rows["cwnd_bytes"].to_numpy() / SEGMENT)))
    return plot_sweep(
        [
            Panel(
                "What is sent in each ms",
                "RTT (us)",
                "Deviation of the rate (Mbps)",
                lines,
                published=[
                    Published(TCP, RTTS, PUBLISHED["tcp"]),
                    Published(STANDARD, RTTS, PUBLISHED["qcn"]),
                ],
                log_y=True,
                x_ticks=RTTS,
            ),
            Panel("RTT 500 us", "Time (ms)", "Window (packets)", windows),
        ],
        looks=LOOKS,
    )


EXPERIMENT = Experiment(
    id="thesis-remark5-6",
    title="Thesis remark 5.6: rate variation of BIC-TCP and CUBIC, between TCP's and QCN's",
    source="thesis 5.6, remark 5.6",
    scenario="thesis-rates",
    variants=tuple(
        replace(variant(rtt, place), schemes=SCHEMES if place == WHOLE else (STANDARD,))
        for place in (WHOLE, HALF)
        for rtt in RTTS
    ),
    stated=statements("thesis", "rates", "remark 5.6"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.warmup=100ms", "run.duration=300ms"), seeds=1),
    full=Size(overrides=("run.duration=1.3s",), seeds=10),
)

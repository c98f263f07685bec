"""Runs of RCP's versions with long round trips (scenario thesis-rcp): their variants, measurements
and plots. Rates in Gbit/s, summed over the ten sources.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hull.experiments.common.decided import at_least, less_than
from hull.experiments.common.experiment import Variant
from hull.experiments.common.measured import Results
from hull.report.schemes import BLUE, GREEN, ORANGE, VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = (
    Scheme("rcp", "RCP", VERMILION, (2, 2), "o"),
    Scheme("ap_rcp", "AP-RCP", BLUE, (5, 2), "s"),
    Scheme("ap2_rcp", "AP2-RCP", GREEN, (), "D"),
    Scheme("pd_rcp", "PD-RCP", ORANGE, (2, 2), "^"),
)

Array = NDArray[np.float64]
QUICK = (
    "run.duration=40s",
    "transport.mtu=3000B",
    "transport.max_window=350000",
    "transport.receive_window=350000",
)
"""Half as many packets, of twice the size, whose swings differ by a few percent of the link."""
LINK_GBPS = 2.4
SETTLED = 0.05
"""A loop counts as stable when its rate moves by less than this share of the link at the end."""
BETAS = {"": 1.0, " beta0.1": 0.1}
"""End of a condition's name -> beta."""


def variant(rtt_ms: int, ending: str, schemes: tuple[str, ...]) -> Variant:
    """These schemes with one round trip and one beta."""
    return Variant(
        {"": f"rtt{rtt_ms}{ending}"},
        overrides=(
            f"host.delay={250 * rtt_ms}us",
            f"switch.delay={250 * rtt_ms}us",
            f"switch.rcp.beta={BETAS[ending]}",
        ),
        schemes=schemes,
    )


def total(results: Results, rtt_ms: int, ending: str, scheme: str) -> tuple[Array, Array]:
    """Time (s) and the rate of all sources (Gbit/s)."""
    import polars as pl

    rows = results.table("series", f"rtt{rtt_ms}{ending}", scheme)
    rates = (
        rows.group_by("time_ps", maintain_order=True).agg(pl.col("rate_bps").sum()).sort("time_ps")
    )
    return rates["time_ps"].to_numpy() / 1e12, rates["rate_bps"].to_numpy() / 1e9


def swing(results: Results, rtt_ms: int, ending: str, scheme: str) -> float:
    """Range of the rate in the last quarter, as a fraction of the link's rate."""
    times, rates = total(results, rtt_ms, ending, scheme)
    return float(np.ptp(rates[times >= 0.75 * times[-1]])) / LINK_GBPS


def extent(rtt_ms: int, ending: str, scheme: str, end: float) -> tuple[float, float, float]:
    """Start of the last quarter, and the fluid model's minimum and maximum in it."""
    from hull.theory.rcp import THESIS, follow, versions

    rcp = versions(replace(THESIS, beta=BETAS[ending]))[scheme]
    rates = follow(rcp, rtt_ms / 1e3, end).between(0.75 * end, end) * LINK_GBPS
    return 0.75 * end, float(rates.min()), float(rates.max())


def sides(
    results: Results, scheme: str, stable_ms: int, unstable_ms: int
) -> tuple[str, tuple[float, float]]:
    """How far the rate moves on both sides, as text with both betas and as fractions with
    beta = 1."""
    words, found = [], []
    for ending, beta in BETAS.items():
        moves = (
            swing(results, stable_ms, ending, scheme),
            swing(results, unstable_ms, ending, scheme),
        )
        words.append(
            f"with beta = {beta:g} the rate varies by {moves[0]:.0%} of the link at {stable_ms} ms "
            f"and by {moves[1]:.0%} at {unstable_ms} ms"
        )
        found.append(moves)
    return "; ".join(words), found[0]


def settles(move: float) -> bool:
    """Whether a loop is stable whose rate moves by this fraction of the link."""
    return less_than(move, SETTLED)


def swings(move: float) -> bool:
    """Whether a loop is unstable whose rate moves by this fraction of the link."""
    return at_least(move, SETTLED)


TRIED = (
    "The cause is beta. A fluid model with the same delay is stable up to 83, 195 and 411 ms "
    "(RCP, AP-RCP, AP2-RCP) with the printed beta of 1, and up to 109, 239 and 481 ms with 0.1. "
    "Packets as shipped are stable, in 40 s, up to 90, 210 and 440 ms with 1, and on the "
    "published side of all round trips with 0.1. Otherwise, one key at a time, RCP's oscillation "
    "at 110 and 115 ms as a fraction of the link, with packets of 1500 bytes: 96 and 101%; beta "
    "0.2 37 and 49%, 0.08 0 and 0%; packets of 1000 bytes 95 and 101%, of 9000 bytes 89 and 98%; "
    "each packet acknowledged 94 and 100%; an initial offer of the fair share 94 and 100%; a "
    "buffer of 50 packets 10 and 11%. The thesis gives neither packet size nor buffer nor "
    "initial offer."
)
_PACKETS = (
    "--set transport.mtu=1500B --set transport.max_window=700000 "
    "--set transport.receive_window=700000"
)
TRIED_WITH = (
    _PACKETS,
    f"{_PACKETS} --set switch.rcp.beta=0.2",
    f"{_PACKETS} --set switch.rcp.beta=0.08",
    f"{_PACKETS} --set transport.mtu=1000B",
    "--set transport.mtu=9000B --set transport.max_window=100000 "
    "--set transport.receive_window=100000",
    f"{_PACKETS} --set transport.ack_every=1",
    f"{_PACKETS} --set switch.rcp.initial=10%",
    f"{_PACKETS} --set switch.buffer=50pkts",
)


def draw_rates(results: Results, shown: dict[int, tuple[str, ...]]) -> "Figure":
    """Panels of pairs of round trips, both with the printed beta before both with a tenth of it."""
    from hull.figures import Line, Panel, plot_sweep

    panels = []
    pairs = [list(shown)[i : i + 2] for i in range(0, len(shown), 2)]
    for pair in pairs:
        for ending, beta in BETAS.items():
            for rtt_ms in pair:
                lines = []
                for scheme in shown[rtt_ms]:
                    times, rates = total(results, rtt_ms, ending, scheme)
                    lines.append(Line(scheme, list(times), list(rates)))
                end = float(times[-1])
                start, low, high = extent(rtt_ms, ending, shown[rtt_ms][0], end)
                panels.append(
                    Panel(
                        f"{rtt_ms} ms, beta = {beta:g}",
                        "Time (s)",
                        "Rate of all sources (Gbps)",
                        lines,
                        y_limits=(0, 4),
                        reference=[
                            ("fluid", (start, end), (high, high)),
                            ("", (start, end), (low, low)),
                        ],
                    )
                )
    return plot_sweep(panels, looks=LOOKS, columns=4, width=3.0, height=2.3)

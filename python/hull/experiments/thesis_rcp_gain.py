"""RCP with its measured round trip, beside RCP with a held one.

Thesis 5.5.3 says that RCP's automatic adjustment of the gain stabilizes it as the round trip
varies, and disables it for figure 5.13. Scenario thesis-rcp with round trips (ms) below, at and
above the figure's, with the printed beta and a tenth of it; d0 begins at 20 ms and moves by 0.02 of
the way to the packets' mean in each interval. Packets have 9000 bytes, so that there are fewer of
them. Rates are in Gbit/s, for all ten sources together.
"""

from typing import TYPE_CHECKING

import numpy as np

from hull.experiments.common.claims import Claim, Finding, about
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.measured import Results
from hull.experiments.common.rcp_runs import BETAS, LINK_GBPS, LOOKS, SETTLED, settles
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RTTS_MS = (60, 115, 250)
HELD, MEASURED = "rcp", "rcp_measured"
GAIN = 0.02
"""RCP's weight of a new mean."""


def _condition(rtt_ms: int, ending: str, scheme: str) -> str:
    return f"rtt{rtt_ms}{ending}{' measured' if scheme == MEASURED else ''}"


def _variants() -> tuple[Variant, ...]:
    return tuple(
        Variant(
            {"": _condition(rtt_ms, ending, scheme)},
            overrides=(
                f"host.delay={250 * rtt_ms}us",
                f"switch.delay={250 * rtt_ms}us",
                f"switch.rcp.beta={beta}",
                f"switch.rcp.round_trip_gain={GAIN if scheme == MEASURED else 0}",
                "transport.mtu=9000B",
                "transport.max_window=100000",
                "transport.receive_window=100000",
            ),
            schemes=("rcp",),
        )
        for ending, beta in BETAS.items()
        for rtt_ms in RTTS_MS
        for scheme in (HELD, MEASURED)
    )


def total(results: Results, rtt_ms: int, ending: str, scheme: str) -> tuple[np.ndarray, np.ndarray]:
    """Time (s) and the rate of all sources (Gbit/s)."""
    import polars as pl

    rows = results.table("series", _condition(rtt_ms, ending, scheme), "rcp")
    rates = (
        rows.group_by("time_ps", maintain_order=True).agg(pl.col("rate_bps").sum()).sort("time_ps")
    )
    return rates["time_ps"].to_numpy() / 1e12, rates["rate_bps"].to_numpy() / 1e9


def swing(results: Results, rtt_ms: int, ending: str, scheme: str) -> float:
    """How far the rate moves in the last quarter, as a share of the link's."""
    times, rates = total(results, rtt_ms, ending, scheme)
    return float(np.ptp(rates[times >= 0.75 * times[-1]])) / LINK_GBPS


def _words(results: Results, ending: str, scheme: str) -> str:
    return ", ".join(f"{swing(results, rtt, ending, scheme):.1%}" for rtt in RTTS_MS)


def _stable(results: Results, ending: str) -> Finding:
    moves = [swing(results, rtt, ending, MEASURED) for rtt in RTTS_MS]
    names = ", ".join(str(rtt) for rtt in RTTS_MS)
    words = (
        f"varies by {_words(results, ending, MEASURED)} of the link at {names} ms; held: "
        f"{_words(results, ending, HELD)}"
    )
    return Finding(words, all(settles(move) for move in moves))


def _printed(results: Results) -> Finding:
    return _stable(results, "")


def _tenth(results: Results) -> Finding:
    return _stable(results, " beta0.1")


def _rest(results: Results) -> Finding:
    """Where all sources together are in the end."""
    means = []
    for rtt_ms in RTTS_MS:
        times, rates = total(results, rtt_ms, " beta0.1", MEASURED)
        means.append(float(rates[times >= 0.75 * times[-1]].mean()) / LINK_GBPS)
    words = ", ".join(f"{mean:.1%}" for mean in means)
    return Finding(f"{words} of the link", all(about(mean, 1, SETTLED) for mean in means))


CLAIMS = (
    Claim(
        id="thesis-rcp-gain-printed",
        source="thesis 5.5.3",
        claim="RCP's gain adjustment stabilizes it as the round trip varies (60 to 250 ms, the "
        "printed beta)",
        check=_printed,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-rcp-gain-tenth",
        source="thesis 5.5.3",
        claim="the same with the beta of a tenth that agrees with figure 5.13",
        check=_tenth,
        kind="predicted",
        bound="hull",
    ),
    Claim(
        id="thesis-rcp-gain-share",
        source="thesis 5.5.3",
        claim="it then rests at the link's rate (within 5%)",
        check=_rest,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """The rate of all sources, held and measured, a panel for each round trip and beta."""
    from hull.figures import Line, Panel, plot_sweep

    panels = []
    for ending, beta in BETAS.items():
        for rtt_ms in RTTS_MS:
            lines = []
            for scheme in (HELD, MEASURED):
                times, rates = total(results, rtt_ms, ending, scheme)
                lines.append(Line(scheme, list(times), list(rates)))
            panels.append(
                Panel(
                    f"{rtt_ms} ms, beta = {beta:g}",
                    "Time (s)",
                    "Rate of all sources (Gbps)",
                    lines,
                    y_limits=(0, 4),
                )
            )
    return plot_sweep(panels, looks=LOOKS, columns=3, width=3.2, height=2.4)


EXPERIMENT = Experiment(
    id="thesis-rcp-gain",
    title="Thesis 5.5.3: RCP with a measured round trip",
    source="thesis 5.5.3",
    scenario="thesis-rcp",
    variants=_variants(),
    stated=statements("thesis", "gain of d0"),
    deterministic=True,
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.duration=40s", "measure.flows.interval=50ms"), seeds=1),
    full=Size(overrides=("run.duration=120s", "measure.flows.interval=50ms"), seeds=1),
)

"""Remark 5.4 of the thesis: averaging with other factors, places and numbers of changes.

I_C <- (1 - a) I_C + a I_T. The example of 5.5.1 by the eigenvalues of a period, each beside the PD
controller that its analysis gives; and AP-RCP in packets (scenario thesis-rcp, with the beta of a
tenth of figure 5.13, see there) on both sides of the round trip at
which the fluid says that it becomes unstable. Delays in s, round trips in ms.
"""

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from hull.experiments.common import averaging_loop, rcp_runs
from hull.experiments.common.claims import Claim, Finding
from hull.experiments.common.experiment import Experiment, Size, Variant
from hull.experiments.common.measured import Results
from hull.experiments.common.rcp_runs import settles, swings
from hull.experiments.common.stated import statements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hull.theory.averaging import Controller

LOOKS = (
    *averaging_loop.LOOKS,
    *rcp_runs.LOOKS,
)

FACTORS = (0.125, 0.25, 0.5, 0.75, 0.875)
PLACES = (0.2, 0.5, 0.8)
NUMBERS = (2, 3)
HALF = 0.5
MOST_S, PRECISION_S = 80.0, 0.2
NEAR_S = 1.0
"""How near the largest delays of AP and of its PD controller have to be."""
RCP_FACTORS = (0.25, 0.75)
SIDES = {"below": 0.93, "above": 1.07}
"""Round trips of the packets, as shares of the fluid's boundary."""
SETTLED = 0.05
LINK_GBPS = 2.4


@cache
def largest(controller: "Controller") -> float:
    """The smallest unstable delay; the example's loop has one such boundary."""
    from hull.theory.averaging import EXAMPLE, EXAMPLE_PERIOD, Loop, spectral_radius

    low, high = 0.0, MOST_S
    while high - low > PRECISION_S:
        middle = (low + high) / 2
        stable = spectral_radius(Loop(EXAMPLE, controller, EXAMPLE_PERIOD, middle)) < 1
        low, high = (middle, high) if stable else (low, middle)
    return low


def _controller(factor: float = HALF, place: float | None = None, number: int = 1) -> "Controller":
    from hull.theory.averaging import EXAMPLE_GAIN, Controller

    places = None if place is None else (place,)
    return Controller(EXAMPLE_GAIN, number, factor=factor, places=places)


def _cases() -> "list[Controller]":
    cases = [_controller(factor) for factor in FACTORS]
    cases += [_controller(place=place) for place in PLACES]
    return cases + [_controller(number=number) for number in NUMBERS]


def _identical(_: Results) -> Finding:
    from hull.theory.averaging import equivalent

    apart = [abs(largest(case) - largest(equivalent(case))) for case in _cases()]
    return Finding(
        f"largest stable delays of AP and of its PD controller at most {max(apart):.1f} s apart, "
        f"{len(apart)} controllers",
        max(apart) <= NEAR_S,
    )


def _all_more_stable(_: Results) -> Finding:
    from hull.theory.averaging import EXAMPLE_GAIN, Controller

    plain = largest(Controller(EXAMPLE_GAIN))
    found = [largest(case) for case in _cases()]
    return Finding(
        f"{min(found):.1f} to {max(found):.1f} s, standard controller {plain:.1f} s",
        min(found) > plain,
    )


def _sluggish(_: Results) -> Finding:
    """Remark 5.5's trade-off, along the factor."""
    delays = [largest(_controller(factor)) for factor in FACTORS]
    words = ", ".join(f"{d:.1f} s at {f:g}" for d, f in zip(delays, FACTORS, strict=True))
    return Finding(words, delays == sorted(delays))


@cache
def boundary_ms(factor: float) -> float:
    """Of AP-RCP as a fluid."""
    from hull.theory.rcp import THESIS, boundary

    rcp = replace(THESIS, beta=0.1, averages=1, factor=factor)
    return 1e3 * boundary(rcp, 0.06, 1.2 * factor + 0.1, 1e-3)


BOUNDARIES_MS = {0.25: 150, 0.75: 489}
"""Of the fluid, rounded: where packets are run."""


def _condition(factor: float, side: str) -> str:
    return f"a{factor:g} {side}"


def _swing(results: Results, factor: float, side: str) -> float:
    """How far the rate of all sources moves in the last quarter, as a share of the link's."""
    times, rates = _total(results, factor, side)
    return float(np.ptp(rates[times >= 0.75 * times[-1]])) / LINK_GBPS


def _total(results: Results, factor: float, side: str) -> tuple[np.ndarray, np.ndarray]:
    """Time (s) and rate of all sources (Gbit/s)."""
    import polars as pl

    rows = results.table("series", _condition(factor, side), "ap_rcp")
    rates = (
        rows.group_by("time_ps", maintain_order=True).agg(pl.col("rate_bps").sum()).sort("time_ps")
    )
    return rates["time_ps"].to_numpy() / 1e12, rates["rate_bps"].to_numpy() / 1e9


def _packets(results: Results) -> Finding:
    words, holds = [], True
    for factor in RCP_FACTORS:
        below, above = (_swing(results, factor, side) for side in SIDES)
        low, high = (_round_trip_ms(factor, side) for side in SIDES)
        words.append(
            f"a = {factor:g}: varies by {below:.1%} at {low} ms and by {above:.1%} at {high} ms "
            f"(fluid {boundary_ms(factor):.0f})"
        )
        holds &= settles(below) and swings(above)
    return Finding("; ".join(words), holds)


def _round_trip_ms(factor: float, side: str) -> int:
    return round(SIDES[side] * BOUNDARIES_MS[factor])


CLAIMS = (
    Claim(
        id="thesis-remark5-4-identical",
        source="thesis remark 5.4",
        claim="all these can be analyzed as the basic form: each is as stable as the PD controller "
        "that the analysis of theorem 5.4 gives (largest delays within 1 s)",
        check=_identical,
        kind="mathematics",
        bound="hull",
    ),
    Claim(
        id="thesis-remark5-4-stable",
        source="thesis 5.5.1, remark 5.4",
        claim="with any factor, place and number AP is stable for longer delays than the standard "
        "controller",
        check=_all_more_stable,
        kind="mathematics",
        bound="hull",
    ),
    Claim(
        id="thesis-remark5-4-factor",
        source="thesis remarks 5.4 and 5.5",
        claim="the further an averaging change goes back, the longer the delay (and the more "
        "sluggish the loop)",
        check=_sluggish,
        kind="mathematics",
        bound="hull",
    ),
    Claim(
        id="thesis-remark5-4-rcp",
        source="thesis remark 5.4, 5.5.3",
        claim="AP-RCP in packets with factors of 1/4 and 3/4 is stable 7% below the fluid's "
        "boundary and unstable 7% above it",
        check=_packets,
        kind="predicted",
        bound="hull",
    ),
)


def draw(results: Results) -> "Figure":
    """Largest delays by factor and by place; AP-RCP's rates on both sides of its boundary."""
    from hull.figures import Line, Panel, plot_sweep
    from hull.theory.averaging import EXAMPLE_GAIN, Controller, equivalent

    plain = largest(Controller(EXAMPLE_GAIN))
    panels = []
    for title, label, values, cases in (
        ("Factor", "Factor a", FACTORS, [_controller(factor) for factor in FACTORS]),
        ("Place", "Place in the period", PLACES, [_controller(place=place) for place in PLACES]),
    ):
        panels.append(
            Panel(
                title,
                label,
                "Largest stable delay (s)",
                [
                    Line("ap", values, [largest(case) for case in cases]),
                    Line("pd", values, [largest(equivalent(case)) for case in cases]),
                ],
                reference=[("standard", [values[0], values[-1]], [plain, plain])],
            )
        )
    for factor in RCP_FACTORS:
        lines = []
        for side in SIDES:
            times, rates = _total(results, factor, side)
            lines.append(Line(side, list(times), list(rates)))
        low, high = (_round_trip_ms(factor, side) for side in SIDES)
        panels.append(
            Panel(
                f"AP-RCP, a = {factor:g}: {low} and {high} ms",
                "Time (s)",
                "Rate of all sources (Gbps)",
                lines,
                y_limits=(0, 4),
            )
        )
    return plot_sweep(panels, looks=LOOKS)


def _variants() -> tuple[Variant, ...]:
    return tuple(
        Variant(
            {"": _condition(factor, side)},
            overrides=(
                f"host.delay={250 * _round_trip_ms(factor, side)}us",
                f"switch.delay={250 * _round_trip_ms(factor, side)}us",
                "switch.rcp.beta=0.1",
                f"switch.rcp.averaging={factor}",
            ),
            schemes=("ap_rcp",),
        )
        for factor in RCP_FACTORS
        for side in SIDES
    )


EXPERIMENT = Experiment(
    id="thesis-remark5-4",
    title="Thesis remark 5.4: averaging with other factors, times and numbers of changes",
    source="thesis 5.5.2, remark 5.4",
    scenario="thesis-rcp",
    variants=_variants(),
    stated=statements("thesis", "remark 5.4"),
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
    quick=Size(overrides=("run.duration=30s",), seeds=1),
    full=Size(overrides=("run.duration=120s",), seeds=1),
    deterministic=True,
)

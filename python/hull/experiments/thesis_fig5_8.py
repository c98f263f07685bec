"""Figure 5.8 of the thesis: the plant's input from the standard and from the AP controller.

The errors are taken from the example of 5.5.1 (a step, no delay), once for both controllers: the
figure gives no values. Computed, not simulated. Times in s.
"""

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hull.experiments.common.averaging_loop import LOOKS
from hull.experiments.common.claims import Claim, Finding
from hull.experiments.common.experiment import Experiment
from hull.experiments.common.measured import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
STANDARD, AP = "standard", "ap"
SHOWN = 12
"""Periods."""
SEQUENCES, LENGTH = 1000, 200
RULE = 0.1
"""Thesis 5.5.2, a rule of thumb: T is below this share of the dominant time constant."""
CLOSE = 0.05
"""Fraction of the step below which two responses look the same."""


@cache
def _errors() -> Array:
    """What both controllers are fed: the errors of the standard loop."""
    from hull.theory.averaging import (
        EXAMPLE,
        EXAMPLE_GAIN,
        EXAMPLE_PERIOD,
        Controller,
        Loop,
        response,
    )

    loop = Loop(EXAMPLE, Controller(EXAMPLE_GAIN), EXAMPLE_PERIOD, 0.0)
    return 1.0 - response(loop, SHOWN * EXAMPLE_PERIOD, EXAMPLE_PERIOD)[1][:SHOWN]


def _ap(errors: Array, gain: float) -> Array:
    from hull.theory.averaging import averaged

    return averaged(errors, gain)


def _random() -> Array:
    return np.random.default_rng(58).normal(size=(SEQUENCES, LENGTH))


def _halfway(_: Results) -> Finding:
    """Averaging changes go to the middle; feedback-induced ones are K e."""
    worst = 0.0
    for errors in _random():
        both = _ap(errors, 0.125)
        before = np.concatenate([[0.0], both[:-1, 1]])
        worst = max(worst, float(np.abs(both[:, 0] - before - 0.125 * errors).max()))
        worst = max(worst, float(np.abs(both[:, 1] - (both[:, 0] + before) / 2).max()))
    return Finding(f"off by at most {worst:.1g}", worst < 1e-12)


def _pd(_: Results) -> Finding:
    """Theorem 5.4, and what is left of each change: a ripple of mean zero."""
    from hull.theory.averaging import proportional_derivative

    apart = ripple = 0.0
    for errors in _random():
        both = _ap(errors, 0.125)
        apart = max(apart, float(np.abs(both - proportional_derivative(errors, 0.125)).max()))
        mean = both.mean(axis=1)
        ripple = max(ripple, float(np.abs(both[:, 0] - mean - 0.125 / 4 * errors).max()))
    return Finding(
        f"inputs at most {apart:.1g} apart, ripple off K e / 4 by {ripple:.1g}, {SEQUENCES} random "
        "sequences",
        max(apart, ripple) < 1e-10,
    )


def _period_apart(share: float) -> float:
    """How far AP and PD are apart without delay when T is this share of the dominant time constant.

    K grows with T, so that the loop's gain in time stays.
    """
    from hull.theory.averaging import (
        EXAMPLE,
        EXAMPLE_GAIN,
        EXAMPLE_PERIOD,
        Controller,
        Loop,
        response,
    )

    period = share * time_constant()
    gain = EXAMPLE_GAIN * period / EXAMPLE_PERIOD
    outputs = [
        response(Loop(EXAMPLE, controller, period, 0.0), 60.0, 0.25)[1]
        for controller in (Controller(gain, averages=1), Controller(gain, derivative=True))
    ]
    return float(np.abs(outputs[0] - outputs[1]).max())


def time_constant() -> float:
    """Of the example's slowest pole, s."""
    from hull.theory.averaging import EXAMPLE

    return float(1 / np.abs(np.roots(EXAMPLE.denominator).real).min())


def _rule(_: Results) -> Finding:
    shares = (RULE, 0.5, 1.0)
    apart = [_period_apart(share) for share in shares]
    words = ", ".join(f"{a:.3f} at {s:g}" for a, s in zip(apart, shares, strict=True))
    return Finding(
        f"at most {words} of the time constant ({time_constant():.1f} s)",
        apart[0] < CLOSE and apart == sorted(apart),
    )


CLAIMS = (
    Claim(
        id="thesis-fig5-8-changes",
        source="thesis 5.5.1, figure 5.8",
        claim="AP reacts to feedback by (5.24), and T/2 later moves to the midpoint of its "
        "inputs before and after",
        check=_halfway,
        kind="mathematics",
        bound="document",
    ),
    Claim(
        id="thesis-fig5-8-ripple",
        source="thesis 5.5.2, theorem 5.4",
        claim="its input is that of the PD controller plus a ripple of K e / 4, of mean zero in "
        "each period, for any errors",
        check=_pd,
        kind="mathematics",
        bound="document",
    ),
    Claim(
        id="thesis-fig5-8-negligible",
        source="thesis 5.5.2",
        claim="the ripple is negligible where T is below 10% of the dominant time constant (AP and "
        "PD within 5% of a step), and grows with T",
        check=_rule,
        kind="mathematics",
        bound="hull",
    ),
)


def _steps(values: Array, changes: int) -> tuple[list[float], list[float]]:
    """A signal that is constant between `changes` in each period, as corners of a line."""
    flat = values.reshape(-1)
    edges = np.arange(len(flat) + 1) / changes
    return list(np.repeat(edges, 2)[1:-1]), list(np.repeat(flat, 2))


def draw(_: Results) -> "Figure":
    """The input over time, a panel for each controller."""
    from hull.figures import Line, Panel, plot_sweep
    from hull.theory.averaging import EXAMPLE_GAIN

    errors = _errors()
    standard = np.cumsum(EXAMPLE_GAIN * errors)
    averaged = _ap(errors, EXAMPLE_GAIN)
    top = 1.1 * float(standard.max())
    return plot_sweep(
        [
            Panel(
                "(a) standard controller",
                "Time (T)",
                "Input u(t)",
                [Line(STANDARD, *_steps(standard, 1))],
                y_limits=(0, top),
            ),
            Panel(
                "(b) AP controller",
                "Time (T)",
                "Input u(t)",
                [Line(AP, *_steps(averaged, 2))],
                y_limits=(0, top),
                reference=[("mean", [n + 0.5 for n in range(SHOWN)], list(averaged.mean(axis=1)))],
            ),
        ],
        looks=LOOKS,
    )


EXPERIMENT = Experiment(
    id="thesis-fig5-8",
    title="Thesis figure 5.8: the plant's input with the averaging principle",
    source="thesis 5.5.1, figure 5.8",
    scenario=None,
    claims=CLAIMS,
    looks=LOOKS,
    draw=draw,
)

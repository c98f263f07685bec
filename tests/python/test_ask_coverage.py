"""Coverage of another period: the tool's arithmetic against a known truth, and a small run."""

import math
import random
import runpy
from pathlib import Path

import pytest
from scipy.stats import t

from hull.results.changes import Change, change

TOOL = runpy.run_path(str(Path(__file__).resolve().parents[2] / "tools" / "ask_coverage.py"))
COVERAGE = TOOL["coverage"]


def of(logs: list[float]) -> Change:
    found = change(
        {seed: math.exp(log) for seed, log in enumerate(logs)}, dict.fromkeys(range(len(logs)), 1.0)
    )
    assert found is not None
    return found


def test_by_hand() -> None:
    """The logarithms 1, 2, 3 have mean 2 and standard deviation 1, t is 4.303: the range of another
    period is 2 +/- 4.97, of the mean 2 +/- 2.48.
    """
    found = COVERAGE([of([1.0, 2.0, 3.0])], [-3.0, 6.9, 7.0, 2.0])
    assert found.periods == pytest.approx(2 / 4)  # -3.0 and 7.0 are outside
    assert found.means == 1  # of 3.225
    assert COVERAGE([of([1.0, 2.0, 3.0])], [4.4, 4.6]).means == 0


@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_known_truth(spread: float) -> None:
    """Normal logarithms with standard deviation 1; each trace has a mean of its own, with `spread`.
    The period and the mean of n seeds then differ with the variance 1 + 1/n + spread^2, and the
    range, t sqrt(1 + 1/n) standard deviations, holds it with a probability in closed form.
    """
    draw, seeds = random.Random(1), 5
    changes = []
    for _ in range(4000):
        own = draw.gauss(0, spread)
        changes.append(of([draw.gauss(own, 1) for _ in range(seeds)]))
    periods = [draw.gauss(0, 1) for _ in range(400)]
    exact = 1 + 1 / seeds
    quantile = t.ppf(0.975, seeds - 1) * math.sqrt(exact / (exact + spread**2))
    expected = 2 * t.cdf(quantile, seeds - 1) - 1
    assert expected == pytest.approx(0.95) if spread == 0 else expected < 0.94
    assert COVERAGE(changes, periods).periods == pytest.approx(expected, abs=0.01)


def test_simulated_periods_are_counted() -> None:
    """Two traces and three periods of a few flows: every share is a multiple of one in six."""
    found = TOOL["measured"](traces=2, periods=3, seeds=2, flows=400)
    assert set(found) == {"small_p99", "large_mean"}
    for one in found.values():
        assert one.periods * 6 == pytest.approx(round(one.periods * 6))
        assert one.means in (0, 0.5, 1)

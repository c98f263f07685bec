"""Changes between schemes: by hand, against scipy, and their coverage of known truths."""

import math
import random

import pytest
from scipy.stats import t

from hull.changes import Change, change, in_words, told
from hull.statistics import student_quantile


def of(*ratios: float) -> Change:
    found = change(dict(enumerate(ratios)), dict.fromkeys(range(len(ratios)), 1.0))
    assert found is not None
    return found


def test_quantiles_are_those_of_scipy() -> None:
    for share in (0.6, 0.9, 0.975, 0.99, 0.9999):
        for degrees in (1, 2, 3, 4, 5, 9, 10, 19, 30, 99):
            expected = pytest.approx(t.ppf(share, degrees), rel=1e-9)
            assert student_quantile(share, degrees) == expected


def test_ratios_are_averaged_as_logarithms() -> None:
    assert of(10, 0.1).ratio == pytest.approx(1)
    assert of(0.5, 0.125).ratio == pytest.approx(0.25)
    assert change({1: 2.0, 2: None, 3: 0.0}, {1: 1.0, 2: 1.0, 3: 1.0}) == of(2.0)
    assert change({1: 2.0}, {2: 1.0}) is None


def test_ranges_by_hand() -> None:
    found = of(math.e, math.e**2, math.e**3)
    # The logarithms 1, 2, 3 have the standard deviation 1; t is 4.30265 with two degrees.
    assert math.log(found.high) == pytest.approx(2 + 4.30265 / math.sqrt(3), rel=1e-5)
    low, high = found.next_range() or (0, 0)
    half = 4.30265 * math.sqrt(1 + 1 / 3)
    assert (math.log(low), math.log(high)) == pytest.approx((2 - half, 2 + half), rel=1e-5)


def test_words() -> None:
    fall = of(0.53, 0.55, 0.54, 0.52, 0.56)
    assert told(fall) == "-46% (-48 to -44)"
    assert in_words(fall) == "falls by 46% (44 to 48)"
    assert told(of(0.9, 1.2, 0.8, 1.3, 1.4)) == "no difference shown (-19 to +48%)"
    assert told(of(4.7, 5.0, 4.9, 5.1, 4.8)) == "4.9 times (4.7 to 5.1)"
    assert in_words(of(4.7, 5.0, 4.9, 5.1, 4.8)) == "is 4.9 times as long (4.7 to 5.1)"
    # Nothing says how sure a change is if the seeds do not vary.
    for alone in (of(0.5), of(0.5, 0.5, 0.5)):
        assert (told(alone), in_words(alone)) == ("-50%", "falls by 50%")
        assert not alone.is_shown
    assert told(None) == "-"


@pytest.mark.parametrize("seeds", [5, 10, 20])
def test_ranges_cover_the_truth(seeds: int) -> None:
    """95% of the ranges, within 2 points: of the model's mean, and of another period."""
    draw = random.Random(seeds)
    cases, mean, following = 4000, 0, 0
    for _ in range(cases):
        found = of(*(math.exp(draw.gauss(-0.3, 0.2)) for _ in range(seeds)))
        mean += found.low <= math.exp(-0.3) <= found.high
        low, high = found.next_range() or (0.0, 0.0)
        following += low <= math.exp(draw.gauss(-0.3, 0.2)) <= high
    assert 0.93 <= mean / cases <= 0.97
    assert 0.93 <= following / cases <= 0.97


def test_rarely_shows_a_difference_where_there_is_none() -> None:
    """At most 6% of 1,000 pairs that are equal, also as the best of five."""
    draw = random.Random(1)
    alone = best_of_five = 0
    for _ in range(1000):
        drawn = [of(*(math.exp(draw.gauss(0, 0.2)) for _ in range(5))) for _ in range(5)]
        alone += drawn[0].is_shown
        best = min(drawn, key=lambda one: one.ratio)
        best_of_five += best.among(5).is_shown
    assert alone <= 60
    assert best_of_five <= 60

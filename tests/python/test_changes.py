"""Changes between schemes: by hand, against scipy, and their coverage of known truths: normal
logarithms, and tails of flow completion times of a queue model that is independent of hull.
"""

import json
import math
import random
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import t

from hull.results.changes import Change, change, in_words, next_in_words, told
from hull.results.statistics import student_quantile


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
    assert told(fall) == "-46% (-48 to -44%)"
    assert in_words(fall) == "falls by 46% (44 to 48%)"
    assert told(of(0.9, 1.2, 0.8, 1.3, 1.4)) == "no difference shown (-19 to +48%)"
    assert told(of(4.7, 5.0, 4.9, 5.1, 4.8)) == "4.9 times (4.7 to 5.1)"
    assert in_words(of(4.7, 5.0, 4.9, 5.1, 4.8)) == "is 4.9 times as long (4.7 to 5.1)"
    # Nothing says how sure a change is if the seeds do not vary.
    for alone in (of(0.5), of(0.5, 0.5, 0.5)):
        assert (told(alone), in_words(alone)) == ("-50%", "falls by 50%")
        assert not alone.is_shown
    assert told(None) == "-"


def around(low: float, high: float) -> Change:
    """A change with this range of its mean, by two seeds."""
    logs = math.log(low), math.log(high)
    mean, half = (logs[1] + logs[0]) / 2, (logs[1] - logs[0]) / 2
    # The standard error of two logarithms is half of their difference.
    return of(*(math.exp(mean + sign * half / t.ppf(0.975, 1)) for sign in (-1, 1)))


@pytest.mark.parametrize(
    ("low", "high", "told_so", "in_words_so"),
    [
        (1.0032, 1.11, "+6% (+0.3 to +11%)", "grows by 6% (0.3 to 11%)"),
        (0.89, 0.99996, "-6% (-11 to -0.004%)", "falls by 6% (0.004 to 11%)"),
        (0.8, 1.002, "no difference shown (-20 to +0.2%)", "shows no difference (-20 to +0.2%)"),
        (0.9999, 1.3, "no difference shown (-0.01 to +30%)", "shows no difference (-0.01 to +30%)"),
        # 0 has no sign.
        (1 + 2e-7, 1.11, "+5% (0 to +11%)", "grows by 5% (0 to 11%)"),
    ],
)
def test_no_end_of_a_range_is_a_signed_zero(
    low: float, high: float, told_so: str, in_words_so: str
) -> None:
    found = around(low, high)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-6)
    assert told(found) == told_so
    assert in_words(found) == in_words_so


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


Numbers = npt.NDArray[np.float64]
SHAPE, LARGEST, SMALL = 1.3, 50.0, 5.0
"""Pareto sizes from 1 to LARGEST, in the time that one takes; flows below SMALL are small."""
MEAN_SIZE = SHAPE / (SHAPE - 1) * (1 - LARGEST ** (1 - SHAPE)) / (1 - LARGEST**-SHAPE)


class Traces:
    """Runs of 400 flows that arrive at random at two links; each link serves in order of arrival,
    and a scheme hashes flows onto the two.
    """

    def __init__(self, draw: np.random.Generator, runs: int) -> None:
        uniform = draw.random((runs, 400))
        self._size = (1 - uniform * (1 - LARGEST**-SHAPE)) ** (-1 / SHAPE)
        self._gap = draw.exponential(1.0, (runs, 400))

    def hashed(self, draw: np.random.Generator) -> npt.NDArray[np.int64]:
        link: npt.NDArray[np.int64] = draw.integers(0, 2, self._size.shape)
        return link

    def p99(self, link: npt.NDArray[np.int64], load: float) -> Numbers:
        """The 99th percentile of the small flows of each run."""
        took = np.zeros_like(self._size)
        for at in (0, 1):
            wait = waits(np.where(link == at, self._size, 0.0), self._gap * MEAN_SIZE / load / 2)
            took = np.where(link == at, wait + self._size, took)
        small = np.sort(np.where(self._size < SMALL, took, np.inf))
        rank = np.ceil(0.99 * (self._size < SMALL).sum(axis=1)).astype(int) - 1
        return np.take_along_axis(small, rank[:, None], axis=1)[:, 0]


def waits(work: Numbers, gap: Numbers) -> Numbers:
    """Waits at a link in order of arrival (Lindley); `gap` is the time since the arrival before."""
    steps = np.zeros_like(work)
    steps[:, 1:] = work[:, :-1] - gap[:, 1:]
    walk = steps.cumsum(axis=1)
    return walk - np.minimum.accumulate(walk, axis=1)


def test_the_queue_model_by_hand() -> None:
    assert waits(np.array([[3.0, 1.0, 2.0]]), np.array([[0.0, 1.0, 4.0]])).tolist() == [[0, 2, 0]]
    # Pollaczek and Khinchine: with exponential work and load 1/2, waits are as long as a service.
    draw = np.random.default_rng(1)
    work, gap = draw.exponential(1.0, (1, 10**6)), draw.exponential(2.0, (1, 10**6))
    assert waits(work, gap).mean() == pytest.approx(1.0, rel=0.02)


def test_rarely_shows_a_difference_between_equal_schemes() -> None:
    """At most 6% of 1,000 traces with five seeds, where schemes differ by their hash alone; also
    the best of five.
    """
    draw = np.random.default_rng(1)
    traces = Traces(draw, 5 * 1000)
    p99 = [traces.p99(traces.hashed(draw), 0.6).reshape(1000, 5) for _ in range(6)]
    alone = best_of_five = 0
    for trace in range(1000):
        drawn = [of(*(scheme[trace] / p99[0][trace])) for scheme in p99[1:]]
        alone += drawn[0].is_shown
        best = min(drawn, key=lambda one: one.ratio)
        best_of_five += best.among(5).is_shown
    assert 10 <= alone <= 60  # none would be no test
    assert best_of_five <= 60


def lower_load(draw: np.random.Generator, runs: int) -> Numbers:
    """Ratios of the 99th percentile at a load of 30% to the same flows' at 70%."""
    ratios = []
    for _ in range(runs // 1000):  # more at a time would not fit a cache
        traces = Traces(draw, 1000)
        link = traces.hashed(draw)
        ratios.append(traces.p99(link, 0.3) / traces.p99(link, 0.7))
    return np.concatenate(ratios)


@cache
def true_mean_log() -> float:
    return float(np.log(lower_load(np.random.default_rng(2), 20_000)).mean())


@pytest.mark.parametrize("seeds", [5, 10, 20])
def test_ranges_cover_the_truth_of_completion_times(seeds: int) -> None:
    """95% of the ranges, within 2 points. With LARGEST = 1000 one flow decides a run, logarithms
    have a skewness of -1, and five seeds cover the mean in 92%.
    """
    cases, mean, following = 2000, 0, 0
    truth = math.exp(true_mean_log())
    for ratios in lower_load(np.random.default_rng(seeds), cases * (seeds + 1)).reshape(cases, -1):
        found = of(*ratios[:-1])
        mean += found.low <= truth <= found.high
        low, high = found.next_range() or (0.0, 0.0)
        following += low <= ratios[-1] <= high
    assert 0.93 <= mean / cases <= 0.97
    assert 0.93 <= following / cases <= 0.97


def test_an_end_that_says_nothing_is_infinite() -> None:
    """Two seeds of which one is 100 times as long and the other as short: t is 12.7, or 764 for one
    of 60 changes."""
    of = change({1: 100.0, 2: 0.02}, {1: 1.0, 2: 1.0})
    assert of is not None
    for found in (of, of.among(60)):
        assert (found.is_shown, found.high) == (False, math.inf)
        assert told(found) == "no difference shown (-100 to +inf%)"
        assert next_in_words(found) == "-100 to +inf%"
        assert found.low < 1e-6
        assert (found.as_json()["high"], found.as_json()["next_high"]) == (None, None)
        json.dumps(found.as_json(), allow_nan=False)

"""Whether seeds decide a claim: intervals by hand, unanimity, and runs of one seed."""

import math
from pathlib import Path

import pytest

from hull.experiments.common.claims import Finding, about, within
from hull.experiments.common.decided import (
    at_least,
    at_most,
    decided,
    interval,
    less_than,
    more_than,
    ordered,
)
from hull.experiments.common.measured import Results
from hull.results.statistics import mean_ci95, t975


def runs(**values: list[float]) -> Results:
    """Results whose parts have one number for each scheme and seed."""
    schemes = list(values)
    seeds = list(range(1, len(values[schemes[0]]) + 1))
    parts = [
        {"condition": "", "scheme": scheme, "seed": seed, "value": of[seed - 1]}
        for scheme, of in values.items()
        for seed in seeds
    ]
    return Results(Path(), {"name": "x-full", "seeds": seeds, "parts": parts})


def mean(results: Results, scheme: str = "a") -> float:
    return results.mean("", scheme, lambda part: float(part["value"]))


@pytest.mark.parametrize(
    ("values", "state"),
    [
        # Of 100, 25% either way. Logarithms' 90% interval with 3 degrees of freedom: t = 2.353.
        ([100.0, 101.0, 99.0, 100.0], "holds"),
        ([100.0, 140.0, 60.0, 100.0], "undecided"),
        ([120.0, 126.0, 122.0, 124.0], "undecided"),
        ([200.0, 201.0, 199.0, 200.0], "fails"),
        ([200.0, 200.0, 200.0, 200.0], "fails"),
        ([125.0, 125.0, 125.0, 125.0], "holds"),
    ],
)
def test_numbers(values: list[float], state: str) -> None:
    check = lambda results: Finding("", about(mean(results), 100))  # noqa: E731
    assert decided(check, runs(a=values)) == state


def test_interval_of_a_mean_is_students() -> None:
    values = [3.0, 4.5, 2.0, 7.25, 5.0]
    without = [(sum(values) - v) / 4 for v in values]
    centre, half = mean_ci95(values)
    assert half is not None
    low, high = interval(centre, without, 0.95)
    assert (low, high) == pytest.approx((centre - half, centre + half), rel=1e-4)


def test_orders_are_paired() -> None:
    """Differences of 1 +- 0.1 about means that scatter by 50: paired, the order is decided."""
    low = [100.0, 150.0, 50.0, 120.0]
    high = [101.0, 151.1, 50.9, 121.0]
    check = lambda results: Finding("", ordered(mean(results, "a"), mean(results, "b")))  # noqa: E731
    assert decided(check, runs(a=low, b=high)) == "holds"
    assert decided(check, runs(a=high, b=low)) == "fails"
    # By hand: differences -1, 2, -3, 1 have a mean of -0.25 and a standard error of 1.11.
    assert t975(3) * 1.11 > 0.25
    noisy = [101.0, 148.0, 53.0, 119.0]
    assert decided(check, runs(a=low, b=noisy)) == "undecided"


def test_other_predicates_are_unanimous() -> None:
    check = lambda results: Finding("", mean(results) > 1)  # noqa: E731
    assert decided(check, runs(a=[2.0, 3.0])) == "holds"
    assert decided(check, runs(a=[0.5, 0.25])) == "fails"
    assert decided(check, runs(a=[0.5, 3.0, 4.0])) == "undecided"


def test_every_comparison_counts() -> None:
    """A check that stops at the first number that fails is recorded to its end."""

    def check(results: Results) -> Finding:
        found = mean(results)
        return Finding("", all(within(found, *limits) for limits in ((0, 1), (5, 9), (-9, 20))))

    assert decided(check, runs(a=[6.0, 6.1, 5.9])) == "fails"
    one_of = lambda results: Finding("", within(mean(results), 0, 1) or mean(results) > 5)  # noqa: E731
    assert decided(one_of, runs(a=[6.0, 6.1, 5.9])) == "holds"


def test_one_seed_is_not_assessed() -> None:
    assert decided(lambda _: Finding("", True), runs(a=[1.0])) == "not assessed"


def test_a_seed_without_value_leaves_the_claim_open() -> None:
    check = lambda results: Finding("", 1 / mean(results) > 0)  # noqa: E731
    assert decided(check, runs(a=[0.0, 1.0, 2.0])) == "undecided"


@pytest.mark.parametrize("missing", [math.nan, math.inf])
def test_a_number_that_one_replicate_lacks_leaves_the_claim_open(missing: float) -> None:
    """A value of 1.0 over all seeds, and none over all seeds but one."""

    def check(results: Results) -> Finding:
        return Finding("", about(1.0 if 3 in results.summary["seeds"] else missing, 1))

    assert decided(check, runs(a=[1.0, 1.0, 1.0])) == "undecided"


def test_replicates_that_agree_decide_without_a_finite_number() -> None:
    check = lambda results: Finding("", at_least(math.inf, 5))  # noqa: E731
    assert decided(check, runs(a=[1.0, 1.0, 1.0])) == "holds"


@pytest.mark.parametrize(
    ("values", "state"),
    [([10.0, 12.0, 11.0], "holds"), ([4.0, 8.0, 6.0], "undecided"), ([1.0, 2.0, 1.5], "fails")],
)
def test_one_sided_limits(values: list[float], state: str) -> None:
    """An interval of the logarithm against one limit of 5, from either side."""
    least = lambda results: Finding("", at_least(mean(results), 5))  # noqa: E731
    more = lambda results: Finding("", more_than(mean(results), 5))  # noqa: E731
    most = lambda results: Finding("", at_most(25 / mean(results), 5))  # noqa: E731
    less = lambda results: Finding("", less_than(25 / mean(results), 5))  # noqa: E731
    assert {decided(check, runs(a=values)) for check in (least, more, most, less)} == {state}


def test_an_order_may_allow_equality() -> None:
    values = runs(a=[1.0, 1.0], b=[1.0, 1.0])
    for or_equal, state in ((True, "holds"), (False, "fails")):
        check = lambda results, equal=or_equal: Finding(  # noqa: E731
            "", ordered(mean(results, "a"), mean(results, "b"), or_equal=equal)
        )
        assert decided(check, values) == state


def test_a_missing_value_fails() -> None:
    check = lambda results: Finding("", about(mean(results, "none"), 1))  # noqa: E731
    assert decided(check, runs(a=[1.0, 2.0])) == "fails"
    assert math.isnan(mean(runs(a=[1.0]), "none"))

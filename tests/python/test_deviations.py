"""Each number more than a factor of two from the published one has a cause and is counted."""

import pytest

import expected
from hull.experiments import all_experiments
from hull.experiments.common.deviations import Deviation, explain, is_far

NOISE = Deviation("tcp", "fct_us", ("p99",), "few samples", ("load20",))


def row(scheme: str, condition: str, ratio: float | None) -> dict[str, object]:
    return {
        "scheme": scheme,
        "condition": condition,
        "metric": "fct_us",
        "statistic": "p99",
        "ratio": ratio,
    }


@pytest.mark.parametrize(
    ("ratio", "far"), [(2.0, False), (0.5, False), (2.01, True), (0.49, True), (None, False)]
)
def test_marked_beyond_a_factor_of_two(ratio: float | None, far: bool) -> None:
    assert is_far(ratio) == far


def test_lines_count_known_causes() -> None:
    rows = [
        row("tcp", "load20", 3.0),
        row("tcp", "load40", 3.0),
        row("hull", "load20", 0.4),
        row("hull", "load40", 1.0),
    ]
    assert list(explain(rows, (NOISE,), "docs/x.md")) == [
        "! marks a ratio above 2 or below 0.5: 3 of 4, 1 with a known cause. Details: docs/x.md",
        "  1: few samples",
    ]


def test_no_output_without_marked_ratios() -> None:
    assert list(explain([row("tcp", "load20", 1.9)], (NOISE,), "docs/x.md")) == []


def test_every_marked_quick_result_has_a_cause() -> None:
    """Every stated cause also explains at least one marked number."""
    for id_, experiment in all_experiments().items():
        measured = {one.quantity: one.value for one in expected.read(id_)}
        marked = []
        for point in experiment.points:
            keys = (point.condition, point.scheme, point.metric, point.statistic)
            name = " ".join(key for key in keys if key)
            if name in measured and is_far(float(measured[name]) / point.published):
                marked.append(vars(point))
        for found in marked:
            assert any(known.covers(found) for known in experiment.deviations), (id_, found)
        for known in experiment.deviations:
            assert any(known.covers(found) for found in marked), (id_, known)

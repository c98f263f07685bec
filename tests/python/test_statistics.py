"""Means over seeds against manual calculation and tabulated quantiles."""

import pytest

from hull.results.statistics import mean_ci95, t975
from hull.results.summary import average


def test_one_value_has_no_interval() -> None:
    assert mean_ci95([3.0]) == (3.0, None)


def test_three_values() -> None:
    # Deviations -1, 0, 1: s = 1, half width t(2) / sqrt(3) = 4.3027 / 1.7321.
    mean, ci95 = mean_ci95([1.0, 2.0, 3.0])
    assert mean == 2.0
    assert ci95 == pytest.approx(2.4842, abs=1e-4)


@pytest.mark.parametrize(
    ("degrees", "quantile"), [(1, 12.7062), (9, 2.2622), (30, 2.0423), (31, 2.0395), (120, 1.9799)]
)
def test_quantiles_of_student_t(degrees: int, quantile: float) -> None:
    assert t975(degrees) == pytest.approx(quantile, abs=1e-4)


def part(mean_us: float | None) -> dict[str, object]:
    statistics = {} if mean_us is None else {"mean_us": mean_us}
    return {
        "condition": "",
        "scheme": "a",
        "switch_latency": {"occupancy": {"mean_us": 1.0}, "probe": None},
        "queues": {"switch->h0": {"mean_us": 1.0}},
        "fct": [{"class": "1KB", "bytes": 2000, "count": 2, **statistics}],
        "queries": None,
        "fairness": None,
        "processor": None,
        "throughput": {"goodput_bps": 1e9},
        "links": {"switch-host": {"packets": 7}},
        "marks": 1,
        "drops": 2,
        "timeouts": 3,
        "retransmissions": 4,
        "paced": 5,
        "associations": 6,
    }


def test_seed_without_flows_of_a_class_is_ignored() -> None:
    cell = average([part(2.0), part(None), part(4.0)])
    assert cell["fct"] == [
        {
            "class": "1KB",
            "bytes": {"mean": 2000, "ci95": 0},
            "count": {"mean": 2, "ci95": 0},
            "mean_us": {"mean": 3.0, "ci95": pytest.approx(12.7062)},
        }
    ]
    assert cell["switch_latency"]["probe"] is None
    assert cell["queues"]["switch->h0"]["mean_us"] == {"mean": 1.0, "ci95": 0}
    assert cell["fairness"] is None
    assert cell["seeds"] == 3

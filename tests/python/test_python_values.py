"""Values of Python and NumPy in the functions that programs call."""

from typing import Any

import numpy as np
import pytest

import hull
from hull.runs.plan import make_plan, read_scenario
from hull.sweeps.values import values_of

SCENARIO: dict[str, Any] = {
    "name": "values",
    "run": {"duration": "1ms", "warmup": "0s"},
    "topology": {"star": {"hosts": 4}},
    "host": {"rate": "1Gbps", "delay": "1us"},
    "switch": {"rate": "1Gbps", "delay": "1us"},
    "workload": {"bulk": {"flows": 3, "size": "1KB"}},
}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([5], r"set: 5 is invalid; expected texts, such as 'run\.seeds=3'"),
        ([("run.seeds", 3)], "is invalid; expected texts"),
        ([None], "set: None is invalid; expected texts"),
        (5, "set: 5 is invalid; expected a list"),
        ("run.seeds=3", "'run.seeds=3' is invalid; expected a list"),
        (["seeds"], "the form is key=value"),
    ],
)
def test_overrides_that_are_no_texts(given: Any, message: str) -> None:
    with pytest.raises(hull.UsageError, match=message):
        hull.run(SCENARIO, set=given)
    with pytest.raises(hull.UsageError, match=message):
        hull.sweep(SCENARIO, set=given)


def test_numbers_of_numpy_in_a_scenario() -> None:
    own = {
        "run": SCENARIO["run"] | {"seeds": np.int64(2), "seed": np.array(5)},
        "topology": {"star": {"hosts": np.int32(4)}},
        "pacer": {"beta": np.float64(0.5)},
        "transport": {"ecn": np.bool_(True)},
        "switch": {"weights": np.array([1, 2])},
    }
    text, _ = read_scenario(SCENARIO | own)
    plain = {
        "run": SCENARIO["run"] | {"seeds": 2, "seed": 5},
        "topology": {"star": {"hosts": 4}},
        "pacer": {"beta": 0.5},
        "transport": {"ecn": True},
        "switch": {"weights": [1, 2]},
    }
    assert text == read_scenario(SCENARIO | plain)[0]


def test_numbers_of_numpy_beside_a_scenario() -> None:
    text, file = read_scenario(SCENARIO)
    assert make_plan(text, file, ("run.seed=3",), np.int64(2)).seeds == (3, 4)  # type: ignore[arg-type]
    assert values_of("over", [np.int64(3), np.float32(0.5), [np.int64(1)]]) == [3, 0.5, [1]]

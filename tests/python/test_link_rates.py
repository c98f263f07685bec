"""Links between switches that take the rate of ports toward hosts."""

from typing import Any

import pytest
import tomli_w

from hull.runs.plan import make_plan
from hull.warnings.scenario import warnings_before

SHAPES: dict[str, dict[str, int]] = {
    "leaf_spine": {"leaves": 2, "spines": 2, "hosts_per_leaf": 2},
    "fat_tree": {"k": 4},
    "dual_tor": {"racks": 2, "hosts_per_rack": 2, "spines": 2},
}


def warnings(topology: dict[str, Any], switch: str = "400Gbps") -> list[str]:
    scenario = {
        "name": "rates",
        "run": {"duration": "1ms"},
        "topology": topology,
        "host": {"rate": "100Gbps", "delay": "1us"},
        "switch": {"rate": switch, "delay": "1us"},
        "workload": {"long_lived": {"flows": [{"src": 0, "dst": 1}]}},
    }
    return warnings_before(make_plan(tomli_w.dumps(scenario), "own.toml", []))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_warning_names_what_to_set(shape: str) -> None:
    (told,) = warnings({shape: SHAPES[shape]})
    assert told.startswith(
        "switch.rate: 400Gbps is the rate of links between switches, as "
        f"topology.{shape}.uplink_rate is unset, and of switches' ports toward hosts, which send "
        "at host.rate = 100Gbps"
    )
    assert told.endswith(f"set topology.{shape}.uplink_rate to 400Gbps and switch.rate to 100Gbps")
    # What it says to set has no warning, and neither have equal rates, in any spelling.
    assert warnings({shape: {**SHAPES[shape], "uplink_rate": "400Gbps"}}, "100Gbps") == []
    assert warnings({shape: SHAPES[shape]}, "0.1Tbps") == []


def test_links_with_rates_of_their_own_are_not_judged() -> None:
    link = {"link": "leaf0->h0", "rate": "100Gbps"}
    assert warnings({"leaf_spine": SHAPES["leaf_spine"], "links": [link]}) == []


def test_a_tree_names_both_of_its_rates() -> None:
    tree = {"pods": 2, "tors_per_pod": 2, "hosts_per_tor": 2, "aggs_per_pod": 2, "cores": 2}
    (told,) = warnings({"tree": tree})
    assert "as topology.tree.uplink_rate and topology.tree.core_rate are unset" in told
    (told,) = warnings({"tree": {**tree, "uplink_rate": "400Gbps"}})
    assert "as topology.tree.core_rate is unset" in told
    assert warnings({"star": {"hosts": 3}}) == []

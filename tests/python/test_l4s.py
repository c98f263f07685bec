"""L4S in scenarios: the note about ECT(1) without a queue that isolates it, and the resolved
scenario.
"""

from pathlib import Path
from typing import Any

import tomli_w

import hull
from hull.runs.plan import expand


def scenario(**switch: Any) -> dict[str, Any]:
    """Prague competing with CUBIC for 20 ms."""
    return {
        "name": "l4s",
        "run": {"duration": "20ms", "drain": "0s"},
        "topology": {"star": {"hosts": 3}},
        "host": {"rate": "1Gbps", "delay": "5us"},
        "switch": {"rate": "1Gbps", "delay": "5us", "buffer": "300KB", **switch},
        "transport": {"congestion_control": "cubic", "ecn": True},
        "transports": {"l4s": {"congestion_control": "prague"}},
        "workload": {
            "long_lived": {
                "flows": [{"src": 1, "dst": 0}, {"src": 2, "dst": 0, "transport": "l4s"}],
            }
        },
    }


def warnings(out: Path, **switch: Any) -> list[str]:
    """Those about L4S packets."""
    found: list[str] = hull.run(scenario(**switch), out=out).summary["warnings"]
    return [text for text in found if "ECT(1)" in text]


def test_unseparated_l4s_traffic_is_noted(tmp_path: Path) -> None:
    tables: list[dict[str, Any]] = [
        {},
        {"marking": {"threshold": "30KB"}},
        {"fq_codel": {"flows": 1}},
        {"pie": {}},
    ]
    for number, switch in enumerate(tables):
        (note,) = warnings(tmp_path / str(number), **switch)
        assert note.startswith("l4s: transports.l4s sends ECT(1), and the switches queue it with")
    for name in ("dualpi2", "fq_codel"):
        assert warnings(tmp_path / name, **{name: {}}) == []


def test_derived_settings_are_in_the_resolved_scenario() -> None:
    """RTTs of 50 and 300 us: alpha is 0.1 x 50 us / (300 us)^2, beta 0.3 / 300 us."""
    text = tomli_w.dumps(scenario(dualpi2={"typical_rtt": "50us", "max_rtt": "300us"}))
    (resolved,) = expand(text, "l4s.toml", [], [])
    dualpi2 = resolved["scenario"]["switch"]["dualpi2"]
    assert (dualpi2["target"], dualpi2["interval"], dualpi2["beta"]) == ("50us", "50us", "100000%")
    assert abs(float(dualpi2["alpha"].removesuffix("%")) / 100 - 55.5556) < 5e-5

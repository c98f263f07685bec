"""Settings of the adaptive virtual queue: errors, and the warnings that it causes or prevents."""

from pathlib import Path
from typing import Any

import pytest

import hull
from hull import ScenarioError

AVQ = {"time_constant": "1ms", "buffer": "15KB"}


def result(folder: Path, avq: dict[str, Any], set_: tuple[str, ...] = ()) -> hull.Result:
    """A run of 1 ms."""
    scenario = {
        "name": "avq",
        "run": {"duration": "1ms"},
        "topology": {"star": {"hosts": 3}},
        "host": {"rate": "10Gbps", "delay": "1us"},
        "switch": {"rate": "10Gbps", "delay": "1us", "avq": avq},
        "transport": {"congestion_control": "dctcp", "ecn": True},
        "workload": {"bulk": {"flows": 2}},
    }
    return hull.run(scenario, out=folder, set=set_, seeds=1, jobs=1)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("target=0%", r'target: "0%" is invalid; expected above 0% and at most 100%'),
        ("target=101%", r'target: "101%" is invalid; expected above 0% and at most 100%'),
        ("time_constant=20s", r'time_constant: "20s" is invalid; expected 1us to 10s'),
        ("buffer=2GB", r'buffer: "2GB" is invalid; expected at most 1GB'),
    ],
)
def test_invalid_settings_are_rejected(setting: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=rf"switch\.avq\.{message}"):
        result(tmp_path / "run", AVQ, (f"switch.avq.{setting}",))


def test_it_is_marking_and_its_buffer_holds_a_packet(tmp_path: Path) -> None:
    told = result(tmp_path / "first", AVQ).summary.get("warnings", [])
    assert not [line for line in told if "avq" in line or "no switch marks" in line]
    told = result(tmp_path / "second", {**AVQ, "buffer": "1KB"}).summary["warnings"]
    assert told[0] == (
        "switch.avq.buffer: 1KB is below a packet, transport.mtu = 1.5KB, so each full-size "
        "packet exceeds it"
    )

"""Code points that the switches do not know."""

import json
from pathlib import Path
from typing import Any

import tomli_w

from conftest import Hull

CODES: dict[str, Any] = {
    "name": "codes",
    "run": {"duration": "1ms"},
    "topology": {"star": {"hosts": 3}},
    "host": {"rate": "8Gbps", "delay": "1us"},
    "switch": {
        "rate": "8Gbps",
        "delay": "1us",
        "priorities": 2,
        "dscp": [{"code": 26, "priority": 1}],
    },
    "transport": {
        "congestion_control": "constant_rate",
        "constant_rate": {"rate": "8Gbps"},
        "mtu": "1000B",
    },
    "workload": {"long_lived": {"flows": [{"src": 0, "dst": 2, "stop": "100us"}]}},
}
TOLD = (
    "codes: the switches did not know the code point of 100 data packets (unknown_dscp), whose "
    "class followed from transport.priority"
)


def test_packets_with_an_unknown_code_point_are_counted_and_told(hull: Hull) -> None:
    """A packet of 1,000 bytes each us, for 100 us."""
    Path("own.toml").write_text(tomli_w.dumps(CODES), encoding="utf-8")
    for code, packets in ((26, 0), (10, 100)):
        done = hull("run", "own.toml", "--set", f"transport.dscp={code}", "--out", f"run{code}")
        assert done.returncode == 0
        assert (TOLD in done.stderr) == (packets > 0)
        summary = json.loads(Path(f"run{code}", "summary.json").read_text(encoding="utf-8"))
        assert summary["parts"][0]["unknown_dscp"] == packets

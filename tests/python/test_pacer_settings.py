"""HULL at 25 and 100 Gbps with `pacer = {}`: no drops in hosts, and FCTs within its promise.

The bound for large flows is paper equation 3: (1 - rho)/(gamma - rho) at load rho.
"""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import tomli_w

import hull

LOAD, GAMMA = 0.4, 0.9
ON_WIRE = 1500 / 1460
TESTBED = {
    "update_interval": "64us",
    "beta": 16,
    "association_timeout": "10ms",
    "fifo": "128KB",
}
"""Paper table 3 and 5.1."""


def warnings_of(result: hull.Result) -> list[str]:
    """Without those about the FIFO of these hosts, and about ECN without marking."""
    kept = (text for text in result.summary["warnings"] if "host.queue" not in text)
    return [text for text in kept if "no switch marks" not in text]


def leaf_spine(gbps: int, sizes: Path, pacer: dict[str, Any], flows: int) -> dict[str, Any]:
    """DCTCP and HULL; 95% of the flows have 8 KB, the others 12 MB."""
    sizes.write_text("bytes,cdf\n8000,0\n8000,0.95\n12000000,0.95\n12000000,1\n")
    link = {"rate": f"{gbps}Gbps", "delay": "200ns"}
    queue = {"drain": f"{GAMMA:.0%}", "threshold": "15KB" if gbps == 100 else "6KB"}
    return {
        "name": "today",
        "run": {"duration": "1000s"},
        "topology": {"leaf_spine": {"leaves": 4, "spines": 4, "hosts_per_leaf": 4}},
        "host": {**link, "queue": "fifo", "stack_delay": "1us"},
        "switch": {**link, "buffer": "1MB"},
        "transport": {
            "congestion_control": "dctcp",
            "ecn": True,
            "initial_window": 10,
            "ack_every": 1,
            "min_rto": "1ms",
        },
        "workload": {"flows": {"load": LOAD, "count": flows, "sizes": {"csv": str(sizes)}}},
        "schemes": {
            "dctcp": {"switch": {"marking": {"threshold": "240KB" if gbps == 100 else "97.5KB"}}},
            "hull": {"switch": {"phantom_queue": queue}, "pacer": pacer},
        },
    }


@pytest.mark.parametrize("gbps", [25, 100])
def test_no_host_drops_above_10_gbps(gbps: int, tmp_path: Path) -> None:
    scenario = leaf_spine(gbps, tmp_path / "sizes.csv", {}, 1500)
    result = hull.run(scenario, out=tmp_path / "out")
    dctcp, queued = result.summary["parts"]
    assert queued["paced"] > 0
    assert queued["drops_by_place"]["pacer"] == queued["drops_by_place"]["nic"] == 0
    assert warnings_of(result) == []

    def mean_us(part: dict[str, Any], place: int) -> float:
        return float(part["fct"][place]["mean_us"])

    assert mean_us(queued, 0) < 0.5 * mean_us(dctcp, 0)
    rho = LOAD * ON_WIRE
    assert mean_us(queued, -1) / mean_us(dctcp, -1) < (1 - rho) / (GAMMA - rho)


def test_host_drops_are_a_warning(hull: Callable[..., CompletedProcess[str]], place: Path) -> None:
    table = leaf_spine(100, place / "sizes.csv", TESTBED, 200)
    (place / "today.toml").write_text(tomli_w.dumps(table))
    done = hull("run", "today.toml", "--out", "out", "--report")
    assert done.returncode == 0, done.stderr
    warnings = [line for line in done.stderr.splitlines() if "warning" in line]
    (warning,) = (line for line in warnings if "host.queue" not in line)
    assert warning.startswith("hull: warning: hull: packets were dropped inside hosts, per seed ")
    assert 'by pacers (pacer.fifo is "128KB"' in warning
    page = (place / "out" / "report.html").read_text()
    first_screen, _, rest = page.partition("<nav")
    assert "packets were dropped inside hosts" in first_screen
    assert '<th scope="row">pacer</th>' in rest
    again = hull("run", "today.toml", "--out", "out")
    assert "hull: warning: hull: packets were dropped" in again.stderr


def test_default_window_is_a_warning(tmp_path: Path) -> None:
    """1000 packets of 1500 bytes per round trip of 404 us are 29.7 Gbps."""
    scenario = leaf_spine(100, tmp_path / "sizes.csv", {}, 20)
    scenario["host"]["stack_delay"] = "99us"
    del scenario["schemes"]
    (warning,) = warnings_of(hull.run(scenario, out=tmp_path / "out"))
    assert warning.startswith("today: transport.max_window, 1000 packets by default, limits a flow")
    assert "the fastest host's link has 100 Gbps" in warning
    scenario["transport"] |= {"max_window": 900}
    assert warnings_of(hull.run(scenario, out=tmp_path / "set")) == []

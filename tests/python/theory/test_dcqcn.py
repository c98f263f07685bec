"""DCQCN's fluid model: its limit in the number of flows against the model itself over time, and
against packets."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hull
from hull.theory.dcqcn import Dcqcn, equilibrium, growth, largest_delay, unstable_flows

FAR = Dcqcn(delay=85e-6)


def test_the_limit_is_not_monotonic_in_flows() -> None:
    """At 4 us each equilibrium is stable; at 85 us none of 3 and more flows is."""
    assert not unstable_flows(Dcqcn())
    assert unstable_flows(FAR) == list(range(3, 15))
    assert equilibrium(FAR, 15) is None


def test_the_equilibrium_rests() -> None:
    for flows in (1, 2, 10):
        state = equilibrium(FAR, flows)
        assert state is not None
        moved = FAR.derivative(state, state, flows) / state
        assert np.abs(moved).max() < 1e-3


@pytest.mark.parametrize(("delay", "flows"), [(85e-6, 10), (20e-6, 10), (120e-6, 2)])
def test_the_model_over_time_grows_as_its_roots_say(delay: float, flows: int) -> None:
    """A small deviation, integrated by Heun's method over 8 time constants of the rightmost root,
    or 16 if it shrinks: its largest values in two later parts of the time differ as it says,
    within 10/s."""
    model = replace(Dcqcn(), delay=delay)
    expected = growth(model, flows)
    rest = equilibrium(model, flows)
    assert expected is not None
    assert rest is not None
    step = delay / 40
    constants, deviation = (8, 1e-8) if expected > 0 else (16, 1e-4)
    count = int(constants / abs(expected) / step)
    path = np.empty((count, 4))
    path[:41] = rest * (1 + deviation)
    for i in range(40, count - 1):
        slope = model.derivative(path[i], path[i - 40], flows)
        ahead = model.derivative(path[i] + step * slope, path[i - 39], flows)
        path[i + 1] = path[i] + step / 2 * (slope + ahead)
    away = np.abs(path / rest - 1).max(axis=1)
    half = count // 2
    first, last = away[half : half + count // 8].max(), away[-(count // 8) :].max()
    seconds = (count - count // 8 - half) * step
    assert np.log(last / first) / seconds == pytest.approx(expected, abs=10)


def utilization(folder: Path, flows: int, loop_us: float) -> float:
    """Packets: DCQCN with the paper's constants, `flows` senders, a loop of `loop_us`."""
    marking = {
        "threshold": "5KB",
        "max_threshold": "200KB",
        "max_probability": "1%",
        "on": "dequeue",
    }
    link = {"rate": "40Gbps", "delay": f"{loop_us / 4}us"}
    scenario = {
        "name": "dcqcn-stability",
        "run": {"warmup": "100ms", "duration": "100ms"},
        "topology": {"star": {"hosts": flows + 1}},
        "host": link,
        "switch": {**link, "marking": marking},
        "transport": {
            "congestion_control": "dcqcn",
            "ecn": True,
            "mtu": "1000B",
            "header": "48B",
            "dcqcn": {"variant": "paper", "hyper": "40Mbps"},
        },
        "workload": {"long_lived": {"flows": [{"src": f"1-{flows}", "dst": 0}]}},
    }
    [part] = hull.run(scenario, out=folder / f"{flows}-{loop_us}").summary["parts"]
    return float(part["throughput"]["utilization"])


def test_packets_lose_the_link_beyond_the_limit(tmp_path: Path) -> None:
    """Ten flows keep the link busy at a third of the largest delay and not at 1.4 times it; at this
    delay two flows, which the model calls stable, do."""
    limit = largest_delay(Dcqcn(), 10)
    assert limit == pytest.approx(62e-6, rel=0.02)
    assert utilization(tmp_path, 10, 20) > 0.99
    assert utilization(tmp_path, 10, 85) < 0.96
    assert utilization(tmp_path, 2, 85) > 0.99

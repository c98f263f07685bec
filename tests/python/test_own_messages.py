"""Congestion controls in Python that steer flows of the message transport."""

from pathlib import Path
from typing import Any, ClassVar

import pytest

import hull


def scenario(*, switch: dict[str, Any] | None = None, **message: Any) -> dict[str, Any]:
    """A flow from each of two hosts to a third; the round trip is 30 us and what packets take."""
    return {
        "name": "own",
        "run": {"duration": "10ms", "warmup": "2ms"},
        "topology": {"star": {"hosts": 3}},
        "host": {"rate": "10Gbps", "delay": "7500ns"},
        "switch": {"rate": "10Gbps", "delay": "7500ns", **(switch or {})},
        "transport": {
            "congestion_control": "mine",
            "ecn": True,
            "messages": True,
            "message": message,
        },
        "workload": {"long_lived": {"flows": [{"src": [1, 2], "dst": 0}]}},
    }


def run(to: Path, cls: type[hull.CongestionControl], asked: dict[str, Any]) -> dict[str, Any]:
    """The summary of the run's only part."""
    ran = hull.run(asked, to, congestion_control={"mine": cls})
    part: dict[str, Any] = ran.summary["parts"][0]
    return part


def goodput(part: dict[str, Any]) -> float:
    return float(part["throughput"]["goodput_bps"])


class Constant(hull.CongestionControl):
    """Keeps the initial window, and records what it sees."""

    acks: ClassVar[list[hull.Ack]] = []
    starts: ClassVar[list[int]] = []

    def on_start(self, now_ps: int, link_bps: int) -> None:
        self.starts.append(link_bps)

    def on_ack(self, window: hull.Window, ack: hull.Ack) -> bool:
        assert window.mss == 1500
        self.acks.append(ack)
        return False


@pytest.mark.parametrize("packets", [1, 2, 4])
def test_window_decides_the_goodput(tmp_path: Path, packets: int) -> None:
    """A window in each round trip. By hand: 30 us, 1.2 us for the packet on each of two links,
    0.1 us for the acknowledgment, and at most 1.2 us for each other packet of both windows.
    """
    Constant.acks.clear()
    Constant.starts.clear()
    part = run(tmp_path / "r", Constant, scenario(initial_window=packets))
    least_us, most_us = 32.4, 32.5 + 1.2 * (2 * packets - 1)
    found = goodput(part)
    assert 2 * packets * 1460 * 8e6 / most_us < found < 2 * packets * 1460 * 8e6 / least_us
    assert Constant.starts == [10_000_000_000] * 2
    assert {ack.nxt - ack.una for ack in Constant.acks} <= {1500 * n for n in range(packets + 1)}
    samples = [ack.rtt_ps for ack in Constant.acks if ack.rtt_ps is not None]
    assert len(samples) > 100
    assert min(samples) >= 32_400_000


class Halves(hull.CongestionControl):
    """Halves its window at a mark, once in a window of data."""

    def __init__(self) -> None:
        self.until = -1

    def on_ack(self, window: hull.Window, ack: hull.Ack) -> bool:
        if ack.ece and ack.una > self.until:
            self.until = ack.nxt
            window.reduce_to(window.cwnd // 2)
        elif ack.may_grow and not ack.ece:
            window.grow(ack.acked)
        return False


def test_marks_steer_the_window(tmp_path: Path) -> None:
    """Marks keep the queue near the threshold, without a loss, and the link busy."""
    asked = scenario(switch={"buffer": "1MB", "marking": {"threshold": "60KB"}}, ack_bytes="1B")
    part = run(tmp_path / "r", Halves, asked)
    assert goodput(part) > 0.85 * 10e9 * 1460 / 1500
    assert part["drops"] == 0
    assert part["marks"] > 0


class Paced(Constant):
    """1 Gbit/s."""

    paced = True
    rate_bps = 1_000_000_000


def test_pace_decides_the_goodput(tmp_path: Path) -> None:
    part = run(tmp_path / "r", Paced, scenario())
    assert goodput(part) == pytest.approx(2e9 * 1460 / 1500, rel=0.01)


class Counts(Halves):
    """Counts losses; reacts as RFC 5681 does."""

    calls: ClassVar[dict[str, int]] = {}

    def on_loss(self, window: hull.Window, flight: int) -> None:
        assert flight > 0
        self.calls["loss"] = self.calls.get("loss", 0) + 1
        super().on_loss(window, flight)

    def on_timeout(self, window: hull.Window, flight: int) -> None:
        self.calls["timeout"] = self.calls.get("timeout", 0) + 1
        super().on_timeout(window, flight)


@pytest.mark.parametrize("trimming", [True, False])
def test_losses_are_reported_once_in_a_window(tmp_path: Path, trimming: bool) -> None:
    """A buffer of ten packets loses several of a window: those trimmed are known by NACKs, those
    dropped by a timeout.
    """
    Counts.calls.clear()
    switch = {"buffer": "15KB", **({"trimming": {}} if trimming else {})}
    part = run(tmp_path / "r", Counts, scenario(switch=switch, initial_window=100))
    kind, other = ("loss", "timeout") if trimming else ("timeout", "loss")
    assert Counts.calls.get(other, 0) == 0
    assert 0 < Counts.calls[kind] < part["retransmissions"]
    assert goodput(part) > 1e9


def test_key_is_for_own_classes_only(tmp_path: Path) -> None:
    asked = scenario()
    asked["transport"]["congestion_control"] = "dctcp"
    with pytest.raises(hull.ScenarioError, match="messages"):
        hull.run(asked, tmp_path / "r")
    asked = scenario(paths=4)
    asked["transport"]["messages"] = False
    with pytest.raises(hull.ScenarioError, match="message"):
        run(tmp_path / "r", Halves, asked)

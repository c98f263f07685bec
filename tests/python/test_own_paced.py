"""Rate-based congestion controls in Python: event contents, the same bytes as RCP."""

from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest

import hull


def scenario(control: str, **transport: Any) -> dict[str, Any]:
    """One flow from each of two 10 Gbps hosts over a 1 Gbps link."""
    return {
        "name": "paced",
        "run": {"duration": "40ms", "warmup": "10ms"},
        "topology": {"star": {"hosts": 3}},
        "host": {"rate": "10Gbps", "delay": "5us", "stack_delay": "20us"},
        "switch": {"rate": "1Gbps", "delay": "5us"},
        "transport": {"congestion_control": control, **transport},
        "workload": {"long_lived": {"flows": [{"src": [1, 2], "dst": 0}]}},
    }


class Fixed(hull.CongestionControl):
    """100 Mbit/s."""

    paced = True
    rate_bps = 100_000_000
    seen: ClassVar[list[tuple[str, int]]] = []

    def on_start(self, now_ps: int, link_bps: int) -> None:
        self.seen.append(("start", link_bps))

    def on_sent(self, now_ps: int, wire_bytes: int) -> None:
        self.seen.append(("sent", wire_bytes))

    def on_ack(self, window: hull.Window, ack: hull.Ack) -> bool:
        return False


def goodput(result: hull.Result) -> float:
    """Goodput of host 0 in bit/s."""
    return float(result.summary["cells"][0]["throughput"]["goodput_bps"]["mean"])


def test_goodput_matches_the_rate(tmp_path: Path) -> None:
    """Goodput of two flows matches their rates; 1460 of 1500 bytes are payload."""
    Fixed.seen.clear()
    ran = hull.run(scenario("fixed"), tmp_path / "r", congestion_control={"fixed": Fixed})
    assert goodput(ran) == pytest.approx(2 * 100e6 * 1460 / 1500, rel=0.01)
    assert Fixed.seen.count(("start", 10_000_000_000)) == 2
    assert ("sent", 1500) in Fixed.seen


class Fraction(Fixed):
    """A segment per 1 ms, which is 20 round trips: 1/20 segment per round trip."""

    rate_bps = 12_000_000


def test_rate_may_be_below_a_segment_per_round_trip(tmp_path: Path) -> None:
    made = hull.run(scenario("mine"), tmp_path / "r", congestion_control={"mine": Fraction})
    assert goodput(made) == pytest.approx(2 * 12e6 * 1460 / 1500, rel=0.05)


class Sampled(hull.CongestionControl):
    """Counts ACKs with and without an RTT sample."""

    samples_every_ack = True
    counts: ClassVar[dict[bool, int]] = {}

    def on_ack(self, window: hull.Window, ack: hull.Ack) -> bool:
        told = ack.rtt_ps is not None
        self.counts[told] = self.counts.get(told, 0) + 1
        if ack.may_grow:
            window.grow(ack.acked)
        return False


def test_each_ack_has_a_round_trip(tmp_path: Path) -> None:
    Sampled.counts.clear()
    hull.run(scenario("mine"), tmp_path / "r", congestion_control={"mine": Sampled})
    assert Sampled.counts[True] > 1000
    assert Sampled.counts.get(False, 0) == 0


class Rcp(hull.CongestionControl):
    """Reimplements the built-in RCP."""

    paced = True
    asks_rate = True

    def on_ack(self, window: hull.Window, ack: hull.Ack) -> bool:
        if ack.offered_bps is not None:
            self.rate_bps = ack.offered_bps
        return False

    def on_loss(self, window: hull.Window, flight: int) -> None:
        pass

    def on_timeout(self, window: hull.Window, flight: int) -> None:
        pass


def test_the_same_bytes_as_rcp(tmp_path: Path) -> None:
    """Both use the same window, which stays constant for the built-in RCP."""
    offered = {"alpha": "40%", "beta": "20%", "interval": "50us", "round_trip": "60us"}

    def tables(control: str, **own: Any) -> list[pl.DataFrame]:
        asked = scenario(control, initial_window=1000)
        asked["switch"] |= {"rcp": offered}
        asked["measure"] = {"flows": {"interval": "1ms"}}
        ran = hull.run(asked, tmp_path / control, **own)
        return [ran.series, ran.latency, ran.links]

    own = tables("mine", congestion_control={"mine": Rcp})
    for found, expected in zip(own, tables("rcp"), strict=True):
        assert found.equals(expected)

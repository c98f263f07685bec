"""Congestion controls in Python that read telemetry: records by hand, and a held utilization."""

from pathlib import Path
from typing import Any, ClassVar

import pytest

import hull
from hull import RunError, UsageError

BITS_PS = 8 * 10**12


def scenario(*, messages: bool, record: str = "0B", **run: Any) -> dict[str, Any]:
    """A flow over a link of 10 Gbps and one of 1 Gbps, the switch's."""
    many: dict[str, Any] = {"initial_window": 1000}
    if messages:
        many = {"message": {**many, "ack_bytes": "1B"}}
    return {
        "name": "telemetry",
        "run": {"duration": "10ms", "warmup": "5ms", **run},
        "topology": {"star": {"hosts": 2}},
        "host": {"rate": "10Gbps", "delay": "1us"},
        "switch": {"rate": "1Gbps", "delay": "1us", "telemetry": {"record": record}},
        "transport": {"congestion_control": "mine", "messages": messages, **many},
        "workload": {"long_lived": {"flows": [{"src": 1, "dst": 0}]}},
    }


def run(to: Path, cls: type[hull.CongestionControl], asked: dict[str, Any]) -> hull.Result:
    return hull.run(asked, to, congestion_control={"mine": cls})


class HoldsUtilization(hull.CongestionControl):
    """Holds queue / (B T) + sent rate / B of the busiest port at a target."""

    asks_telemetry = True
    paced = True
    target_ppm = 900_000
    round_trip_ps = 20_000_000

    def __init__(self) -> None:
        self.before: list[hull.Hop] = []
        self.until = -1

    def on_start(self, now_ps: int, link_bps: int) -> None:
        self.link_bps = link_bps
        self.rate_bps = link_bps // 20

    def on_ack(self, window: hull.Window, ack: hull.Ack) -> bool:
        if not ack.telemetry or ack.una <= self.until:
            return False
        # A window of data passes before a change has its effect; the next one is measured.
        self.until = ack.nxt
        if not self.before:
            self.before = ack.telemetry
            return False
        pairs = zip(ack.telemetry, self.before, strict=True)
        busiest_ppm = max(self.used_ppm(now, before) for now, before in pairs)
        rate_bps = (self.rate_bps or self.link_bps) * self.target_ppm // max(busiest_ppm, 1)
        self.rate_bps = min(rate_bps, self.link_bps)
        self.before = []
        return False

    def used_ppm(self, now: hull.Hop, before: hull.Hop) -> int:
        sent_bps = (now.sent_bytes - before.sent_bytes) * BITS_PS // (now.at_ps - before.at_ps)
        queue_bps = min(now.queue_bytes, before.queue_bytes) * BITS_PS // self.round_trip_ps
        return 10**6 * (sent_bps + queue_bps) // now.link_bps


class Sixty(HoldsUtilization):
    target_ppm = 600_000


@pytest.mark.parametrize("messages", [False, True])
@pytest.mark.parametrize(("cls", "share"), [(HoldsUtilization, 0.9), (Sixty, 0.6)])
def test_a_lone_flow_uses_the_target(
    tmp_path: Path, cls: type[hull.CongestionControl], share: float, messages: bool
) -> None:
    """Without a queue U is the flow's rate over the link's, so the target is the only fixed point.

    A record of 50 bytes lengthens packets of 1500 bytes, 1460 of them payload: the port is as busy,
    and carries less of it.
    """
    for record, bytes_ in (("0B", 1500), ("50B", 1550)):
        ran = run(tmp_path / record, cls, scenario(messages=messages, record=record))
        throughput = ran.summary["parts"][0]["throughput"]
        assert throughput["utilization"] == pytest.approx(share, rel=0.005)
        goodput = share * 1e9 * 1460 / bytes_
        assert throughput["goodput_bps"] == pytest.approx(goodput, rel=0.005)


class Seen(hull.CongestionControl):
    """Keeps its window of 1000 packets and the ACKs."""

    asks_telemetry = True
    acks: ClassVar[list[hull.Ack]] = []

    def on_ack(self, window: hull.Window, ack: hull.Ack) -> bool:
        self.acks.append(ack)
        return False


class Blind(Seen):
    asks_telemetry = False


@pytest.mark.parametrize("messages", [False, True])
def test_records_have_names(tmp_path: Path, messages: bool) -> None:
    """Each record has the port's values: 12 us and 1500 bytes for a packet at 1 Gbps."""
    Seen.acks.clear()
    run(tmp_path / "r", Seen, scenario(messages=messages, duration="1ms", warmup="0s"))
    assert len(Seen.acks) > 10
    hops = []
    for ack in Seen.acks:
        assert ack.hops == 1
        assert ack.telemetry is not None
        assert ack.offered_bps is None
        hops += ack.telemetry
    first = hops[0]
    for hop in hops:
        assert hop.link_bps == 10**9
        assert (hop.at_ps - first.at_ps) * 1500 == (hop.sent_bytes - first.sent_bytes) * 12_000_000
    assert max(hop.queue_bytes for hop in hops) > 100_000
    assert repr(first).startswith("<hull.Hop queue_bytes=")


def test_a_class_that_does_not_ask_gets_none(tmp_path: Path) -> None:
    Seen.acks.clear()
    asked = scenario(messages=False, duration="1ms", warmup="0s")
    del asked["switch"]["telemetry"]
    run(tmp_path / "r", Blind, asked)
    assert Seen.acks
    assert all(ack.telemetry is None and ack.hops == 0 for ack in Seen.acks)


def test_switches_and_class_are_configured_together(tmp_path: Path) -> None:
    asked = scenario(messages=False)
    with pytest.raises(RunError, match=r"switch\.telemetry: .* no control that reads"):
        run(tmp_path / "blind", Blind, asked)
    del asked["switch"]["telemetry"]
    with pytest.raises(RunError, match=r"switch\.telemetry: missing, .*\"mine\" requires it"):
        run(tmp_path / "seen", Seen, asked)


class Both(Seen):
    asks_rate = True


def test_data_carries_one_kind_of_fields(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="mine: asks_rate and asks_telemetry are both true"):
        run(tmp_path / "r", Both, scenario(messages=False))

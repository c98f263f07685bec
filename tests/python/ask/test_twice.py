"""Captures that have packets twice: of two interfaces, or mirrored by two ports."""

from pathlib import Path

from ask.generator import frames_of, pcap, pcapng, some_flows
from ask.test_cases import traffic_of
from hull.ask.trace import read_trace

FLOWS = some_flows(100)
FRAMES = frames_of(FLOWS)
DATA = [(us, frame) for us, frame in FRAMES if len(frame) > 54]
WHY = "packets that the capture has twice, as from two interfaces"


def a_hop_on(frames: list[tuple[int, bytes]], us: int) -> list[tuple[int, bytes]]:
    """The packets behind a router: other Ethernet addresses, a hop less."""
    return [(at + us, b"\x01" * 12 + frame[12:22] + b"\x3f" + frame[23:]) for at, frame in frames]


def test_two_interfaces_count_once(tmp_path: Path) -> None:
    once = read_trace(pcapng(tmp_path / "once", FRAMES))
    both = tmp_path / "both"
    found = read_trace(pcapng(both, FRAMES, a_hop_on(FRAMES, 60)))
    columns = ["start_ps", "src", "dst", "bytes"]
    assert found.flows.select(columns).collect().equals(once.flows.select(columns).collect())
    dropped = {one.why: (one.rows, one.bytes) for one in found.counts.dropped}
    assert dropped[WHY] == (len(DATA), sum(len(frame) for _, frame in DATA))
    assert f"Dropped: {WHY}: {len(DATA):,} (" in traffic_of(both)


def test_a_mirror_of_two_ports(tmp_path: Path) -> None:
    once = read_trace(pcap(tmp_path / "once", FRAMES))
    both = read_trace(pcap(tmp_path / "both", sorted(FRAMES + a_hop_on(FRAMES, 3))))
    assert (both.counts.flows, both.counts.bytes) == (once.counts.flows, once.counts.bytes)


def test_few_alike_are_retransmissions(tmp_path: Path) -> None:
    again = DATA[: len(DATA) // 11]
    trace = read_trace(pcapng(tmp_path / "trace", FRAMES + [(us + 90, one) for us, one in again]))
    assert WHY not in {one.why for one in trace.counts.dropped}
    more = sum(len(frame) - 54 for _, frame in again)
    assert trace.counts.bytes == sum(flow.bytes for flow in FLOWS) + more


def test_alike_after_a_millisecond(tmp_path: Path) -> None:
    trace = read_trace(pcapng(tmp_path / "trace", FRAMES, a_hop_on(FRAMES, 1100)))
    assert WHY not in {one.why for one in trace.counts.dropped}

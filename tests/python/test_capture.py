"""Captures, read back with scapy, and with tshark if installed."""

import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import hull
from hull.experiments.common.segments import tcp_segments
from test_measurements import scenario

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # raised by scapy
    from scapy.layers.inet import ICMP, IP, TCP
    from scapy.layers.l2 import Ether
    from scapy.utils import RawPcapNgReader

LOSSLESS = {"switch": {"rate": "1Gbps", "delay": "5us", "buffer": "10MB"}}
LOSSY = {"switch": {"rate": "1Gbps", "delay": "5us", "buffer": "12KB"}}
DCTCP = {
    "switch": {
        "rate": "1Gbps",
        "delay": "5us",
        "buffer": "10MB",
        "marking": {"threshold": "20KB"},
    },
    "transport": {"congestion_control": "dctcp", "ecn": True, "handshake": True},
}
BULK = {"bulk": {"flows": 3, "size": "300KB"}}
WHOLE = ["run.duration=2s", "run.warmup=0s"]


class Packet(NamedTuple):
    """A packet of a capture."""

    port: str
    time_ns: int
    frame: Any
    bytes: int


def capture(
    folder: Path, table: dict[str, Any], ports: list[str], **settings: Any
) -> tuple[dict[str, Any], Path]:
    """Runs a scenario to the end of its traffic; returns its summary and the capture file."""
    table = table | {"measure": {"probe": {}, "capture": {"ports": ports, **settings}}}
    result = hull.run(table, folder / "out", set=WHOLE)
    [part] = result.summary["parts"]
    [file] = result.folder.rglob("*.pcapng")
    return part, file


def read(file: Path) -> list[Packet]:
    with RawPcapNgReader(str(file)) as reader:
        packets = []
        meta: Any
        for data, meta in reader:
            assert meta.linktype == 1
            assert meta.tsresol == 10**9
            time_ns = (meta.tshigh << 32) + meta.tslow
            packets.append(Packet(meta.ifname.decode(), time_ns, Ether(data), meta.wirelen))
    return packets


def tshark(file: Path, *arguments: str) -> list[str]:
    if shutil.which("tshark") is None:
        pytest.skip("no tshark here (Debian: apt install tshark)")
    command = ["tshark", "-n", "-r", str(file), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if line.strip()]


def expert(file: Path) -> list[str]:
    """Wireshark's expert notes, warnings and errors."""
    fields = ("-T", "fields", "-e", "frame.number", "-e", "_ws.expert.message")
    return tshark(file, "-Y", "_ws.expert.severity >= 4194304", *fields)


def test_headers_match_the_packets(tmp_path: Path) -> None:
    part, file = capture(tmp_path, scenario(BULK, **DCTCP), ["switch->h0", "h1--switch"])
    packets = read(file)
    assert [p.time_ns for p in packets] == sorted(p.time_ns for p in packets)
    assert {p.port for p in packets} == {"switch->h0", "h1->switch", "switch->h1"}
    links = {p.port: 0 for p in packets}
    for port, time_ns, frame, size in packets:
        links[port] += 1
        ip = frame[IP]
        assert size == 14 + ip.len <= 1514
        assert frame.src == f"02:00:00:00:00:{int(ip.src.split('.')[3]) - 1:02x}"
        # Checksums cover the payload: zeros, which the capture omits.
        whole = IP(bytes(ip).ljust(ip.len, b"\0"))
        found = whole.chksum, (whole[TCP].chksum if TCP in whole else whole[ICMP].chksum)
        del whole.chksum, (whole[TCP] if TCP in whole else whole[ICMP]).chksum
        again = IP(bytes(whole))
        assert found == (
            again.chksum,
            again[TCP].chksum if TCP in again else again[ICMP].chksum,
        )
        assert time_ns >= size * 8 - 14 * 8
        if TCP in frame:
            data = ip.len > 40
            assert (ip.tos & 3 != 0) == data  # data is ECN-capable, ACKs and SYNs are not
            assert str(frame[TCP].flags) in {"SEC", "SAE", "A", "AE", "PA", "AC", "PAC"}
    client = [p for p in packets if p.port == "switch->h0"]
    marked = [p for p in client if p.frame[IP].tos & 3 == 3]
    assert len(marked) == part["marks"] > 10
    summed = hull.load(file.parents[4]).links
    counted = {f"{row['from']}->{row['to']}": row["packets"] for row in summed.to_dicts()}
    assert all(0 <= counted[port] - count <= 2 for port, count in links.items())  # in flight
    for p in client:
        if TCP in p.frame and str(p.frame[TCP].flags) == "SEC":
            assert p.frame[TCP].seq == 0
    ends = [p for p in client if TCP in p.frame and "P" in str(p.frame[TCP].flags)]
    assert len(ends) == 3  # one message each
    for p in ends:
        assert p.frame[TCP].seq - 1 + p.frame[IP].len - 40 == 300_000


def test_probes_are_pings(tmp_path: Path) -> None:
    _, file = capture(tmp_path, scenario(BULK, **LOSSLESS), ["switch->h0", "h0->switch"])
    pings = [p for p in read(file) if ICMP in p.frame]
    asked = [p.frame[ICMP].seq for p in pings if p.frame[ICMP].type == 8]
    replied = [p.frame[ICMP].seq for p in pings if p.frame[ICMP].type == 0]
    assert asked == list(range(len(asked)))
    assert replied == asked[: len(replied)]
    assert len(asked) - len(replied) <= 1
    assert {p.bytes for p in pings} == {1514}


def test_larger_headers_and_snap_length(tmp_path: Path) -> None:
    table = scenario(BULK, **LOSSLESS, transport={"header": "58B", "mtu": "1518B"})
    _, file = capture(
        tmp_path, table, ["switch->h0"], snap_length="200B", max_packets=50, file="few.pcapng"
    )
    assert file.name == "few.pcapng"
    packets = [p for p in read(file) if TCP in p.frame]
    assert 45 < len(packets) <= 50
    for p in packets:
        assert len(p.frame) == 200
        assert p.bytes == 14 + p.frame[IP].len + 2  # a partial word of options is a trailer
        assert p.frame[TCP].dataofs == 5 + 4
        assert p.frame[IP].len == 40 + 16 + 1460


def test_start_and_stop(tmp_path: Path) -> None:
    _, file = capture(tmp_path, scenario(BULK, **LOSSLESS), ["switch->h0"], start="1ms", stop="2ms")
    times = [p.time_ns for p in read(file)]
    assert 1_000_000 <= times[0] < 1_020_000
    assert 1_980_000 < times[-1] < 2_000_000


def test_wireshark_finds_nothing_without_losses(tmp_path: Path) -> None:
    _, file = capture(tmp_path, scenario(BULK, **DCTCP), ["h1--switch"])
    assert expert(file) == []
    bad = "ip.checksum.status==0 || tcp.checksum.status==0 || icmp.checksum.status==0"
    checks = ("-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE")
    assert tshark(file, *checks, "-Y", bad) == []
    assert tshark(file, "-Y", "_ws.malformed") == []


def test_wireshark_finds_nothing_on_persistent_connections(tmp_path: Path) -> None:
    requests = {
        "requests": {
            "load": "40%",
            "connections_per_server": 2,
            "classes": [{"size": "20KB", "share": "100%"}],
        }
    }
    table = scenario(requests, **LOSSLESS)
    table["measure"] = {"capture": {"ports": ["h0--switch"]}}
    result = hull.run(table, tmp_path / "out", set=["run.duration=50ms"])
    [file] = result.folder.rglob("*.pcapng")
    assert len(read(file)) > 500
    assert expert(file) == []
    assert tshark(file, "-Y", "tcp.analysis.retransmission || tcp.analysis.lost_segment") == []


def test_losses_are_recognised(tmp_path: Path) -> None:
    part, file = capture(
        tmp_path, scenario(BULK, **LOSSY), ["h1->switch", "h2->switch", "h3->switch"]
    )
    sent: dict[tuple[str, int], int] = {}
    for p in read(file):
        if TCP in p.frame and p.frame[IP].len > 40:
            key = (p.port, p.frame[TCP].seq)
            sent[key] = sent.get(key, 0) + 1
    again = sum(count - 1 for count in sent.values())
    assert again == part["retransmissions"] > 3
    found = tshark(file, "-Y", "tcp.analysis.retransmission || tcp.analysis.out_of_order")
    assert len(found) == again


def test_sack_blocks_cover_received_data(tmp_path: Path) -> None:
    part, file = capture(tmp_path, scenario(BULK, **LOSSY), ["switch->h0", "h0->switch"])
    assert part["drops"] > 3
    came: dict[int, set[int]] = {}
    blocks = 0
    for p in read(file):
        if TCP not in p.frame:
            continue
        tcp = p.frame[TCP]
        if p.port == "switch->h0":
            came.setdefault(tcp.sport, set()).update(range(tcp.seq, tcp.seq + p.frame[IP].len - 40))
            continue
        for name, value in tcp.options:
            if name == "SAck":
                assert p.frame[IP].len == 40 + 4 + 4 * len(value)
                for start, end in zip(value[::2], value[1::2], strict=True):
                    blocks += 1
                    assert tcp.ack < start < end
                    assert came[tcp.dport].issuperset(range(start, end))
        assert came[tcp.dport].issuperset(range(1, tcp.ack))
        assert tcp.ack not in came[tcp.dport]
    assert blocks > 10


def test_segments_match_scapy(tmp_path: Path) -> None:
    table = scenario(BULK, **LOSSY)
    _, file = capture(tmp_path, table, ["switch->h0", "h0->switch"])
    expected = [
        (
            packet.port,
            packet.time_ns / 1e3,
            packet.frame[TCP].seq - 1,
            packet.frame[IP].len - 4 * packet.frame[IP].ihl - 4 * packet.frame[TCP].dataofs,
            packet.frame[TCP].ack - 1,
        )
        for packet in read(file)
        if TCP in packet.frame
    ]
    assert len(expected) > 100
    assert [tuple(segment) for segment in tcp_segments(file)] == expected


def test_phantom_queue_follows_the_packets(tmp_path: Path) -> None:
    """`phantom_bytes` in queues.parquet matches a fluid queue fed with the captured packets."""
    drain = 0.95e9 / 8e9  # bytes per ns
    switch = {
        "rate": "1Gbps",
        "delay": "5us",
        "phantom_queue": {"drain": "950Mbps", "threshold": "1KB"},
    }
    table = scenario(BULK, switch=switch, transport={"congestion_control": "dctcp", "ecn": True})
    measure = {
        "sample_interval": "7us",
        "ports": ["switch->h0", "h1->switch"],
        "capture": {"ports": ["switch->h0"]},
    }
    whole = ["run.duration=15ms", "run.warmup=0s"]
    result = hull.run(table | {"measure": measure}, tmp_path / "out", set=whole)
    [file] = result.folder.rglob("*.pcapng")
    # A packet enters the phantom queue when its first bit leaves.
    departures = [(p.time_ns - 8 * (p.bytes - 14), p.bytes - 14) for p in read(file)]
    samples = result.queues.filter(port="switch->h0")["time_ps", "phantom_bytes"].rows()
    assert len(samples) > 1000
    backlog, last_ns, next_ = 0.0, 0.0, 0
    for time_ps, phantom in samples:
        while next_ < len(departures) and departures[next_][0] <= time_ps / 1000:
            start_ns, size = departures[next_]
            backlog = max(backlog - drain * (start_ns - last_ns), 0.0) + size
            last_ns, next_ = start_ns, next_ + 1
        fluid = max(backlog - drain * (time_ps / 1000 - last_ns), 0.0)
        assert phantom == pytest.approx(fluid, abs=2), time_ps
    assert max(phantom for _, phantom in samples) > 10_000
    assert result.queues.filter(port="h1->switch")["phantom_bytes"].is_null().all()

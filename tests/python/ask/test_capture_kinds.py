"""Packets of a capture that are no part of a flow are counted by what they are."""

import struct
from collections import Counter
from pathlib import Path

import pytest

from hull.ask.packets import read_capture
from hull.errors import UsageError

ETHERNET = bytes(12)
OTHERS = {
    0x0806: "ARP packets",
    0x8847: "MPLS packets, whose content is not read",
    0x8864: "PPPoE packets, whose content is not read",
    0x88CC: "LLDP packets",
    0x8915: "RoCE packets (version 1)",
    0x0026: "LLC packets, such as spanning tree",
    0x1234: "packets of other EtherTypes than IP",
}
PROTOCOLS = {
    1: "ICMP packets",
    47: "GRE packets, whose content is not read",
    89: "OSPF packets",
    200: "packets of other protocols than TCP and UDP",
}


def ip(protocol: int, content: bytes) -> bytes:
    """A packet from 10.0.0.1 to 10.0.0.2."""
    length = 20 + len(content)
    header = struct.pack(">BBHHHBBH", 0x45, 0, length, 1, 0, 64, protocol, 0)
    return ETHERNET + b"\x08\x00" + header + bytes([10, 0, 0, 1, 10, 0, 0, 2]) + content


def pcap(path: Path, packets: list[bytes]) -> Path:
    """A capture of Ethernet with a packet per ms."""
    file = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for number, packet in enumerate(packets):
        length = len(packet)
        file += struct.pack("<IIII", 0, 1000 * number, length, length) + packet
    path.write_bytes(file)
    return path


def test_each_kind_is_named_and_counted(tmp_path: Path) -> None:
    packets, wanted, sizes = [], Counter[str](), Counter[str]()
    kinds = [(ETHERNET + struct.pack(">H", n) + bytes(46), name) for n, name in OTHERS.items()]
    kinds += [(ip(number, bytes(30)), name) for number, name in PROTOCOLS.items()]
    # MPLS behind a VLAN tag.
    tagged = ETHERNET + b"\x81\x00\x00\x07\x88\x47" + bytes(42)
    kinds.append((tagged, OTHERS[0x8847]))
    for times, (packet, name) in enumerate(kinds, 1):
        packets += [packet] * times
        wanted[name] += times
        sizes[name] += times * len(packet)
    packets.append(ip(17, struct.pack(">HHHH", 5, 6, 108, 0) + bytes(100)))
    capture = read_capture(pcap(tmp_path / "x.pcap", packets))
    assert capture.flows["bytes"].to_list() == [100]
    assert {one.why: one.rows for one in capture.dropped} == dict(wanted)
    assert {one.why: one.bytes for one in capture.dropped} == dict(sizes)
    assert sum(wanted.values()) + 1 == capture.packets


def test_a_capture_of_a_tunnel_says_so(tmp_path: Path) -> None:
    from hull.ask.trace import read_trace

    file = pcap(tmp_path / "gre.pcap", [ip(47, bytes(60))] * 3)
    with pytest.raises(UsageError, match="GRE packets, whose content is not read: 3"):
        read_trace(file)

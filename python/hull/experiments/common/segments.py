"""TCP segments of a capture (docs/capture.md): time, port, source and destination.

Reads what hull writes: pcapng with little-endian blocks, one interface a port, time stamps in ns,
Ethernet frames with IPv4 and TCP. Positions are bytes of the stream, from 0.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_INTERFACE, _PACKET, _NAME = 1, 6, 2
_ETHERNET, _TCP = 14, 6


class TcpSegment(NamedTuple):
    """A segment as it left a port."""

    port: str
    time_us: float
    start: int
    bytes: int
    """Payload; 0 for an acknowledgment alone."""
    ack: int


def tcp_segments(file: Path) -> list[TcpSegment]:
    """The segments in the order of the file; probes are left out."""
    ports: list[str] = []
    found = []
    for kind, body in _blocks(file.read_bytes()):
        if kind == _INTERFACE:
            ports.append(_name(body[8:]))
        elif kind == _PACKET:
            port, high, low, kept = struct.unpack_from("<4I", body)
            packet = body[20 + _ETHERNET : 20 + kept]
            if packet[9] == _TCP:
                time_us = ((high << 32) + low) / 1e3
                found.append(_segment(ports[port], time_us, packet))
    return found


def _segment(port: str, time_us: float, packet: bytes) -> TcpSegment:
    ip = 4 * (packet[0] & 15)
    [total] = struct.unpack_from(">H", packet, 2)
    start, ack, words = struct.unpack_from(">IIB", packet, ip + 4)
    return TcpSegment(port, time_us, start - 1, total - ip - 4 * (words >> 4), ack - 1)


def _blocks(content: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(content):
        kind, length = struct.unpack_from("<2I", content, at)
        yield kind, content[at + 8 : at + length - 4]
        at += length


def _name(options: bytes) -> str:
    at = 0
    while at < len(options):
        code, length = struct.unpack_from("<2H", options, at)
        if code == _NAME:
            return options[at + 4 : at + 4 + length].decode()
        at += 4 + -(-length // 4) * 4
    return ""

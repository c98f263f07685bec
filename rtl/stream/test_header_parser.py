"""The header parser against a byte-wise parser: random frames, scapy frames, edge cases."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest
from scapy.all import (
    ARP,
    ICMP,
    IP,
    TCP,
    UDP,
    Dot1AD,
    Dot1Q,
    Ether,
    IPOption,
    IPv6,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    Raw,
)

from bench.headers import (
    HEADER_LATENCY,
    Header,
    Seen,
    key,
    parse,
    play_frames,
    random_frames,
    rows_of,
)
from bench.simulation import build

SOURCES = [
    "stream/header_parser.sv",
    "stream/keep_check.sv",
    "nic/ece_snooper.sv",
    "bench/player.sv",
    "bench/recorder.sv",
    "bench/ece_snooper_bench.sv",
]
WIDTHS = (64, 128, 256, 512)


def folder(width: int) -> Path:
    return build("ece_snooper_bench", SOURCES, {"DATA_BITS": width})


def check(seen: Seen, rows: np.ndarray, sizes: np.ndarray) -> list[Header]:
    """Checks that each frame yields one header, equal to the byte-wise parser's."""
    expected = [
        parse(row[:size].tobytes())[0] for row, size in zip(rows, sizes.tolist(), strict=True)
    ]
    assert len(seen.headers) == len(expected)
    for at, (got, want) in enumerate(zip(seen.headers, expected, strict=True)):
        assert got == want, (at, rows[at][: sizes[at]].tobytes().hex())
    return expected


def coverage(headers: list[Header]) -> dict[str, int]:
    """The number of frames that took each branch."""
    return {
        "TCP over IPv4": sum(h.is_tcp and h.ip_version == 4 for h in headers),
        "TCP over IPv6": sum(h.is_tcp and h.ip_version == 6 for h in headers),
        "IP, not TCP": sum(h.ok and not h.is_tcp for h in headers),
        "not IP": sum(not h.ip_version and not h.truncated for h in headers),
        "no tag": sum(h.ok and h.ip_offset == 14 for h in headers),
        "one tag": sum(h.ok and h.ip_offset == 18 for h in headers),
        "two tags": sum(h.ok and h.ip_offset == 22 for h in headers),
        "truncated, IP": sum(h.truncated and h.ip_version > 0 for h in headers),
        "truncated, not IP": sum(h.truncated and h.ip_version == 0 for h in headers),
        "inconsistent": sum(not h.ok and not h.truncated and h.ip_version > 0 for h in headers),
        "CE": sum(h.ecn == 3 for h in headers),
        "ACK with ECN-Echo": sum(h.is_ece for h in headers),
    }


def test_a_million_random_frames() -> None:
    rng = np.random.default_rng(3)
    total: dict[str, int] = {}
    for run in range(4):
        rows, sizes = random_frames(rng, 250_000)
        seen = play_frames(folder(64), f"random_{run}", rows, sizes, 8)
        for name, count in coverage(check(seen, rows, sizes)).items():
            total[name] = total.get(name, 0) + count
    print(total)
    assert all(total.values()), total


@pytest.mark.parametrize("width", WIDTHS)
def test_idle_and_stalled_streams(width: int) -> None:
    """Headers are correct with random idle clocks and a receiver that is often not ready."""
    rng = np.random.default_rng(width)
    rows, sizes = random_frames(rng, 10_000)
    beats = int((-(-sizes * 8 // width)).sum())
    gaps = rng.choice([0, 0, 1, 7], beats)
    hold = rng.choice([0, 0, 0, 1, 5, 63], beats, p=[0.3, 0.3, 0.2, 0.1, 0.09, 0.01])
    check(play_frames(folder(width), "stalled", rows, sizes, width // 8, gaps, hold), rows, sizes)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_length_back_to_back(width: int) -> None:
    """Frames cut after each byte, back to back. Each header comes ten clocks after the deciding
    beat.
    """
    lanes = width // 8
    whole = [
        Ether() / IP(tos=1) / TCP(flags="AE") / Raw(bytes(40)),
        Ether() / Dot1Q() / IP(options=[IPOption(b"\x01" * 40)]) / TCP() / Raw(bytes(9)),
        Ether() / Dot1AD() / Dot1Q() / IPv6(tc=2) / TCP(flags="S"),
        Ether() / IPv6() / UDP(),
        Ether() / Dot1Q() / ARP(),
    ]
    frames = [bytes(p)[:size] for p in whole for size in range(1, len(bytes(p)) + 1)]
    rows, sizes = rows_of(frames)
    seen = play_frames(folder(width), "lengths", rows, sizes, lanes)
    check(seen, rows, sizes)
    for at, frame in enumerate(frames):
        _, needed = parse(frame)
        # The beat with the last byte of the last required word; words end at 4i + 1.
        beat = min(needed - 1, len(frame) - 1) // lanes
        assert seen.header_clocks[at] == seen.first_clocks[at] + beat + HEADER_LATENCY, frame.hex()


def test_kinds_of_frames() -> None:
    """The parsed fields of frames built by scapy equal the requested ones."""
    ends = {"src": "10.0.0.1", "dst": "10.0.0.2"}
    ends6 = {"src": "fd00::1:2:3", "dst": "fd00:0:0:5::4"}
    ports = {"sport": 40_000, "dport": 80}
    four, six = IP(**ends, tos=3), IPv6(**ends6, tc=1)
    frames = [
        Ether() / four / TCP(**ports, flags="AE"),
        Ether() / Dot1Q(vlan=5) / four / TCP(**ports, flags="SEC"),
        Ether() / Dot1AD(vlan=5) / Dot1Q(vlan=6) / four / TCP(**ports, flags="RA"),
        Ether() / IP(**ends, options=[IPOption(b"\x01" * 12)]) / TCP(**ports, flags="FA"),
        Ether() / six / TCP(**ports, flags="AE"),
        Ether() / Dot1Q() / six / TCP(**ports, flags="AE"),
        Ether() / IP(**ends, frag=100) / TCP(**ports, flags="AE"),
        Ether() / IP(**ends, flags="MF") / TCP(**ports, flags="AE"),
        Ether() / six / IPv6ExtHdrHopByHop() / TCP(**ports, flags="AE"),
        Ether() / six / IPv6ExtHdrFragment() / TCP(**ports, flags="AE"),
        Ether() / four / UDP(**ports),
        Ether() / four / ICMP(),
        Ether() / ARP(),
        Ether() / Dot1Q() / Dot1Q() / Dot1Q() / four / TCP(**ports, flags="AE"),
        Ether() / IP(**ends, len=39) / TCP(**ports, flags="AE"),
        Ether() / IP(**ends, version=6) / TCP(**ports, flags="AE"),
        Ether() / IP(**ends, ihl=4) / TCP(**ports, flags="AE"),
        Ether() / four / TCP(**ports, flags="AE") / Raw(bytes(8_946)),
    ]
    rows, sizes = rows_of([bytes(frame) for frame in frames])
    headers = check(play_frames(folder(64), "kinds", rows, sizes, 8), rows, sizes)
    a, b = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
    keys = [key(a, b, (40_000, 80), 6), key(b, a, (80, 40_000), 6)]
    assert keys[0] == zlib.crc32(a + b + bytes([40_000 >> 8, 40_000 & 255, 0, 80, 6]))
    assert headers[0] == Header(True, False, 4, 14, 3, True, 0x50, *keys)
    assert headers[1] == Header(True, False, 4, 18, 3, True, 0xC2, *keys)
    assert headers[2] == Header(True, False, 4, 22, 3, True, 0x14, *keys)
    assert headers[3] == Header(True, False, 4, 14, 0, True, 0x11, *keys)
    assert headers[4][:7] == (True, False, 6, 14, 1, True, 0x50)
    assert headers[5][1:] == headers[4]._replace(ip_offset=18)[1:]
    assert headers[6].ok
    assert not headers[6].is_tcp
    assert headers[6].flow == key(a, b, (0, 0), 6)
    assert headers[7] == Header(True, False, 4, 14, 0, True, 0x50, *keys)
    assert [h.ok and not h.is_tcp for h in headers[8:12]] == [True] * 4
    assert [h.ip_version for h in headers[12:14]] == [0, 0]
    assert not any(h.ok or h.truncated for h in headers[12:17])
    assert headers[17] == headers[0]

"""The ECE snooper against a byte-wise parser: random frames, bad frames, edge cases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scapy.all import IP, TCP, Ether

from bench import frames
from bench.headers import ACK, ECE_LATENCY, SYN, parse, play_frames, random_frames, rows_of
from bench.simulation import build

SOURCES = [
    "stream/header_parser.sv",
    "stream/keep_check.sv",
    "nic/ece_snooper.sv",
    "bench/player.sv",
    "bench/recorder.sv",
    "bench/ece_snooper_bench.sv",
]


def folder(width: int) -> Path:
    return build("ece_snooper_bench", SOURCES, {"DATA_BITS": width})


@pytest.mark.parametrize(("width", "count"), [(64, 40_000), (512, 20_000)])
def test_random_frames(width: int, count: int) -> None:
    """Reports each ECN-Echo ACK in a good frame and nothing else, with idle clocks and receiver
    stalls, and checks the counters. The bench checks that the stream passes unchanged. The header
    parser's million frames are of the same kind and pass through here as well.
    """
    rng = np.random.default_rng(count)
    rows, sizes = random_frames(rng, count)
    bad = rng.random(count) < 0.1
    beats = int((-(-sizes * 8 // width)).sum())
    gaps, hold = rng.choice([0, 0, 0, 2], beats), rng.choice([0] * 15 + [3], beats)
    broken = frames.broken(rng, frames.Frames(rows, sizes), rng.random(count) < 0.1, width // 8)
    seen = play_frames(folder(width), "random", rows, sizes, width // 8, gaps, hold, bad, broken)
    bad |= broken.mask(count)
    headers = [parse(row[:size].tobytes())[0] for row, size in zip(rows, sizes, strict=True)]
    good = [header for header, wrong in zip(headers, bad, strict=True) if not wrong]
    expected = [header.flow_reverse for header in good if header.is_ece]
    assert seen.eces == expected
    acks = sum(header.flags & (ACK | SYN) == ACK for header in good)
    short = sum(header.truncated for header in good)
    assert seen.counts == [count, int(bad.sum()), short, acks, len(expected)]
    assert 0 < len(expected) < acks
    assert short > 0


def test_flags_and_latency() -> None:
    """All 64 TCP flag combinations. The pulse comes eleven clocks after the last beat, with the
    data flow's key.
    """
    names = "FSRAEC"
    chosen = ["".join(n for i, n in enumerate(names) if bits >> i & 1) for bits in range(64)]
    back = Ether() / IP(src="10.0.0.2", dst="10.0.0.1")
    given = [bytes(back / TCP(sport=80, dport=5, flags=flags)) for flags in chosen]
    rows, sizes = rows_of(given)
    seen = play_frames(folder(64), "flags", rows, sizes, 8)
    ece = [i for i, flags in enumerate(chosen) if {"A", "E"} <= set(flags) and "S" not in flags]
    data = bytes(Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / TCP(sport=5, dport=80))
    assert seen.eces == [parse(data)[0].flow] * len(ece)
    assert len(ece) == 8
    last = seen.first_clocks[ece] + (len(given[0]) - 1) // 8
    assert (seen.ece_clocks == last + ECE_LATENCY).all()

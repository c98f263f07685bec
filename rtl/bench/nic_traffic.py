"""Frames of both directions of a NIC: segments of flows that go out, ACKs with ECN-Echo that come
back, and others; and what the ECE snooper makes of those.
"""

from __future__ import annotations

import struct

import numpy as np

from bench import frames, headers

MAX_BYTES = 180
FLOWS = 100
SOURCE, DESTINATION = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
SNOOPER = ("frames", "bad_frames", "truncated", "tcp_acks", "ece_acks")


def traffic(
    rng: np.random.Generator, count: int, longest: int = MAX_BYTES
) -> tuple[frames.Frames, np.ndarray]:
    """TCP segments of FLOWS flows, one in ten frames of any other kind; and their keys, or -1."""
    rows, sizes = headers.random_frames(rng, count)
    octets = np.zeros((count, 192), np.uint8)
    octets[:, : rows.shape[1]] = rows
    sizes = np.where(rng.random(count) < 0.01, 192, sizes)
    known = np.full(count, -1)
    table = keys()
    tcp = np.flatnonzero(rng.random(count) < 0.9)
    flows = rng.integers(FLOWS, size=len(tcp))
    sizes[tcp] = rng.integers(54, longest + 1, len(tcp))
    # A segment without payload, and behind it a frame that ends before the segment's look-up.
    pairs = tcp[:-1][np.diff(tcp) > 1]
    pairs = pairs[rng.random(len(pairs)) < 0.2]
    sizes[pairs], sizes[pairs + 1] = 54, rng.integers(1, 9, len(pairs))
    octets[tcp, 54:] = rng.integers(0, 256, (len(tcp), 192 - 54), np.uint8)
    for number, flow in zip(tcp.tolist(), flows.tolist(), strict=True):
        ip = struct.pack(
            "!BBHHHBBH", 0x45, 2, int(sizes[number]) - 14, number & 0xFFFF, 0, 64, 6, 0
        )
        head = bytes(12) + b"\x08\x00" + ip + SOURCE + DESTINATION
        head += struct.pack("!HHIIBBHHH", 1_000 + flow, 80, number, 0, 0x50, 0x10, 0, 0, 0)
        octets[number, : len(head)] = np.frombuffer(head, np.uint8)
    known[tcp] = table[flows]
    return frames.Frames(octets, sizes), known


def keys() -> np.ndarray:
    """The keys of the flows."""
    return np.array(
        [headers.key(SOURCE, DESTINATION, (1_000 + flow, 80), 6) for flow in range(FLOWS)]
    )


def acknowledgements(rng: np.random.Generator, count: int) -> frames.Frames:
    """ACKs with ECN-Echo of the flows, and two in five frames of any other kind."""
    rows, sizes = headers.random_frames(rng, count)
    for number in np.flatnonzero(rng.random(count) < 0.6).tolist():
        flow = int(rng.integers(FLOWS))
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 40, number & 0xFFFF, 0, 64, 6, 0)
        head = bytes(12) + b"\x08\x00" + ip + DESTINATION + SOURCE
        head += struct.pack("!HHIIBBHHH", 80, 1_000 + flow, 0, number, 0x50, 0x50, 0, 0, 0)
        rows[number, : len(head)] = np.frombuffer(head, np.uint8)
        sizes[number] = 60
    return frames.Frames(rows, sizes)


def snooped(
    given: frames.Frames, bad: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Clocks and flows of the ACKs with ECN-Echo, and the clocks at which each counter counts."""
    parsed = [
        headers.parse(row[:size].tobytes())[0]
        for row, size in zip(given.octets, given.lengths, strict=True)
    ]
    acks = np.array(
        [each.flags & (headers.ACK | headers.SYN) == headers.ACK for each in parsed], bool
    )
    eces = np.array([each.is_ece for each in parsed], bool) & ~bad
    flows = np.array([each.flow_reverse for each in parsed], np.int64)[eces]
    short = np.array([each.truncated for each in parsed], bool)
    counted = (np.ones(len(bad), bool), bad, short & ~bad, acks & ~bad, eces)
    at = ends + headers.ECE_LATENCY
    return at[eces], flows, dict(zip(SNOOPER, (at[each] for each in counted), strict=True))

"""Headers of frames for the tests: a parser that reads bytes, random frames, beats of a stream."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.frames import Broken
from bench.tape import playback

TAGS = (0x8100, 0x88A8)
IPV4, IPV6 = 0x0800, 0x86DD
TCP, UDP = 6, 17
# Of TCP, as they are in its header's 14th byte.
FIN, SYN, RST, ACK, ECE, CWR = 0x01, 0x02, 0x04, 0x10, 0x40, 0x80
# From the beat that decides to the header, and from a frame's last beat to an ACK with ECN-Echo.
HEADER_LATENCY, ECE_LATENCY = 10, 11


class Header(NamedTuple):
    """What the header parser says of a frame."""

    ok: bool
    truncated: bool
    ip_version: int = 0
    ip_offset: int = 14
    ecn: int = 0
    is_tcp: bool = False
    flags: int = 0
    flow: int = 0
    flow_reverse: int = 0

    @property
    def is_ece(self) -> bool:
        """Whether it is an ACK with ECN-Echo."""
        return self.flags & (ACK | ECE | SYN) == ACK | ECE


def key(source: bytes, destination: bytes, ports: tuple[int, int], protocol: int) -> int:
    """The key of a flow; addresses of 4 or 16 bytes."""
    ends = []
    for address in (source, destination):
        folded = 0
        for (word,) in struct.iter_unpack(">I", address):
            folded = (folded << 8 | folded >> 24) & 0xFFFFFFFF ^ word
        ends.append(folded)
    return zlib.crc32(struct.pack(">IIHHB", *ends, *ports, protocol))


def parse(frame: bytes) -> tuple[Header, int]:
    """What the parser has to say, and the number of bytes after which it can."""
    offset, size = 14, len(frame)
    while offset < 22 and size >= offset and struct.unpack_from(">H", frame, offset - 2)[0] in TAGS:
        offset += 4
    if size < offset:
        # A tag whose next type is missing.
        return Header(False, True, 0, offset), size
    kind = struct.unpack_from(">H", frame, offset - 2)[0]
    if kind not in (IPV4, IPV6):
        return Header(False, False, 0, offset), offset
    version = 4 if kind == IPV4 else 6
    short = Header(False, True, version, offset), size
    least = 20 if version == 4 else 40
    if size < offset + least:
        return short
    later = False
    if version == 4:
        first, service, stated, _, fragment, _, protocol = struct.unpack_from(
            ">BBHHHBB", frame, offset
        )
        length = max(first & 15, 5) * 4
        later = fragment & 0x1FFF != 0
        ecn = service & 3
        source, destination = frame[offset + 12 : offset + 16], frame[offset + 16 : offset + 20]
        consistent = first >> 4 == 4 and first & 15 >= 5
        inside = stated - length
    else:
        word, inside, protocol, _ = struct.unpack_from(">IHBB", frame, offset)
        length = 40
        ecn = word >> 20 & 3
        source, destination = frame[offset + 8 : offset + 24], frame[offset + 24 : offset + 40]
        consistent = word >> 28 == 6
    is_tcp, is_udp = protocol == TCP and not later, protocol == UDP and not later
    transport = offset + length
    needed = transport + (16 if is_tcp else 4 if is_udp else 0)
    if size < needed:
        return short
    ports, flags = (0, 0), 0
    if is_tcp or is_udp:
        ports = struct.unpack_from(">HH", frame, transport)
    consistent = consistent and inside >= (20 if is_tcp else 8 if is_udp else 0)
    if is_tcp:
        flags = frame[transport + 13] & (FIN | SYN | RST | ACK | ECE | CWR)
        consistent = consistent and frame[transport + 12] >> 4 >= 5
    if not consistent:
        return Header(False, False, version, offset), needed
    keys = (
        key(source, destination, ports, protocol),
        key(destination, source, ports[::-1], protocol),
    )
    return Header(True, False, version, offset, ecn, is_tcp, flags, *keys), needed


def random_frames(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Frames as rows of bytes, and their lengths: all kinds of headers, whole, cut and wrong."""
    width = 128
    rows = rng.integers(0, 256, (count, width), np.uint8)
    at = np.arange(count)

    def often(share: float) -> np.ndarray:
        return rng.random(count) < share

    def put(offsets: np.ndarray, values: np.ndarray, size: int, where: np.ndarray) -> None:
        for i in range(size):
            value = values >> 8 * (size - 1 - i) & 255
            rows[at[where], (offsets + i)[where]] = value[where]

    tags = rng.choice(4, count, p=[0.5, 0.3, 0.18, 0.02])
    for i in range(3):
        put(np.full(count, 12 + 4 * i), rng.choice(TAGS, count), 2, tags > i)
    ip = 14 + 4 * tags
    six = often(0.4)
    put(ip - 2, np.where(six, IPV6, IPV4), 2, often(0.96))
    words = np.where(often(0.3), rng.integers(0, 16, count), 5)
    length = np.where(six, 40, 4 * np.maximum(words, 5))
    protocol = rng.choice([TCP, UDP, 1, 44, 0], count, p=[0.75, 0.1, 0.05, 0.05, 0.05])
    right = often(0.98)
    put(ip, np.where(six, 6, 4) << 4 | np.where(six, rng.integers(0, 16, count), words), 1, right)
    payload = np.where(often(0.95), 40, rng.integers(0, 24, count))
    put(ip + 2, length + payload, 2, ~six)
    put(ip + 4, payload, 2, six)
    put(ip + 6, np.where(often(0.9), rng.choice([0, 0x4000, 0x2000], count), 7), 2, ~six)
    put(ip + 6, protocol, 1, six)
    put(ip + 9, protocol, 1, ~six)
    put(ip + length + 12, np.where(often(0.97), 0x50, 0x40), 1, protocol == TCP)
    put(ip + length + 13, np.full(count, ACK | ECE), 1, often(0.3))
    sizes = np.where(
        often(0.8), ip + length + rng.integers(16, 24, count), rng.integers(1, width, count)
    )
    return rows, np.minimum(sizes, width)


def rows_of(frames: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Frames as `random_frames` gives them."""
    sizes = np.array([len(frame) for frame in frames])
    rows = np.zeros((len(frames), -(-int(sizes.max()) // 64) * 64), np.uint8)
    for row, frame in zip(rows, frames, strict=True):
        row[: len(frame)] = np.frombuffer(frame, np.uint8)
    return rows, sizes


class Seen(NamedTuple):
    """What the bench recorded."""

    header_clocks: np.ndarray
    headers: list[Header]
    ece_clocks: np.ndarray
    eces: list[int]
    counts: list[int]  # frames, bad, truncated, ACKs, ACKs with ECN-Echo
    first_clocks: np.ndarray  # at which the first beat of each frame was offered at the earliest


def play_frames(
    folder: Path,
    name: str,
    rows: np.ndarray,
    sizes: np.ndarray,
    lanes: int,
    gaps: np.ndarray | None = None,
    hold: np.ndarray | None = None,
    bad: np.ndarray | None = None,
    broken: Broken | None = None,
) -> Seen:
    """Play frames in beats of `lanes` bytes on `ece_snooper_bench`. For each beat, `gaps` is
    the idle clocks before it, and `hold` the clocks in which the receiver is not ready. `bad`
    frames end with tuser; `broken` ones have a wrong tkeep.
    """
    count, width = rows.shape
    beats = -(-sizes // lanes)
    which = np.arange(width // lanes)[None, :] < beats[:, None]
    data = rows.reshape(count, width // lanes, lanes)[which]
    last = (np.arange(width // lanes)[None, :] == beats[:, None] - 1)[which]
    of = np.repeat(np.arange(count), beats)
    bytes_here = np.where(last, (sizes[of] - 1) % lanes + 1, lanes)
    keep = np.packbits(np.arange(lanes)[None, ::-1] < bytes_here[:, None], axis=1)
    if broken is not None:
        keep[(np.cumsum(beats) - beats)[broken.frame] + broken.beat] = broken.keep[:, ::-1]
    user = np.zeros(count, bool) if bad is None else bad
    flags = last | (user[of] & last) << 1
    if hold is not None:
        flags = flags | hold[: len(of)] << 2
    idle = np.zeros(len(of), np.int64) if gaps is None else gaps[: len(of)]
    clocks = 10 + np.cumsum(idle + 1)
    record = np.concatenate(
        [
            clocks.astype(">u8").view(np.uint8).reshape(-1, 8),
            data[:, ::-1],
            keep,
            flags.astype(np.uint8)[:, None],
        ],
        axis=1,
    )
    answers = {"headers": 2, "eces": 1, "counts": 3}
    got = playback(folder, name, {"stimulus": record.tobytes()}, answers)
    keys, word = got["headers"][1][:, 0], got["headers"][1][:, 1].astype(np.int64)
    columns = [
        word >> 19 & 1 == 1,
        word >> 18 & 1 == 1,
        word >> 14 & 15,
        word >> 9 & 31,
        word >> 7 & 3,
        word >> 6 & 1 == 1,
        (word >> 5 & 1) * CWR | (word >> 4 & 1) * ECE | (word >> 3 & 1) * ACK | word & 7,
        keys >> np.uint64(32),
        keys & np.uint64(0xFFFFFFFF),
    ]
    headers = list(map(Header._make, zip(*(column.tolist() for column in columns), strict=True)))
    counts = [int(half) for number in got["counts"][1][0] for half in divmod(int(number), 1 << 32)]
    return Seen(
        got["headers"][0],
        headers,
        got["eces"][0],
        (got["eces"][1][:, 0] >> np.uint64(32)).tolist(),
        counts[:5],
        clocks[np.concatenate([[True], last[:-1]])],
    )

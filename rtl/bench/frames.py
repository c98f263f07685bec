"""Random Ethernet frames in bulk, and frames as the beats of an AXI4-Stream."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Bytes of a row: a multiple of 64, so that it splits into whole beats of any width.
LONGEST = 192
ETHERTYPES = {"ipv4": 0x0800, "ipv6": 0x86DD, "arp": 0x0806, "other": 0x88B5}
TAGS = np.array([0x8100, 0x88A8, 0x9100])


@dataclass
class Frames:
    """Frames as rows of bytes. What follows a frame's length in its row is arbitrary."""

    octets: np.ndarray
    lengths: np.ndarray

    def __len__(self) -> int:
        return len(self.lengths)

    def beats(self, width: int) -> Beats:
        """The beats of all frames in order; `width` is the number of bytes of a beat."""
        count = -(-self.lengths // width)
        places = np.arange(self.octets.shape[1] // width)
        used = places < count[:, None]
        left = (self.lengths[:, None] - places * width)[used].clip(0, width)
        keep = (np.arange(width) < left[:, None]).astype(np.uint8)
        return Beats(
            data=self.octets.reshape(len(self), -1, width)[used],
            keep=np.packbits(keep, axis=1, bitorder="little"),
            last=(places == count[:, None] - 1)[used],
            frame=np.repeat(np.arange(len(self)), count),
        )


@dataclass
class Beats:
    """Beats of a stream: bytes, tkeep (byte 0 first), tlast, and the number of the frame."""

    data: np.ndarray
    keep: np.ndarray
    last: np.ndarray
    frame: np.ndarray

    def __len__(self) -> int:
        return len(self.last)

    def first(self) -> np.ndarray:
        """Whether the beat is the first one of its frame."""
        return np.concatenate([[True], self.last[:-1]])


@dataclass
class Broken:
    """Frames whose tkeep breaks the rule of keep_check.sv: the frame, its beat, and the pattern."""

    frame: np.ndarray
    beat: np.ndarray
    keep: np.ndarray

    def apply(self, beats: Beats) -> None:
        """Change the beats of all frames."""
        at = np.flatnonzero(beats.first())[self.frame] + self.beat
        beats.keep[at] = self.keep

    def mask(self, count: int) -> np.ndarray:
        """Whether each of `count` frames is one of these."""
        return np.isin(np.arange(count), self.frame)


def broken(rng: np.random.Generator, given: Frames, which: np.ndarray, width: int) -> Broken:
    """A random beat of each frame in `which` with a pattern that breaks the rule: empty, without
    its first bytes (`f0`), with holes (`05`), partial before the last beat, or random.
    """
    frame = np.flatnonzero(which)
    count = -(-given.lengths[frame] // width)
    beat = np.where(rng.random(len(frame)) < 0.5, count - 1, rng.integers(0, count))
    inside = rng.random((len(frame), width)) < 0.5
    kind = rng.integers(0, 5, len(frame))
    place = np.arange(width)
    inside[kind == 0] = False
    inside[kind == 1] = place >= width // 2
    inside[kind == 2] = place % 2 == 0
    inside[kind == 3] = place < width // 2
    # Random patterns too may follow the rule: contiguous in the last beat, complete in others.
    contiguous = inside[:, 0] & ~(~inside[:, :-1] & inside[:, 1:]).any(axis=1)
    follows = contiguous & ((beat == count - 1) | inside.all(axis=1))
    inside[follows, 0] = False
    return Broken(frame, beat, np.packbits(inside, axis=1, bitorder="little"))


def of_bytes(frames: list[bytes]) -> Frames:
    """Frames given as bytes objects; 0 follows them in their rows."""
    lengths = np.array([len(frame) for frame in frames])
    row = -(-int(lengths.max()) // 64) * 64
    octets = np.zeros((len(frames), row), np.uint8)
    for number, frame in enumerate(frames):
        octets[number, : len(frame)] = np.frombuffer(frame, np.uint8)
    return Frames(octets, lengths)


def tape(clocks: np.ndarray, beats: Beats, flags: np.ndarray) -> bytes:
    """The file for a player: clock, `flags` (8 bits), tkeep and tdata of each beat."""
    return np.concatenate(
        [
            clocks.astype(">u8")[:, None].view(np.uint8),
            flags.astype(np.uint8)[:, None],
            beats.keep[:, ::-1],
            beats.data[:, ::-1],
        ],
        axis=1,
    ).tobytes()


def stimulus(
    given: Frames, clocks: np.ndarray, width: int, bad: np.ndarray, broken: Broken | None = None
) -> bytes:
    """The file for a player of frames: tlast and, at the end of `bad` ones, tuser."""
    beats = given.beats(width)
    if broken:
        broken.apply(beats)
    return tape(clocks, beats, beats.last | (beats.last & bad[beats.frame]) << 1)


def recorded(words: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data, tkeep and the flags above them, from the words of a recorder."""
    octets = np.ascontiguousarray(words[:, ::-1]).view(np.uint8).reshape(len(words), -1)
    keep_end = width + width // 8
    return octets[:, :width], octets[:, width:keep_end], octets[:, keep_end]


def put(octets: np.ndarray, at: np.ndarray, value: np.ndarray | int) -> None:
    """Write 16-bit values, most significant byte first, at the offset `at` of each row."""
    rows = np.arange(len(octets))
    value = np.broadcast_to(value, rows.shape)
    octets[rows, at] = value >> 8
    octets[rows, at + 1] = value & 0xFF


def get(octets: np.ndarray, at: np.ndarray | int) -> np.ndarray:
    """16-bit values, most significant byte first, from the offset `at` of each row."""
    rows = np.arange(len(octets))
    return octets[rows, at].astype(np.int64) << 8 | octets[rows, at + 1]


def fold(value: np.ndarray) -> np.ndarray:
    """The one's complement sum in 16 bits of a larger sum."""
    while (value >> 16).any():
        value = (value & 0xFFFF) + (value >> 16)
    return value


def header_sum(octets: np.ndarray, start: np.ndarray, words: np.ndarray) -> np.ndarray:
    """The one's complement sum of an IPv4 header of 16-bit words, with 0 for its checksum."""
    total = np.zeros(len(octets), np.int64)
    for number in range(30):
        if number != 5:
            total += np.where(number < words, get(octets, start + 2 * number), 0)
    return fold(total)


def random_frames(rng: np.random.Generator, count: int) -> Frames:
    """Frames of all kinds: 0 to 3 tags, IPv4 with options, IPv6, others, wrong versions and IHL,
    each ECN codepoint, correct and wrong checksums, lengths from 1 byte with weight on the ends of
    the headers.
    """
    octets = rng.integers(0, 256, (count, LONGEST), np.uint8)
    rows = np.arange(count)
    tags = rng.choice(4, count, p=[0.4, 0.25, 0.25, 0.1])
    for level in range(3):
        value = rng.choice(TAGS, count, p=[0.48, 0.48, 0.04])
        tagged = tags > level
        octets[tagged, 12 + 4 * level] = value[tagged] >> 8
        octets[tagged, 13 + 4 * level] = value[tagged] & 0xFF
    start = 14 + 4 * tags
    kind = rng.choice(list(ETHERTYPES), count, p=[0.5, 0.35, 0.05, 0.1])
    put(octets, start - 2, np.vectorize(ETHERTYPES.get)(kind))
    is_ipv4 = (kind == "ipv4") | (kind == "other")
    version = np.where(is_ipv4, 4, 6)
    version = np.where(rng.random(count) < 0.07, rng.integers(0, 16, count), version)
    words = np.where(rng.random(count) < 0.7, 5, rng.integers(0, 16, count))
    low = np.where(is_ipv4, words, rng.integers(0, 16, count))
    octets[rows, start] = version << 4 | low
    ecn = rng.choice(4, count, p=[0.2, 0.3, 0.3, 0.2])
    shift = np.where(is_ipv4, 0, 4)
    octets[rows, start + 1] &= (~(3 << shift) & 0xFF).astype(np.uint8)
    octets[rows, start + 1] |= (ecn << shift).astype(np.uint8)
    ipv4 = np.flatnonzero(kind == "ipv4")
    octets[ipv4] = with_checksum(rng, octets[ipv4], start[ipv4], 2 * words[ipv4])
    return Frames(octets, random_lengths(rng, start))


def with_checksum(
    rng: np.random.Generator, octets: np.ndarray, start: np.ndarray, words: np.ndarray
) -> np.ndarray:
    """Sets the checksums of IPv4 headers: 80 % correct, some of them close to 0 and 0xFFFF."""
    count = len(octets)
    # The identification field makes the checksum what it should be.
    put(octets, start + 4, 0)
    wanted = np.where(
        rng.random(count) < 0.2, rng.integers(-3, 4, count), rng.integers(0, 1 << 16, count)
    )
    sum_wanted = ~wanted & 0xFFFF
    put(octets, start + 4, fold(sum_wanted + (~header_sum(octets, start, words) & 0xFFFF)))
    checksum = ~header_sum(octets, start, words) & 0xFFFF
    checksum = np.where(rng.random(count) < 0.2, rng.integers(0, 1 << 16, count), checksum)
    put(octets, start + 10, checksum)
    return octets


def random_lengths(rng: np.random.Generator, start: np.ndarray) -> np.ndarray:
    """Lengths: runts from 1 byte, ends within 1 byte of each header's end, and whole frames."""
    count = len(start)
    end = rng.choice([0, 12, 20, 40], count) + start
    return np.select(
        [rng.random(count) < 0.2, rng.random(count) < 0.4],
        [rng.integers(1, 64, count), end + rng.integers(-1, 2, count)],
        rng.integers(54, 130, count),
    )

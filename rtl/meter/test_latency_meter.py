"""The latency meter with an emulated switch: known delays give the exact histogram."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from bench import frames
from bench.frames import Broken, Frames
from bench.simulation import build
from bench.tape import playback

SOURCES = [
    "stream/keep_check.sv",
    "meter/probe_parser.sv",
    "meter/latency_histogram.sv",
    "meter/latency_meter.sv",
    "bench/player.sv",
    "bench/recorder.sv",
    "bench/frame_clocks.sv",
    "bench/latency_meter_bench.sv",
]
TABLE = 32
BUCKETS = 1024
# By this clock the memories have been cleared.
READY = 1_100
# Pings: EtherType IPv4, protocol ICMP, echo request, identifier. Offsets in 16-bit words.
OFFSETS = [6, 11, 17, 19]
VALUES = [0x0800, 1, 0x0800, 0x4855]
MASKS = [0xFFFF, 0x00FF, 0xFF00, 0xFFFF]
SEQUENCE = 20


@pytest.fixture(scope="module", params=[64, 512])
def bits(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def folder(bits: int) -> Path:
    return build("latency_meter_bench", SOURCES, {"DATA_BITS": bits})


@dataclass
class Settings:
    """The settings in force from a clock on."""

    clock: int
    enable: bool = True
    clear: bool = False
    use_ptp: bool = False
    shift: int = 0
    ptp_step: int = 0
    ptp_start: int = 0
    stall: int = 0

    def record(self) -> bytes:
        head = bytes([self.clear, self.enable, self.use_ptp, self.shift])
        head += self.ptp_step.to_bytes(4, "big") + self.ptp_start.to_bytes(8, "big")
        value = sum(value << 16 * i for i, value in enumerate(VALUES))
        mask = sum(mask << 16 * i for i, mask in enumerate(MASKS))
        offsets = sum(offset << 7 * i for i, offset in enumerate(OFFSETS))
        rest = offsets << 36 | SEQUENCE << 25 | self.stall << 16
        words = (value, mask, rest)
        return self.clock.to_bytes(8, "big") + head + b"".join(w.to_bytes(8, "big") for w in words)


@dataclass
class Stream:
    """Frames with the clocks of their beats and their bad flags (tuser)."""

    frames: Frames
    clocks: np.ndarray
    bad: np.ndarray
    broken: Broken | None = None

    def tape(self, width: int) -> bytes:
        return frames.stimulus(self.frames, self.clocks, width, self.bad, self.broken)

    def follows(self) -> np.ndarray:
        """Whether the tkeep of each frame follows the rule."""
        count = len(self.frames)
        return ~self.broken.mask(count) if self.broken else np.ones(count, bool)


@dataclass
class Counts:
    """The counters of the meter."""

    stamped: int = 0
    matched: int = 0
    unmatched: int = 0
    outstanding: int = 0
    truncated: int = 0
    minimum: int = (1 << 64) - 1
    maximum: int = 0
    sum: int = 0
    histogram: np.ndarray = field(default_factory=lambda: np.zeros(BUCKETS, np.int64))

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Counts)
        names = (
            "stamped",
            "matched",
            "unmatched",
            "outstanding",
            "truncated",
            "minimum",
            "maximum",
            "sum",
        )
        for name in names:
            assert getattr(self, name) == getattr(other, name), name
        assert (self.histogram == other.histogram).all()
        return True

    def add(self, latency: int, shift: int) -> None:
        self.matched += 1
        self.outstanding -= 1
        self.minimum = min(self.minimum, latency)
        self.maximum = max(self.maximum, latency)
        self.sum = min(self.sum + latency, (1 << 64) - 1)
        self.histogram[min(latency >> shift, BUCKETS - 1)] += 1


def ping(sequence: int, size: int = 98) -> bytes:
    """An ICMP echo request without checksums, which the meter ignores."""
    frame = (
        bytes(12) + b"\x08\x00\x45" + bytes(8) + b"\x01" + bytes(10) + b"\x08\x00\x00\x00\x48\x55"
    )
    assert len(frame) == 2 * SEQUENCE
    return (frame + sequence.to_bytes(2, "big") + bytes(size))[:size]


def back_to_back(given: Frames, starts: np.ndarray, width: int) -> np.ndarray:
    """Clocks of beats: each frame starts at its clock or after the end of the previous one."""
    lengths = -(-given.lengths // width)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    starts = np.maximum.accumulate(starts - ends[:-1]) + ends[:-1]
    return np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])


@dataclass
class Run:
    """The counts of a run, and the clocks of all frames' first and last beats at both ports."""

    counts: Counts
    entries: tuple[np.ndarray, np.ndarray]
    exits: tuple[np.ndarray, np.ndarray]


def play(
    folder: Path, name: str, settings: list[Settings], entry: Stream, leave: Stream, bits: int
) -> Run:
    width = bits // 8
    reads = np.arange(BUCKETS).astype(">u2")[:, None].view(np.uint8)
    clocks = (READY + np.arange(BUCKETS)).astype(">u8")[:, None].view(np.uint8)
    got = playback(
        folder,
        name,
        {
            "settings": b"".join(setting.record() for setting in settings),
            "entry": entry.tape(width),
            "exit": leave.tape(width),
            "reads": np.concatenate([clocks, reads], axis=1).tobytes(),
        },
        {"entries": 1, "exits": 1, "counts": 6},
    )
    words = got["counts"][1]
    last = [int(word) for word in words[-1]]
    low = [
        int(word) >> 32 if i % 2 == 0 else int(word) & 0xFFFFFFFF
        for word in last[3:]
        for i in range(2)
    ]
    counts = Counts(*low[:5], *last[:3], (words[:, 5] & np.uint64(0xFFFFFFFF)).astype(np.int64))
    sides = [
        (got[side][1][:, 0].astype(np.int64), got[side][0].astype(np.int64))
        for side in ("entries", "exits")
    ]
    return Run(counts, *sides)


def parse(stream: Stream) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masks of probes and of truncated frames, and the sequence numbers."""
    octets, lengths = stream.frames.octets, stream.frames.lengths
    wrong = np.zeros(len(lengths), bool)
    found = np.zeros((4, len(lengths)), bool)
    for i in range(4):
        found[i] = lengths >= 2 * OFFSETS[i] + 2
        differs = (frames.get(octets, 2 * OFFSETS[i]) ^ VALUES[i]) & MASKS[i] != 0
        wrong |= found[i] & differs
    whole = found.all(axis=0) & (lengths >= 2 * SEQUENCE + 2)
    probes = whole & ~wrong & ~stream.bad
    truncated = ~whole & ~wrong & found.any(axis=0)
    follows = stream.follows()
    return probes & follows, truncated & follows, frames.get(octets, 2 * SEQUENCE)


def expect(run: Run, settings: list[Settings], entry: Stream, leave: Stream) -> Counts:
    """Models the meter with a dictionary, on the clocks of the run."""
    counts = Counts()
    changes = np.array([setting.clock for setting in settings])
    enabled = np.array([False] + [setting.enable for setting in settings])
    events = []
    for side, (stream, (first, last)) in enumerate(((entry, run.entries), (leave, run.exits))):
        probes, truncated, sequence = parse(stream)
        on = enabled[np.searchsorted(changes, first, "left")]
        counts.truncated += int((truncated & on).sum())
        for i in np.flatnonzero(probes & on):
            events.append((int(last[i]), side, int(first[i]), int(sequence[i])))
    table: dict[int, tuple[int, int] | None] = {}
    step = settings[0].ptp_step if settings[0].use_ptp else 1
    for _, side, first_clock, sequence_number in sorted(events):
        if side == 0:
            counts.stamped += 1
            counts.outstanding += 1
            table[sequence_number % TABLE] = sequence_number, first_clock
        else:
            held = table.get(sequence_number % TABLE)
            if held is None or held[0] != sequence_number:
                counts.unmatched += 1
            else:
                counts.add((first_clock - held[1]) * step % (1 << 64), settings[0].shift)
                table[sequence_number % TABLE] = None
    return counts


def whole(given: list[bytes]) -> Frames:
    return frames.of_bytes([*given, bytes(192)][: len(given)])


def good(count: int) -> np.ndarray:
    return np.zeros(count, bool)


def test_known_delays(folder: Path, bits: int) -> None:
    """Known delays from 0 clocks on give the exact histogram."""
    delays = np.concatenate(
        [np.arange(0, 40), [500, 501, 1021, 1022, 1023, 1024, 1025, 4_000, 4_000]]
    )
    given = whole([ping(7 * i) for i in range(len(delays))])
    starts = READY + 5_000 * np.arange(len(delays))
    width = bits // 8
    entry = Stream(given, back_to_back(given, starts, width), good(len(delays)))
    leave = Stream(given, back_to_back(given, starts + delays, width), good(len(delays)))
    run = play(folder, "known", [Settings(10)], entry, leave, bits)
    expected = Counts(len(delays), len(delays), 0, 0, 0, 0, 4_000, int(delays.sum()))
    np.add.at(expected.histogram, np.minimum(delays, BUCKETS - 1), 1)
    assert run.counts == expected
    assert expect(run, [Settings(10)], entry, leave) == expected


def test_clock_wraps(folder: Path, bits: int) -> None:
    """PTP time in steps of 6 units passes 2^64 while probes are in flight; buckets of 16."""
    count, delay, width = 60, 90, bits // 8
    given = whole([ping(i) for i in range(count)])
    starts = READY + 100 * np.arange(count)
    settings = [
        Settings(10, use_ptp=True, shift=4, ptp_step=6, ptp_start=(1 << 64) - 6 * (READY + 3_040))
    ]
    entry = Stream(given, back_to_back(given, starts, width), good(count))
    leave = Stream(given, back_to_back(given, starts + delay, width), good(count))
    run = play(folder, "wrap", settings, entry, leave, bits)
    expected = Counts(count, count, 0, 0, 0, 6 * delay, 6 * delay, 6 * delay * count)
    expected.histogram[6 * delay >> 4] = count
    assert run.counts == expected


def test_lost_probes(folder: Path, bits: int) -> None:
    """Lost, duplicated and unstamped probes, and sequence numbers with the same table index."""
    width = bits // 8
    into = [ping(i) for i in (1, 2, 3, 4, 5, 5 + TABLE)]
    out = [ping(i) for i in (1, 3, 3, 3, 9, 5, 5 + TABLE, 4, 4 + TABLE)]
    entry_frames, leave_frames = whole(into), whole(out)
    entry = Stream(
        entry_frames, back_to_back(entry_frames, np.full(len(into), READY), width), good(len(into))
    )
    starts = np.full(len(out), READY + 200)
    leave = Stream(leave_frames, back_to_back(leave_frames, starts, width), good(len(out)))
    run = play(folder, "lost", [Settings(10)], entry, leave, bits)
    # 2 was lost; the stamp of 5 was overwritten. 3 (twice), 9, 5 and 4 + TABLE had no stamp.
    assert (run.counts.stamped, run.counts.matched) == (6, 4)
    assert (run.counts.unmatched, run.counts.outstanding) == (5, 2)
    assert run.counts == expect(run, [Settings(10)], entry, leave)


def test_long_frames(folder: Path, bits: int) -> None:
    """Frames, probes or not, longer than the largest offset: pings 256 bytes in are ignored."""
    width, delay = bits // 8, 90
    whole_row = [ping(i, 256) + ping(500 + i, 256) + ping(600 + i) for i in range(20)]
    others = [bytes(256) + ping(700 + i, 256) + ping(800 + i) for i in range(20)]
    given = whole([frame for pair in zip(whole_row, others, strict=True) for frame in pair])
    starts = READY + 100 * np.arange(len(given))
    entry = Stream(given, back_to_back(given, starts, width), good(len(given)))
    leave = Stream(given, back_to_back(given, starts + delay, width), good(len(given)))
    run = play(folder, "long", [Settings(10)], entry, leave, bits)
    expected = Counts(20, 20, 0, 0, 0, delay, delay, delay * 20)
    expected.histogram[delay] = 20
    assert run.counts == expected
    assert expect(run, [Settings(10)], entry, leave) == expected


def test_truncated_and_bad(folder: Path, bits: int) -> None:
    """Pings cut at each length, and pings marked bad, are no probes."""
    width = bits // 8
    sizes = list(range(1, 61))
    given = whole([ping(size, size) for size in sizes] + [ping(200), ping(201)])
    clocks = back_to_back(given, np.full(len(given), READY), width)
    bad = np.arange(len(given)) == len(sizes)
    entry, leave = Stream(given, clocks, bad), Stream(given, clocks, bad)
    run = play(folder, "truncated", [Settings(10)], entry, leave, bits)
    complete = sum(size >= 2 * SEQUENCE + 2 for size in sizes) + 1
    cut = sum(2 * OFFSETS[0] + 2 <= size < 2 * SEQUENCE + 2 for size in sizes)
    assert (run.counts.stamped, run.counts.matched, run.counts.truncated) == (
        complete,
        complete,
        2 * cut,
    )
    assert run.counts == expect(run, [Settings(10)], entry, leave)


def test_enable_in_a_frame(folder: Path, bits: int) -> None:
    """A frame counts if the meter was enabled at its first beat, even if disabled afterwards."""
    width = bits // 8
    given = whole([ping(i, 128) for i in range(40)])
    starts = READY + 40 * np.arange(40)
    settings = [Settings(10, enable=False)]
    for i in range(40):
        # At a clock from 2 before the frame to its end: on for even frames, off for odd ones.
        settings.append(Settings(int(starts[i]) - 2 + i % 20, enable=i % 2 == 0))
    clocks = back_to_back(given, starts, width)
    entry = Stream(given, clocks, good(40))
    leave = Stream(given, back_to_back(given, starts + 17, width), good(40))
    run = play(folder, "enable", settings, entry, leave, bits)
    expected = expect(run, settings, entry, leave)
    assert run.counts == expected
    assert 5 < expected.stamped < 35
    assert expected.unmatched
    assert expected.outstanding


def test_clear(folder: Path, bits: int) -> None:
    """Clearing discards counts and probes in flight; counting continues afterwards."""
    width = bits // 8
    given = whole([ping(i) for i in (1, 2, 3)])
    starts = np.array([READY, READY + 50, READY + 2_000])
    entry = Stream(given, back_to_back(given, starts, width), good(3))
    out_starts = np.array([READY + 30, READY + 1_900, READY + 2_060])
    leave = Stream(given, back_to_back(given, out_starts, width), good(3))
    settings = [Settings(10), Settings(READY + 200, clear=True)]
    run = play(folder, "clear", settings, entry, leave, bits)
    expected = Counts(1, 1, 1, 0, 0, 60, 60, 60)
    expected.histogram[60] = 1
    assert run.counts == expected


def random_streams(rng: np.random.Generator, count: int, width: int) -> tuple[Stream, Stream]:
    """Own, foreign, truncated and bad pings among random frames, through a switch."""
    given = frames.random_frames(rng, count)
    kind = rng.random(count)
    pings = kind < 0.6
    sequence = np.cumsum(pings) + 65_000 & 0xFFFF
    row = np.frombuffer(ping(0), np.uint8)
    given.octets[pings, : len(row)] = row
    frames.put(
        given.octets, np.full(count, 40), np.where(pings, sequence, frames.get(given.octets, 40))
    )
    whole_length = rng.integers(42, 130, count)
    given.lengths = np.where(pings & (kind > 0.03), whole_length, given.lengths)
    others = pings & (kind > 0.5)
    given.octets[others, 38] = rng.integers(0, 256, int(others.sum()))
    return through_switch(rng, given, width)


def through_switch(rng: np.random.Generator, given: Frames, width: int) -> tuple[Stream, Stream]:
    """Frames at a switch's input and output. 3 % are bad, 3 % have a wrong tkeep; the switch drops
    3 %, duplicates 2 %, delays and reorders.
    """
    count = len(given)
    bad = rng.random(count) < 0.03
    pause = np.where(rng.random(count) < 0.2, rng.integers(0, 40, count), 0)
    lengths = -(-given.lengths // width)
    clocks = back_to_back(given, READY + np.cumsum(lengths + pause), width)
    ends = clocks[np.cumsum(lengths) - 1]
    delay = rng.integers(0, 300, count) + np.where(rng.random(count) < 0.001, 20_000, 0)
    stays = np.flatnonzero(rng.random(count) > 0.03)
    stays = np.concatenate([stays, stays[rng.random(len(stays)) < 0.02]])
    order = stays[np.argsort((ends + delay)[stays], kind="stable")]
    out = Frames(given.octets[order], given.lengths[order])
    sides = [frames.broken(rng, each, rng.random(len(each)) < 0.03, width) for each in (given, out)]
    leave = Stream(out, back_to_back(out, (ends + delay)[order], width), bad[order], sides[1])
    return Stream(given, clocks, bad, sides[0]), leave


def test_random(folder: Path, bits: int) -> None:
    """Random frames through a switch that drops, duplicates, delays and reorders."""
    rng = np.random.default_rng(bits)
    entry, leave = random_streams(rng, 150_000 if bits == 64 else 600_000, bits // 8)
    # With stalls a frame can leave the emulated switch before it arrived: beyond all buckets.
    settings = [
        Settings(10, use_ptp=bits == 64, shift=1, ptp_step=6, stall=12 if bits == 64 else 0)
    ]
    run = play(folder, "random", settings, entry, leave, bits)
    expected = expect(run, settings, entry, leave)
    print(f"{bits} bits, {len(entry.bad)} frames:", expected)
    assert run.counts == expected
    assert min(expected.unmatched, expected.outstanding, expected.truncated) > 1_000
    # A PTP clock advances in steps, so it does not reach every bucket.
    assert (expected.histogram > 20).sum() > 100
    assert bits > 64 or expected.histogram[-1] > 20

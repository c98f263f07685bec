"""Packets for the bench of the pacer, and what the hardware and hull-core make of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from hull_reference import HardwarePacer

from bench.tape import playback

CLOCK_PS = 8_000
# What the bench can set, in the order of its kinds; the first are registers.
SETTINGS = [
    "max_rate_bps", "min_rate_bps", "initial_rate_bps", "bucket_bytes", "fifo_bytes",
    "update_interval", "eta", "gain", "beta", "rate_step_bps", "token_tick", "when_full",
    "enable", "again", "line_off", "reset",
]  # fmt: skip
# Clocks: from the reset to time 0 of the grids; from taking a packet to its decision, and on to its
# answer; from the clock that writes `enable` to the first step.
ZERO, DECISION, ANSWER, START = 4, 6, 2, 94
PASS, QUEUED, DROPPED, HELD = range(4)
Config = Mapping[str, int | str]


@dataclass
class Packets:
    """What a host hands over: clocks of the offer, and what the bench needs for each packet."""

    clocks: np.ndarray
    bytes: np.ndarray
    paced: np.ndarray
    line: np.ndarray
    delay: np.ndarray

    @classmethod
    def of(cls, clocks: list[int], sizes: list[int], paced: list[bool]) -> Packets:
        """Packets that find the line free and are seen at once."""
        none = np.zeros(len(clocks), np.int64)
        return cls(np.array(clocks), np.array(sizes), np.array(paced), none, none)

    def words(self) -> np.ndarray:
        """The values of the bench's operations."""
        value = self.bytes.astype(np.uint64)
        for part, shift in ((self.line, 30), (self.delay, 46), (self.paced, 54)):
            value |= part.astype(np.uint64) << np.uint64(shift)
        return value


@dataclass
class Episode:
    """Settings, a start and packets, with what the hardware and what hull-core made of them."""

    config: Config
    start: int
    packets: Packets
    again: bool = False
    # Registers that differ from `config`: what the guard would refuse.
    over: Mapping[str, int] = field(default_factory=dict)
    # Settings while it runs: (clock, name, value). The model does not know of them.
    later: list[tuple[int, str, int]] = field(default_factory=list)
    # Clocks of the whole; the model's end where it is not given.
    clocks: int | None = None
    got: Answers | None = None

    def __post_init__(self) -> None:
        self.modelled = not self.over and not self.later
        if self.modelled:
            self.pacer = HardwarePacer(self.config, CLOCK_PS, self.start)
            packets = self.packets
            self.admissions, self.releases = self.pacer.replay(
                packets.clocks.tolist(),
                packets.bytes.tolist(),
                packets.paced.astype(bool).tolist(),
                packets.line.tolist(),
                packets.delay.tolist(),
                self.again,
            )
            last = [self.start, *self.admissions[0][-1:], *self.releases[0][-1:]]
            self.clocks = max(last) + 100
        assert self.clocks is not None


@dataclass
class Answers:
    """What the bench recorded; `clocks` are the decisions' clocks, in the time of the grids."""

    clocks: np.ndarray
    admission: np.ndarray
    negative: np.ndarray
    bytes: np.ndarray
    backlog: np.ndarray
    largest: np.ndarray
    release_clocks: np.ndarray
    release_bytes: np.ndarray
    release_backlog: np.ndarray
    # First step of each rate.
    rate_clocks: np.ndarray
    rates: np.ndarray
    started: np.ndarray

    def rate_at(self, clocks: np.ndarray) -> np.ndarray:
        """The rates at which tokens are made from these steps on."""
        return self.rates[np.searchsorted(self.rate_clocks, clocks, side="right") - 1]


def play(folder: Path, name: str, episodes: list[Episode]) -> np.ndarray:
    """Play the episodes in one run; each gets its answers. Returns the last one's counters."""
    parts: list[np.ndarray] = []

    def add(clocks: np.ndarray, kinds: np.ndarray | int, values: np.ndarray) -> None:
        kind = np.broadcast_to(np.array(kinds, np.uint64) << np.uint64(56), len(clocks))
        parts.append(np.stack([clocks.astype(np.uint64), kind, values.astype(np.uint64)], axis=1))

    def put(clock: int, setting: str, value: int) -> None:
        add(np.array([clock]), SETTINGS.index(setting) + 1, np.array([value], np.uint64))

    at = 0
    bounds = []
    for episode in episodes:
        registers = dict(HardwarePacer.registers(episode.config, CLOCK_PS)) | dict(episode.over)
        registers |= {"enable": 0, "again": int(episode.again), "line_off": 0}
        for setting in SETTINGS[:-1]:
            put(at, setting, registers[setting])
            at += 1
        put(at, "reset", 0)
        zero = at + 1 + ZERO
        start = len(parts)
        put(zero + episode.start - START, "enable", 1)
        add(zero + episode.packets.clocks, 0, episode.packets.words())
        for clock, setting, value in episode.later:
            put(zero + clock, setting, value)
        merged = np.concatenate(parts[start:])
        parts[start:] = [merged[np.argsort(merged[:, 0], kind="stable")]]
        assert episode.clocks is not None
        at = zero + episode.clocks
        bounds.append((zero, at))
    record = np.concatenate(parts).astype(">u8")
    words = {"admissions": 2, "releases": 2, "rates": 1, "counts": 2}
    got = playback(folder, name, {"stimulus": record.tobytes()}, words)
    tables = {key: (clocks.astype(np.int64), table) for key, (clocks, table) in got.items()}
    for episode, (zero, end) in zip(episodes, bounds, strict=True):
        episode.got = answers(tables, zero, end)
    return got["counts"][1][0]


def answers(tables: Mapping[str, tuple[np.ndarray, np.ndarray]], zero: int, end: int) -> Answers:
    """The answers in the clocks from `zero` to `end`."""

    def part(name: str) -> tuple[np.ndarray, np.ndarray]:
        clocks, table = tables[name]
        first, last = np.searchsorted(clocks, [zero, end])
        return clocks[first:last] - zero, table[first:last]

    def bits(words: np.ndarray, low: int, width: int) -> np.ndarray:
        return (words >> np.uint64(low) & np.uint64((1 << width) - 1)).astype(np.int64)

    clocks, table = part("admissions")
    left_clocks, left = part("releases")
    seen, rates = part("rates")
    starts = np.flatnonzero(np.diff(bits(rates[:, 0], 63, 1), prepend=0) == 1)
    values = bits(rates[:, 0], 0, 40)
    return Answers(
        clocks=clocks - ANSWER,
        admission=bits(table[:, 0], 60, 2),
        negative=bits(table[:, 0], 62, 1) == 1,
        bytes=bits(table[:, 0], 0, 16),
        backlog=bits(table[:, 1], 0, 32),
        largest=bits(table[:, 1], 32, 32),
        release_clocks=left_clocks - ANSWER,
        release_bytes=bits(left[:, 0], 0, 16),
        release_backlog=bits(left[:, 1], 0, 32),
        rate_clocks=np.concatenate([[0], (seen[starts[0] :] + 1) // 2 * 2 + 2]),
        rates=np.concatenate([values[starts[:1]], values[starts[0] :]]),
        started=seen[starts],
    )


def check_model(episode: Episode) -> None:
    """The hardware's answers are the model's, to the bit and to the clock."""
    got = episode.got
    assert got is not None
    assert got.started[:1].tolist() == [episode.start]
    clocks, admission, backlog, negative, rate = map(np.array, episode.admissions)
    np.testing.assert_array_equal(got.clocks, clocks)
    np.testing.assert_array_equal(got.admission, admission)
    np.testing.assert_array_equal(got.negative, negative)
    np.testing.assert_array_equal(got.rate_at(clocks), rate)
    clocks, sizes, left, rate = (np.array(column, np.int64) for column in episode.releases)
    np.testing.assert_array_equal(got.release_clocks, clocks)
    np.testing.assert_array_equal(got.release_bytes, sizes)
    np.testing.assert_array_equal(got.rate_at(clocks), rate)
    # A packet and a release of one step are one change of the hardware's register: the packet's
    # backlog is seen after both.
    both = np.isin(got.clocks, got.release_clocks)
    np.testing.assert_array_equal(got.backlog[~both], backlog[~both])
    np.testing.assert_array_equal(got.release_backlog, left)


def paid_passes(episode: Episode) -> np.ndarray:
    """Which answers are a paced packet that passed with tokens: it found the FIFO empty."""
    assert episode.got is not None
    admission = episode.got.admission
    packet = np.cumsum(admission != HELD) - (admission != HELD)
    paced = episode.packets.paced.astype(bool)[packet]
    return (admission == PASS) & paced & (np.array(episode.admissions[2]) == 0)


def check_properties(episode: Episode) -> None:
    """What must hold regardless of the model: bytes and order, FIFO and rate in their bounds, and
    over any interval at most the bucket (or a packet larger than it), the rate's integral and one
    tick.
    """
    got, config = episode.got, episode.config
    assert got is not None
    queued = got.bytes[got.admission == QUEUED]
    np.testing.assert_array_equal(got.release_bytes, queued, "order or bytes of the FIFO")
    taken = got.admission != HELD
    assert got.bytes[taken].sum() == episode.packets.bytes.sum(), "bytes that were handed over"
    assert max(got.backlog.max(), got.release_backlog.max(initial=0)) <= int(config["fifo_bytes"])
    # One clock after the answer that it is the largest of.
    largest = np.maximum.accumulate(got.backlog)
    assert (got.largest <= largest).all()
    assert (got.largest[1:] >= largest[:-1]).all()
    rates = got.rates
    assert rates.max(initial=0) <= int(config["max_rate_bps"])
    assert rates.min(initial=1 << 50) >= int(config["min_rate_bps"])

    # In tokens: a byte has 8e12 / CLOCK_PS, a clock makes the rate.
    byte_tokens = 8 * 10**12 // CLOCK_PS
    paid = paid_passes(episode)
    clocks = np.concatenate([got.clocks[paid], got.release_clocks])
    sizes = np.concatenate([got.bytes[paid], got.release_bytes])
    order = np.argsort(clocks, kind="stable")
    clocks, left = clocks[order], np.cumsum(sizes[order]) * byte_tokens
    edges = got.rate_clocks
    made_at = np.concatenate([[0], np.cumsum(np.diff(edges) * got.rates[:-1])])
    place = np.searchsorted(edges, clocks, side="right") - 1
    made = made_at[place] + (clocks - edges[place]) * got.rates[place]
    before = left - sizes[order] * byte_tokens - made
    burst = left - made - np.minimum.accumulate(before)
    tick = int(config["token_tick_ps"]) // CLOCK_PS
    allowed = max(int(config["bucket_bytes"]), int(sizes.max(initial=0))) * byte_tokens
    assert burst.max(initial=0) <= allowed + tick * int(got.rates.max())

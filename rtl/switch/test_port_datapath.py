"""The datapath of a switch port: each frame's fate, mark and bytes, for a million random frames."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hull_reference import HardwarePhantomQueue
from test_ecn_marker import rule

from bench import frames
from bench.frames import Frames
from bench.simulation import build
from bench.tape import playback

SOURCES = [
    "stream/frame_fifo.sv",
    "switch/phantom_queue.sv",
    "switch/threshold_marker.sv",
    "switch/ecn_marker.sv",
    "switch/port_datapath.sv",
    "bench/player.sv",
    "bench/recorder.sv",
    "bench/stalls.sv",
    "bench/port_datapath_bench.sv",
]
COUNTS = {64: 400_000, 512: 600_000}
MIN_BYTES, MAX_BYTES, BEATS, SLOTS = 20, 180, 2048, 64
TAKEN, FULL, RUNT, OVERSIZED, BAD = 1, 2, 4, 8, 16
ANSWERS = {"arrivals": 1, "departures": 1, "reports": 1}


@pytest.fixture(scope="module", params=sorted(COUNTS))
def bits(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def folder(bits: int) -> Path:
    return build("port_datapath_bench", SOURCES, {"DATA_BITS": bits})


@dataclass(frozen=True)
class Settings:
    """What the registers of the port hold."""

    drain: int = 19
    byte: int = 20
    tick: int = 0
    threshold: int = 1_000
    overhead: int = 24
    phantom: bool = True
    phantom_arriving: bool = False
    marker: bool = True
    marker_arriving: bool = False
    marker_threshold: int = 2_000
    limit: int = 6_000
    in_service: bool = False

    def record(self) -> bytes:
        flags = (
            self.phantom
            | self.phantom_arriving << 1
            | self.marker << 2
            | self.marker_arriving << 3
            | self.in_service << 4
        )
        words = [
            0,
            flags << 56 | self.overhead << 48 | self.tick << 32 | self.drain,
            self.byte << 32 | self.threshold,
            self.marker_threshold << 32 | self.limit,
            0,
        ]
        return np.array(words, ">u8").tobytes()


def run(
    folder: Path,
    bits: int,
    name: str,
    given: Frames,
    clocks: np.ndarray,
    bad: np.ndarray,
    settings: Settings,
    stalls: list[tuple[int, int]],
) -> dict[str, int]:
    """Play frames, their beats at `clocks`, and hold what the port says against the models."""
    width = bits // 8
    beats = given.beats(width)
    flags = beats.last | (beats.last & bad[beats.frame]) << 1
    # In the end the receiver takes everything.
    stall = [*((at, chance) for at, chance in stalls if at < clocks[-1]), (int(clocks[-1]) + 1, 0)]
    got = playback(
        folder,
        name,
        {
            "stimulus": frames.tape(clocks, beats, flags),
            "settings": settings.record(),
            "stalls": b"".join(
                int(at).to_bytes(8, "big") + int(chance).to_bytes(1, "big") for at, chance in stall
            ),
        },
        {**ANSWERS, "out": (bits + width + 1 + 63) // 64},
    )
    at, word = got["arrivals"][0], got["arrivals"][1][:, 0]
    kind = (word >> np.uint64(56)).astype(int)
    free = (word >> np.uint64(24) & np.uint64(0xFFFF)).astype(int)
    queue = (word & np.uint64(0xFFFFFF)).astype(int)
    lengths = given.lengths
    assert len(kind) == len(given)

    # What is wrong with a frame decides first; then the limit, the memory and the frames' slots.
    expected = np.select(
        [bad, lengths > MAX_BYTES, lengths < MIN_BYTES], [BAD, OVERSIZED, RUNT], TAKEN
    )
    well_formed = expected == TAKEN
    taken = kind == TAKEN
    assert (kind[~well_formed] == expected[~well_formed]).all()
    assert np.isin(kind[well_formed], [TAKEN, FULL]).all()
    above_limit = queue + lengths > settings.limit
    assert not (taken & above_limit).any()
    departed_at = got["departures"][0] - np.uint64(1)
    waiting = np.arange(len(kind))
    waiting = np.concatenate([[0], np.cumsum(taken)[:-1]]) - np.searchsorted(
        departed_at, at, "left"
    )
    # A frame's own beats are in the memory already, but for the last; reading frees beats a little
    # before the clock of the answer. A frame that is refused with room for it had none when its
    # earlier beats came.
    refused = well_formed & ~taken & ~above_limit
    without_room = (free < 2 * -(-MAX_BYTES // width)) | (waiting >= SLOTS)
    assert without_room[refused].all()

    # The queue in bytes.
    of_taken = lengths[taken]
    ends_at, sent = leaving(got["out"], width)
    freed_at = ends_at if settings.in_service else departed_at
    freed = np.concatenate([[0], np.cumsum(of_taken)])[np.searchsorted(freed_at, at, "left")]
    arrived = np.concatenate([[0], np.cumsum(np.where(taken, lengths, 0))[:-1]])
    assert (queue == arrived - freed).all()

    # Both marking rules, and the header of each frame that leaves, in order.
    counted = of_taken + settings.overhead
    assert (got["departures"][1][:, 0] == counted).all()
    compared = queue[taken] + (of_taken if settings.marker_arriving else 0)
    mark = settings.marker & (compared > settings.marker_threshold)
    if settings.phantom:
        phantom = HardwarePhantomQueue(
            settings.drain,
            settings.byte,
            settings.threshold,
            settings.phantom_arriving,
            settings.tick,
            52,
        )
        marks, _ = phantom.on_packets((departed_at + np.uint64(1)).tolist(), counted.tolist())
        phantom_mark = np.array(marks)
    else:
        phantom_mark = np.zeros(len(mark), bool)
    verdict = rule(Frames(given.octets[taken], of_taken), mark | phantom_mark)
    expected_out = verdict.frames.beats(width)
    assert len(sent["data"]) == len(expected_out)
    keep = np.unpackbits(expected_out.keep, axis=1, bitorder="little").astype(bool)
    assert (sent["keep"] == expected_out.keep).all()
    assert (sent["last"] == expected_out.last).all()
    assert (sent["data"][keep] == expected_out.data[keep]).all()
    reports = got["reports"][1][:, 0].astype(int)
    reported = {1 << bit: int((reports >> bit & 1).sum()) for bit in range(5)}
    assert reported[16] == int(phantom_mark.sum())
    assert reported[8] == int(mark.sum())
    assert reported[4] == int(verdict.marked.sum())
    wanted = mark | phantom_mark
    assert reported[2] == int((wanted & ~verdict.ect & ~verdict.truncated).sum())
    assert reported[1] == int(verdict.truncated.sum())
    return {
        "taken": int(taken.sum()),
        "full, limit": int((kind == FULL)[above_limit].sum()),
        "full, memory": int(refused.sum()),
        "runt": int((kind == RUNT).sum()),
        "oversized": int((kind == OVERSIZED).sum()),
        "bad": int((kind == BAD).sum()),
        "marked by the phantom queue alone": int((phantom_mark & ~mark & verdict.marked).sum()),
        "marked by the threshold alone": int((~phantom_mark & mark & verdict.marked).sum()),
        "not ECN-capable": reported[2],
        "truncated": reported[1],
    }


def leaving(
    out: tuple[np.ndarray, np.ndarray], width: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The clocks at which frames end, and the beats."""
    clocks, words = out
    data, keep, last = frames.recorded(words, width)
    return clocks[last == 1], {"data": data, "keep": keep, "last": last == 1}


def random_clocks(rng: np.random.Generator, beats: int, load: float) -> np.ndarray:
    """A clock for each beat: in stretches without gaps, and with gaps of which some are long."""
    gaps = 1 + (
        rng.random(beats)
        < np.repeat(rng.choice([0, 0, 1 / load - 1], beats // 500 + 1), 500)[:beats]
    )
    return 200 + np.cumsum(gaps + (rng.random(beats) < 0.0005) * rng.integers(1, 300, beats))


CASES = {
    "defaults": (Settings(), [(0, 90), (100_000, 150), (300_000, 40)]),
    "in_service": (
        Settings(in_service=True, marker_arriving=True, drain=150, limit=3_000),
        [(0, 200), (90_000, 0), (200_000, 120)],
    ),
    "phantom_alone": (Settings(marker=False, phantom_arriving=True, drain=130, tick=100), [(0, 0)]),
    "memory": (
        Settings(phantom=False, limit=(1 << 20) - 1),
        [(0, 250), (30_000, 0), (60_000, 250), (90_000, 30)],
    ),
}


def test_a_million_random_frames(folder: Path, bits: int) -> None:
    rng = np.random.default_rng(bits)
    seen: dict[str, int] = {}
    for name, (settings, stalls) in CASES.items():
        given = frames.random_frames(rng, COUNTS[bits] // len(CASES))
        beats = int((-(-given.lengths // (bits // 8))).sum())
        long = rng.random(len(given)) < 0.02
        given.lengths[long] = frames.LONGEST
        beats = int((-(-given.lengths // (bits // 8))).sum())
        bad = rng.random(len(given)) < 0.02
        clocks = random_clocks(rng, beats, 0.7)
        for key, count in run(folder, bits, name, given, clocks, bad, settings, stalls).items():
            seen[key] = seen.get(key, 0) + count
    print(bits, seen)
    assert all(seen.values()), seen

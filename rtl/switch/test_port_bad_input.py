"""A switch port with each kind of bad input in isolation, and a stream stopped in mid-frame."""

from __future__ import annotations

import numpy as np
import pytest
from test_hull_switch_port import ANSWERS, READY, Settings, new_tape, put, run

from bench import frames
from bench.frames import LONGEST, Frames
from bench.simulation import build, library
from bench.tape import playback

BITS, WIDTH = 64, 8
COUNT = 40
# Each packet is above the phantom queue's threshold.
MARKING = Settings(threshold=0, phantom_arriving=True)
GOOD = 60
# Lengths of the bad frames; a truncated one ends within its IP header.
LENGTHS = {"runt": 19, "oversized": 181, "bad": GOOD, "truncated": 25}
# A 14-bit length counter would wrap to 60 bytes for this frame.
WRAPPED = (1 << 14) + GOOD


def ipv4(lengths: np.ndarray) -> Frames:
    """ECN-capable frames of these lengths."""
    # Whole beats.
    octets = np.zeros((len(lengths), -(-int(lengths.max()) // LONGEST) * LONGEST), np.uint8)
    octets[:, 12:16] = [8, 0, 0x45, 2]
    octets[:, LONGEST - 1] = np.arange(len(lengths))
    return Frames(octets, lengths)


@pytest.mark.parametrize(("kind", "length"), [*LENGTHS.items(), ("oversized", WRAPPED)])
def test_bad_frames_between_good_ones(kind: str, length: int) -> None:
    """Bad frames are dropped and counted, or pass unmarked; good frames leave with CE."""
    folder = build("hull_switch_port_bench", library("hull_switch_port"), {"DATA_BITS": BITS})
    odd = np.arange(COUNT) % 2 == 1
    given = ipv4(np.where(odd, length, GOOD))
    clocks = READY + np.arange(int((-(-given.lengths // WIDTH)).sum()))
    tape = new_tape(WIDTH)
    put(tape, 0, MARKING)
    tape.read_all(READY + 3_000)
    seen = run(folder, BITS, kind, given, clocks, odd & (kind == "bad"), tape, [(0, 0)])
    assert seen[kind] == COUNT // 2
    passes = kind == "truncated"
    assert seen["taken"] == (COUNT if passes else COUNT // 2)
    assert seen["marked by the phantom queue alone"] == COUNT // 2


@pytest.mark.parametrize("place", ["middle", "last"])
def test_each_tkeep(place: str) -> None:
    """Every tkeep in a beat in the middle, and in the last one: a frame that breaks the rule is
    bad, and the frames beside it leave unchanged.
    """
    folder = build("hull_switch_port_bench", library("hull_switch_port"), {"DATA_BITS": BITS})
    patterns = np.arange(256)
    right = (patterns == 255) if place == "middle" else (patterns & (patterns + 1) == 0)
    right[0] = False
    lengths = np.full(2 * len(patterns), GOOD)
    # 56 bytes, and the pattern's bytes.
    if place == "last":
        lengths[1::2][right] = 56 + np.bitwise_count(patterns[right])
    given = ipv4(lengths)
    odd = np.flatnonzero(np.arange(len(given)) % 2)
    beat = np.full(int((~right).sum()), 3 if place == "middle" else 7)
    broken = frames.Broken(odd[~right], beat, patterns[~right].astype(np.uint8)[:, None])
    clocks = READY + np.arange(8 * len(given))
    tape = new_tape(WIDTH)
    put(tape, 0, MARKING)
    tape.read_all(READY + 8 * len(given) + 3_000)
    none = np.zeros(len(given), bool)
    seen = run(folder, BITS, f"tkeep-{place}", given, clocks, none, tape, [(0, 0)], broken)
    assert seen["bad"] == (255 if place == "middle" else 248)
    assert seen["taken"] == len(given) - seen["bad"]


def test_a_stream_that_stops() -> None:
    """Queued frames leave while a frame is stalled; it and later frames leave afterwards."""
    folder = build("hull_switch_port_bench", library("hull_switch_port"), {"DATA_BITS": BITS})
    given = ipv4(np.full(16, GOOD))
    beats = given.beats(WIDTH)
    # The eleventh frame stops after three of its beats.
    stops, pause = 10 * 8 + 3, 20_000
    clocks = READY + np.arange(len(beats)) + pause * (np.arange(len(beats)) >= stops)
    tape = new_tape(WIDTH)
    put(tape, 0, MARKING)
    stimulus = frames.tape(clocks, beats, beats.last)
    got = playback(
        folder,
        "stops",
        {"stimulus": stimulus, "accesses": tape.stimulus(), "stalls": bytes(9)},
        {**ANSWERS, "out": (BITS + WIDTH + 1 + 63) // 64},
    )
    last = frames.recorded(got["out"][1], WIDTH)[2] == 1
    ends = got["out"][0].astype(np.int64)[last]
    assert len(ends) == 16
    assert (ends[:10] < clocks[stops - 1] + 200).all()
    assert (ends[10:] > clocks[stops]).all()
    assert ends[-1] < clocks[-1] + 200

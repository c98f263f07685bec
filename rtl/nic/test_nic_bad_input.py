"""A NIC with each kind of bad input in isolation."""

from __future__ import annotations

import numpy as np
import pytest
from test_hull_nic import BASE, FIFO_BEATS, READY, bench, play, put

from bench import frames
from bench.nic_traffic import traffic
from bench.register_tape import RegisterTape

COUNT = 40
# Lengths of the bad frames; a truncated one ends within its IP header.
LENGTHS = {"runt": 19, "oversized": 181, "bad": 60, "truncated": 25, "tkeep": 60}
COUNTERS = {kind: kind for kind in LENGTHS} | {"tkeep": "bad"}


@pytest.mark.parametrize("kind", LENGTHS)
def test_bad_frames_between_good_ones(kind: str) -> None:
    """Bad frames are counted and dropped or passed; good frames pass unchanged."""
    here = bench(64)
    some, known = traffic(np.random.default_rng(3), 1_000)
    segments = np.flatnonzero(known >= 0)[:COUNT]
    odd = np.arange(COUNT) % 2 == 1
    given = frames.Frames(some.octets[segments], np.where(odd, LENGTHS[kind], 60))
    clocks = READY + np.arange(int((-(-given.lengths // here.width)).sum()))
    tape = RegisterTape("hull_nic", {"FIFO_BYTES": FIFO_BEATS * here.width})
    put(tape, 8, BASE)
    counters = (f"counters_{COUNTERS[kind]}", "counters_frames_in", "counters_frames_out")
    for path in counters:
        tape.read(READY + 5_000, path)
    broken = frames.broken(np.random.default_rng(4), given, odd & (kind == "tkeep"), here.width)
    host = frames.stimulus(given, clocks, here.width, odd & (kind == "bad"), broken)
    got = play(here, f"only-{kind}", host, b"", tape, 0)
    passes = ~odd | (kind == "truncated")
    counted = [int(word) & 0xFFFFFFFF for word in got.word["responses"][-len(counters) :]]
    assert counted == [COUNT // 2, COUNT, int(passes.sum())]
    data, keep, _ = frames.recorded(got.out[1], here.width)
    sent = frames.Frames(given.octets[passes], given.lengths[passes]).beats(here.width)
    inside = np.unpackbits(sent.keep, axis=1, bitorder="little").astype(bool)
    assert (keep == sent.keep).all()
    assert (data[inside] == sent.data[inside]).all()

"""The pacer in hardware against hull-core: recorded vectors, a million random packets, edges."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from bench.simulation import build
from bench.tape import playback
from hull_reference import HardwarePacer, Pacer

SOURCES = [
    "nic/packet_tokens.sv",
    "nic/rate_filter.sv",
    "nic/pacer.sv",
    "bench/player.sv",
    "bench/recorder.sv",
    "bench/pacer_bench.sv",
]
VECTORS = Path(__file__).parents[2] / "tests" / "vectors" / "pacer.json"
CLOCK_PS = 8_000
REGISTERS = [
    "max_rate_bps", "min_rate_bps", "initial_rate_bps", "bucket_bytes", "fifo_bytes",
    "update_interval", "eta", "gain", "beta", "rate_step_bps", "token_tick", "when_full",
    "enable", "again", "line_off",
]  # fmt: skip
# Time 0 of the grids, in clocks after the reset.
ZERO = 4
# From the decision of a packet to its answer, and from its taking to the decision.
ANSWER = 2
DECISION = 6
# From the clock at which the player writes `enable` to the first step.
START = 0
PASS, QUEUED, DROPPED, HELD = range(4)

TESTBED = {
    "max_rate_bps": 1_000_000_000,
    "min_rate_bps": 500_000,
    "initial_rate_bps": 100_000_000,
    "bucket_bytes": 3_000,
    "fifo_bytes": 128_000,
    "update_interval_ps": 64_000_000,
    "eta": 8_192,
    "beta": 16 * 256,
    "rate_step_bps": 0,
    "token_tick_ps": 0,
    "when_full": "drop",
}


@pytest.fixture(scope="module")
def folder() -> Path:
    return build("pacer_bench", SOURCES)


class Tape:
    """Operations for the bench."""

    def __init__(self) -> None:
        self.parts: list[np.ndarray] = []

    def set(self, clock: int, **values: int) -> int:
        """Write settings, one in each clock from `clock` on. Returns the clock of the last one."""
        kinds = [REGISTERS.index(name) + 1 for name in values]
        self._add(clock + np.arange(len(kinds)), kinds, list(values.values()))
        return clock + len(kinds) - 1

    def packets(
        self,
        clocks: np.ndarray,
        sizes: np.ndarray,
        paced: np.ndarray,
        line: np.ndarray,
        delay: np.ndarray,
    ) -> None:
        value = sizes.astype(np.uint64)
        for field, shift in ((line, 30), (delay, 46), (paced, 54)):
            value |= field.astype(np.uint64) << np.uint64(shift)
        self._add(clocks, np.zeros(len(clocks)), value)

    def _add(self, clocks: np.ndarray, kinds: Sequence[int], values: Sequence[int]) -> None:
        kind = np.array(kinds, np.uint64) << np.uint64(56)
        value = np.array(values, np.uint64)
        self.parts.append(np.stack([np.array(clocks, np.uint64), kind, value], axis=1))

    def play(self, folder: Path, name: str) -> Answers:
        record = np.concatenate(self.parts).astype(">u8")
        words = {"admissions": 2, "releases": 2, "rates": 1, "counts": 2}
        return Answers(playback(folder, name, {"stimulus": record.tobytes()}, words))


class Answers:
    """What the bench recorded; clocks are those of the decisions, in the time of the grids."""

    def __init__(self, recorded: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> None:
        clocks, words = recorded["admissions"]
        self.clocks = clocks.astype(np.int64) - ANSWER - ZERO
        self.admission = (words[:, 0] >> np.uint64(60) & np.uint64(3)).astype(np.int64)
        self.negative = words[:, 0] >> np.uint64(62) & np.uint64(1) == 1
        self.active = words[:, 0] >> np.uint64(63) == 1
        self.bytes = (words[:, 0] & np.uint64(0xFFFF)).astype(np.int64)
        self.backlog = (words[:, 1] & np.uint64(0xFFFFFFFF)).astype(np.int64)
        clocks, words = recorded["releases"]
        self.release_clocks = clocks.astype(np.int64) - ANSWER - ZERO
        self.release_bytes = (words[:, 0] & np.uint64(0xFFFF)).astype(np.int64)
        self.release_backlog = (words[:, 1] & np.uint64(0xFFFFFFFF)).astype(np.int64)
        clocks, words = recorded["rates"]
        self.rate_clocks = clocks.astype(np.int64) - ZERO
        self.rates = words[:, 0].astype(np.int64)
        both = recorded["counts"][1][0]
        self.counts = [int(word) >> shift & 0xFFFFFFFF for word in both for shift in (32, 0)]


def test_try(folder: Path) -> None:
    tape = Tape()
    last = tape.set(0, **dict(HardwarePacer.registers(TESTBED, CLOCK_PS)))
    tape.set(100, enable=1)
    n = 20
    clocks = 300 + np.arange(n) * 9
    tape.packets(clocks, np.full(n, 1500), np.ones(n), np.full(n, 100), np.full(n, 3))
    got = tape.play(folder, "try")
    pacer = HardwarePacer(TESTBED, CLOCK_PS, 200)
    adm, rel = pacer.replay((clocks - ZERO).tolist(), [1500] * n, [True] * n, [100] * n, [3] * n, False)
    print(last)
    print(got.clocks, adm[0])
    print(got.admission, list(adm[1]))
    print(got.backlog, adm[2])
    print(got.release_clocks, rel[0])
    print(got.release_backlog, rel[2])
    print(got.rate_clocks, got.rates, got.active)
    for c in got.rate_clocks: print(c, pacer)
    print(got.counts, pacer.counts())
    assert 0

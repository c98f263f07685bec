"""The association table in hardware against hull-core: vectors, random operations, edge cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hull_reference import FlowAssociation, HardwareFlowAssociation

from bench.simulation import build
from bench.tape import play

SOURCES = [
    "nic/flow_association.sv",
    "bench/player.sv",
    "bench/recorder.sv",
    "bench/flow_association_bench.sv",
]
VECTORS = Path(__file__).parents[2] / "tests" / "vectors" / "flow_association.json"
# The table measures time in clocks; a long clock period turns the vectors' 10 ms into few clocks.
VECTOR_CLOCK_PS = 100_000
LATENCY = 8
ALWAYS = (1 << 32) - 1
# Minimum clocks between draws such that none is missed.
DRAW = 4
ECE, LOOKUP, SETTINGS, SEED = 1, 2, 4, 8
COUNTS = ("associations", "refreshed", "expired", "ignored", "evicted", "missed")
# Steps that differ from the recorded answers. The first vector has times 1 ps apart: step 5,
# floored to a clock, coincides with the expiry. In the second, two simultaneous ACKs are four
# clocks apart, so the second flow expires four clocks after the first.
FLOORED = {"expiry_and_refresh": [5], "full_then_expired": [3]}


class Setting(NamedTuple):
    """The settings, with the names of the ports."""

    probability: int
    timeout_clocks: int
    evict_when_full: bool


class Tape:
    """Operations for the bench, as arrays."""

    def __init__(self) -> None:
        self.parts: list[np.ndarray] = []

    def add(
        self,
        clocks: np.ndarray | int,
        kind: np.ndarray | int,
        first: np.ndarray | int = 0,
        second: np.ndarray | int = 0,
        seed: int = 0,
        evict: bool = False,
    ) -> None:
        """Adds operations; `first` and `second` are the flows of an ACK and of a packet."""
        columns = np.broadcast_arrays(
            np.asarray(clocks, np.uint64),
            np.asarray(kind, np.uint64) << np.uint64(56) | np.uint64(evict << 55 | seed),
            np.asarray(first, np.uint64) << np.uint64(32) | np.asarray(second, np.uint64),
        )
        self.parts.append(np.stack([np.atleast_1d(column) for column in columns], axis=1))

    def set(self, clock: int, setting: Setting, seed: int) -> None:
        """Adds new settings and the seed."""
        self.add(
            clock,
            SETTINGS | SEED,
            setting.probability,
            setting.timeout_clocks,
            seed,
            setting.evict_when_full,
        )

    def play(self, folder: Path, name: str) -> Answers:
        """Plays all operations."""
        rows = np.concatenate(self.parts)
        return Answers(*play(folder, name, rows[:, 0], [rows[:, 1], rows[:, 2]], 5))


class Answers:
    """The bench's record of each clock with an ACK or a packet."""

    def __init__(self, clocks: np.ndarray, payload: np.ndarray) -> None:
        self.clocks = clocks - np.uint64(LATENCY)
        words = np.stack([payload >> np.uint64(32), payload & np.uint64(ALWAYS)], axis=2)
        self.words = words.reshape(len(payload), 10).astype(np.int64)
        self.random = self.words[:, 0]
        flags = self.words[:, 1]
        self.live = flags >> 16
        self.ece, self.associated, self.lookup, self.found = (
            flags >> bit & 1 == 1 for bit in (3, 2, 1, 0)
        )
        self.counts = self.words[:, 2:8]

    def table(self) -> np.ndarray:
        """The columns of `HardwareFlowAssociation.on_clocks`."""
        columns = [self.random, self.associated, self.found, self.live]
        return np.column_stack([*columns, self.counts])


class Operations(NamedTuple):
    """One row per clock."""

    clocks: np.ndarray
    ece: np.ndarray
    ece_flows: np.ndarray
    lookup: np.ndarray
    flows: np.ndarray

    def expected(self, setting: Setting, entries: int, seed: int) -> np.ndarray:
        """The answers of hull-core's hardware form."""
        table = HardwareFlowAssociation(entries, *setting, seed)
        rows = table.on_clocks(*(column.tolist() for column in self))
        return np.frombuffer(rows, "<u4").reshape(-1, 10).astype(np.int64)

    def put(self, tape: Tape) -> None:
        """Adds the operations to the tape."""
        kind = self.ece * ECE + self.lookup * LOOKUP
        tape.add(self.clocks, kind, self.ece_flows, self.flows)


@pytest.fixture(scope="module")
def folder() -> Path:
    return build("flow_association_bench", SOURCES, {"ENTRIES": 64})


def vectors() -> list[dict]:
    return json.loads(VECTORS.read_text())["vectors"]


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector["name"])
def test_recorded_vectors(vector: dict) -> None:
    """Each recorded vector, its random bits loaded as the LFSR's state before each ACK.
    Simultaneous steps are four clocks apart. The answers equal hull-core's at these clocks, and the
    recorded ones except where rounding to whole clocks reorders events (`FLOORED`).
    """
    config, steps = vector["config"], [(step["in"], step["out"]) for step in vector["steps"]]
    evict = config["when_full"] == "evict_oldest"
    timeout = config["timeout_ps"] // VECTOR_CLOCK_PS
    setting = Setting(config["probability"], timeout, evict)
    reference = FlowAssociation(config["entries"], config["probability"], timeout, evict)
    tape, start = Tape(), 10
    clock = start - DRAW
    tape.set(0, setting, 1)
    expected = []
    for given, _ in steps:
        clock = max(start + given["t_ps"] // VECTOR_CLOCK_PS, clock + DRAW)
        flow = given["flow"]
        if given["op"] == "ece":
            tape.add(clock - 1, SEED, seed=given["random"] ^ ALWAYS)
            tape.add(clock, ECE, flow)
            answer = reference.on_ece(clock, flow, given["random"])
        else:
            tape.add(clock, LOOKUP, 0, flow)
            answer = reference.is_associated(clock, flow)
        expected.append((answer, reference.len(clock)))
    folder = build("flow_association_bench", SOURCES, {"ENTRIES": config["entries"]})
    got = tape.play(folder, vector["name"])
    answers = list(zip((got.associated | got.found).tolist(), got.live.tolist(), strict=True))
    assert answers == expected
    randoms = [given.get("random", 0) for given, _ in steps]
    assert got.random.tolist() == randoms
    recorded = [(out["associated"], out["len"]) for _, out in steps]
    other = [i for i, pair in enumerate(recorded) if pair != answers[i]]
    assert other == FLOORED.get(vector["name"], [])


def random_setting(rng: np.random.Generator) -> Setting:
    """Probabilities from never to always, T_i from the shortest to one that fills the table."""
    probability = int(
        rng.choice([0, 1 << 29, 1 << 31, ALWAYS - 1, ALWAYS], p=[0.1, 0.4, 0.2, 0.1, 0.2])
    )
    timeout = int(rng.choice([0, 5, 8, 9, 40, 300, 2_000, 20_000]))
    return Setting(probability, timeout, bool(rng.integers(2)))


def random_operations(rng: np.random.Generator, start: int, count: int) -> Operations:
    """ACKs and packets of few or many flows, back to back or with gaps, also simultaneous."""
    pool = rng.integers(0, 1 << 32, int(rng.choice([2, 40, 70, 200, 1_000])))
    # Neighbours that differ in one bit.
    pool = np.concatenate([pool, pool ^ (1 << rng.integers(0, 32, len(pool)))])
    gaps = rng.integers(1, int(rng.choice([2, 3, 8, 20])), count)
    gaps = np.where(rng.random(count) < 0.0005, rng.integers(1, 3_000, count), gaps)
    kind = rng.choice([ECE, LOOKUP, ECE | LOOKUP], count, p=[0.4, 0.4, 0.2])
    ece_flows, flows = rng.choice(pool, count), rng.choice(pool, count)
    # Often the flow that just received an ACK, also in the same clock.
    same = rng.random(count) < 0.3
    flows = np.where(same, np.where(kind & ECE > 0, ece_flows, np.roll(ece_flows, 1)), flows)
    return Operations(start + np.cumsum(gaps), kind & ECE > 0, ece_flows, kind & LOOKUP > 0, flows)


def test_a_million_random_operations(folder: Path) -> None:
    """Forty settings, 25,000 operations each: answers, random bits, live flows and all counts,
    each eight clocks after its operation.
    """
    rng = np.random.default_rng(2)
    seen = dict.fromkeys((*COUNTS, "found", "not found", "failed draws", "table full"), 0)
    for run in range(4):
        tape, expected, clock = Tape(), [], 0
        for _ in range(10):
            setting, seed = random_setting(rng), int(rng.integers(1 << 32))
            tape.set(clock, setting, seed)
            operations = random_operations(rng, clock + 10, 25_000)
            operations.put(tape)
            expected.append((operations, operations.expected(setting, 64, seed)))
            # The table is empty before the next setting.
            clock = int(operations.clocks[-1]) + setting.timeout_clocks + 20
        got = tape.play(folder, f"random_{run}")
        table, first, before = got.table(), 0, np.zeros(6, np.int64)
        assert len(table) == 250_000
        for operations, want in expected:
            part = table[first : first + len(want)].copy()
            assert (got.clocks[first : first + len(want)] == operations.clocks).all()
            first += len(want)
            part[:, 4:] -= before
            assert (part == want).all(), np.argwhere(part != want)[0]
            # The remaining entries have since expired.
            before += want[-1, 4:]
            before[2] += want[-1, 3]
            for name, count in zip(COUNTS, want[-1, 4:], strict=True):
                seen[name] += int(count)
            seen["found"] += int(want[:, 2].sum())
            seen["not found"] += int((operations.lookup & (want[:, 2] == 0)).sum())
            seen["failed draws"] += int((operations.ece & (want[:, 1] == 0)).sum())
            seen["table full"] += int((want[:, 3] == 64).sum())
    print(seen)
    assert all(seen.values()), seen


def test_expires_to_the_exact_clock(folder: Path) -> None:
    """An association made in clock t is live from clock t until before t + T_i."""
    for timeout in (0, 8, 9, 1_000):
        in_force = max(timeout, 8)
        tape = Tape()
        tape.set(0, Setting(ALWAYS, timeout, False), 5)
        tape.add(100, ECE | LOOKUP, 7, 7)
        # Lookups in the last live clock and in the first clock after expiry.
        for clock in (100 + in_force - 1, 100 + in_force):
            tape.add(clock, LOOKUP, 0, 7)
        got = tape.play(folder, f"ends_{timeout}")
        assert got.found.tolist() == [True, True, False]
        assert got.live.tolist() == [1, 1, 0]


def test_new_settings_apply_to_later_draws(folder: Path) -> None:
    """A live association keeps its expiry time. With a shorter T_i later associations may expire
    first; the table stays consistent: free entries in between are used before any is ignored.
    """
    tape = Tape()
    tape.set(0, Setting(ALWAYS, 10_000, False), 5)
    for flow in range(32):
        tape.add(100 + 4 * flow, ECE, flow)
    tape.set(1_000, Setting(ALWAYS, 100, False), 5)
    for flow in range(32, 64):
        tape.add(1_010 + 4 * flow, ECE, flow)
    # The second half has expired; 32 new associations fit, the 33rd does not.
    tape.set(2_000, Setting(ALWAYS, 10_000, False), 5)
    for flow in range(100, 133):
        tape.add(2_010 + 4 * (flow - 100), ECE, flow)
    for at, flow in enumerate([*range(32), *range(100, 133), 40]):
        tape.add(3_000 + at, LOOKUP, 0, flow)
    got = tape.play(folder, "changes")
    assert got.associated[:96].all()
    assert not got.associated[96]
    assert got.found[97:].tolist() == [True] * 64 + [False] * 2
    assert got.live[-1] == 64
    assert got.counts[-1].tolist() == [96, 0, 32, 1, 0, 0]


def test_the_seed(folder: Path) -> None:
    """Reset and a pulse load the seed; seed 0 fails one draw and continues from 1; the LFSR has
    maximal period.
    """
    tape = Tape()
    tape.set(0, Setting(ALWAYS - 1, 100, False), 0)
    for at in range(20):
        tape.add(100 + 10 * at, ECE, at)
    tape.add(500, SEED, seed=12_345)
    for at in range(20):
        tape.add(600 + 10 * at, ECE, at)
    got = tape.play(folder, "seed")
    # State 1 draws 2^32 - 2, which is not below the probability either.
    assert got.random[:2].tolist() == [ALWAYS, ALWAYS - 1]
    assert got.associated.tolist() == [False] * 2 + [True] * 38

    def step(state: int) -> int:
        for _ in range(32):
            bit = (state >> 9 ^ state >> 29 ^ state >> 30 ^ state >> 31) & 1
            state = (state << 1 | bit) & ALWAYS
        return state

    for seed, part in ((1, got.random[1:20]), (12_345, got.random[20:])):
        state, states = seed, []
        for _ in part:
            states.append(state ^ ALWAYS)
            state = step(state)
        assert part.tolist() == states

    # A draw is a linear map of the state. Its order is n = 2^32 - 1 if the map's n-th power is the
    # identity, and its (n / p)-th power is not for any prime factor p of n.
    def power(exponent: int) -> list[int]:
        def apply(columns: list[int], state: int) -> int:
            out = 0
            for i in range(32):
                out ^= columns[i] if state >> i & 1 else 0
            return out

        square = [step(1 << i) for i in range(32)]
        result = [1 << i for i in range(32)]
        while exponent:
            if exponent & 1:
                result = [apply(square, column) for column in result]
            square = [apply(square, column) for column in square]
            exponent >>= 1
        return result

    identity = [1 << i for i in range(32)]
    assert power(ALWAYS) == identity
    assert all(power(ALWAYS // prime) != identity for prime in (3, 5, 17, 257, 65_537))

"""The complete latency meter with its registers against hull-core: the cycle and value of each
register read, for random frames through an emulated switch, under changing settings.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from hull_reference import HardwareLatencyMeter as Meter
from test_latency_meter import READY, Stream, through_switch

from bench import frames
from bench.register_tape import RegisterTape
from bench.simulation import build, library
from bench.tape import playback

ANSWERS = {"entries": 1, "exits": 1, "responses": 1, "settings": 4}
# Clocks from a register value to the read response; a setting takes effect in the clock of its
# write response, except for those that take longer.
SHOWN, DELAYS = 2, {0, 1, 2}
# Clocks from a frame's last beat to the counters of entering probes and truncated frames, to the
# counters of leaving probes, and to the first bucket address whose data include it
# (latency_meter.sv).
ENTERED, LEFT, ADDRESSED = 5, 9, 12
# Clocks from a bucket's address to its data.
DATA = 2
SWEEP = 1_024
# Every frame takes fewer clocks than this from its first beat to its last counter.
QUIET = 400
TABLE_BITS, BUCKET_BITS = 5, 10
NAMES = ("stamped", "matched", "unmatched", "outstanding", "truncated")
ROWS = (*NAMES, "min_latency", "max_latency", "sum_latency", "histogram_data")


@dataclass(frozen=True)
class Settings:
    """The contents of the meter's registers."""

    offsets: tuple[int, int, int, int] = (6, 11, 17, 0)
    values: tuple[int, int, int, int] = (0x0800, 0x0001, 0x0800, 0)
    masks: tuple[int, int, int, int] = (0xFFFF, 0x00FF, 0xFFFF, 0)
    sequence: int = 20
    shift: int = 4
    use_ptp: bool = False

    @property
    def control(self) -> int:
        """The control register of an enabled meter."""
        return 1 | self.use_ptp << 2

    def registers(self) -> dict[str, int]:
        """All other registers."""
        return {
            "meter_match_offset": packed(self.offsets, 7),
            "meter_match_value_low": packed(self.values[:2], 16),
            "meter_match_value_high": packed(self.values[2:], 16),
            "meter_match_mask_low": packed(self.masks[:2], 16),
            "meter_match_mask_high": packed(self.masks[2:], 16),
            "meter_sequence_offset": self.sequence,
            "meter_bucket_shift": self.shift,
        }


def packed(values: tuple[int, ...], bits: int) -> int:
    return sum(value << bits * i for i, value in enumerate(values))


def unpacked(word: int, bits: int) -> list[int]:
    """Four fields of a word."""
    return [word >> bits * i & (1 << bits) - 1 for i in range(4)]


def random_settings(rng: np.random.Generator) -> Settings:
    """Four words and a sequence number at random offsets; most bits are compared."""
    places = rng.choice(60, 5, replace=False).tolist()
    masks = rng.choice([0xFFFF, 0xFF00, 0x00FF, 0x8001, 0], 4).tolist()
    return Settings(
        offsets=tuple(places[:4]),
        values=tuple(rng.integers(1 << 16, size=4).tolist()),
        masks=(0xFFFF, *masks[1:]),
        sequence=places[4],
        shift=int(rng.integers(8)),
        use_ptp=bool(rng.integers(2)),
    )


def traffic(rng: np.random.Generator, count: int, patterns: list[Settings]) -> frames.Frames:
    """Random frames of any length, three in four with a pattern."""
    given = frames.random_frames(rng, count)
    which = rng.integers(-(len(patterns) // 3), len(patterns), count)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(which == number)
        octets = given.octets[rows]
        for offset, value, mask in zip(pattern.offsets, pattern.values, pattern.masks, strict=True):
            if 2 * offset + 2 <= octets.shape[1]:
                word = frames.get(octets, 2 * offset) & ~mask | value & mask
                frames.put(octets, np.full(len(rows), 2 * offset), word)
        frames.put(octets, np.full(len(rows), 2 * pattern.sequence), np.arange(len(rows)) & 0xFFFF)
        given.octets[rows] = octets
        given.lengths[rows] = rng.integers(30, frames.LONGEST + 1, len(rows))
    return given


def accesses(rng: np.random.Generator, phases: list[Settings], end: int) -> RegisterTape:
    """Successive settings, each written while the meter is disabled; at any time reads, rejected
    writes, bucket reads, clears, and disabling and re-enabling.
    """
    tape = RegisterTape("latency_meter", {})
    length = (end - READY) // len(phases)
    for number, settings in enumerate(phases):
        start = READY + number * length
        tape.write(start, "meter_control", 0)
        tape.read_all(start + QUIET)
        # The first settings equal the reset values.
        for path, value in settings.registers().items() if number else ():
            tape.write(start + QUIET, path, value)
        tape.write(start + QUIET, "meter_control", settings.control)
        for clock in range(start + 4 * QUIET, start + length - QUIET, 500):
            kind = rng.choice(["read", "refused", "bucket", "clear", "switch"], p=SHARES)
            if kind == "read":
                tape.random_reads(rng, clock)
            elif kind == "refused":
                tape.refused(rng, clock)
            elif kind == "bucket":
                tape.write(clock, "meter_histogram_address", int(rng.geometric(0.02)) % 1_024)
                tape.read(clock + int(rng.integers(30)), "meter_histogram_data")
            elif kind == "clear":
                tape.write(clock, "meter_control", settings.control | 2)
                tape.read(clock + int(rng.integers(1_200)), "meter_status")
                tape.read(clock + int(rng.integers(1_200)), "meter_histogram_data")
            else:
                tape.write(clock, "meter_control", settings.control & ~1)
                tape.write(clock + int(rng.integers(100)), "meter_control", settings.control)
    tape.accesses.sort(key=lambda access: access.clock)
    tape.read_all(end + 40_000)
    for bucket in (*range(40), 1_023):
        tape.write(end + 40_000, "meter_histogram_address", bucket)
        tape.read(end + 40_000, "meter_histogram_data")
    return tape


SHARES = (0.4, 0.2, 0.25, 0.05, 0.1)


class Times:
    """The PTP clock, which is occasionally stepped, also backwards."""

    def __init__(self, rng: np.random.Generator, end: int) -> None:
        self.clocks = np.concatenate([[0], np.sort(rng.choice(end, 40, replace=False)) + 1])
        self.starts = rng.integers(1 << 63, size=len(self.clocks)).astype(np.uint64)
        near = rng.random(len(self.clocks)) < 0.7
        near[0] = False
        # Most steps are small; one starts just below the wrap.
        for i in np.flatnonzero(near):
            step = np.uint64(rng.integers(1_000))
            self.starts[i] = self.starts[i - 1] + step - np.uint64(500)
        self.starts[20] = np.uint64((1 << 64) - 8 * int(self.clocks[20]) - 1_000)
        self.steps = np.full(len(self.clocks), 8, np.uint64)

    def stimulus(self) -> bytes:
        table = np.stack([self.clocks.astype(np.uint64), self.starts, self.steps], axis=1)
        return table.astype(">u8").tobytes()

    def at(self, clocks: np.ndarray) -> np.ndarray:
        """The PTP time seen by the meter; a step appears one clock after the player applies it."""
        row = np.searchsorted(self.clocks, clocks, "left") - 1
        return self.starts[row] + clocks.astype(np.uint64) * self.steps[row]


class Timeline:
    """Each change of the settings as the meter saw it, with its clock."""

    def __init__(
        self, recorded: tuple[np.ndarray, np.ndarray], tape: RegisterTape, answers: np.ndarray
    ) -> None:
        self.clocks, self.words = recorded[0].astype(np.int64), recorded[1]
        flags = self.words[:, 0]
        cleared = flags >> np.uint64(56) & np.uint64(1) == 1
        # Reset also clears.
        self.clears = np.concatenate([[-1], self.clocks[cleared]])
        self.enable = flags >> np.uint64(48) & np.uint64(1) == 1
        self.use_ptp = flags >> np.uint64(40) & np.uint64(1) == 1
        self.shift = (flags >> np.uint64(32)).astype(int) & 31
        self.address = (flags >> np.uint64(16)).astype(int) & 0xFFFF
        expected: list[list[int]] = []
        clocks: list[int] = []
        for clock, shown in tape.settings(answers):
            if not expected or in_words(shown) != expected[-1]:
                expected.append(in_words(shown))
                clocks.append(clock)
        seen = self.words.copy()
        seen[:, 0] &= np.uint64((1 << 56) - 1)
        changed = np.concatenate([[True], (seen[1:] != seen[:-1]).any(axis=1)])
        assert seen[changed].tolist() == expected
        assert set(self.clocks[changed][1:] - clocks[1:]) <= DELAYS

    def row(self, clocks: np.ndarray | int) -> np.ndarray:
        """The settings in force in a clock."""
        return np.searchsorted(self.clocks, clocks, "right") - 1

    def busy(self, clocks: np.ndarray | int) -> np.ndarray:
        """Whether a clear is in progress."""
        last = self.clears[np.searchsorted(self.clears, clocks, "left") - 1]
        return np.asarray(clocks - last <= SWEEP)

    def examine(self, stream: Stream, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The kind of each frame (0 none, 1 probe, 2 truncated) and the sequence numbers."""
        rows = self.row(first)
        settings = self.words.copy()
        settings[:, 0] &= np.uint64(127)
        patterns, number = np.unique(settings, axis=0, return_inverse=True)
        kinds, sequences = np.zeros(len(first), int), np.zeros(len(first), int)
        for one, words in enumerate(patterns.tolist()):
            sequence, value, mask, offsets = words
            of = np.flatnonzero(number[rows] == one)
            kind, sequences[of] = Meter.examine(
                (unpacked(offsets, 7), unpacked(value, 16), unpacked(mask, 16), sequence),
                stream.frames.octets[of].tobytes(),
                stream.frames.lengths[of].tolist(),
                stream.bad[of].tolist(),
            )
            kinds[of] = np.frombuffer(kind, np.uint8)
        return np.where(self.enable[rows] & stream.follows(), kinds, 0), sequences

    def time(self, clocks: np.ndarray, ptp: Times) -> np.ndarray:
        """The meter's time in a clock: its own or PTP's, from the preceding clock."""
        before = clocks - 1
        return np.where(self.use_ptp[self.row(before)], ptp.at(before), before.astype(np.uint64))


def in_words(shown: dict[str, int]) -> list[int]:
    """The register values output to the meter, as the bench records them, without `clear`."""
    flags = shown["meter_enable"] << 48 | shown["meter_use_ptp"] << 40
    flags |= shown["meter_bucket_shift"] << 32 | shown["meter_histogram_address"] << 16
    return [
        flags | shown["meter_sequence_offset"],
        shown["meter_match_value_high"] << 32 | shown["meter_match_value_low"],
        shown["meter_match_mask_high"] << 32 | shown["meter_match_mask_low"],
        packed(tuple(shown[f"meter_word_{i}"] for i in range(4)), 7),
    ]


def check(bits: int, count: int, seed: int) -> Counter[str]:
    """Checks random frames under successive settings; returns the cases covered."""
    rng = np.random.default_rng(seed)
    folder = build("hull_latency_meter_bench", library("hull_latency_meter"), {"DATA_BITS": bits})
    patterns = [Settings(), *(random_settings(rng) for _ in range(4))]
    # One matches any frame; one matches none, because it lies beyond the end of each frame.
    every = replace(patterns[1], masks=(0, 0, 0, 0), use_ptp=True)
    none = replace(patterns[2], offsets=(patterns[2].offsets[0], 100, 0, 0), masks=(0xFFFF,) * 4)
    phases = [*patterns, every, none, replace(Settings(), use_ptp=True, shift=0)]
    entry, leave = through_switch(rng, traffic(rng, count, patterns), bits // 8)
    end = int(max(entry.clocks[-1], leave.clocks[-1]))
    tape = accesses(rng, phases, end)
    ptp = Times(rng, end)
    got = playback(
        folder,
        f"random-{seed}",
        {
            "entry": entry.tape(bits // 8),
            "exit": leave.tape(bits // 8),
            "entry_stalls": bytes(8) + bytes([12]),
            "exit_stalls": bytes(8) + bytes([20]),
            "ptp": ptp.stimulus(),
            "accesses": tape.stimulus(),
        },
        ANSWERS,
    )
    answers = got["responses"][0].astype(np.int64)
    timeline = Timeline(got["settings"], tape, answers)

    # ---- Events of a clock in order: clear, entering probe, leaving probe, read. ----
    events = []
    ignored = Counter[str]()
    for side, (stream, name) in enumerate(((entry, "entries"), (leave, "exits"))):
        last, first = got[name][0].astype(np.int64), got[name][1][:, 0].astype(np.int64)
        assert len(last) == len(stream.bad)
        kinds, sequences = timeline.examine(stream, first)
        # Leaving probes spend longer in the meter, so a clear during that time discards them too.
        gone = timeline.busy(last + ENTERED - 1) | (timeline.busy(last + LEFT - 1) & (side == 1))
        ignored["probes while a clear is under way"] += int((gone & (kinds == 1)).sum())
        times = timeline.time(first, ptp)
        shifts = timeline.shift[timeline.row(last + LEFT - 1)]
        for kind, what in ((1, (Meter.ENTER, Meter.LEAVE)[side]), (2, Meter.TRUNCATED)):
            drop = gone if kind == 1 else timeline.busy(last + ENTERED - 1)
            at = np.flatnonzero((kinds == kind) & ~drop)
            events.append(rows_of(last[at], 1 + side, what, sequences[at], shifts[at], times[at]))
    clears = timeline.clears
    events.append(rows_of(clears - ENTERED + 2, 0, Meter.CLEAR, 0, 0, 0))
    buckets = [
        i
        for i, access in enumerate(tape.accesses)
        if not access.write and tape.path_of(access) == "meter_histogram_data"
    ]
    asked = answers[buckets] - SHOWN - DATA
    address = timeline.address[timeline.row(asked)]
    events.append(rows_of(asked - ADDRESSED, 3, Meter.READ, address, 0, 0))
    table = np.concatenate(events)
    table = table[np.lexsort((table["order"], table["clock"]))]
    rows = np.frombuffer(
        Meter(TABLE_BITS, BUCKET_BITS).on_events(
            *(table[name].tolist() for name in ("kind", "value", "time", "shift"))
        ),
        np.uint64,
    ).reshape(-1, len(ROWS))
    clear_rows = np.flatnonzero(table["kind"] == Meter.CLEAR)
    read_rows = np.flatnonzero(table["kind"] == Meter.READ)
    order = np.argsort(asked, kind="stable")
    data = dict(zip(answers[np.array(buckets)[order]].tolist(), read_rows, strict=True))

    # ---- Each register read. ----
    def row(when: int, delay: int) -> np.ndarray:
        cleared = clear_rows[np.searchsorted(clears, when - 2, "right") - 1]
        return rows[max(cleared, int(np.searchsorted(table["clock"], when - delay, "right")) - 1)]

    seen: Counter[str] = Counter()

    def shown(signal: str, clock: int) -> int:
        name, when = signal.removeprefix("meter_"), clock - SHOWN
        if name == "busy":
            value = int(timeline.busy(when))
        elif name == "histogram_data":
            value = 0 if timeline.busy(when - DATA) else int(rows[data[clock]][-1])
        elif name == "outstanding":
            value = int(row(when, ENTERED)[0]) - int(row(when, LEFT)[1])
        else:
            delay = ENTERED if name in ("stamped", "truncated") else LEFT
            value = int(row(when, delay)[ROWS.index(name)])
        seen[f"{name}, not 0"] += value > 0
        return value

    tape.check((answers, got["responses"][1][:, 0:1]), shown)
    return seen + ignored + reached(tape, got["responses"], rows, table, end)


def rows_of(
    clocks: np.ndarray,
    order: int,
    kind: int,
    values: np.ndarray | int,
    shifts: np.ndarray | int,
    times: np.ndarray | int,
) -> np.ndarray:
    """Events of one kind."""
    names = ("clock", "order", "kind", "value", "shift", "time")
    table = np.zeros(len(clocks), [(name, np.int64) for name in names[:-1]] + [("time", np.uint64)])
    for name, column in zip(names, (clocks, order, kind, values, shifts, times), strict=True):
        table[name] = column
    return table


def reached(
    tape: RegisterTape,
    responses: tuple[np.ndarray, np.ndarray],
    rows: np.ndarray,
    table: np.ndarray,
    end: int,
) -> Counter[str]:
    """The number of occurrences of each case."""
    written = np.array([access.write for access in tape.accesses])
    fine = (responses[1][:, 0] >> np.uint64(32) & np.uint64(3)) == 0
    busy = responses[0].astype(np.int64) < end
    leaves = table["kind"] == Meter.LEAVE
    latest = np.diff(rows[:, 7], prepend=np.uint64(0))[
        leaves & (np.diff(rows[:, 1], prepend=0) == 1)
    ]
    return Counter(
        {
            "probes that enter": int((table["kind"] == Meter.ENTER).sum()),
            "probes that leave": int(leaves.sum()),
            "clears": int((table["kind"] == Meter.CLEAR).sum()) - 1,
            "latencies above 2^63, of a clock that was set back": int(
                (latest >> np.uint64(63)).sum()
            ),
            "writes under traffic": int((written & fine & busy).sum()),
            "refused writes under traffic": int((written & ~fine & busy).sum()),
            "reads under traffic": int((~written & fine & busy).sum()),
        }
    )


def run(bits: int, count: int, seed: int) -> None:
    seen = check(bits, count, seed)
    print(bits, dict(seen))
    assert all(number > 0 for number in seen.values()), seen


def test_a_million_random_frames() -> None:
    run(64, 400_000, 1)
    run(512, 600_000, 2)

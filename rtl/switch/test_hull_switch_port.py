"""The complete switch port with its registers against hull-core: each frame's fate, mark and
bytes, each departure, each counter, for a million random frames under changing settings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hull_reference import HardwarePhantomQueue
from test_ecn_marker import rule

from bench import frames
from bench.frames import Frames
from bench.register_tape import RegisterTape
from bench.simulation import build, library
from bench.tape import playback

COUNTS = {64: 350_000, 128: 80_000, 256: 80_000, 512: 490_000}
MIN_BYTES, MAX_BYTES, BEATS, SLOTS = 20, 180, 2048, 64
TAKEN, FULL, RUNT, OVERSIZED, BAD = 1, 2, 4, 8, 16
ANSWERS = {"arrivals": 1, "departures": 1, "reports": 1, "responses": 1, "settings": 4}
# Clocks from a counted event, and from a register value, to the read response.
COUNTED, SHOWN = 4, 2
# Clocks from the departure of a frame from the queue until the phantom queue counts it.
ASKED = 1
# Clocks from a packet's arrival until the phantom queue uses its settings (phantom_queue.sv).
SWITCHED, DRAINED, THRESHOLD_ROUND = 3, 2, 21
SWITCH, DRAIN, THRESHOLD, READ = range(4)
# By this many clocks after reset the settings and the threshold are in force.
READY = 400
# Counters by the counted event.
EVENTS = {
    "ecn_marker_frames_marked": 4,
    "ecn_marker_frames_not_ect_over_threshold": 2,
    "counters_truncated": 1,
}
FATES = {"dropped_full": FULL, "runt": RUNT, "oversized": OVERSIZED, "bad": BAD}


@pytest.fixture(scope="module", params=sorted(COUNTS))
def bits(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def folder(bits: int) -> Path:
    return build("hull_switch_port_bench", library("hull_switch_port"), {"DATA_BITS": bits})


@dataclass(frozen=True)
class Settings:
    """The contents of the port's registers."""

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

    def registers(self) -> dict[str, int]:
        """The registers' contents; the switch of the phantom queue is the last."""
        return {
            "phantom_queue_drain_units": self.drain,
            "phantom_queue_byte_units": self.byte,
            "phantom_queue_threshold_bytes": self.threshold,
            "phantom_queue_tick_clocks": self.tick,
            "phantom_queue_overhead_bytes": self.overhead,
            "threshold_marker_control": self.marker | self.marker_arriving << 1,
            "threshold_marker_threshold_bytes": self.marker_threshold,
            "egress_queue_limit_bytes": self.limit,
            "egress_queue_control": self.in_service,
            "phantom_queue_control": self.phantom | self.phantom_arriving << 1,
        }

    @classmethod
    def of(cls, shown: Mapping[str, int]) -> Settings:
        """The settings from the register values output to the datapath."""
        return cls(
            drain=shown["phantom_queue_drain_units"],
            byte=shown["phantom_queue_byte_units"],
            tick=shown["phantom_queue_tick_clocks"],
            threshold=shown["phantom_queue_threshold_bytes"],
            overhead=shown["phantom_queue_overhead_bytes"],
            phantom=bool(shown["phantom_queue_enable"]),
            phantom_arriving=bool(shown["phantom_queue_count_arriving"]),
            marker=bool(shown["threshold_marker_enable"]),
            marker_arriving=bool(shown["threshold_marker_count_arriving"]),
            marker_threshold=shown["threshold_marker_threshold_bytes"],
            limit=shown["egress_queue_limit_bytes"],
            in_service=bool(shown["egress_queue_count_in_service"]),
        )

    def words(self) -> list[int]:
        """The settings as the bench records them."""
        flags = (
            self.phantom
            | self.phantom_arriving << 1
            | self.marker << 2
            | self.marker_arriving << 3
            | self.in_service << 4
        )
        return [
            flags << 56 | self.overhead << 48 | self.tick << 32 | self.drain,
            self.byte << 32 | self.threshold,
            self.marker_threshold << 32 | self.limit,
            0,
        ]


class Timeline:
    """The settings from each clock on."""

    def __init__(self, clocks: list[int], settings: list[Settings]) -> None:
        self.clocks, self.settings = np.array(clocks), settings

    def at(self, clocks: np.ndarray, name: str) -> np.ndarray:
        """The values of a setting at these clocks."""
        values = np.array([getattr(each, name) for each in self.settings])
        return values[np.searchsorted(self.clocks, clocks, "right") - 1]


def new_tape(width: int) -> RegisterTape:
    return RegisterTape("hull_switch_port", {"QUEUE_BYTES": BEATS * width})


def put(tape: RegisterTape, clock: int, settings: Settings, old: Settings | None = None) -> None:
    """Writes settings, or those that differ from the old ones. The units of the phantom queue's
    counter change only while the queue is disabled.
    """
    before = old.registers() if old else {}
    changed = {
        path: value for path, value in settings.registers().items() if before.get(path) != value
    }
    unit = {"phantom_queue_byte_units", "phantom_queue_tick_clocks"}
    ticked = settings.tick or (old and old.tick)
    if not old or unit & changed.keys() or ("phantom_queue_drain_units" in changed and ticked):
        tape.write(clock, "phantom_queue_control", 0)
        control = changed.pop(
            "phantom_queue_control", settings.registers()["phantom_queue_control"]
        )
        for path, value in changed.items():
            tape.write(clock, path, value)
        tape.write(clock + 200, "phantom_queue_control", control)
    else:
        for path, value in changed.items():
            tape.write(clock, path, value)


def timeline(
    got: Mapping[str, tuple[np.ndarray, np.ndarray]], taken: list[tuple[int, dict[str, int]]]
) -> Timeline:
    """The settings at the datapath: the written values in order, each from the clock of its
    response on.
    """
    clocks, settings = [0], [Settings.of(taken[0][1])]
    for clock, shown in taken[1:]:
        after = Settings.of(shown)
        if after != settings[-1]:
            clocks.append(clock)
            settings.append(after)
    at, words = got["settings"]
    assert words.tolist() == [each.words() for each in settings]
    assert at.tolist() == clocks
    return Timeline(clocks, settings)


def phantom_queue(
    settings: Timeline, clocks: np.ndarray, counted: np.ndarray, asked: list[int]
) -> tuple[np.ndarray, dict[int, int]]:
    """hull-core's marks for the packets of these clocks, and its counter at the clocks `asked`, as
    in the register.
    """
    # Packet clock from which an event is in force, its rank within that clock, and its value.
    events: list[tuple[int, int, Settings | int]] = []
    for at, each in zip(settings.clocks.tolist(), settings.settings, strict=True):
        events.append((at - SWITCHED, SWITCH, each))
        events.append((at - DRAINED, DRAIN, each))
        # The threshold is multiplied continuously; a new value takes effect in the next round.
        start = -(-at // THRESHOLD_ROUND) * THRESHOLD_ROUND
        events.append((start + THRESHOLD_ROUND + 1 - DRAINED, THRESHOLD, each.threshold))
    events += [(clock - SWITCHED, READ, clock) for clock in asked]
    events.sort(key=lambda event: event[:2])
    marks, counter = np.zeros(len(clocks), bool), {}
    queue = None
    drain, threshold, arriving, byte, tick = 0, 0, False, 1, 0
    zero = done = 0
    for clock, kind, value in events:
        # The packets before the event; none is marked while the queue is disabled.
        here = slice(done, int(np.searchsorted(clocks, clock, "left")))
        done = here.stop
        if queue:
            marks[here], _ = queue.on_packets(
                (clocks[here] - zero).clip(0).tolist(), counted[here].tolist()
            )
        if isinstance(value, int):
            if kind == READ:
                counter[value] = queue.backlog_units(max(clock - zero, 0)) if queue else 0
                continue
            threshold = value
        elif kind == SWITCH:
            if value.phantom and not queue:
                drain, arriving, byte, tick = (
                    value.drain, value.phantom_arriving, value.byte, value.tick
                )  # fmt: skip
                queue = HardwarePhantomQueue(drain, byte, threshold, arriving, tick, 52)
                # The first tick is one tick after the register's change.
                zero = clock + SWITCHED if tick else clock
            elif not value.phantom:
                queue = None
            continue
        else:
            drain, arriving = value.drain, value.phantom_arriving
        if queue:
            queue.change(max(clock - zero, 0), (drain, byte, threshold, arriving, tick, 52))
    here = slice(done, None)
    if queue:
        marks[here], _ = queue.on_packets((clocks[here] - zero).tolist(), counted[here].tolist())
    return marks, counter


def run(
    folder: Path,
    bits: int,
    name: str,
    given: Frames,
    clocks: np.ndarray,
    bad: np.ndarray,
    tape: RegisterTape,
    stalls: list[tuple[int, int]],
    broken: frames.Broken | None = None,
) -> Counter[str]:
    """Plays frames, their beats at `clocks`, and compares the port with the models. `bad` frames
    end with tuser; `broken` ones have a wrong tkeep.
    """
    width = bits // 8
    # The receiver does not stall at the end.
    stall = [*((at, chance) for at, chance in stalls if at < clocks[-1]), (int(clocks[-1]) + 1, 0)]
    got = playback(
        folder,
        name,
        {
            "stimulus": frames.stimulus(given, clocks, width, bad, broken),
            "accesses": tape.stimulus(),
            "stalls": b"".join(
                int(at).to_bytes(8, "big") + int(chance).to_bytes(1, "big") for at, chance in stall
            ),
        },
        {**ANSWERS, "out": (bits + width + 1 + 63) // 64},
    )
    seen: Counter[str] = Counter()
    at, word = got["arrivals"][0].astype(np.int64), got["arrivals"][1][:, 0]
    kind = (word >> np.uint64(56)).astype(int)
    free = (word >> np.uint64(24) & np.uint64(0xFFFF)).astype(int)
    queue = (word & np.uint64(0xFFFFFF)).astype(int)
    lengths = given.lengths
    if broken:
        bad = bad | broken.mask(len(given))
    assert len(kind) == len(given)
    taken = kind == TAKEN
    departed_at = got["departures"][0].astype(np.int64) - ASKED
    ends_at, sent = leaving(got["out"], width)
    reports_at, reports = got["reports"][0].astype(np.int64), got["reports"][1][:, 0].astype(int)
    of_taken = lengths[taken]

    answered_at = got["responses"][0].astype(np.int64)
    settings = timeline(got, tape.settings(answered_at))
    in_service = settings.at(departed_at, "in_service")
    freed_at = np.where(in_service, ends_at[: len(departed_at)], departed_at)
    total = np.concatenate([[0], np.cumsum(of_taken)])

    def in_queue(clock: np.ndarray, freed_before: int = 0) -> np.ndarray:
        """Queued bytes at `clock`, less those freed at least `freed_before` clocks earlier."""
        came = np.searchsorted(at[taken], clock, "left")
        return total[came] - total[np.searchsorted(freed_at, clock - freed_before, "left")]

    most = np.maximum.accumulate(in_queue(at[taken] + 1))

    # ---- Frame errors take precedence; then the limit, the memory, the slots. ----
    expected = np.select(
        [bad, lengths > MAX_BYTES, lengths < MIN_BYTES], [BAD, OVERSIZED, RUNT], TAKEN
    )
    well_formed = expected == TAKEN
    assert (kind[~well_formed] == expected[~well_formed]).all()
    assert np.isin(kind[well_formed], [TAKEN, FULL]).all()
    # Both comparisons precede the offer of the frame by one clock; the limit is registered.
    found = in_queue(at, 1)
    above_limit = found + lengths > settings.at(at - 2, "limit")
    assert not (taken & above_limit).any()
    waiting = np.arange(len(kind))
    waiting = np.concatenate([[0], np.cumsum(taken)[:-1]]) - np.searchsorted(
        departed_at, at, "left"
    )
    # All but the last of a frame's own beats are already in memory; reading frees beats slightly
    # before the clock of the answer. A frame rejected although it now fits had no room when its
    # earlier beats arrived.
    refused = well_formed & ~taken & ~above_limit
    without_room = (free < 2 * -(-MAX_BYTES // width)) | (waiting >= SLOTS)
    assert without_room[refused].all()
    np.testing.assert_array_equal(queue, in_queue(at), "bytes of the queue")

    # ---- Both marking rules, and the header of each frame that leaves, in order. ----
    counted = of_taken + settings.at(departed_at, "overhead")
    assert (got["departures"][1][:, 0] == counted).all()
    asked = [
        clock - SHOWN
        for clock, access in zip(answered_at.tolist(), tape.accesses, strict=True)
        if not access.write and tape.path_of(access) == "phantom_queue_backlog_units"
    ]
    phantom_mark, counter = phantom_queue(settings, departed_at + ASKED, counted, asked)
    here = at[taken]
    arriving = settings.at(here - 1, "marker_arriving")
    compared = found[taken] + np.where(arriving, of_taken, 0)
    mark = settings.at(here - 1, "marker") & (compared > settings.at(here - 1, "marker_threshold"))
    verdict = rule(Frames(given.octets[taken], of_taken), mark | phantom_mark)
    expected_out = verdict.frames.beats(width)
    assert len(sent["data"]) == len(expected_out)
    keep = np.unpackbits(expected_out.keep, axis=1, bitorder="little").astype(bool)
    assert (sent["keep"] == expected_out.keep).all()
    assert (sent["last"] == expected_out.last).all()
    assert (sent["data"][keep] == expected_out.data[keep]).all()
    reported = {1 << bit: int((reports >> bit & 1).sum()) for bit in range(5)}
    assert reported[16] == int(phantom_mark.sum())
    assert reported[8] == int(mark.sum())
    assert reported[4] == int(verdict.marked.sum())
    wanted = mark | phantom_mark
    assert reported[2] == int((wanted & ~verdict.ect & ~verdict.truncated).sum())
    assert reported[1] == int(verdict.truncated.sum())

    # ---- Each register read, under traffic and at the end. ----
    times = {
        "counters_frames_in": at,
        "counters_frames_out": ends_at,
        "phantom_queue_frames_seen": departed_at + ASKED,
        "phantom_queue_frames_above": reports_at[reports & 16 > 0],
        "threshold_marker_frames_above": reports_at[reports & 8 > 0],
        **{name: reports_at[reports & bit > 0] for name, bit in EVENTS.items()},
        **{f"counters_{name}": at[kind == fate] for name, fate in FATES.items()},
    }

    def shown(signal: str, clock: int) -> int:
        if signal in times:
            return int(np.searchsorted(times[signal], clock - COUNTED, "right"))
        when = clock - SHOWN
        if signal == "phantom_queue_backlog_units":
            return counter[when]
        if signal == "egress_queue_backlog_bytes":
            return int(in_queue(np.array([when]))[0])
        assert signal == "egress_queue_max_backlog_bytes"
        first = int(np.searchsorted(here + 1, when, "left"))
        return int(most[first - 1]) if first else 0

    tape.check(got["responses"], shown)
    responses = got["responses"][1][:, 0]
    written = np.array([access.write for access in tape.accesses])
    sent_ok = (responses >> np.uint64(32) & np.uint64(3)) == 0
    last = int(ends_at[-1])
    busy = answered_at < last
    seen.update(
        {
            "taken": int(taken.sum()),
            "full, limit": int((kind == FULL)[above_limit].sum()),
            "full, memory": int(refused.sum()),
            "runt": int((kind == RUNT).sum()),
            "oversized": int((kind == OVERSIZED).sum()),
            "bad": int((kind == BAD).sum()),
            "marked by the phantom queue alone": int((phantom_mark & ~mark & verdict.marked).sum()),
            "marked by the threshold alone": int((~phantom_mark & mark & verdict.marked).sum()),
            "marked by both": int((phantom_mark & mark & verdict.marked).sum()),
            "not ECN-capable": reported[2],
            "truncated": reported[1],
            "writes under traffic": int((written & sent_ok & busy).sum()),
            "refused writes under traffic": int((written & ~sent_ok & busy).sum()),
            "reads under traffic": int((~written & sent_ok & busy).sum()),
            "refused reads under traffic": int((~written & ~sent_ok & busy).sum()),
            "sent, counted until it left the queue": int((~in_service).sum()),
            "sent, counted until its end": int(in_service.sum()),
            "counting changed": int((np.diff(in_service.astype(int)) != 0).sum()),
            "phantom queue switched": int(
                np.diff([each.phantom for each in settings.settings]).astype(bool).sum()
            ),
        }
    )
    return seen


def leaving(
    out: tuple[np.ndarray, np.ndarray], width: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The clocks of the last beats of frames, and all beats."""
    clocks, words = out
    data, keep, last = frames.recorded(words, width)
    return clocks[last == 1].astype(np.int64), {"data": data, "keep": keep, "last": last == 1}


def random_clocks(rng: np.random.Generator, beats: int, load: float) -> np.ndarray:
    """A clock for each beat: stretches without gaps, and with gaps, some of them long."""
    gaps = 1 + (
        rng.random(beats)
        < np.repeat(rng.choice([0, 0, 1 / load - 1], beats // 500 + 1), 500)[:beats]
    )
    return READY + np.cumsum(gaps + (rng.random(beats) < 0.0005) * rng.integers(1, 300, beats))


# Successive settings under traffic, and (clock, probability) of receiver stalls from then on.
CASES: dict[str, tuple[list[Settings], list[tuple[int, int]]]] = {
    "defaults": (
        [
            Settings(),
            Settings(drain=120, threshold=4_000, limit=3_000),
            Settings(drain=120, threshold=200, phantom_arriving=True, marker_threshold=100),
            Settings(drain=30_000, byte=25_000, threshold=2_000, overhead=0, in_service=True),
        ],
        [(0, 90), (100_000, 150), (300_000, 40)],
    ),
    "in_service": (
        [
            Settings(in_service=True, marker_arriving=True, drain=150, limit=3_000),
            Settings(marker_arriving=True, drain=150, limit=3_000),
            Settings(in_service=True, drain=150, limit=2_000, marker_threshold=500),
            Settings(in_service=True, phantom=False, limit=2_000),
        ],
        [(0, 200), (90_000, 0), (200_000, 120)],
    ),
    "phantom_alone": (
        [
            Settings(marker=False, phantom_arriving=True, drain=130, tick=100),
            Settings(marker=False, phantom_arriving=True, drain=130, tick=100, threshold=300),
            Settings(marker=False, drain=140, tick=7, overhead=4),
            Settings(marker=False, drain=125),
        ],
        [(0, 0)],
    ),
    "memory": (
        [
            Settings(phantom=False, limit=BEATS * 8),
            Settings(phantom=False, limit=BEATS * 8, marker_threshold=0),
            Settings(limit=BEATS * 8, threshold=(1 << 20) - 1, marker_threshold=1 << 19),
            Settings(limit=0, marker=False),
        ],
        [(0, 250), (30_000, 0), (60_000, 250), (90_000, 30)],
    ),
}


def test_a_million_random_frames(folder: Path, bits: int) -> None:
    rng = np.random.default_rng(bits)
    seen: Counter[str] = Counter()
    for name, (settings, stalls) in CASES.items():
        given = frames.random_frames(rng, COUNTS[bits] // len(CASES))
        long = rng.random(len(given)) < 0.02
        given.lengths[long] = frames.LONGEST
        beats = int((-(-given.lengths // (bits // 8))).sum())
        bad = rng.random(len(given)) < 0.02
        broken = frames.broken(rng, given, rng.random(len(given)) < 0.02, bits // 8)
        clocks = random_clocks(rng, beats, 0.7)
        end = int(clocks[-1])
        tape = new_tape(bits // 8)
        put(tape, 0, settings[0])
        tape.read_all(READY)
        # One change per quarter of the run, with accesses of all kinds in between.
        changes = {end * i // len(settings): (settings[i - 1], settings[i]) for i in (1, 2, 3)}
        others = rng.integers(READY + 1_500, end, end // 1_000)
        for clock in sorted({*changes, *others.tolist()}):
            if clock in changes:
                put(tape, clock, changes[clock][1], changes[clock][0])
            elif rng.random() < 0.3:
                tape.refused(rng, clock)
            else:
                tape.random_reads(rng, clock)
        tape.read_all(end + 2_000)
        seen += run(folder, bits, name, given, clocks, bad, tape, stalls, broken)
    print(bits, dict(seen))
    assert all(seen.values()), seen
    assert len(seen) == 19, "a case never occurred"

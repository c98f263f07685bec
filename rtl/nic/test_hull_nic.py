"""The complete NIC with its registers against hull-core: each frame's fate, lookup, decision and
departure, and each counter, for random frames in both directions under changing settings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench import frames
from bench.frames import stimulus
from bench.nic_model import (
    ANSWER,
    BYPASSED,
    DECISION,
    DROPPED,
    HEAD,
    HELD,
    PASS,
    QUEUED,
    ZERO,
    Settings,
    Timeline,
    association,
    early_changes,
    pacer_of,
    words,
)
from bench.nic_traffic import MAX_BYTES, acknowledgements, snooped, traffic
from bench.register_tape import RegisterTape
from bench.simulation import build, library
from bench.tape import playback

CLOCK_PS = 8_000
MIN_BYTES, FIFO_BEATS = 20, 2048
TAKEN, RUNT, OVERSIZED, BAD = 1, 4, 8, 16
ANSWERS = {
    **dict.fromkeys(("fates", "lookups", "answered", "eces", "offers", "admissions", "heads"), 1),
    **dict.fromkeys(("network_ends", "rates", "wrong", "responses"), 1),
    "settings": 10,
}
# Clocks from a counted event, and from a register value, to the read response.
COUNTED, SHOWN = 4, 2
# A setting takes effect in the clock of its write response, except for those that take longer.
DELAYS = {0, 1, 2}
# By this many clocks after reset the settings are in force and the pacer has started.
READY = 1_000
ASSOCIATION = ("associations", "refreshed", "expired", "ignored", "evicted", "missed")
PACER = {"passed": PASS, "queued": QUEUED, "dropped": DROPPED, "bypassed": BYPASSED}


@dataclass(frozen=True)
class Bench:
    """A built NIC of one stream width."""

    folder: Path
    bits: int

    @property
    def width(self) -> int:
        """Bytes per beat."""
        return self.bits // 8


def bench(bits: int) -> Bench:
    return Bench(build("hull_nic_bench", library("hull_nic"), {"DATA_BITS": bits}), bits)


def beat_clocks(rng: np.random.Generator, count: int, load: float, pause: int) -> np.ndarray:
    """A clock for each beat, with one pause halfway, in the middle of a frame."""
    gaps = 1 + (rng.random(count) < 1 / load - 1) * rng.integers(1, 3, count)
    gaps[count // 2] += pause
    return READY + np.cumsum(gaps)


def put(tape: RegisterTape, clock: int, settings: Settings, old: Settings | None = None) -> None:
    """Writes settings, or those that differ from the old ones, in a valid order."""
    registers = settings.registers()
    if old is None:
        tape.write(clock, "pacer_control", 0)
        changed = registers
    else:
        before = old.registers()
        changed = {path: value for path, value in registers.items() if before[path] != value}
        if settings.max_rate_bps < old.min_rate_bps:
            low = "pacer_min_rate_kbps"
            changed = {low: changed[low], **changed}
    for path, value in changed.items():
        # After reset the tick is shortened first, while its counter is still below the new value.
        tape.write(0 if old is None and path == "pacer_token_tick" else clock, path, value)


@dataclass
class Recorded:
    """The bench's record: clocks and words of each file."""

    at: dict[str, np.ndarray]
    word: dict[str, np.ndarray]
    out: tuple[np.ndarray, np.ndarray]
    timeline: Timeline


def play(
    here: Bench, name: str, host: bytes, network: bytes, tape: RegisterTape, stall: int
) -> Recorded:
    """Plays both directions and the accesses; the network-to-host stream stalls less."""
    got = playback(
        here.folder,
        name,
        {
            "stimulus": host,
            "network": network,
            "accesses": tape.stimulus(),
            "stalls": bytes(8) + stall.to_bytes(1, "big"),
            "host_stalls": bytes(8) + (20).to_bytes(1, "big"),
        },
        {**ANSWERS, "out": (here.bits + here.width + 1 + 63) // 64},
        after=80_000,
    )
    timeline = Timeline(got["settings"])
    at = {key: got[key][0].astype(np.int64) for key in ANSWERS}
    # The settings equal those written, in order.
    clocks, expected = [], []
    for clock, shown in tape.settings(at["responses"]):
        if not expected or words(shown) != expected[-1]:
            expected.append(words(shown))
            clocks.append(clock)
    assert timeline.rows == expected
    assert set(np.array(timeline.clocks[1:]) - clocks[1:]) <= DELAYS
    word = {key: got[key][1][:, 0] for key in ANSWERS}
    return Recorded(at, word, got["out"], timeline)


def check(
    here: Bench,
    name: str,
    phases: list[Settings],
    load: float,
    stall: int,
    count: int,
    seed: int,
    longest: int = MAX_BYTES,
) -> Counter[str]:
    """Checks random frames under successive settings; returns the cases covered."""
    rng = np.random.default_rng(seed)
    given, known = traffic(rng, count, longest)
    bad = rng.random(count) < 0.01
    broken = frames.broken(rng, given, rng.random(count) < 0.01, here.width)
    beats = int((-(-given.lengths // here.width)).sum())
    clocks = beat_clocks(rng, beats, load, 30_000)
    end = int(clocks[-1])
    back = acknowledgements(rng, end // 60)
    back_bad = rng.random(len(back)) < 0.05
    back_broken = frames.broken(rng, back, rng.random(len(back)) < 0.05, here.width)
    back_clocks = np.sort(
        rng.choice(end, int((-(-back.lengths // here.width)).sum()), replace=False)
    )
    back_clocks += READY
    tape = RegisterTape("hull_nic", {"FIFO_BYTES": FIFO_BEATS * here.width})
    put(tape, 8, phases[0])
    tape.read_all(READY)
    # Settings change between two rate updates, which take 158 clocks.
    interval = phases[0].update_interval
    changes = {}
    for i in range(1, len(phases)):
        at = end * i // len(phases) // interval * interval + 180
        changes[at] = phases[i - 1], phases[i]
    others = rng.integers(READY + 2_000, end, end // 700)
    near = np.concatenate([[0], *(np.arange(at - 60, at + interval) for at in changes)])
    for clock in sorted({*changes, *(set(others.tolist()) - set(near.tolist()))}):
        if clock in changes:
            put(tape, clock, changes[clock][1], changes[clock][0])
        elif rng.random() < 0.3:
            tape.refused(rng, clock)
        else:
            tape.random_reads(rng, clock)
    tape.read_all(max(end, int(back_clocks[-1])) + 60_000)
    host = stimulus(given, clocks, here.width, bad, broken)
    network = stimulus(back, back_clocks, here.width, back_bad, back_broken)
    got = play(here, name, host, network, tape, stall)
    at, word = got.at, got.word
    assert len(at["wrong"]) == 0
    fate = (word["fates"] >> np.uint64(56)).astype(int)
    wrong = bad | broken.mask(count)
    expected = np.select(
        [wrong, given.lengths > MAX_BYTES, given.lengths < MIN_BYTES], [BAD, OVERSIZED, RUNT], TAKEN
    )
    np.testing.assert_array_equal(fate, expected, "fates")
    taken = fate == TAKEN

    # ---- From the network: ACKs with ECN-Echo, and the counters. ----
    assert (word["network_ends"] == back_bad).all()
    back_wrong = back_bad | back_broken.mask(len(back))
    ece_at, ece_flows, snooper = snooped(back, back_wrong, at["network_ends"])
    np.testing.assert_array_equal(at["eces"], ece_at, "ACKs with ECN-Echo")
    np.testing.assert_array_equal(word["eces"].astype(np.int64), ece_flows)

    # ---- Each lookup. ----
    flows = (word["lookups"] & np.uint64(0xFFFFFFFF)).astype(np.int64)
    assert (flows == known)[(known >= 0) & ~wrong].all()
    reads = np.unique(at["responses"]) - SHOWN
    found, table = association(got.timeline, (ece_at, ece_flows), (at["lookups"], flows), reads)
    np.testing.assert_array_equal(word["answered"], found, "look-ups")
    ok = word["lookups"] >> np.uint64(62) & np.uint64(1) == 1
    paced = (found & ok)[taken]

    # ---- Each request to the pacer and its response, then each departure. ----
    admission = word["admissions"].astype(int)
    final = admission != HELD
    assert ((word["offers"] >> np.uint64(63) == 1)[final] == paced).all()
    sizes = (word["offers"] & np.uint64(0x3FFF)).astype(int)
    assert (sizes[final] == given.lengths[taken]).all()
    came, freed, released = (
        at["heads"][word["heads"] >> np.uint64(bit) & np.uint64(1) == 1] for bit in range(3)
    )
    head = came[np.searchsorted(came, released, "right") - 1]
    line = freed[np.searchsorted(freed, released, "right") - 1]
    pacer, settings = pacer_of(got.timeline)
    decided = at["offers"] + DECISION
    answers, rates, releases = pacer.in_nic(
        (decided - ZERO).tolist(),
        sizes.tolist(),
        (word["offers"] >> np.uint64(63) == 1).tolist(),
        (np.maximum(head + HEAD, line - 1) - ZERO).tolist(),
        settings,
        CLOCK_PS,
    )
    decision = np.array(answers)
    np.testing.assert_array_equal(admission, np.where(decision == BYPASSED, PASS, decision))
    np.testing.assert_array_equal(released - ANSWER - ZERO, releases, "departures")
    seen_from = (at["rates"] + 1) // 2 * 2 + 2
    shown_rate = word["rates"][np.searchsorted(seen_from, decided, "right") - 1]
    np.testing.assert_array_equal(shown_rate.astype(np.int64), rates, "rates")
    way = decision[final]
    assert len(released) == int((way == QUEUED).sum())
    check_frames(here, got.out, given, np.flatnonzero(taken), np.where(way == BYPASSED, PASS, way))

    # ---- Each register read. ----
    queued = admission == QUEUED
    waits = np.cumsum(np.where(queued, sizes, 0))
    gone = np.concatenate([[0], np.cumsum(sizes[queued])])

    def backlog(clock: np.ndarray) -> np.ndarray:
        arrived = np.concatenate([[0], waits])[np.searchsorted(at["admissions"], clock, "right")]
        return arrived - gone[np.searchsorted(released, clock, "right")]

    most = np.maximum.accumulate(backlog(at["admissions"]))
    _, _, last = frames.recorded(got.out[1], here.width)
    truncated = word["lookups"] >> np.uint64(61) & np.uint64(1) == 1
    events = {
        "frames_in": at["fates"],
        "frames_out": got.out[0].astype(np.int64)[last == 1],
        "dropped_full": at["wrong"],
        "runt": at["fates"][fate == RUNT],
        "oversized": at["fates"][fate == OVERSIZED],
        "truncated": at["lookups"][truncated],
        "bad": at["fates"][fate == BAD],
    }
    counted = {f"counters_{key}": value + COUNTED for key, value in events.items()}
    for key, what in PACER.items():
        counted[f"pacer_frames_{key}"] = at["admissions"][decision == what] + SHOWN
    counted |= {f"ece_snooper_{key}": value + SHOWN for key, value in snooper.items()}

    def shown(signal: str, clock: int) -> int:
        if signal in counted:
            return int(np.searchsorted(counted[signal], clock, "right"))
        when = clock - SHOWN
        if signal == "pacer_backlog_bytes":
            return int(backlog(np.array([when]))[0])
        if signal == "pacer_max_backlog_bytes":
            number = int(np.searchsorted(at["admissions"], when, "left"))
            return int(most[number - 1]) if number else 0
        if signal == "pacer_rate_bps":
            return int(word["rates"][np.searchsorted(at["rates"], when, "right") - 1])
        live, *counts = table[when].tolist()
        name = signal.removeprefix("flow_association_")
        return int(live if name == "live_entries" else counts[ASSOCIATION.index(name)])

    tape.check((at["responses"], word["responses"][:, None]), shown)
    seen = reached(got, tape, given, taken, paced, way, admission, rates, table, released, clocks)
    seen["early change"] = early_changes(got.timeline, at["offers"], at["admissions"], decision)
    return seen


def check_frames(
    here: Bench,
    out: tuple[np.ndarray, np.ndarray],
    given: frames.Frames,
    numbers: np.ndarray,
    ways: np.ndarray,
) -> None:
    """Exactly the passed and the queued frames leave, each kind in order."""
    data, keep, last = frames.recorded(out[1], here.width)
    ends = np.flatnonzero(last)
    starts = np.concatenate([[0], ends[:-1] + 1])
    tails = np.unpackbits(keep[ends], axis=1).sum(axis=1)
    sizes = here.width * (ends - starts) + tails.astype(int)
    waiting = {way: iter(numbers[ways == way]) for way in (PASS, QUEUED)}
    heads = {way: next(waiting[way], None) for way in waiting}
    for start, end, length in zip(starts, ends, sizes, strict=True):
        frame = data[start : end + 1].reshape(-1)[:length]
        for way in (QUEUED, PASS):
            number = heads[way]
            if (
                number is not None
                and length == given.lengths[number]
                and (frame == given.octets[number, :length]).all()
            ):
                heads[way] = next(waiting[way], None)
                break
        else:
            raise AssertionError(f"frame {start} to {end} should not leave here")
    assert heads == {PASS: None, QUEUED: None}


def reached(
    got: Recorded,
    tape: RegisterTape,
    given: frames.Frames,
    taken: np.ndarray,
    paced: np.ndarray,
    way: np.ndarray,
    admission: np.ndarray,
    rates: list[int],
    table: Mapping[int, np.ndarray],
    released: np.ndarray,
    clocks: np.ndarray,
) -> Counter[str]:
    """The number of occurrences of each case."""
    written = np.array([access.write for access in tape.accesses])
    fine = (got.word["responses"] >> np.uint64(32) & np.uint64(3)) == 0
    busy = got.at["responses"] < got.out[0][-1].astype(np.int64)
    pause = int(np.argmax(np.diff(clocks)))
    still = (released > clocks[pause] + 2_000) & (released < clocks[pause + 1])
    counts = table[max(table)].tolist()
    lengths = given.lengths
    return Counter(
        {
            "passed, not paced": int((~paced & (way == PASS)).sum()),
            "passed, paced": int((paced & (way == PASS)).sum()),
            "queued": int((way == QUEUED).sum()),
            "dropped": int((way == DROPPED).sum()),
            "bypassed": int((way == BYPASSED).sum()),
            "held": int((admission == HELD).sum()),
            "runt": int((lengths < MIN_BYTES).sum()),
            "oversized": int((lengths > MAX_BYTES).sum()),
            "bad": int((~taken).sum()),
            "truncated": int((got.word["lookups"] >> np.uint64(61) & np.uint64(1)).sum()),
            "released while a frame of the host stands still": int(still.sum()),
            "ACKs with ECN-Echo": len(got.at["eces"]),
            **{
                f"association: {name}": int(value)
                for name, value in zip(ASSOCIATION, counts[1:], strict=True)
            },
            "rates": len(set(rates)),
            "largest rate": int((np.array(rates) == max(rates)).sum()),
            "smallest rate": int((np.array(rates) == min(rates)).sum()),
            "writes under traffic": int((written & fine & busy).sum()),
            "refused writes under traffic": int((written & ~fine & busy).sum()),
            "reads under traffic": int((~written & fine & busy).sum()),
            "refused reads under traffic": int((~written & ~fine & busy).sum()),
        }
    )


def scaled(bits: int, settings: Settings) -> Settings:
    """Rates, FIFO and bucket for a wider stream."""
    wide = bits // 64
    return replace(
        settings,
        max_rate_bps=min(settings.max_rate_bps * wide, 60_000_000_000),
        initial_rate_bps=settings.initial_rate_bps * wide,
    )


BASE = Settings()
ALWAYS = 0xFFFF_FFFF
FAST = replace(BASE, max_rate_bps=8_000_000_000, rate_step_bps=0, bucket_bytes=500)
TICKED = replace(BASE, token_tick=64, probability=1 << 31, initial_rate_bps=40_000_000)
HOLD = replace(BASE, when_full="hold", timeout_clocks=3_000, probability=ALWAYS)
# Half of the flows are always paced, at a rate that keeps the FIFO full.
FULL = replace(BASE, probability=ALWAYS, evict=True, fifo_bytes=1_000, max_rate_bps=400_000_000)


def policies(count: int) -> list[Settings]:
    """The three policies in turn."""
    return [replace(FULL, when_full=("drop", "hold", "bypass")[i % 3]) for i in range(count)]


# Load, link stall probability in 1/256, and successive settings.
CASES: dict[str, tuple[float, int, list[Settings]]] = {
    "drop": (
        0.5,
        0,
        [
            BASE,
            FAST,
            replace(FAST, beta=1 << 20, min_rate_bps=20_000_000, eta=20_000),
            replace(BASE, fifo_bytes=2_000, evict=True, probability=ALWAYS, seed=99),
            replace(BASE, when_full="bypass", probability=1 << 31, update_interval=640),
        ],
    ),
    "bypass": (
        0.5,
        60,
        [
            replace(TICKED, when_full="bypass", rate_step_bps=0),
            replace(TICKED, when_full="drop", probability=ALWAYS),
            replace(TICKED, when_full="bypass", fifo_bytes=0, bucket_bytes=1),
        ],
    ),
    "hold": (
        0.3,
        30,
        [
            HOLD,
            replace(HOLD, fifo_bytes=500, bucket_bytes=200),
            replace(HOLD, when_full="drop", probability=1 << 31),
            replace(HOLD, probability=0, seed=5),
        ],
    ),
    "policies": (
        0.5,
        20,
        policies(90),
    ),
    # Back to back, so that two pacer requests are outstanding at 64 bits too.
    "short segments": (
        1.0,
        0,
        policies(240),
    ),
}
# The longest segment; 54 bytes have no payload.
LONGEST = {"short segments": 54}
# Two ECN-Echo ACKs within four clocks require a stream of 512 bits.
ONLY_WIDE = "association: missed"


def run_cases(bits: int, count: int) -> None:
    here = bench(bits)
    seen: Counter[str] = Counter()
    for seed, (name, (load, stall, phases)) in enumerate(CASES.items()):
        settings = [scaled(bits, each) for each in phases]
        longest = LONGEST.get(name, MAX_BYTES)
        seen.update(check(here, name, settings, load, stall, count // len(CASES), seed, longest))
    print(bits, dict(seen))
    assert all(count > 0 or (name == ONLY_WIDE and bits == 64) for name, count in seen.items()), (
        seen
    )


def test_a_million_random_frames() -> None:
    run_cases(64, 400_000)
    run_cases(512, 600_000)


def test_latency() -> None:
    """A segment without payload that passes an idle NIC leaves 32 or 33 clocks after its end."""
    here, count = bench(64), 20
    some, known = traffic(np.random.default_rng(2), 2_000)
    short = np.flatnonzero((known >= 0) & (some.lengths == 54))[:count]
    given = frames.Frames(some.octets[short], some.lengths[short])
    clocks = READY + 201 * np.arange(count)[:, None] + np.arange(-(-54 // here.width))
    tape = RegisterTape("hull_nic", {"FIFO_BYTES": FIFO_BEATS * here.width})
    put(tape, 8, BASE)
    host = stimulus(given, clocks.ravel(), here.width, np.zeros(count, bool))
    got = play(here, "latency", host, b"", tape, 0)
    last = frames.recorded(got.out[1], here.width)[2] == 1
    first = got.out[0].astype(np.int64)[np.concatenate([[True], last[:-1]])]
    assert set((first - clocks[:, -1]).tolist()) == {32, 33}


def test_full_memory_stalls_the_host() -> None:
    """With a FIFO limit equal to the memory size, whole frames of that many bytes do not fit: the
    NIC stalls the host and loses nothing.
    """
    settings = replace(
        BASE,
        fifo_bytes=FIFO_BEATS * 8,
        max_rate_bps=200_000_000,
        initial_rate_bps=200_000_000,
    )
    seen = check(bench(64), "small_memory", [settings], 0.5, 0, 10_000, 12)
    print(seen)
    assert seen["queued"] > 500
    assert seen["dropped"] == 0, seen

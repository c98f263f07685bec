"""The way of a frame out of a host: look-ups, decisions, departures, bytes, against hull-core."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hull_reference import HardwareFlowAssociation, HardwarePacer

from bench import frames, headers
from bench.simulation import build, library
from bench.tape import playback

WIDTH, CLOCK_PS = 8, 8_000
MIN_BYTES, MAX_BYTES = 20, 180
TAKEN, RUNT, OVERSIZED, BAD = 1, 4, 8, 16
# Clocks: time 0 of the pacer's grids, its first step; from taking a packet to its decision, from a
# decision to the answer, from a head's coming to its first decision (pacer.sv).
ZERO, START, DECISION, ANSWER, HEAD = 4, 90, 6, 2, 6
PASS, QUEUED, DROPPED, HELD = range(4)
FLOWS = 100
SOURCE, DESTINATION = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
SEED = 0x1234_5678
CONFIG = {
    "max_rate_bps": 150_000_000,
    "min_rate_bps": 5_000_000,
    "initial_rate_bps": 150_000_000,
    "bucket_bytes": 3_000,
    "fifo_bytes": 6_000,
    "update_interval_ps": 512 * CLOCK_PS,
    "eta": 8_192,
    "beta": 4_000 << 8,
    "rate_step_bps": 500_000,
    "token_tick_ps": 0,
    "when_full": "drop",
}
ANSWERS = ("fates", "lookups", "answered", "offers", "admissions", "heads", "wrong")


@pytest.fixture(scope="module")
def folder() -> Path:
    return build("nic_datapath_bench", library("nic_datapath"))


def traffic(rng: np.random.Generator, count: int) -> frames.Frames:
    """TCP segments of FLOWS flows, one in ten frames of any other kind."""
    rows, sizes = headers.random_frames(rng, count)
    octets = np.zeros((count, 192), np.uint8)
    octets[:, : rows.shape[1]] = rows
    sizes = np.where(rng.random(count) < 0.01, 192, sizes)
    for number in np.flatnonzero(rng.random(count) < 0.9):
        flow = int(rng.integers(FLOWS))
        sizes[number] = rng.integers(54, MAX_BYTES + 1)
        ip = struct.pack(
            "!BBHHHBBH", 0x45, 2, int(sizes[number]) - 14, number & 0xFFFF, 0, 64, 6, 0
        )
        head = bytes(12) + b"\x08\x00" + ip + SOURCE + DESTINATION
        head += struct.pack("!HHIIBBHHH", 1_000 + flow, 80, number, 0, 0x50, 0x10, 0, 0, 0)
        octets[number, : len(head)] = np.frombuffer(head, np.uint8)
        octets[number, len(head) :] = rng.integers(0, 256, 192 - len(head), np.uint8)
    return frames.Frames(octets, sizes)


def settings(config: dict, probability: int, timeout: int) -> bytes:
    """The record of the bench: one of its operations, of clock 0."""
    all_of = dict(HardwarePacer.registers(config, CLOCK_PS))
    words = [
        0,
        all_of["when_full"] << 2 | 1,
        all_of["max_rate_bps"],
        all_of["min_rate_bps"],
        all_of["initial_rate_bps"],
        all_of["bucket_bytes"] << 32 | all_of["fifo_bytes"],
        all_of["update_interval"] << 32 | all_of["token_tick"],
        all_of["eta"] << 32 | all_of["rate_step_bps"],
        all_of["gain"],
        all_of["beta"] << 32 | probability,
        timeout << 32 | SEED,
    ]
    return np.array(words, ">u8").tobytes()


def check(
    folder: Path, name: str, config: dict, load: float, stall: int, count: int
) -> dict[str, int]:
    rng = np.random.default_rng(len(name))
    probability, timeout = 1 << 30, 20_000
    given = traffic(rng, count)
    bad = rng.random(count) < 0.01
    beats = given.beats(WIDTH)
    flags = beats.last | (beats.last & bad[beats.frame]) << 1
    gaps = np.where(rng.random(len(beats)) < 0.02, rng.integers(1, int(100 / load), len(beats)), 1)
    clocks = 500 + np.cumsum(gaps)
    ack_clocks = 500 + np.cumsum(rng.integers(4, 600, int(clocks[-1]) // 300))
    keys = [headers.key(SOURCE, DESTINATION, (1_000 + flow, 80), 6) for flow in range(FLOWS)]
    ack_flows = rng.choice(keys, len(ack_clocks))
    acks = np.zeros(len(ack_clocks), [("clock", ">u8"), ("flow", ">u4")])
    acks["clock"], acks["flow"] = ack_clocks, ack_flows
    got = playback(
        folder,
        name,
        {
            "stimulus": frames.tape(clocks, beats, flags),
            "acks": acks.tobytes(),
            "settings": settings(config, probability, timeout),
            "stalls": (0).to_bytes(8, "big") + stall.to_bytes(1, "big"),
        },
        {**dict.fromkeys(ANSWERS, 1), "out": 2},
        after=300_000,
    )
    word = {key: got[key][1][:, 0] for key in ANSWERS}
    at = {key: got[key][0].astype(np.int64) for key in ANSWERS}
    assert len(at["wrong"]) == 0

    # Each frame's fate.
    kind = (word["fates"] >> np.uint64(56)).astype(int)
    expected = np.select(
        [bad, given.lengths > MAX_BYTES, given.lengths < MIN_BYTES], [BAD, OVERSIZED, RUNT], TAKEN
    )
    assert (kind == expected).all()
    taken = kind == TAKEN

    # Each look-up, with the draws of the ACKs between them.
    asked = word["lookups"] >> np.uint64(63) == 1
    events = np.unique(np.concatenate([at["lookups"], ack_clocks]))
    is_lookup, is_ack = np.zeros(len(events), bool), np.zeros(len(events), bool)
    flows, acked = np.zeros(len(events), np.uint32), np.zeros(len(events), np.uint32)
    where = np.searchsorted(events, at["lookups"][asked])
    is_lookup[where] = True
    flows[where] = (word["lookups"][asked] & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    where = np.searchsorted(events, ack_clocks)
    is_ack[where] = True
    acked[where] = ack_flows
    table = HardwareFlowAssociation(64, probability, timeout, False, SEED)
    rows = np.frombuffer(
        table.on_clocks(
            events.tolist(), is_ack.tolist(), acked.tolist(), is_lookup.tolist(), flows.tolist()
        ),
        np.uint32,
    ).reshape(-1, 10)
    found = rows[is_lookup, 2] == 1
    assert (word["answered"] == found).all()
    ok = word["lookups"][asked] >> np.uint64(62) & np.uint64(1) == 1
    paced = (found & ok)[taken]

    # Each offer to the pacer and its answer, then each departure.
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
    pacer = HardwarePacer(config, CLOCK_PS, START)
    answers, releases = pacer.in_nic(
        (at["offers"] + DECISION - ZERO).tolist(),
        sizes.tolist(),
        (word["offers"] >> np.uint64(63) == 1).tolist(),
        (np.maximum(head + HEAD, line - 1) - ZERO).tolist(),
    )
    assert admission.tolist() == answers
    assert (released - ANSWER - ZERO).tolist() == releases
    decisions = admission[final]
    assert len(released) == int((decisions == QUEUED).sum())

    # What leaves: the frames that pass and those that were queued, each in order, and no other.
    data, keep, last = frames.recorded(got["out"][1], WIDTH)
    ends = np.flatnonzero(last)
    starts = np.concatenate([[0], ends[:-1] + 1])
    numbers = np.flatnonzero(taken)
    ways = {way: iter(numbers[decisions == way]) for way in (PASS, QUEUED)}
    heads = {way: next(ways[way], None) for way in ways}
    for start, end in zip(starts, ends, strict=True):
        length = WIDTH * (end - start) + int(keep[end, 0]).bit_count()
        frame = data[start : end + 1].reshape(-1)[:length]
        for way in (QUEUED, PASS):
            number = heads[way]
            if (
                number is not None
                and length == given.lengths[number]
                and (frame == given.octets[number, :length]).all()
            ):
                heads[way] = next(ways[way], None)
                break
        else:
            raise AssertionError(f"frame {start} to {end} should not leave here")
    assert heads == {PASS: None, QUEUED: None}
    waits = np.cumsum(np.where(admission == QUEUED, sizes, 0))
    gone = np.concatenate([[0], np.cumsum(sizes[admission == QUEUED])])
    left = gone[np.searchsorted(released, at["admissions"], "left")]
    return {
        "most bytes waiting": int((waits - left).max()),
        "passed": int((decisions == PASS).sum()),
        "passed, paced": int((paced & (decisions == PASS)).sum()),
        "queued": len(released),
        "dropped": int((decisions == DROPPED).sum()),
        "held": int((~final).sum()),
        "bad": int((~taken).sum()),
    }


@pytest.mark.parametrize(
    ("when_full", "load", "stall"), [("drop", 0.5, 0), ("bypass", 0.5, 60), ("hold", 0.3, 30)]
)
def test_random_frames(folder: Path, when_full: str, load: float, stall: int) -> None:
    config = {**CONFIG, "when_full": when_full}
    seen = check(folder, when_full, config, load, stall, 40_000)
    print(when_full, seen)
    never = {"drop": ["held"], "bypass": ["dropped", "held"], "hold": ["dropped"]}[when_full]
    assert all((count > 0) != (kind in never) for kind, count in seen.items()), seen


def test_memory_that_is_smaller_than_its_limit_holds_the_host(folder: Path) -> None:
    """The pacer's FIFO may hold 24,000 bytes, its memory of 16 KiB cannot: nothing is lost."""
    config = {**CONFIG, "fifo_bytes": 24_000, "max_rate_bps": 200_000_000}
    seen = check(
        folder, "small_memory", {**config, "initial_rate_bps": 200_000_000}, 0.5, 0, 10_000
    )
    # Five frames of 180 bytes and the places of rounded lengths stay free.
    assert 13_000 < seen["most bytes waiting"] < 16_384, seen
    assert seen["queued"] > 500
    assert seen["dropped"] == 0, seen

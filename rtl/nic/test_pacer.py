"""The pacer in hardware against hull-core: vectors, a million random packets, edge cases."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hull_reference import HardwarePacer, Pacer

from bench.pacer_episodes import (
    ANSWER,
    CLOCK_PS,
    DECISION,
    DROPPED,
    HELD,
    PASS,
    QUEUED,
    SETTINGS,
    START,
    Config,
    Episode,
    Packets,
    check_model,
    check_properties,
    paid_passes,
    play,
)
from bench.simulation import build

SOURCES = [
    "nic/packet_tokens.sv",
    "nic/rate_filter.sv",
    "nic/pacer.sv",
    "bench/player.sv",
    "bench/recorder.sv",
    "bench/pacer_bench.sv",
]
VECTORS = Path(__file__).parents[2] / "tests" / "vectors"

TESTBED: Config = {
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
TICKS = {"token_tick_ps": 16_000_000, "rate_step_bps": 500_000}
CONSTANT = {"eta": 0, "beta": 0}


@pytest.fixture(scope="module")
def folder() -> Path:
    return build("pacer_bench", SOURCES)


def vectors(name: str) -> list[dict]:
    return json.loads((VECTORS / f"{name}.json").read_text())["vectors"]


def shortened(steps: list[dict], interval_ps: int) -> list[dict]:
    """Cuts pauses above 20 ms by a whole number of T_r to at least 10 ms: `long_idle` has one of
    100 s, which is 12.5 billion clocks. The rate reaches its minimum after 3 ms.
    """
    cut = last = 0
    out = []
    for step in steps:
        now = step["in"].get("t_ps", last)
        if now - last > 20_000_000_000:
            cut += (now - last - 10_000_000_000) // interval_ps * interval_ps
        last = now
        out.append({**step, "in": {**step["in"], "t_ps": now - cut}})
    return out


@dataclass
class Recorded:
    """A vector as an episode; its admissions, and its departures through the FIFO (ps)."""

    name: str
    episode: Episode
    admissions: list[str]
    rates: list[int]
    departures: list[int]
    shift_ps: int


def recorded(vector: dict) -> Recorded:
    """Decides each packet in the step of its time, or two clocks after the previous packet."""
    config = dict(vector["config"])
    start_ps = config.pop("start_ps")
    interval_ps = config["update_interval_ps"]
    # A whole number of T_r and of ticks, which leaves time to start.
    shift_ps = interval_ps
    steps = shortened(vector["steps"], interval_ps)
    admits = [step for step in steps if step["in"]["op"] == "admit"]
    clocks: list[int] = []
    for step in admits:
        clock = (step["in"]["t_ps"] + shift_ps) // CLOCK_PS // 2 * 2 - DECISION
        clocks.append(max(clock, clocks[-1] + 2) if clocks else clock)
    packets = Packets.of(
        clocks, [s["in"]["bytes"] for s in admits], [s["in"]["paced"] for s in admits]
    )
    episode = Episode(config, (start_ps + shift_ps) // CLOCK_PS // 2 * 2, packets)
    departures = [s["in"]["t_ps"] + shift_ps for s in steps if s["out"].get("leaves")]
    answers = [s["out"]["admission"] for s in admits]
    rates = [s["out"]["rate_bps"] for s in admits]
    return Recorded(vector["name"], episode, answers, rates, departures, shift_ps)


@pytest.fixture(scope="module")
def played_vectors(folder: Path) -> dict[str, Recorded]:
    all_of_them = [recorded(vector) for vector in vectors("pacer")]
    play(folder, "vectors", [each.episode for each in all_of_them])
    return {each.name: each for each in all_of_them}


@pytest.mark.parametrize("name", [vector["name"] for vector in vectors("pacer")])
def test_recorded_vectors(played_vectors: dict[str, Recorded], name: str) -> None:
    """Hardware and hardware form agree bit-exactly on each recorded vector. Admissions also equal
    the recorded ones, as do departures except for the delay added by steps and by the rate
    update.
    """
    vector = played_vectors[name]
    check_model(vector.episode)
    got = vector.episode.got
    assert got is not None
    names = ["pass", "queued", "dropped", "held"]
    assert [names[admission] for admission in got.admission] == vector.admissions
    late = got.release_clocks * CLOCK_PS - np.array(vector.departures, np.int64)
    config = vector.episode.config
    constant = config["eta"] == 0 and config["beta"] == 0
    delay = 0 if constant else HardwarePacer.RATE_DELAY
    # Simultaneous packets are handed over two clocks apart; a departure falls in the next step; and
    # in these vectors a delayed rate update shifts departures by no more than its delay.
    assert (np.abs(late) <= (delay + 6) * CLOCK_PS).all(), late
    if constant:
        assert (late == 0).all(), late


def test_reference_reproduces_the_vectors() -> None:
    """The simulator's form, through the interface of these tests, reproduces the vectors."""
    for vector in vectors("pacer"):
        config = dict(vector["config"])
        pacer = Pacer(config, config.pop("start_ps"))
        for step in vector["steps"]:
            asked, out = step["in"], step["out"]
            if asked["op"] == "admit":
                got = pacer.admit(asked["t_ps"], asked["bytes"], asked["paced"])
                assert got == out["admission"]
            elif asked["op"] == "poll":
                assert pacer.poll(asked["t_ps"], asked["head_bytes"]) == out["leaves"]
            else:
                assert pacer.next_wake_ps(asked["head_bytes"]) == out["t_ps"]
            assert (pacer.rate_bps(), pacer.backlog_bytes()) == (
                out["rate_bps"],
                out["backlog_bytes"],
            )


def test_constant_rates_of_the_linux_form(folder: Path) -> None:
    """The `departure_pacer` vectors belong to the Linux form, which fixes departure times when
    packets arrive: later rates do not change them, and tokens are rounded to ns. Only the vector
    with a constant rate applies to the hardware: decisions and departures agree. It offers a
    packet at the instant of a departure, when the room is already free; the hardware frees it a
    few clocks later.
    """
    tried = []
    for vector in vectors("departure_pacer"):
        config = dict(vector["config"])
        if config["eta"] or config["beta"]:
            continue
        if max(step["in"]["bytes"] for step in vector["steps"]) >= 1 << 14:
            continue  # `larger_than_bucket`: 65,000 bytes are no frame; only Linux sees them.
        config |= {"update_interval_ps": config.pop("update_interval_ns") * 1000}
        config |= {"rate_step_bps": 0, "token_tick_ps": 0}
        shift = config["update_interval_ps"] // CLOCK_PS
        clocks: list[int] = []
        for step in vector["steps"]:
            clock = shift + step["in"]["t_ns"] * 1000 // CLOCK_PS // 2 * 2 - DECISION
            clock += 8 if step["in"]["t_ns"] else 0
            clocks.append(max(clock, clocks[-1] + 2) if clocks else clock)
        packets = Packets.of(
            clocks,
            [step["in"]["bytes"] for step in vector["steps"]],
            [step["in"]["paced"] for step in vector["steps"]],
        )
        episode = Episode(config, shift, packets)
        play(folder, f"linux-{vector['name']}", [episode])
        check_model(episode)
        got = episode.got
        assert got is not None
        left_ns = [step["out"]["departure_ns"] for step in vector["steps"]]
        at_ns = [step["in"]["t_ns"] for step in vector["steps"]]
        later = [left for left, at in zip(left_ns, at_ns, strict=True) if left not in (None, at)]
        late_ps = (got.release_clocks - shift) * CLOCK_PS - np.array(later) * 1000
        assert ((late_ps >= 0) & (late_ps <= 4 * CLOCK_PS)).all()
        assert [a == DROPPED for a in got.admission] == [left is None for left in left_ns]
        tried.append(vector["name"])
    assert tried == ["full_fifo"]


# Mean packet gap in clocks, largest packet, whether a held packet is offered again, settings.
MIXES: dict[str, tuple[int, int, bool, Config]] = {
    "fast": (4, 1514, False, {"max_rate_bps": 10**12, "update_interval_ps": 2_400_000}),
    "testbed": (12, 1514, False, {}),
    "ticks, bypass": (12, 1514, False, {**TICKS, "when_full": "bypass"}),
    "hold": (
        4, 1514, True,
        {"max_rate_bps": 6 * 10**10, "min_rate_bps": 3 * 10**10, "when_full": "hold"},
    ),
    "odd tick": (
        6, 1514, False,
        {"max_rate_bps": 2 * 10**11, "token_tick_ps": 24_000, "update_interval_ps": 7_200_000},
    ),
    "long tick": (
        6, 1514, False,
        {**TICKS, "max_rate_bps": 4 * 10**10, "bucket_bytes": 20_000, "fifo_bytes": 40_000},
    ),
    "odd interval": (
        6, 1514, False,
        {"max_rate_bps": 10**11, "update_interval_ps": 2_408_000, "eta": 65_536, "beta": 1 << 22},
    ),
    "packets above the bucket": (
        8, 1514, False,
        {**CONSTANT, "max_rate_bps": 10**11, "initial_rate_bps": 7 * 10**10, "bucket_bytes": 1_000},
    ),
    "jumbo": (
        8, 9000, False,
        {"max_rate_bps": 4 * 10**11, "fifo_bytes": 16_000, "when_full": "bypass",
         "update_interval_ps": 2_400_000},
    ),
    "large bucket": (
        4, 1514, False,
        {"max_rate_bps": 10**11, "bucket_bytes": 1_000_000, "fifo_bytes": 400_000,
         "update_interval_ps": 5_000_000, "beta": 1 << 16},
    ),
    "held by a small FIFO": (
        4, 1514, True,
        {"max_rate_bps": 10**11, "min_rate_bps": 5 * 10**10, "fifo_bytes": 2_000,
         "when_full": "hold", "update_interval_ps": 2_400_000},
    ),
    "large steps": (
        5, 1514, False,
        {"max_rate_bps": 10**12, "rate_step_bps": 4_000_000_000, "beta": (1 << 32) - 1,
         "update_interval_ps": 2_400_000},
    ),
    "tick of a clock": (
        5, 600, False,
        {"max_rate_bps": 10**12, "rate_step_bps": 2_999_999, "token_tick_ps": 8_000,
         "update_interval_ps": 2_056_000},
    ),
}  # fmt: skip
PACKETS_OF_A_MIX = 57_000
MILLION = 1_000_000


def random_episode(seed: int, count: int, mix: tuple[int, int, bool, Config]) -> Episode:
    """Trains, pauses, and a few pauses long enough for the rate to reach its minimum."""
    gap, most, again, over = mix
    config = {**TESTBED, **over}
    draw = np.random.default_rng(seed)
    pause = draw.exponential(gap * 2.0, count)
    gaps = np.where(draw.random(count) < 0.5, draw.integers(1, 9, count), pause)
    gaps = gaps.astype(np.int64) + 1
    interval = int(config["update_interval_ps"]) // CLOCK_PS
    gaps[draw.integers(0, count, 4)] += draw.integers(1, 30 * interval, 4)
    start = 200 + 2 * int(draw.integers(0, 5000))
    packets = Packets(
        clocks=start + np.cumsum(gaps),
        bytes=np.where(draw.random(count) < 0.4, most, draw.integers(1, most + 1, count)),
        paced=draw.random(count) < draw.choice([0.6, 0.9]),
        line=np.where(draw.random(count) < 0.7, 0, draw.integers(0, 12, count)),
        delay=np.where(draw.random(count) < 0.7, 0, draw.integers(0, 12, count)),
    )
    return Episode(config, start, packets, again)


def measured_saturates() -> Episode:
    """M_r saturates: more than 2^32 bytes within a T_r of 2^20 clocks; later packets expose the
    rate.
    """
    count = 263_000
    clocks = np.concatenate([300 + 2 * np.arange(count), (1 << 20) + 400 + 20 * np.arange(50)])
    none = np.zeros(len(clocks), np.int64)
    paced = np.arange(len(clocks)) >= count
    packets = Packets(clocks, np.where(paced, 1500, 16_383), paced, none, none)
    config = {**TESTBED, "max_rate_bps": 10**12, "update_interval_ps": CLOCK_PS << 20}
    return Episode(config, 200, packets)


BRANCHES = [
    "unpaced pass", "pass with tokens", "queued", "dropped", "bypassed", "held", "released",
    "tokens below zero", "packet and release in a step", "smallest rate", "largest rate",
    "rate between", "ticks", "steps of the rate",
]  # fmt: skip


def coverage(episode: Episode) -> Counter[str]:
    got, config = episode.got, episode.config
    assert got is not None
    paid = paid_passes(episode)
    packet = np.cumsum(got.admission != HELD) - (got.admission != HELD)
    paced = episode.packets.paced.astype(bool)[packet]
    passed = got.admission == PASS
    numbers = [
        passed & ~paced, paid, got.admission == QUEUED, got.admission == DROPPED,
        passed & paced & ~paid, got.admission == HELD, got.release_clocks > 0, got.negative,
        np.isin(got.clocks, got.release_clocks), got.rates == config["min_rate_bps"],
        got.rates == config["max_rate_bps"],
        (got.rates > config["min_rate_bps"]) & (got.rates < config["max_rate_bps"]),
        got.clocks > (0 if config["token_tick_ps"] else 1 << 60),
        got.rates > (0 if config["rate_step_bps"] else 1 << 60),
    ]  # fmt: skip
    return Counter({name: int(hits.sum()) for name, hits in zip(BRANCHES, numbers, strict=True)})


def test_a_million_random_packets(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both forms agree on decisions, clocks, rates and backlogs; the invariants hold."""
    episodes = [
        random_episode(seed, PACKETS_OF_A_MIX, mix) for seed, mix in enumerate(MIXES.values())
    ]
    episodes.append(measured_saturates())
    assert sum(len(episode.packets.bytes) for episode in episodes) >= MILLION
    counts = play(folder, "random", episodes)
    covered: Counter[str] = Counter()
    for episode in episodes:
        check_model(episode)
        check_properties(episode)
        covered.update(coverage(episode))
    high, low = (int(word) for word in counts)
    mask = (1 << 32) - 1
    assert [high >> 32, high & mask, low >> 32, low & mask] == episodes[-1].pacer.counts()
    with capsys.disabled():
        print("\npacer, branches covered:", dict(covered))
    assert all(covered[branch] for branch in BRANCHES), covered


def train(count: int, start: int = 300, gap: int = 10, size: int = 1500) -> Packets:
    """Paced packets."""
    clocks = [start + gap * i for i in range(count)]
    return Packets.of(clocks, [size] * count, [True] * count)


BAD: dict[str, Mapping[str, int]] = {
    "T_r 0": {"update_interval": 0},
    "T_r 1": {"update_interval": 1},
    "T_r shorter than the update": {"update_interval": 100},
    "eta above 1": {"eta": 0x1FFFF},
    "gain at its end": {"gain": (1 << 56) - 1},
    "max below min": {"max_rate_bps": 10**9, "min_rate_bps": 10**10},
    "bucket 0": {"bucket_bytes": 0},
    "FIFO 0": {"fifo_bytes": 0},
    "FIFO 0, hold": {"fifo_bytes": 0, "when_full": 2},
    "unknown policy": {"when_full": 3, "fifo_bytes": 3000},
    "rate 0": {"max_rate_bps": 0, "min_rate_bps": 0},
    "all ones": dict.fromkeys(SETTINGS[:11], (1 << 64) - 1),
    "all zeros": dict.fromkeys(SETTINGS[:11], 0),
}


@pytest.fixture(scope="module")
def played_bad(folder: Path) -> dict[str, Episode]:
    """Episodes of 40 packets; the pacer is disabled at clock 100,000, and 5 packets follow."""
    config = {**TESTBED, "max_rate_bps": 10**10, "initial_rate_bps": 10**10}
    config |= {"min_rate_bps": 10**9}
    clocks = [300 + 40 * i for i in range(40)] + [110_000 + 40 * i for i in range(5)]
    episodes = {}
    for name, over in BAD.items():
        packets = Packets.of(clocks, [1500] * len(clocks), [True] * len(clocks))
        again = over.get("when_full") == 2
        later = [(100_000, "enable", 0)]
        episodes[name] = Episode(config, 200, packets, again, over, later, clocks=120_000)
    play(folder, "bad", list(episodes.values()))
    return episodes


@pytest.mark.parametrize("name", BAD)
def test_never_hangs(played_bad: dict[str, Episode], name: str) -> None:
    """With any settings each packet gets a decision and queued packets leave: at a rate of zero
    once the pacer is disabled, otherwise before.
    """
    got = played_bad[name].got
    assert got is not None
    assert (got.admission != HELD).sum() == 45
    assert len(got.release_clocks) == (got.admission == QUEUED).sum()
    assert got.backlog[-1] == 0
    assert (got.admission[-5:] == PASS).all(), "disabled, nothing is paced"
    assert name == "rate 0" or not (got.release_clocks > 100_000).any()


def test_disabled_while_packets_wait(folder: Path) -> None:
    """Queued packets leave in order without tokens; newly arriving paced packets queue behind."""
    packets = train(200, gap=20)
    config = {**TESTBED, **CONSTANT, "initial_rate_bps": 500_000}
    off = 1_500
    later = [(off, "enable", 0), (off + 4_000, "enable", 1)]
    episode = Episode(config, 200, packets, later=later, clocks=7_000)
    play(folder, "disabled", [episode])
    got = episode.got
    assert got is not None
    assert (got.admission[:2] == PASS).all()
    assert not (got.release_clocks < off).any(), "24 ms a packet"
    while_off = got.clocks > off + 20
    assert QUEUED in got.admission[while_off], "not ahead of queued packets"
    assert got.admission[-1] == PASS, "after the queue drains"
    assert len(got.release_clocks) == (got.admission == QUEUED).sum()
    assert got.rate_clocks[-1] == off + 4_000 + START + 2, "started again"


def test_busy_line_fills_the_fifo(folder: Path) -> None:
    """While the line is busy the FIFO fills and drops; all packets leave once it is free."""
    packets = train(120, gap=10)
    later = [(210, "line_off", 1), (40_000, "line_off", 0)]
    config = {**TESTBED, "max_rate_bps": 10**10, "initial_rate_bps": 10**10}
    episode = Episode(config, 200, packets, later=later, clocks=140_000)
    play(folder, "line", [episode])
    got = episode.got
    assert got is not None
    assert got.backlog.max() == 127_500
    assert (got.admission == DROPPED).sum() > 0
    assert got.release_clocks.min() > 40_000 - ANSWER
    assert len(got.release_clocks) == (got.admission == QUEUED).sum() == 85


def test_next_update_uses_a_changed_setting(folder: Path) -> None:
    packets = train(100, gap=300)
    later = [(20_000, "max_rate_bps", 300_000_000), (50_000, "enable", 0)]
    episode = Episode(TESTBED, 200, packets, later=later, clocks=60_000)
    play(folder, "change", [episode])
    got = episode.got
    assert got is not None
    update = 24_000 + HardwarePacer.RATE_DELAY
    assert got.rate_at(np.array([update - 2]))[0] > 300_000_000
    assert got.rate_at(np.array([update]))[0] == 300_000_000
    assert len(got.release_clocks) == (got.admission == QUEUED).sum()

"""The ECN marker against a reference that recomputes the full checksum."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from bench import frames
from bench.frames import Beats, Frames
from bench.simulation import build
from bench.tape import playback

SOURCES = [
    "switch/ecn_marker.sv",
    "bench/player.sv",
    "bench/recorder.sv",
    "bench/ecn_marker_bench.sv",
]
# Clocks from the offer of a beat to its departure, by stream width in bits.
LATENCY = {64: 10, 128: 8, 256: 6, 512: 5}
# A million in total.
COUNTS = {64: 400_000, 128: 200_000, 256: 200_000, 512: 200_000}
LAST, USER, MARK, RESET = 1, 2, 4, 8
QUIET = 1_000


@pytest.fixture(scope="module", params=sorted(LATENCY))
def bits(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def folder(bits: int) -> Path:
    return build("ecn_marker_bench", SOURCES, {"DATA_BITS": bits})


@dataclass
class Verdict:
    """The reference's result for each frame."""

    frames: Frames
    ect: np.ndarray
    ce: np.ndarray
    marked: np.ndarray
    kinds: dict[str, np.ndarray]
    truncated: np.ndarray


def rule(given: Frames, mark: np.ndarray) -> Verdict:
    """Sets CE where required and recomputes the IPv4 checksum over the whole header. A wrong
    checksum stays wrong by the same amount.
    """
    octets = given.octets.copy()
    start = np.full(len(given), 14)
    tags = np.zeros(len(given), int)
    for _ in range(2):
        tagged = np.isin(frames.get(octets, start - 2), [0x8100, 0x88A8])
        start += np.where(tagged, 4, 0)
        tags += tagged
    rows = np.arange(len(given))
    ether_type = frames.get(octets, start - 2)
    version, ihl = octets[rows, start] >> 4, octets[rows, start] & 15
    ipv4 = (ether_type == 0x0800) & (version == 4) & (ihl >= 5)
    ipv6 = (ether_type == 0x86DD) & (version == 6)
    needed = start + np.where(ipv6, 40, 12)
    complete = (ipv4 | ipv6) & (given.lengths >= needed)
    traffic_class = np.where(
        ipv6, frames.get(octets, start) >> 4 & 0xFF, octets[rows, start + 1].astype(int)
    )
    ecn = np.where(complete, traffic_class & 3, 0)
    marked = mark & ((ecn == 1) | (ecn == 2))

    words = 2 * ihl.astype(int)
    before = frames.header_sum(octets, start, words)
    octets[rows, start + 1] |= np.where(marked, np.where(ipv6, 0x30, 0x03), 0).astype(np.uint8)
    after = frames.header_sum(octets, start, words)
    old = frames.get(octets, start + 10)
    right = old == ~before & 0xFFFF
    # For a wrong checksum: one's-complement subtraction of the difference of the sums.
    moved = ~frames.fold((~old & 0xFFFF) + after + (~before & 0xFFFF)) & 0xFFFF
    sums = np.where(right, ~after & 0xFFFF, moved)
    changed = marked & ipv4
    frames.put(octets, start + 10, np.where(changed, sums, old))
    off_word = given.lengths < start + 2 * words
    kinds = {
        **{
            f"{name} marked behind {n} tags": marked & which & (tags == n)
            for name, which in (("IPv4", ipv4), ("IPv6", ipv6))
            for n in range(3)
        },
        "options": changed & (ihl > 5),
        "checksum wrong": changed & ~right,
        "checksum borrows": changed & right & (old < 2) & (sums > 0xFFF0),
        "options truncated": changed & off_word,
        "ECT(0)": marked & (ecn == 2),
        "ECT(1)": marked & (ecn == 1),
        "already CE": mark & (ecn == 3),
        "not ECN-capable": mark & complete & (ecn == 0),
        "capable, not to mark": ~mark & (ecn > 0),
        "IPv4 truncated by 1": ipv4
        & (given.lengths == needed - 1)
        & mark
        & (traffic_class & 3 == 1),
        "IPv6 truncated by 1": ipv6
        & (given.lengths == needed - 1)
        & mark
        & (traffic_class & 3 == 1),
        "IPv4 just complete": changed & (given.lengths == needed),
        "IPv6 just complete": marked & ipv6 & (given.lengths == needed),
        "three tags": (tags == 2) & np.isin(ether_type, [0x8100, 0x88A8]),
        "wrong version": (ether_type == 0x0800) & (version != 4)
        | (ether_type == 0x86DD) & (version != 6),
        "IHL below 5": (ether_type == 0x0800) & (version == 4) & (ihl < 5),
        "shorter than a MAC header": given.lengths < 14,
    }
    truncated = (ipv4 | ipv6) & ~complete & (given.lengths >= start + 2)
    return Verdict(Frames(octets, given.lengths), ecn > 0, ecn == 3, marked, kinds, truncated)


@dataclass
class Answer:
    clocks: np.ndarray
    data: np.ndarray
    keep: np.ndarray
    flags: np.ndarray
    report_clocks: np.ndarray
    reports: np.ndarray


def play(
    folder: Path,
    name: str,
    clocks: np.ndarray,
    beats: Beats,
    flags: np.ndarray,
    stalls: bytes = b"",
) -> Answer:
    width = beats.data.shape[1]
    words = -(-(width * 8 + width + 2) // 64)
    got = playback(
        folder,
        name,
        {"stimulus": frames.tape(clocks, beats, flags), "stalls": stalls},
        {"answers": words, "reports": 1},
    )
    data, keep, above = frames.recorded(got["answers"][1], width)
    return Answer(got["answers"][0], data, keep, above, got["reports"][0], got["reports"][1][:, 0])


def flags_of(
    rng: np.random.Generator, beats: Beats, mark: np.ndarray, bad: np.ndarray
) -> np.ndarray:
    """tlast; tuser at tlast; the mark on the first beat, and any value on the others."""
    marks = np.where(beats.first(), mark[beats.frame], rng.random(len(beats)) < 0.5)
    return LAST * beats.last + USER * (beats.last & bad[beats.frame]) + MARK * marks


def check(answer: Answer, verdict: Verdict, bad: np.ndarray, width: int) -> None:
    expected = verdict.frames.beats(width)
    assert len(answer.data) == len(expected)
    assert (
        answer.flags == LAST * expected.last + USER * (expected.last & bad[expected.frame])
    ).all()
    assert (answer.keep == expected.keep).all()
    wrong = np.flatnonzero((answer.data != expected.data).any(axis=1))
    assert not len(wrong), f"beat {wrong[0]} of frame {expected.frame[wrong[0]]}"
    reports = (
        np.where(verdict.ect, 4, 0) + np.where(verdict.ce, 2, 0) + np.where(verdict.marked, 1, 0)
    )
    assert (answer.reports == reports.astype(np.uint64)).all()


def stall_tape(rng: np.random.Generator, until: int, quiet: int) -> bytes:
    """No stalls in the first `quiet` clocks, then periods of stalls with several probabilities."""
    clocks = quiet + np.cumsum(rng.integers(20, 400, max(1, until // 200)))
    levels = rng.choice([0, 0, 0, 40, 128, 230, 255], len(clocks)).astype(np.uint8)
    return np.concatenate(
        [clocks.astype(">u8")[:, None].view(np.uint8), levels[:, None]], axis=1
    ).tobytes()


def test_random_frames(folder: Path, bits: int) -> None:
    """A million frames over all widths: one quarter without stalls and gaps, the rest with both."""
    rng = np.random.default_rng(bits)
    width = bits // 8
    given = frames.random_frames(rng, COUNTS[bits])
    mark, bad = rng.random(len(given)) < 0.75, rng.random(len(given)) < 0.1
    verdict = rule(given, mark)
    beats = given.beats(width)
    quiet = len(beats) // 4
    pauses = rng.choice([1, 1, 2, 5], len(beats) // 64 + 1).repeat(64)[: len(beats)]
    gaps = np.where(np.arange(len(beats)) < quiet + 100, 1, rng.integers(1, pauses + 1))
    clocks = 10 + np.cumsum(gaps)
    flags = flags_of(rng, beats, mark, bad)
    answer = play(
        folder, "random", clocks, beats, flags, stall_tape(rng, int(clocks[-1]), quiet + 100)
    )
    check(answer, verdict, bad, width)
    latency = answer.clocks[:quiet].astype(np.int64) - clocks[:quiet]
    assert (latency == LATENCY[bits]).all()
    covered = {name: int(which.sum()) for name, which in verdict.kinds.items()}
    print(f"{bits} bits, {len(given)} frames, {len(beats)} beats:", covered)
    assert min(covered.values()) > 20


def test_every_checksum() -> None:
    """Each value of a correct checksum, with ECT(0) and ECT(1)."""
    folder = build("ecn_marker_bench", SOURCES, {"DATA_BITS": 512})
    count = 1 << 16
    octets = np.zeros((2 * count, 128), np.uint8)
    start = np.full(2 * count, 14)
    frames.put(octets, start - 2, 0x0800)
    frames.put(octets, start, 0x4500 + np.repeat([1, 2], count))
    wanted = np.tile(np.arange(count), 2)
    fill = frames.fold(
        (~wanted & 0xFFFF) + (~frames.header_sum(octets, start, start * 0 + 10) & 0xFFFF)
    )
    frames.put(octets, start + 4, fill)
    frames.put(octets, start + 10, wanted)
    given = Frames(octets, np.full(2 * count, 60))
    yes = np.ones(2 * count, bool)
    verdict = rule(given, yes)
    beats = given.beats(64)
    answer = play(folder, "checksums", 10 + np.arange(len(beats)), beats, LAST * beats.last + MARK)
    check(answer, verdict, ~yes, 64)
    assert verdict.marked.all()
    octets = np.pad(answer.data, ((0, 0), (0, 64)))
    total = frames.header_sum(octets, start, start * 0 + 10) + frames.get(octets, start + 10)
    assert (frames.fold(total) == 0xFFFF).all()


def scapy_frames() -> tuple[list[bytes], list[bytes], list[bool]]:
    """Frames from scapy, and the same with ECN field 3 in place of 1 or 2."""
    from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP, IPOption_Timestamp
    from scapy.layers.inet6 import IPv6
    from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
    from scapy.packet import Raw

    given, marked, mark = [], [], []
    # Given addresses, scapy does not resolve them on a network.
    ether = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    layers2 = [
        ether,
        ether / Dot1Q(vlan=5),
        ether / Dot1AD(vlan=6),
        ether / Dot1AD(vlan=7) / Dot1Q(vlan=8),
        ether / Dot1Q(vlan=7) / Dot1Q(vlan=8, prio=3),
    ]
    payloads = [TCP(dport=80), UDP(dport=53), ICMP()]
    rng = np.random.default_rng(3)
    for number in range(480):
        layer2 = layers2[number % 5]
        ecn = int(rng.integers(4))
        rest = payloads[number % 3] / Raw(rng.bytes(int(rng.integers(10, 90))))
        tos = int(rng.integers(64)) << 2

        def ip(ecn: int, number: int = number, tos: int = tos) -> object:
            options = [IPOption_NOP()] * (number % 3) + [IPOption_Timestamp()] * (number % 7 == 0)
            if number % 4 == 3:
                return IPv6(tc=tos | ecn, fl=number, src="fe80::1", dst=f"fe80::{number + 2:x}")
            ends = {"src": "10.0.0.1", "dst": "10.0.0.2"}
            return IP(tos=tos | ecn, id=number * 131, options=options, **ends)

        if number % 16 == 15:
            frame = bytes(layer2 / ARP(hwsrc="02:00:00:00:00:01", psrc="10.0.0.1"))
            pair = frame, frame
        else:
            pair = (
                bytes(layer2 / ip(ecn) / rest),
                bytes(layer2 / ip(3 if ecn in (1, 2) else ecn) / rest),
            )
        wanted = bool(rng.random() < 0.8)
        given.append(pair[0])
        marked.append(pair[1] if wanted else pair[0])
        mark.append(wanted)
    return given, marked, mark


def test_scapy_frames(folder: Path, bits: int) -> None:
    """Scapy builds the input frames and, with another ECN field, the expected output."""
    given, expected, mark = scapy_frames()
    beats = frames.of_bytes(given).beats(bits // 8)
    marks = np.array(mark)[beats.frame]
    flags = LAST * beats.last + MARK * marks
    answer = play(folder, "scapy", 10 + np.arange(len(beats)), beats, flags)
    assert (answer.data == frames.of_bytes(expected).beats(bits // 8).data).all()
    changed = sum(a != b for a, b in zip(given, expected, strict=True))
    assert int((answer.reports & np.uint64(1)).sum()) == changed > 100


def joined(parts: list[Beats]) -> Beats:
    return Beats(
        np.concatenate([part.data for part in parts]),
        np.concatenate([part.keep for part in parts]),
        np.concatenate([part.last for part in parts]),
        np.concatenate([np.full(len(part), number) for number, part in enumerate(parts)]),
    )


def short_frame(is_ipv6: bool, ecn: int, size: int) -> bytes:
    """A frame with one VLAN tag; the IPv4 header checksum is wrong."""
    kind, first = (b"\x86\xdd\x60", ecn << 4) if is_ipv6 else (b"\x08\x00\x45", ecn)
    return (bytes(12) + b"\x81\x00\x00\x05" + kind + bytes([first]) + bytes(range(100)))[:size]


def test_stream_stops(folder: Path, bits: int) -> None:
    """The input stops for 1000 clocks after each beat of a marked frame. All accepted beats leave,
    except the beat with the ECN field and later ones while the header is incomplete.
    """
    width = bits // 8
    parts, starts, cases = [], [], []
    clock = 10
    for is_ipv6 in (False, True):
        one = frames.of_bytes([short_frame(is_ipv6, 2, 120)]).beats(width)
        other = frames.of_bytes([short_frame(is_ipv6, 1, 70)]).beats(width)
        ecn_beat, end_beat = 19 // width, (18 + (39 if is_ipv6 else 11)) // width
        for stop in range(1, len(one)):
            cases.append(
                (sum(map(len, parts)) + len(other), stop, ecn_beat < stop <= end_beat, ecn_beat)
            )
            parts += [other, one]
            place = np.arange(len(other) + len(one))
            starts.append(clock + place + np.where(place >= len(other) + stop, QUIET, 0))
            clock = int(starts[-1][-1]) + QUIET
    beats, clocks = joined(parts), np.concatenate(starts)
    answer = play(folder, "stop", clocks, beats, LAST * beats.last + MARK)
    assert (answer.reports == 5).all()
    assert len(answer.data) == len(beats)
    delay = answer.clocks.astype(np.int64) - clocks
    late = np.zeros(len(beats), bool)
    for start, stop, waits, ecn_beat in cases:
        if waits:
            late[start + ecn_beat : start + stop] = True
    assert (delay[~late] == LATENCY[bits]).all()
    assert (delay[late] > QUIET).all()
    assert late.any() == (bits < 512)


def test_reset_in_a_frame(folder: Path, bits: int) -> None:
    """After a reset in mid-frame no more of that frame leaves, and the next frame is whole."""
    width = bits // 8
    given, marked = (frames.of_bytes([short_frame(True, ecn, 90)]).beats(width) for ecn in (2, 3))
    parts, expected, resets = [], [], []
    for stop in range(1, len(given)):
        cut = Beats(given.data[:stop], given.keep[:stop], given.last[:stop], given.frame[:stop])
        resets.append(sum(map(len, parts)) + stop)
        one = Beats(given.data[:1], given.keep[:1], given.last[:1], given.frame[:1])
        parts += [cut, one, given]
        expected.append(marked.data)
    beats = joined(parts)
    flags = LAST * beats.last + MARK
    flags[resets] = RESET
    clocks = 10 + np.arange(len(beats)) + 40 * np.cumsum(beats.first() & (beats.frame % 3 == 0))
    answer = play(folder, "reset", clocks, beats, flags)
    # Only beats accepted at least the pipeline latency before a reset have left.
    assert (answer.reports == 5).all()
    assert len(answer.reports) == len(expected)
    whole = np.flatnonzero(answer.flags & LAST)
    assert len(whole) == len(expected)
    for end, data in zip(whole, expected, strict=True):
        assert (answer.data[end + 1 - len(data) : end + 1] == data).all()
    left = len(answer.data) - sum(map(len, expected))
    assert left == sum(max(0, stop - LATENCY[bits]) for stop in range(1, len(given)))

"""The four-port switch: output ports, frame order, and marking by the queues."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_ecn_marker import rule

from bench import frames
from bench.frames import Frames
from bench.simulation import build, library
from bench.tape import playback

BITS, WIDTH, PACE, PORTS = 64, 8, 8, 4
HOSTS = 12
LEARNT = 4_000


@pytest.fixture(scope="module")
def folder() -> Path:
    return build("hull_switch_bench", library("hull_switch"))


def address(host: int) -> bytes:
    return bytes([2, 0, 0, 0, 7, host])


def traffic(
    rng: np.random.Generator, port: int, count: int, receivers: list[int], gap: int
) -> tuple[Frames, np.ndarray, np.ndarray]:
    """Frames of the hosts behind a port, starting with one broadcast per host; the clocks of their
    beats; and their receivers.
    """
    hosts = [host for host in range(HOSTS) if host % PORTS == port]
    made, to = [], []
    for host in hosts:
        made.append(b"\xff" * 6 + address(host) + b"\x88\xb5" + bytes([port, host]) + bytes(44))
        to.append(-1)
    others = [receiver for receiver in receivers if receiver % PORTS != port]
    for number in range(count if others else 0):
        host = int(rng.choice(hosts))
        receiver = int(rng.choice(others))
        # Whole beats, so that a busy output sends one byte per clock.
        length = 8 * int(rng.integers(6, 22)) + 2
        packet = bytearray(rng.integers(0, 256, length, np.uint8).tobytes())
        packet[0:2] = bytes([0x45, 0x02])
        packet[4:8] = number.to_bytes(3, "big") + bytes([port])
        made.append(address(receiver) + address(host) + b"\x08\x00" + bytes(packet))
        to.append(receiver)
    given = frames.of_bytes(made)
    beats = -(-given.lengths // WIDTH)
    # One byte per clock, as on a link of an eighth of the bus rate, and a gap between frames.
    starts = 200 + 31 * port + np.concatenate([[0], np.cumsum(beats[:-1] * PACE + gap)])
    starts[len(hosts) :] += LEARNT
    places = np.arange(beats.sum()) - np.repeat(np.cumsum(beats) - beats, beats)
    return given, np.repeat(starts, beats) + PACE * places, np.array(to)


def run(folder: Path, name: str, receivers: list[int], count: int, gap: int) -> list[float]:
    """All ports send to `receivers`; returns the fraction of frames that each port marked."""
    rng = np.random.default_rng(5)
    sent = [traffic(rng, port, count, receivers, gap) for port in range(PORTS)]
    got = playback(
        folder,
        name,
        {
            f"p{port}": frames.tape(clocks, given.beats(WIDTH), given.beats(WIDTH).last)
            for port, (given, clocks, _) in enumerate(sent)
        },
        {**{f"o{port}": 2 for port in range(PORTS)}, "lost": 1},
        after=400_000,
    )
    assert len(got["lost"][0]) == 0
    shares = []
    for out in range(PORTS):
        data, keep, last = frames.recorded(got[f"o{out}"][1], WIDTH)
        ends = np.flatnonzero(last)
        starts = np.concatenate([[0], ends[:-1] + 1])
        left = [
            bytes(data[a : b + 1].reshape(-1))[: 8 * (b - a) + bin(int(keep[b, 0])).count("1")]
            for a, b in zip(starts, ends, strict=True)
        ]
        marked = unicast = 0
        for port, (given, _, to) in enumerate(sent):
            mine = [
                frame for frame in left if frame[10:11] == b"\x07" and frame[11] % PORTS == port
            ]
            wanted = [
                (number, bytes(given.octets[number, : given.lengths[number]]))
                for number in range(len(to))
                if port != out and (to[number] < 0 or to[number] % PORTS == out)
            ]
            # Exactly the frames for this port, in arrival order.
            assert len(mine) == len(wanted), (out, port)
            both = frames.of_bytes([frame for _, frame in wanted]) if wanted else None
            if both is None:
                continue
            # The reference reads up to the longest possible header.
            both.octets = np.pad(both.octets, ((0, 0), (0, 64)))
            ce = rule(both, np.ones(len(both), bool)).frames
            for number, frame in enumerate(mine):
                as_sent = wanted[number][1]
                if frame != as_sent:
                    assert frame == bytes(ce.octets[number, : ce.lengths[number]]), (
                        out,
                        port,
                        number,
                    )
                    marked += 1
                unicast += to[wanted[number][0]] >= 0
        shares.append(marked / max(unicast, 1))
    return shares


def test_frames_come_out_where_they_should(folder: Path) -> None:
    """Each port sends to the hosts behind the others, a third of each of three links per output.
    With gaps that is some 60% of its rate, below the phantom queue's 95%: under 2% are marked.
    """
    shares = run(folder, "all_to_all", list(range(HOSTS)), 1_500, 100)
    assert all(share < 0.02 for share in shares), shares


def test_an_incast_is_marked(folder: Path) -> None:
    """Three ports send three times the rate of the fourth's link. Its phantom queue drains 0.95
    bytes per clock while one byte leaves, so 20,000 bytes leave before it exceeds 1,000; all later
    frames are marked.
    """
    count = 150
    shares = run(folder, "incast", [0, 4, 8], count, 24)
    marked = 1 - 20_000 / (3 * count * 14 + 3 * count * 8 * 13.5 + 3 * count * 2)
    assert shares[0] == pytest.approx(marked, abs=0.1), shares
    assert shares[1:] == [0, 0, 0], shares

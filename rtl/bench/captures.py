"""Captures of short runs of hull's own scenarios: the frames that left ports of a switch, when
each began to leave, and what the simulator's port did to it.
"""

from __future__ import annotations

import struct
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hull
from bench import frames
from bench.frames import Frames

SCENARIOS = Path(hull.__file__).parent / "scenarios"
INTERFACE, PACKET, NAME = 1, 6, 2
ETHERNET_BYTES = 14
ECN_FIELD, CHECKSUM = 15, 24
"""Offsets in a frame: hull's have no VLAN tag, and are IPv4."""
CE, ECT0 = 3, 2
"""ECN field of IP; hull's ECN-capable packets begin as ECT(0)."""


@dataclass(frozen=True)
class Capture:
    """Frames that left one port, in order.

    `headers` are the frames' first bytes as the simulator wrote them; zeros follow up to
    `lengths`. `starts_ns` is the start of a frame's transmission, rounded down to nanoseconds.
    """

    headers: np.ndarray
    lengths: np.ndarray
    starts_ns: np.ndarray

    def __len__(self) -> int:
        return len(self.lengths)

    def part(self, first: int, count: int) -> Capture:
        """`count` of the frames."""
        these = slice(first, first + count)
        return Capture(self.headers[these], self.lengths[these], self.starts_ns[these])

    @property
    def counted_bytes(self) -> np.ndarray:
        """What the simulator's phantom queue counts: packets without Ethernet's header."""
        return self.lengths - ETHERNET_BYTES

    @property
    def capable(self) -> np.ndarray:
        """Whether a frame is ECN-capable."""
        return self.headers[:, ECN_FIELD] & 3 != 0

    @property
    def marked(self) -> np.ndarray:
        """Whether the simulator set CE."""
        return self.headers[:, ECN_FIELD] & 3 == CE

    def left(self) -> Frames:
        """The whole frames as the simulator wrote them."""
        octets = np.zeros((len(self), -(-int(self.lengths.max()) // 64) * 64), np.uint8)
        octets[:, : self.headers.shape[1]] = self.headers[:, : octets.shape[1]]
        return Frames(octets, self.lengths)

    def came(self) -> Frames:
        """The whole frames before the port marked them: ECT(0) for CE, the checksum accordingly."""
        given = self.left()
        octets = given.octets
        octets[self.marked, ECN_FIELD] ^= CE ^ ECT0
        # One less in the word of the ECN field (RFC 1624).
        checksum = frames.get(octets, CHECKSUM)
        before = ~frames.fold((~checksum & 0xFFFF) + (~CE & 0xFFFF) + ECT0) & 0xFFFF
        at = np.full(len(self), CHECKSUM)
        frames.put(octets, at, np.where(self.marked, before, checksum))
        return given


def scheme_of(scenario: str, scheme: str) -> dict[str, Any]:
    """A scheme of a shipped scenario as a scenario of its own."""
    table = tomllib.loads((SCENARIOS / f"{scenario}.toml").read_text())
    own = table.pop("schemes")[scheme]
    table.pop("sweep", None)
    return merged(table, own)


def merged(table: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """A table with the keys of another one in their places."""
    out = dict(table)
    for key, value in own.items():
        out[key] = merged(out.get(key, {}), value) if isinstance(value, dict) else value
    return out


def captured(
    table: dict[str, Any], ports: str, overrides: list[str], folder: Path
) -> dict[str, Capture]:
    """Run a scenario and capture ports, by their names, from the start of the run.

    No switch before these ports may mark: a mark is then theirs.
    """
    what = f'measure.capture={{ports=["{ports}"]}}'
    result = hull.run(table, folder, seeds=1, jobs=1, force=True, set=[*overrides, what])
    [file] = result.folder.rglob("*.pcapng")
    framing_bytes = int(table["transport"].get("framing", "0B").removesuffix("B"))
    return read(file, framing_bytes, ps_per_byte(table["switch"]["rate"]))


def bits_per_second(rate: str) -> int:
    """A rate such as 950Mbps.

    Raises:
        ValueError: another unit.

    """
    for unit, factor in (("Gbps", 10**9), ("Mbps", 10**6)):
        if rate.endswith(unit):
            return round(float(rate.removesuffix(unit)) * factor)
    raise ValueError(f"{rate}: expected a rate in Gbps or Mbps")


def ps_per_byte(rate: str) -> int:
    """Time of a byte at a rate for which it is a whole number."""
    time, left = divmod(8 * 10**12, bits_per_second(rate))
    assert left == 0, rate
    return time


def read(file: Path, framing_bytes: int, byte_ps: int) -> dict[str, Capture]:
    """The frames of a capture by port.

    The stamp of a frame is when its last bit left, rounded down to a nanosecond; its start
    is earlier by the time of its bytes and of its framing.
    """
    content = file.read_bytes()
    at = 0
    names: list[str] = []
    stamps_ns: list[list[int]] = []
    lengths: list[list[int]] = []
    headers: list[list[bytes]] = []
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        if kind == INTERFACE:
            code, size = struct.unpack_from("<HH", content, at + 16)
            assert code == NAME
            names.append(content[at + 20 : at + 20 + size].decode())
            stamps_ns.append([])
            lengths.append([])
            headers.append([])
        elif kind == PACKET:
            port, high, low, kept, sent = struct.unpack_from("<IIIII", content, at + 8)
            stamps_ns[port].append(high << 32 | low)
            lengths[port].append(sent)
            headers[port].append(content[at + 28 : at + 28 + kept])
        at += length
    found = {}
    for name, stamps, bytes_sent, kept_bytes in zip(
        names, stamps_ns, lengths, headers, strict=True
    ):
        if stamps:
            sizes = np.array(bytes_sent)
            time_ps = (sizes - ETHERNET_BYTES + framing_bytes) * byte_ps
            starts_ns = (np.array(stamps) * 1000 - time_ps) // 1000
            found[name] = Capture(frames.of_bytes(kept_bytes).octets, sizes, starts_ns)
    return found

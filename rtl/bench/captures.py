"""Captures of short runs of hull's own scenarios: the frames that left one port of a switch, when
each began to leave, and what the simulator's port did to it.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hull
from bench import frames
from bench.frames import Frames

SCENARIOS = Path(hull.__file__).parent / "scenarios"
INTERFACE, PACKET = 1, 6
ETHERNET_BYTES = 14
CE, ECT0 = 3, 2
"""ECN field of IP; hull's ECN-capable packets begin as ECT(0)."""


@dataclass(frozen=True)
class Capture:
    """Frames that left a port, in order.

    `came` are the frames as they came to the port: ECT(0) where the simulator wrote CE. `left` are
    the frames as the simulator wrote them. `starts_ns` is the start of their transmission, in whole
    nanoseconds, rounded down. `counted_bytes` is what the simulator's phantom queue counts of each:
    the packet without Ethernet's header.
    """

    came: Frames
    left: Frames
    starts_ns: np.ndarray
    counted_bytes: np.ndarray
    capable: np.ndarray
    marked: np.ndarray

    def __len__(self) -> int:
        return len(self.starts_ns)

    def first(self, count: int) -> Capture:
        """The first `count` frames."""
        return Capture(
            Frames(self.came.octets[:count], self.came.lengths[:count]),
            Frames(self.left.octets[:count], self.left.lengths[:count]),
            self.starts_ns[:count],
            self.counted_bytes[:count],
            self.capable[:count],
            self.marked[:count],
        )


def capture(
    scenario: str, scheme: str, port: str, overrides: list[str], folder: Path
) -> tuple[Capture, dict[str, Any]]:
    """Run one seed of a scheme of a shipped scenario and capture `port` from the start of the run.
    Returns the frames, and the table of the scheme as one scenario.

    No switch before `port` may mark: a mark is then that of this port.
    """
    table = tomllib.loads((SCENARIOS / f"{scenario}.toml").read_text())
    own = table.pop("schemes")[scheme]
    table.pop("sweep", None)
    table = merged(table, own)
    captured = f'measure.capture={{ports=["{port}"],snap_length="10KB"}}'
    result = hull.run(table, folder, seeds=1, jobs=1, force=True, set=[*overrides, captured])
    [file] = result.folder.rglob("*.pcapng")
    line = table["transport"].get("framing", "0B"), table["switch"]["rate"]
    return read(file, int(line[0].removesuffix("B")), ps_per_byte(line[1])), table


def merged(table: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """A table with the keys of another one in their places; `switch.x` is x of `switch`."""
    out = dict(table)
    for key, value in own.items():
        if isinstance(value, dict):
            out[key] = merged(out.get(key, {}), value)
        else:
            out[key] = value
    return out


def bits_per_second(rate: str) -> int:
    """A rate such as 950Mbps."""
    for unit, factor in (("Gbps", 10**9), ("Mbps", 10**6)):
        if rate.endswith(unit):
            return round(float(rate.removesuffix(unit)) * factor)
    raise ValueError(f"{rate}: expected a rate in Gbps or Mbps")


def ps_per_byte(rate: str) -> int:
    """Time of a byte at a rate for which it is a whole number."""
    time, left = divmod(8 * 10**12, bits_per_second(rate))
    assert left == 0, rate
    return time


def read(file: Path, framing_bytes: int, byte_ps: int) -> Capture:
    """The frames of a capture of one port, whole (payload included).

    The stamp of a frame is when its last bit left, rounded down to a nanosecond; its start
    is earlier by the time of its bytes and of its framing.
    """
    content = file.read_bytes()
    at = 0
    stamps_ns: list[int] = []
    kept: list[bytes] = []
    interfaces = 0
    while at < len(content):
        kind, length = np.frombuffer(content, "<u4", 2, at).tolist()
        if kind == INTERFACE:
            interfaces += 1
        elif kind == PACKET:
            _, high, low, bytes_kept, bytes_sent = np.frombuffer(content, "<u4", 5, at + 8).tolist()
            assert bytes_kept == bytes_sent
            stamps_ns.append(high << 32 | low)
            kept.append(content[at + 28 : at + 28 + bytes_kept])
        at += length
    assert interfaces == 1
    given = frames.of_bytes(kept)
    counted = given.lengths - ETHERNET_BYTES
    starts_ns = (np.array(stamps_ns) * 1000 - (counted + framing_bytes) * byte_ps) // 1000
    ecn = given.octets[:, 15] & 3
    marked = ecn == CE
    left = Frames(given.octets.copy(), given.lengths)
    given.octets[marked, 15] ^= CE ^ ECT0
    # The checksum with one less in the word of the ECN field (RFC 1624).
    words = frames.get(given.octets, 24)
    frames.put(given.octets, np.full(len(given), 24), np.where(marked, restored(words), words))
    return Capture(given, left, starts_ns, counted, ecn != 0, marked)


def restored(checksum: np.ndarray) -> np.ndarray:
    """Checksums of headers in which CE became ECT(0)."""
    return ~frames.fold((~checksum & 0xFFFF) + (~np.int64(CE) & 0xFFFF) + ECT0) & 0xFFFF

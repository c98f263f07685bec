"""Recorded traces of `hull ask` that are damaged: tables in Parquet and compressed CSV, captures in
pcap and pcapng, plain and compressed.
"""

import gzip
import io
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from fuzz.inside import Refused
from hull import UsageError
from hull.ask.trace import read_trace

ROWS = {"start_us": [0, 5, 9, 9], "bytes": [1000, 20_000, 1, 70]} | {
    "src": ["10.0.0.1", "10.0.0.2", "2001:db8::1", "10.0.0.1"],
    "dst": ["10.0.0.9", "10.0.0.9", "10.0.0.9", "::ffff:10.0.0.2"],
}
_UDP = struct.pack(">HHHH", 5, 80, 28, 0) + bytes(20)
_IP = struct.pack(">BBHHHBBH4B4B", 0x45, 0, 48, 1, 0, 64, 17, 0, 10, 0, 0, 1, 10, 0, 0, 2)
_FRAME = bytes(12) + b"\x08\x00" + _IP + _UDP
_TIMES_US = (5_000_000, 6_000_007)


def _parquet() -> list[bytes]:
    found = []
    for codec in ("zstd", "snappy", "uncompressed", "lz4"):
        buffer = io.BytesIO()
        pl.DataFrame(ROWS).write_parquet(buffer, compression=codec)
        found.append(buffer.getvalue())
    return found


def _pcap() -> bytes:
    # Ethernet, and in the same field a frame check sequence of two words.
    found = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 2 << 28 | 1 << 26 | 1)
    for time in _TIMES_US:
        size = len(_FRAME)
        found += struct.pack("<IIII", time // 10**6, time % 10**6, size, size) + _FRAME
    return found


def _block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    size = 12 + len(body)
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def _pcapng() -> bytes:
    options = struct.pack("<HHB3xHHB3xI", 9, 1, 6, 13, 1, 32, 0)
    found = _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    found += _block(1, struct.pack("<HHI", 1, 0, 0) + options)
    for time in _TIMES_US:
        head = struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(_FRAME), len(_FRAME))
        found += _block(6, head + _FRAME)
    return found + _block(3, struct.pack("<I", len(_FRAME)) + _FRAME)


def _csv() -> bytes:
    return pl.DataFrame(ROWS).write_csv().encode()


@dataclass(frozen=True)
class Trace:
    """A form of a trace."""

    file: str
    contents: Callable[[], list[bytes]]


KINDS = {
    "trace, Parquet": Trace("trace.parquet", _parquet),
    "trace, pcap": Trace("trace.pcap", lambda: [_pcap()]),
    "trace, pcapng": Trace("trace.pcapng", lambda: [_pcapng()]),
    "trace, pcap in gzip": Trace("trace.pcap.gz", lambda: [gzip.compress(_pcap(), mtime=0)]),
    "trace, CSV in gzip": Trace("trace.csv.gz", lambda: [gzip.compress(_csv(), mtime=0)]),
}


def read(file: str, content: bytes) -> None:
    """Read a trace as `hull ask` does. Raises Refused."""
    Path(file).write_bytes(content)
    try:
        trace = read_trace(Path(file))  # which keeps the folder that `flows` reads
        trace.flows.collect()
    except UsageError as error:
        raise Refused(str(error)) from None

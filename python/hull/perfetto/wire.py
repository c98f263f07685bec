"""Perfetto's trace format on the wire: protocol buffers, of which a few fields are needed.

A trace is a sequence of packets (field 1); a packet has a time in ns (8), a sequence (10) and a
track's description (60) or an event on a track (11). Field numbers are from Perfetto's
trace_packet.proto, track_descriptor.proto and track_event.proto; "Writing TrackEvent Protos
Synthetically" in its documentation says which are wanted.
"""

import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Field = int | float | str | bytes

SLICE_BEGIN, SLICE_END, COUNTER = 1, 2, 4
UNIT_TIME_NS, UNIT_COUNT, UNIT_SIZE_BYTES = 1, 2, 3

_BYTES = tuple(bytes([number]) for number in range(256))
_SEQUENCE = b"\x50\x01"
_DOUBLE_COUNTER_VALUE = 44


def varint(number: int) -> bytes:
    """A whole number of at least 0, seven bits a byte, the lowest first."""
    if number < 0x80:
        return _BYTES[number]
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, value: Field) -> bytes:
    """One field: a number, a float (64 bits), or a text or message with its length."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def message(fields: dict[int, Field | None]) -> bytes:
    """Fields by number; those that are None are left out."""
    return b"".join(field(number, value) for number, value in fields.items() if value is not None)


def description(track: dict[int, Field | None]) -> bytes:
    """The packet that describes a track."""
    return field(1, _SEQUENCE + field(60, message(track)))


def event(time_ns: int, content: bytes) -> bytes:
    """The packet of an event on a track."""
    time = b"\x40" + varint(time_ns) + _SEQUENCE + b"\x5a" + varint(len(content))
    return b"\x0a" + varint(len(time) + len(content)) + time + content


def annotation(name: str, value: int | float | str) -> bytes:
    """An argument of a slice."""
    if isinstance(value, int):
        content = b"\x20" + varint(value) + _annotation_name(name)
    elif isinstance(value, float):
        content = b"\x29" + struct.pack("<d", value) + _annotation_name(name)
    else:
        content = _annotation_name(name) + _annotation_text(value)
    return b"\x22" + varint(len(content)) + content


@lru_cache(maxsize=1024)
def _annotation_name(name: str) -> bytes:
    return field(10, name)


@lru_cache(maxsize=4096)
def _annotation_text(text: str) -> bytes:
    return field(6, text)


@lru_cache(maxsize=4096)
def slice_begin(track: int, title: str) -> bytes:
    """The event that begins a slice, without its arguments."""
    return message({9: SLICE_BEGIN, 11: track, 23: title})


@lru_cache(maxsize=4096)
def slice_end(track: int) -> bytes:
    """The event that ends the slice that began last on a track."""
    return message({9: SLICE_END, 11: track})


def counter_events(
    track: int, times_ns: "NDArray[np.int64]", values: "NDArray[np.float64]"
) -> list[bytes]:
    """The packets of a counter's values, many at a time."""
    head = message({9: COUNTER, 11: track}) + varint(_DOUBLE_COUNTER_VALUE << 3 | 1)
    groups = _varint_lengths(times_ns)
    bounds = np.flatnonzero(np.diff(groups)) + 1
    packets = []
    # Times of as many bytes each make packets of one layout: the rows of a table of bytes.
    for times, group in zip(np.split(times_ns, bounds), np.split(values, bounds), strict=True):
        if len(times) == 0:
            continue
        length = int(_varint_lengths(times[:1])[0])
        content = len(head) + 8
        before = b"\x0a" + varint(2 + 1 + length + len(_SEQUENCE) - 1 + 1 + content) + b"\x40"
        after = _SEQUENCE + b"\x5a" + varint(content) + head
        rows = np.empty((len(times), len(before) + length + len(after) + 8), np.uint8)
        rows[:, : len(before)] = np.frombuffer(before, np.uint8)
        at = len(before)
        for place in range(length):
            septet = (times >> (7 * place)) & 0x7F
            rows[:, at + place] = septet | (0x80 if place < length - 1 else 0)
        at += length
        rows[:, at : at + len(after)] = np.frombuffer(after, np.uint8)
        rows[:, at + len(after) :] = group.astype("<f8").view(np.uint8).reshape(len(times), 8)
        packets.append(rows.tobytes())
    return packets


def _varint_lengths(numbers: "NDArray[np.int64]") -> "NDArray[Any]":
    """Bytes that each takes as a varint."""
    limits = np.array([1 << bits for bits in range(7, 63, 7)], dtype=np.int64)
    return np.searchsorted(limits, numbers, side="right") + 1

"""What tells one build of a shared library from another (ELF; System V ABI, chapter 5): the build
ID, a hash that the linker writes into it; if absent, what of the library is loaded into memory: its
code and its data, without the tables for debuggers, which are most of the file.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

_MAGIC = b"\x7fELF\x02\x01"
"""64 bits, little-endian."""
_HEADER = struct.Struct("<32xQ14xHH6x")
"""Place of the program headers, size of each, how many."""
_PROGRAM_HEADER = struct.Struct("<I4xQ16xQ")
"""Kind, place in the file, bytes there."""
_LOAD = 1
_NOTES = 4
_NOTE = struct.Struct("<III")
"""Bytes of the name, bytes of the content, kind."""
_ALIGNED = 4
_BUILD_ID = (b"GNU\0", 3)


class _Segment(NamedTuple):
    """A program header."""

    kind: int
    place: int
    length: int


def build_of(path: Path) -> bytes:
    """Bytes that differ between builds: the build ID; without one, all that is loaded; of another
    format, the whole file.
    """
    with path.open("rb") as file:
        segments = _segments(file)
        if segments is None:
            file.seek(0)
            return file.read()
        for segment in segments:
            if segment.kind == _NOTES and (found := _build_id(_content(file, segment))):
                return found
        return b"".join(_content(file, one) for one in segments if one.kind == _LOAD)


def _segments(file: BinaryIO) -> list[_Segment] | None:
    """The program headers; None for another format."""
    start = file.read(_HEADER.size)
    if len(start) < _HEADER.size or not start.startswith(_MAGIC):
        return None
    first, size, count = _HEADER.unpack(start)
    file.seek(first)
    headers = file.read(size * count)
    starts = range(0, len(headers), size)
    return [_Segment(*_PROGRAM_HEADER.unpack_from(headers, at)) for at in starts]


def _content(file: BinaryIO, segment: _Segment) -> bytes:
    file.seek(segment.place)
    return file.read(segment.length)


def _build_id(notes: bytes) -> bytes | None:
    return next((content for key, content in _notes(notes) if key == _BUILD_ID), None)


def _notes(notes: bytes) -> Iterator[tuple[tuple[bytes, int], bytes]]:
    """Name and kind of each note, and its content."""
    at = 0
    while at + _NOTE.size <= len(notes):
        of_name, of_content, kind = _NOTE.unpack_from(notes, at)
        name = at + _NOTE.size
        content = name + _aligned(of_name)
        yield (notes[name:][:of_name], kind), notes[content:][:of_content]
        at = content + _aligned(of_content)


def _aligned(length: int) -> int:
    return -(-length // _ALIGNED) * _ALIGNED

"""What of a shared library is loaded into memory (ELF; System V ABI, chapter 5): its code and its
data, without the tables for debuggers, which are most of the file."""

import struct
from collections.abc import Iterator
from pathlib import Path

_MAGIC = b"\x7fELF\x02\x01"
"""64 bits, little-endian."""
_HEADER = struct.Struct("<32xQ14xHH6x")
"""Place of the program headers, size of each, how many."""
_PROGRAM_HEADER = struct.Struct("<I4xQ16xQ")
"""Kind, place in the file, bytes there."""
_LOAD = 1


def loaded_parts(path: Path) -> Iterator[bytes]:
    """The parts in their order; of another format the whole file."""
    with path.open("rb") as file:
        start = file.read(_HEADER.size)
        if not start.startswith(_MAGIC):
            yield start + file.read()
            return
        first, size, count = _HEADER.unpack(start)
        file.seek(first)
        headers = file.read(size * count)
        for at in range(0, len(headers), size):
            kind, place, length = _PROGRAM_HEADER.unpack_from(headers, at)
            if kind == _LOAD:
                file.seek(place)
                yield file.read(length)

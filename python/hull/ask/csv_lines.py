"""The lines of a CSV file have a bounded length: a file without line ends, such as one with a hole,
would otherwise fill memory as one row.
"""

import gzip
import zlib
from pathlib import Path
from typing import IO

LINE_BYTES = 1_000_000
"""Largest number of bytes of a line."""
_PIECE = 1 << 20


def long_line(path: Path) -> int | None:
    """The number of the first line that is too long, in a file that may be compressed with gzip.

    None if there is none, or if the file cannot be read so far. Raises OSError.
    """
    with path.open("rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
    try:
        if compressed:
            with gzip.open(path) as unpacked:
                return _long_line(unpacked)
        with path.open("rb", buffering=0) as file:
            return _long_line(file)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return None


def _long_line(file: "IO[bytes] | gzip.GzipFile") -> int | None:
    number, begun = 1, 0
    while piece := file.read(_PIECE):
        first = piece.find(b"\n")
        if begun + (len(piece) if first < 0 else first) > LINE_BYTES:
            return number
        if first < 0:
            begun += len(piece)
        else:
            number += piece.count(b"\n")
            begun = len(piece) - 1 - piece.rfind(b"\n")
    return None

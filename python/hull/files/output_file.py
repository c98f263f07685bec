"""Files that hull writes: made under another name beside the file, moved there when whole."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from hull.errors import RunError, UsageError, shown

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What no other name for a file would have changed."""
UNFINISHED = ".hull-*.partial"
"""Names of files that are not whole yet."""


@contextmanager
def whole_file(path: Path, *, new: bool = False) -> Iterator[BinaryIO]:
    """A file that is written atomically; with `new`, FileExistsError if the path exists.

    A pipe or a device is written directly and never replaced.
    """
    if new and os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    path = path.resolve()
    making = path.with_name(UNFINISHED.replace("*", os.urandom(16).hex()))
    try:
        with making.open("xb") as file:
            yield file
        _move_new(making, path) if new else os.replace(making, path)
    finally:
        making.unlink(missing_ok=True)


def write_text(path: Path, text: str, *, new: bool = False) -> None:
    """Write a text file, whole or not at all."""
    with whole_file(path, new=new) as file:
        file.write(text.encode())


def write_new(path: Path, text: str) -> None:
    """Write a text file that a user asked for: RunError without room, else UsageError."""
    try:
        write_text(path, text, new=True)
    except OSError as error:
        if error.errno in NO_ROOM:
            raise RunError(f"{shown(path)}: {error.strerror}") from None
        raise UsageError(f"{shown(path)}: {error.strerror}; expected a writable file") from None


def _move_new(made: Path, path: Path) -> None:
    """Give a file its name, unless something took the name in the meantime."""
    try:
        os.link(made, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        os.replace(made, path)

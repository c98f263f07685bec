"""Input files: regular files, or pipes with a writer, of a bounded size.

No function waits for an absent writer or reads without end.
"""

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

_MOST_JSON = 1_000_000_000
_PIECE = 1 << 20
_KINDS = {
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def special_kind(mode: int) -> str | None:
    """What `st_mode` says of something that is neither a regular file nor a folder."""
    return _KINDS.get(stat.S_IFMT(mode))


def read_text(path: Path, most_bytes: int) -> str:
    """The text of a file. Raises OSError, or ValueError that says why it is not read."""
    # A pipe without a writer would otherwise be waited for.
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(number, "rb") as file:
        mode = os.fstat(number).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode):
            raise ValueError(f"is {special_kind(mode)}")
        if stat.S_ISREG(mode) and os.fstat(number).st_size > most_bytes:
            raise ValueError(f"has more than {most_bytes} bytes")
        os.set_blocking(number, True)
        content = bytearray()
        # In pieces: Python reserves as much memory as a single read may return.
        while piece := file.read(min(_PIECE, most_bytes + 1 - len(content))):
            content += piece
    if len(content) > most_bytes:
        raise ValueError(f"has more than {most_bytes} bytes")
    if not content and stat.S_ISFIFO(mode):
        raise ValueError("is an empty pipe")
    return content.decode("utf-8")


def read_json(path: Path) -> Any:
    """The content of a JSON file. Raises OSError, or ValueError if it is not JSON."""
    try:
        return json.loads(read_text(path, _MOST_JSON))
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise ValueError("is no JSON") from None

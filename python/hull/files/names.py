"""Names of files and folders as file systems hold them: 255 bytes each, 4095 for a whole path."""

import os
from pathlib import Path

from hull.errors import UsageError, shown

NAME_BYTES = 255
PATH_BYTES = 4095


def check_name(place: str, name: str, example: str, *, added: int = 0) -> None:
    """Reject a name that is too long for a file system; `added`: bytes that hull appends."""
    if "\0" in name:
        raise UsageError(
            f"{place}: {shown(name)} is invalid; expected a name without NUL, such as {example}"
        )
    if len(os.fsencode(name)) + added > NAME_BYTES:
        raise UsageError(
            f"{place}: {shown(name)} is invalid; expected a name of at most {NAME_BYTES - added} "
            f"bytes, such as {example}"
        )


def check_path(place: str, path: Path, example: str, *, added: int = 0, inside: int = 0) -> None:
    """Refuse a path that no file system holds; `inside`: bytes of the longest path below it."""
    for name in path.parts[:-1]:
        check_name(place, name, example)
    check_name(place, path.name, example, added=added)
    most = PATH_BYTES - inside - added
    if len(os.fsencode(path.absolute())) > most:
        raise UsageError(
            f"{place}: {shown(path)} is invalid; expected a path of at most {most} bytes, such as "
            f"{example}"
        )

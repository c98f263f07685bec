"""`hull linux`: hands over to the programs of linux/, which are built apart (they need clang)."""

import os
import shutil
import sys
from pathlib import Path

from hull.errors import UsageError

TRAFFIC = "traffic"
"""The one subcommand of another program."""


def program(name: str) -> str:
    """Path of a program that `make linux` builds: next to this Python, or on PATH. Raises
    UsageError if it is not built.
    """
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.is_file() else shutil.which(name)
    if found is None:
        raise UsageError(
            f"hull linux: {name} is not built; `make linux` builds it, with clang, libelf and zlib "
            "(Debian: clang libelf-dev zlib1g-dev pkg-config linux-libc-dev libbpf-dev)"
        )
    return found


def hand_over(arguments: list[str]) -> None:
    """Become the program; its exit status is ours."""
    name, rest = "hull-linux", arguments
    if arguments[:1] == [TRAFFIC]:
        name, rest = "hull-traffic", arguments[1:]
    path = program(name)
    if name == "hull-linux":
        from hull.linux.defaults import with_defaults

        rest = with_defaults(rest)
    sys.stdout.flush()
    os.execv(path, [path, *rest])

"""Tools that are WebAssembly programs (yowasp-*): translated to machine code at their first use."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from functools import cache
from pathlib import Path

LOCK = Path(__file__).parents[2] / "target" / "yowasp.lock"


@cache
def translated(tool: str) -> str:
    """The path of the tool, once its translation is in the cache. The first use takes a minute and
    reports it on stderr, and two at once would write the same file.
    """
    path = Path(sys.executable).with_name(tool)
    LOCK.parent.mkdir(exist_ok=True)
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run([path, "--version"], capture_output=True, check=True)
    return str(path)

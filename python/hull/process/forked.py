"""Whether this process is a fork of one in which polars had threads. A fork has none of them, and
polars waits for them for ever.
"""

import os
import re
from pathlib import Path

from hull.errors import UsageError

_THREADS = Path("/proc/self/task")
_OF_POLARS = re.compile(r"polars-\d+")

_state = {"had threads": False, "lost threads": False}


def check_not_forked(what: str) -> None:
    """Raise UsageError if polars would hang; `what` begins the message."""
    if _state["lost threads"]:
        raise UsageError(
            f"{what}: polars had threads when this process was forked, and hangs without them; "
            'expected another start method: multiprocessing.get_context("spawn"), or '
            '"forkserver"'
        )


def _look() -> None:
    """Before a fork."""
    try:
        names = [(task / "comm").read_text() for task in _THREADS.iterdir()]
    except OSError:
        names = []
    _state["had threads"] = any(_OF_POLARS.match(name) for name in names)


def _after_in_child() -> None:
    _state["lost threads"] |= _state["had threads"]


os.register_at_fork(before=_look, after_in_child=_after_in_child)

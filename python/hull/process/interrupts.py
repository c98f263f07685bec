"""Ctrl-C while modules are being loaded: Python's own handling would end in a traceback, or leave a
compiled module half loaded."""

import itertools
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

STOPPED = 130
"""Exit status of a command that Ctrl-C ended."""


def _leave(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"hull: stopped\n")
    os._exit(STOPPED)


def _leave_quietly() -> None:
    """Until `listen`, Ctrl-C ends the process at once: nothing has begun that could be kept. Does
    nothing where hull is not the command but a library, or where Ctrl-C is ignored."""
    if is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def is_command() -> bool:
    """Whether this process is `hull` or `python -m hull`."""
    if threading.current_thread() is not threading.main_thread():
        return False
    words = sys.orig_argv
    as_module = any(pair == ("-m", "hull") for pair in itertools.pairwise(words))
    return as_module or Path(sys.argv[0] if sys.argv else "").name == "hull"


def listen() -> None:
    """From now on Ctrl-C raises KeyboardInterrupt."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def end() -> None:
    """From now on Ctrl-C is ignored: the command has ended, and Python's end takes milliseconds."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def held() -> Iterator[None]:
    """Ctrl-C in the block is raised after it."""
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)


_leave_quietly()

"""Ctrl-C for processes that tests end with it.

A shell without job control starts `make test &` with SIGINT ignored, and every child inherits that.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


def heard() -> None:
    """`preexec_fn` of a process that hears Ctrl-C whoever started the tests."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def ignored() -> None:
    """`preexec_fn` of a process like one that a shell starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def raised() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt in this process."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

"""Turns of the pages' runs at the processors.

Half of the processors simulate at a time, so that the browser, which draws all this, and the server
have the others. Runs whose speed is more than that allows take turns, slice by slice; one that has
shown nothing yet comes first.
"""

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """So many at a time, in the order in which they come."""

    def __init__(self, count: int) -> None:
        self._lock = threading.Lock()
        self._free = count
        self._waiting: deque[threading.Event] = deque()

    def wanted(self) -> bool:
        """Whether runs wait for one."""
        with self._lock:
            return bool(self._waiting)

    @contextmanager
    def turn(self, *, first: bool) -> Iterator[None]:
        """Wait for a turn; with `first`, ahead of all others."""
        gate = None
        with self._lock:
            if self._free:
                self._free -= 1
            else:
                gate = threading.Event()
                (self._waiting.appendleft if first else self._waiting.append)(gate)
        if gate is not None:
            gate.wait()
        try:
            yield
        finally:
            with self._lock:
                if self._waiting:
                    self._waiting.popleft().set()
                else:
                    self._free += 1


TURNS = Turns(max(1, len(os.sched_getaffinity(0)) // 2))
"""The turns of this server."""

"""What waits to be sent to a page: filled by its run's thread, emptied by the server's event loop.

Frames that wait are at most two; a page that is slow gets fewer of them, each of a longer time.
Frames of a run that was replaced are not sent.
"""

import asyncio
import contextlib
import threading
from collections import deque

MOST_FRAMES = 2


class Outbox:
    """Texts for one page."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lock = threading.Lock()
        self._filled = asyncio.Event()
        self._texts: deque[tuple[bool, str | None]] = deque()
        self._frames = 0
        self._sending_frame = False

    def has_room(self) -> bool:
        """Whether a frame may be added."""
        with self._lock:
            return self._frames < MOST_FRAMES

    def add_frame(self, text: str) -> None:
        """Adds a frame of the present run."""
        with self._lock:
            self._frames += 1
            self._texts.append((True, text))
        self._tell()

    def add(self, text: str, *, begins: bool = False) -> None:
        """Adds another message; with `begins`, frames that wait belong to the past."""
        with self._lock:
            if begins:
                self._texts = deque(entry for entry in self._texts if not entry[0])
                self._frames = int(self._sending_frame)
            self._texts.append((False, text))
        self._tell()

    def close(self) -> None:
        """Close the outbox after the waiting frames."""
        with self._lock:
            self._texts.append((False, None))
        self._tell()

    async def take(self) -> str | None:
        """The next text, None at the end; the one before it has been sent."""
        while True:
            with self._lock:
                if self._sending_frame:
                    self._frames -= 1
                    self._sending_frame = False
                if self._texts:
                    self._sending_frame, text = self._texts.popleft()
                    return text
                self._filled.clear()
            await self._filled.wait()

    def _tell(self) -> None:
        # The loop is closed when the server has ended: then no client is left to send to.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._filled.set)

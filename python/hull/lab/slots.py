"""The connections of one server: how many may be open, of all and of one client address, and how
long each may keep its slot without a whole request.

A new connection always gets a slot. Where none is free, the address that holds the most gives up
one, so that no address can keep another out. Pages whose run has started keep theirs.
"""

import asyncio
import math
import time
from collections import Counter
from dataclasses import dataclass, field

from hull.lab.guard import network_of


@dataclass(frozen=True)
class Limits:
    """Counts, and seconds of each phase of a connection."""

    connections: int = 64
    of_address: int = 16
    """Beyond these, connections of one address are closed while they wait for a request."""
    request_seconds: float = 5.0
    """To the end of a request's headers, from connecting or from the answer before."""
    answer_seconds: float = 15.0
    """From there to the end of the answer, which the client has to take."""
    start_seconds: float = 12.0
    """Of a WebSocket, until its page's run starts."""
    closing_seconds: float = 5.0
    """Time for the client to receive the rest when its connection is closed."""
    look_seconds: float = 0.1
    """Between two looks at all of these."""


@dataclass(eq=False)
class Slot:
    """One connection and its phase."""

    network: str
    transport: asyncio.Transport
    limits: Limits
    since: float = field(init=False, default=0.0)
    until: float = field(init=False, default=0.0)
    waiting: bool = field(init=False, default=True)
    """Whether the client has asked for nothing yet; the phase ends when it does."""
    closing: bool = field(init=False, default=False)

    def await_request(self) -> None:
        """The client is to ask."""
        self._begin(self.limits.request_seconds, waiting=True)

    def answer(self) -> None:
        """The client has asked and is to take the answer."""
        self._begin(self.limits.answer_seconds, waiting=False)

    def await_start(self) -> None:
        """A WebSocket is to start a run."""
        self._begin(self.limits.start_seconds, waiting=True)

    def keep(self) -> None:
        """A run has started: its page decides how long."""
        self._begin(math.inf, waiting=False)

    def await_close(self) -> None:
        """A run has ended."""
        self._begin(self.limits.closing_seconds, waiting=True)

    def _begin(self, seconds: float, *, waiting: bool) -> None:
        self.since = time.monotonic()
        self.until = self.since + seconds
        self.waiting = waiting


class Slots:
    """The connection slots of one server."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._open: set[Slot] = set()

    def enter(self, transport: asyncio.Transport, address: str) -> Slot:
        """A slot for a new connection; if all are in use, another connection's."""
        slot = Slot(network_of(address), transport, self._limits)
        slot.await_request()
        if len(self._open) >= self._limits.connections:
            self._make_room()
        self._open.add(slot)
        return slot

    def leave(self, slot: Slot) -> None:
        """The connection has gone."""
        self._open.discard(slot)

    async def watch(self) -> None:
        """Close connections beyond their limits while the server runs."""
        while True:
            await asyncio.sleep(self._limits.look_seconds)
            self._end_phases(time.monotonic())
            self._close_surplus()

    def _end_phases(self, now: float) -> None:
        for slot in list(self._open):
            # Closing a transport waits for the client to take what is left; that has a limit too.
            if slot.transport.is_closing() and not slot.closing:
                slot.closing = True
                slot.await_close()
            elif now >= slot.until:
                if slot.closing:
                    self._drop(slot)
                else:
                    slot.transport.close()

    def _close_surplus(self) -> None:
        for network, count in Counter(slot.network for slot in self._open).items():
            surplus = count - self._limits.of_address
            if surplus > 0:
                waiting = [slot for slot in self._open if slot.network == network and slot.waiting]
                for slot in sorted(waiting, key=lambda slot: slot.since)[:surplus]:
                    self._drop(slot)

    def _make_room(self) -> None:
        """Drops the one that has waited longest, of the address that has the most connections."""
        counts = Counter(slot.network for slot in self._open)
        droppable = (slot for slot in self._open if slot.until < math.inf)
        self._drop(min(droppable, key=lambda s: (-counts[s.network], not s.waiting, s.since)))

    def _drop(self, slot: Slot) -> None:
        self._open.discard(slot)
        slot.transport.abort()

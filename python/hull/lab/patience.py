"""HTTP and WebSocket for clients of whom nothing is known: every connection has a slot, every
request and message its limits, so that a few clients that are slow on purpose
keep no other client out and fill no memory.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.protocol import State

from hull.lab.slots import Slot, Slots

MOST_UNSENT = 2**19
"""Bytes that wait for a client to take them, above which it must not cause more, such as pongs."""
MOST_FRAGMENTS = 64
"""Of a message."""


class Patient(H11Protocol):
    """HTTP with a limit for each phase of a connection."""

    _slots: Slots
    _slot: Slot

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a slot, which the WebSocket inherits."""
        super().connection_made(transport)
        self._slots = self.app_state["slots"]
        self._slot = self._slots.enter(transport, self.client[0] if self.client else "")
        self.app_state = {**self.app_state, "slot": self._slot}

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the slot back."""
        super().connection_lost(exc)
        self._slots.leave(self._slot)

    def handle_events(self) -> None:
        """Read the received bytes; a complete request starts its answer."""
        before: object = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._slot.answer()

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not HTTP, which may be the body of a request whose answer has
        started.
        """
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.abort()

    def on_response_complete(self) -> None:
        """Wait for the next request; it may have come already."""
        self._slot.await_request()
        super().on_response_complete()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the connection over."""
        self._slot.await_start()
        super().handle_websocket_upgrade(event)


class PatientSocket(WebSocketsSansIOProtocol):
    """A WebSocket with limits on the memory that a client can occupy."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the slot back."""
        super().connection_lost(exc)
        state: dict[str, Any] = self.app_state
        state["slots"].leave(state["slot"])

    def data_received(self, data: bytes) -> None:
        """Read the received bytes, unless the client accepts no answers."""
        if self.transport.get_write_buffer_size() > MOST_UNSENT:
            self.transport.abort()
        else:
            super().data_received(data)

    def handle_cont(self, event: Frame) -> None:
        """Another part of a message. Empty parts do not count towards its size."""
        if len(self.frames) < MOST_FRAGMENTS:
            super().handle_cont(event)
        else:
            self._refuse(CloseCode.MESSAGE_TOO_BIG, f"message: more than {MOST_FRAGMENTS} frames")

    def send_receive_event_to_app(self) -> None:
        """A message is whole."""
        if self.curr_msg_data_type == "text":
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError as error:
                reason = f"message: byte {error.start} is invalid; expected UTF-8"
                self._refuse(CloseCode.INVALID_DATA, reason)
                return
        super().send_receive_event_to_app()

    def _refuse(self, code: CloseCode, reason: str) -> None:
        self.frames = []
        # What has come at once may hold several messages, and the client's own closing.
        if self.conn.state is State.OPEN:
            self.conn.send_close(code, reason)
            self.handle_parser_exception()

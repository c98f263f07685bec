"""The WebSocket of a page: its messages, and its run."""

import asyncio
import contextlib
import json
import math
from typing import Any, NoReturn

from fastapi import WebSocket, WebSocketDisconnect

from hull.errors import UsageError
from hull.lab.guard import Guard
from hull.lab.model import PARAMETERS, STANDARD, Catalog, State, read_state, shown
from hull.lab.outbox import Outbox
from hull.lab.own import Own
from hull.lab.session import FIRST_SECONDS, Session
from hull.lab.slots import Slot

MOST_PAGES = 5
MOST_MESSAGE = 4096
"""Characters of a message."""
_START_SECONDS = 10.0
"""Time limit for a page's first message, s."""
_KEYS = {
    "start": {"token", "state", "fps"},
    "state": {"state"},
    "pause": set(),
    "resume": set(),
    "step": {"seconds"},
    "stop": set(),
}

_STALLED_SECONDS = 15.0
"""Time limit for a page to accept a frame when the system's buffer is full, s."""
_CLOSED = (WebSocketDisconnect, RuntimeError, OSError)
"""What sending raises when the page has gone: TimeoutError, an OSError, when without a word."""

NOT_OURS, TOO_MANY_PAGES, WRONG_TOKEN, BLOCKED, FAILED = 1008, 1013, 4401, 4429, 1011


class RefusedError(Exception):
    """Send a page the reason and close its connection."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class GoneError(Exception):
    """The page has closed its connection."""


class Pages:
    """The pages that are open."""

    def __init__(self, guard: Guard, own: Own | None) -> None:
        self._guard = guard
        self._own = own
        self._catalog = STANDARD if own is None else own.catalog
        self._open: set[Session] = set()

    def stop(self) -> None:
        """End all runs."""
        for session in self._open:
            session.stop()

    async def serve(self, socket: WebSocket) -> None:
        """A connection, from its first message to its end."""
        await socket.accept()
        try:
            await self._serve(socket)
        except GoneError:
            return
        except RefusedError as refused:
            # The page may be gone by now.
            with contextlib.suppress(*_CLOSED):
                await socket.send_text(json.dumps({"type": "error", "message": str(refused)}))
                # A reason may have 123 bytes.
                reason = str(refused).encode(errors="replace")[:120].decode(errors="ignore")
                await socket.close(refused.code, reason)

    async def _serve(self, socket: WebSocket) -> None:
        message = await self._first(socket)
        state = _state(message, self._catalog)
        fps = _between("fps", message.get("fps", 60), 1, 60)
        await self._wait_for_room()
        outbox = Outbox(asyncio.get_running_loop())
        session = Session(state, fps, outbox, self._own)
        self._open.add(session)
        slot: Slot = socket.scope["state"]["slot"]
        slot.keep()
        session.start()
        sending = asyncio.create_task(_send(socket, outbox))
        hearing = asyncio.create_task(_hear(socket, session, state, self._catalog))
        try:
            await asyncio.wait({sending, hearing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            session.stop()
            for task in (sending, hearing):
                task.cancel()
            results = await asyncio.gather(sending, hearing, return_exceptions=True)
            while session.is_alive():
                await asyncio.sleep(0.002)
            self._open.discard(session)
            slot.await_close()
        for result in results:
            if isinstance(result, Exception):
                raise result
        with contextlib.suppress(*_CLOSED):
            await socket.close()

    async def _wait_for_room(self) -> None:
        """A page that is loaded again may come before its old connection has gone."""
        for _ in range(50):
            if len(self._open) < MOST_PAGES:
                return
            await asyncio.sleep(0.02)
        raise RefusedError(TOO_MANY_PAGES, f"{MOST_PAGES} pages are open; close one of them")

    async def _first(self, socket: WebSocket) -> dict[str, Any]:
        """The first message, with the right token where one is needed."""
        address = socket.client.host if socket.client else ""
        try:
            message = await asyncio.wait_for(_receive(socket), _START_SECONDS)
        except TimeoutError:
            _refuse("no message in 10 s; expected one of type start")
        if message["type"] != "start":
            _refuse(f"type: {shown(message['type'])} is invalid; expected start at first")
        seconds = self._guard.blocked_for(address)
        if seconds:
            raise RefusedError(BLOCKED, f"too many wrong tokens; wait {math.ceil(seconds)} s")
        if not self._guard.admits(message.get("token"), address):
            raise RefusedError(WRONG_TOKEN, "token: wrong; expected the one that hull lab printed")
        return message


async def _send(socket: WebSocket, outbox: Outbox) -> None:
    while (text := await outbox.take()) is not None:
        try:
            async with asyncio.timeout(_STALLED_SECONDS):
                await socket.send_text(text)
        except _CLOSED:
            raise GoneError from None
    raise RefusedError(FAILED, "the run failed; the terminal of hull lab shows the error")


async def _hear(socket: WebSocket, session: Session, state: State, catalog: Catalog) -> None:
    while True:
        message = await _receive(socket)
        match message["type"]:
            case "state":
                state = _state(message, catalog)
                session.restart(state)
            case "pause" | "resume":
                session.pause(message["type"] == "pause")
            case "step":
                default = FIRST_SECONDS * state.speed
                session.step(_between("seconds", message.get("seconds", default), 0, 10))
            case "stop":
                return
            case _:
                _refuse("type: start is invalid; expected only as the first message")


async def _receive(socket: WebSocket) -> dict[str, Any]:
    """The next message: an object with a type and the keys that go with it."""
    received = await socket.receive()
    if received["type"] == "websocket.disconnect":
        raise GoneError
    text = received.get("text")
    if text is None:
        _refuse("message: bytes are invalid; expected JSON as text")
    if len(text) > MOST_MESSAGE:
        _refuse(f"message: found {len(text)} characters; expected at most {MOST_MESSAGE}")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        _refuse(f"message: {shown(text)} is invalid; expected JSON")
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        _refuse(f"message: {shown(text)} is invalid; expected an object with a type")
    kind = message["type"]
    if kind not in _KEYS:
        _refuse(f"type: {shown(kind)} is invalid; expected {', '.join(_KEYS)}")
    for key in message.keys() - _KEYS[kind] - {"type"}:
        allowed = ", ".join(["type", *sorted(_KEYS[kind])])
        _refuse(f"key: {shown(key)} is invalid; expected with {kind}: {allowed}")
    return message


def _state(message: dict[str, Any], catalog: Catalog) -> State:
    values = message.get("state", {})
    if not isinstance(values, dict):
        _refuse(f"state: {shown(values)} is invalid; expected an object of {', '.join(PARAMETERS)}")
    try:
        return read_state(values, catalog)
    except UsageError as error:
        _refuse(str(error))


def _between(key: str, value: object, low: float, high: float) -> float:
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if number is None or not low <= number <= high:
        _refuse(f"{key}: {shown(value)} is invalid; expected a number from {low} to {high}")
    return float(number)


def _refuse(message: str) -> NoReturn:
    raise RefusedError(NOT_OURS, message)

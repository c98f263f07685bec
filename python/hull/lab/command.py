"""`hull lab`: where the server listens, and its life from the first line to Ctrl-C."""

import gc
import os
import socket
import sys
import threading
import webbrowser
from typing import TYPE_CHECKING

from hull.errors import UsageError
from hull.lab.guard import Guard
from hull.lab.model import shown
from hull.lab.own import Own, read_own
from hull.lab.slots import Limits
from hull.terminal.messages import escaped, say

if TYPE_CHECKING:
    import uvicorn

_LARGEST_MESSAGE = 2**15
"""Largest WebSocket message that is read, bytes: twice the most that 4096 characters need."""


def serve(host: str, port: int, file: str | None = None, *, open_browser: bool) -> int:
    """Serve until Ctrl-C, with a scenario file or without one; returns the exit status."""
    own = None if file is None else read_own(file)
    listening = _listen(host, port)
    bound, number = listening.getsockname()[:2]
    guard = Guard(host, bound)
    server = make_server(guard, Limits(), own)
    address = _address(host if host.isascii() else bound, number)
    print(f"hull lab: {address}  (Ctrl-C to stop)", flush=True)
    if guard.token is not None:
        print(f"token: {guard.token}", flush=True)
    if own is not None:
        print("\n".join(_told(own)), flush=True)
    if open_browser and _has_screen():
        threading.Timer(0.5, webbrowser.open, [address]).start()
    # What is there now stays: the collector need not look at it again while pages wait.
    gc.freeze()
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        say("ended", "hull lab")
        return 130
    return 0


def make_server(guard: Guard, limits: Limits, own: Own | None = None) -> "uvicorn.Server":
    """The server, before it listens."""
    import uvicorn

    from hull.lab.patience import Patient, PatientSocket
    from hull.lab.server import make_app

    config = uvicorn.Config(
        make_app(guard, limits, own),
        # Warnings are about what clients send, which is theirs to correct.
        log_level="error",
        access_log=False,
        server_header=False,
        # Who connects is who it is: no client says so for another.
        proxy_headers=False,
        http=Patient,
        ws=PatientSocket,
        ws_max_size=_LARGEST_MESSAGE,
        ws_ping_interval=5,
        ws_ping_timeout=10,
        ws_per_message_deflate=False,
        # As many as may be open: more at once could take all file descriptors.
        backlog=limits.connections,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


def _told(own: Own) -> list[str]:
    """What the lab shows of a file, as lines."""
    lines = [f"{escaped(own.file)}: {escaped(own.title)}"]
    if own.state.schemes[0] in own.cells:
        lines.append(f"runs as it is: {own.network}, its traffic, its schemes")
    lines.append(f"star with its numbers: {escaped('; '.join(own.taken))}")
    lines += [f"not in the star: {escaped(sentence)}" for sentence in own.left]
    return lines


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise UsageError(f"--port: {port} is invalid; expected 0 (any free one) to 65535")
    try:
        if not host:
            raise OSError
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise UsageError(
            f"--host: {shown(host)} is invalid; expected an address of this machine"
        ) from None
    family, kind, protocol, _, address = found[0]
    listening = socket.socket(family, kind, protocol)
    # A port whose last server has just ended is free.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        listening.listen(64)
    except OSError as error:
        listening.close()
        reason = (error.strerror or str(error)).lower()
        raise UsageError(
            f"--host {shown(host)} --port {port}: {reason}; expected an address of this machine "
            "with a free port (--port 0 finds one)"
        ) from None
    return listening


def _address(host: str, port: int) -> str:
    name = f"[{host}]" if ":" in host else host
    if host in ("0.0.0.0", "::"):
        name = socket.gethostname()
    return f"http://{name}:{port}/"


def _has_screen() -> bool:
    """Whether a browser would be a window and not take over the terminal."""
    screens = ("DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform in ("darwin", "win32") or any(os.environ.get(s) for s in screens)

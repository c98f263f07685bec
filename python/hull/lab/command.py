"""`hull lab`: where the server listens, and its life from the first line to Ctrl-C."""

import gc
import os
import socket
import sys
import threading
import webbrowser

from hull.errors import UsageError
from hull.lab.guard import Guard
from hull.said import say

_LARGEST_MESSAGE = 2**21
"""Bytes of a WebSocket message that is read at all; hull's own limit is far below."""


def serve(host: str, port: int, *, open_browser: bool) -> int:
    """Serve until Ctrl-C; returns the exit status."""
    try:
        import fastapi  # noqa: F401
        import uvicorn
        import websockets  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"hull lab: {error.name} is not installed; the lab needs the extra lab: "
            "pip install 'hull[lab]'"
        ) from None
    from hull.lab.patience import Patient
    from hull.lab.server import make_app

    listening = _listen(host, port)
    bound, number = listening.getsockname()[:2]
    guard = Guard(host, bound)
    config = uvicorn.Config(
        make_app(guard),
        log_level="warning",
        access_log=False,
        server_header=False,
        # Who connects is who it is: nobody says so for another.
        proxy_headers=False,
        http=Patient,
        ws="websockets-sansio",
        ws_max_size=_LARGEST_MESSAGE,
        ws_ping_interval=5,
        ws_ping_timeout=10,
        ws_per_message_deflate=False,
        limit_concurrency=64,
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)
    address = _address(host, number)
    print(f"hull lab: {address}  (Ctrl-C ends it)", flush=True)
    if guard.token is not None:
        print(f"token: {guard.token}", flush=True)
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


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise UsageError(f"--port: found {port}, allowed is 0 (any free one) to 65535")
    try:
        if not host:
            raise OSError
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise UsageError(
            f"--host: found {host or 'nothing'}, allowed is an address of this machine"
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
            f"--host {host} --port {port}: {reason}; allowed is an address of this machine with a "
            "free port (--port 0 finds one)"
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

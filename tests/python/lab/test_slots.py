"""Deliberately slow clients lose their slots, and other clients are served meanwhile."""

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest

pytest.importorskip("fastapi", reason="needs hullnet[lab]")
pytest.importorskip("uvicorn", reason="needs hullnet[lab]")
pytest.importorskip("websockets", reason="needs hullnet[lab]")

import uvicorn
from websockets.sync.client import connect

from hull.lab.command import make_server
from hull.lab.guard import Guard
from hull.lab.slots import Limits
from lab.lab_client import hear, say

GET = b"GET /api/model HTTP/1.1\r\nHost: localhost\r\n\r\n"
UPGRADE = (
    b"GET /api/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
LONG = b"GET /page/vendor/uPlot.esm.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
"""Of 145 KB."""
OTHER = "127.0.0.2"


class Lab:
    """A server with limits for a test, and its clients."""

    def __init__(self, server: uvicorn.Server, port: int, stack: ExitStack) -> None:
        self.connections = server.server_state.connections
        self.port = port
        self._stack = stack

    def client(self, address: str = "127.0.0.1", *, takes_little: bool = False) -> socket.socket:
        """Return a client connected from this address."""
        client = self._stack.enter_context(socket.socket())
        if takes_little:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.bind((address, 0))
        client.settimeout(5)
        client.connect(("127.0.0.1", self.port))
        return client

    def asked(self, address: str = "127.0.0.1") -> socket.socket:
        """Return a connected client whose first request has been answered."""
        client = self.client(address)
        client.sendall(GET)
        assert answer(client)[0] == 200
        return client

    def socket(self, address: str = "127.0.0.1") -> socket.socket:
        """Return a WebSocket on which the client has sent nothing."""
        client = self.client(address)
        client.sendall(UPGRADE + b"\r\n")
        assert client.recv(4096).startswith(b"HTTP/1.1 101 ")
        return client

    def status(self) -> int:
        """Return the status of an ordinary request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/api/model")
            return connection.getresponse().status
        finally:
            connection.close()


def answer(client: socket.socket) -> tuple[int, bytes]:
    """Return status and body of the next answer."""
    response = http.client.HTTPResponse(client)
    response.begin()
    return response.status, response.read()


@contextmanager
def lab(limits: Limits) -> Iterator[Lab]:
    with socket.create_server(("127.0.0.1", 0)) as listening, ExitStack() as stack:
        server = make_server(Guard("127.0.0.1", "127.0.0.1"), limits)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield Lab(server, listening.getsockname()[1], stack)
        finally:
            stack.close()
            server.should_exit = True
            thread.join(10)


def is_open(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        while client.recv(65536):
            pass
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def seconds_open(clients: list[socket.socket], drip: bytes = b"", most: float = 4.0) -> float:
    """Return the time until all are closed, while each client keeps sending a little."""
    began = time.monotonic()
    while any(map(is_open, clients)):
        assert time.monotonic() < began + most
        for client in clients:
            with suppress(OSError):
                client.send(drip)
        time.sleep(0.02)
    return time.monotonic() - began


@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
@pytest.mark.parametrize("begin", [b"GET / HTTP/1.1\r\nX: ", b""], ids=["drip", "idle"])
def test_each_request_has_a_time_limit(first: bool, begin: bytes) -> None:
    with lab(Limits(request_seconds=0.5)) as server:
        clients = [server.client() if first else server.asked() for _ in range(12)]
        for client in clients:
            client.sendall(begin)
        assert 0.2 < seconds_open(clients, begin and b"a") < 3
        assert server.status() == 200


@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
@pytest.mark.parametrize(
    ("header", "drip"),
    [(b"Content-Length: 100000", b"a"), (b"Transfer-Encoding: chunked", b"1\r\na\r\n")],
)
def test_request_bodies_are_rejected_at_once(first: bool, header: bytes, drip: bytes) -> None:
    with lab(Limits()) as server:
        clients = [server.client() if first else server.asked() for _ in range(12)]
        for client in clients:
            client.sendall(GET[:-2] + header + b"\r\n\r\n")
        status, body = answer(clients[0])
        assert status == 413
        assert b"is invalid; expected none" in body
        assert seconds_open(clients, drip) < 1
        # Content-Length: 0 announces no body.
        client = server.client()
        client.sendall(GET[:-2] + b"Content-Length: 0\r\n\r\n")
        assert answer(client)[0] == 200


def test_one_address_cannot_lock_out_others() -> None:
    with lab(Limits()) as server:
        clients = [server.asked(OTHER) for _ in range(63)]
        for client in clients:
            with suppress(OSError):
                client.sendall(b"GET / HTTP/1.1\r\nX: ")
        # Connections within the address's share stay open until the time of each is up.
        until = time.monotonic() + 2
        while sum(map(is_open, clients)) > 16:
            assert time.monotonic() < until
            assert server.status() == 200
            time.sleep(0.02)
        assert [is_open(client) for client in clients] == [False] * 47 + [True] * 16
        assert server.status() == 200


def test_a_burst_of_one_address_is_answered() -> None:
    with lab(Limits()) as server:
        clients = [server.client() for _ in range(60)]
        for client in clients:
            client.sendall(GET)
        assert all(client.recv(15) == b"HTTP/1.1 200 OK" for client in clients)


def test_full_table_evicts_from_the_largest_holder() -> None:
    with lab(Limits(connections=8, of_address=8, request_seconds=60)) as server:
        others = [server.client(f"127.0.0.{last}") for last in (3, 4, 5)]
        hoarded = [server.client(OTHER) for _ in range(5)]
        newest = [server.asked("127.0.0.6"), server.asked("127.0.0.7")]
        assert seconds_open(hoarded[:2]) < 1
        assert all(map(is_open, [*others, *hoarded[2:], *newest]))


def test_unread_answers_are_dropped() -> None:
    limits = Limits(answer_seconds=0.5, request_seconds=0.3, closing_seconds=0.3)
    with lab(limits) as server:
        clients = [server.client(takes_little=True) for _ in range(4)]
        for client in clients:
            client.settimeout(0.2)
            with suppress(OSError):
                client.sendall(LONG * 500)
        for count in (4, 0):
            until = time.monotonic() + 5
            while len(server.connections) != count:
                assert time.monotonic() < until
                time.sleep(0.02)
        # Only the data that the system buffers for a client is left to read, then the end.
        assert max(map(received, clients)) < 20_000_000


def test_answer_may_outlast_the_request_limit() -> None:
    with lab(Limits(request_seconds=0.3)) as server:
        client = server.client(takes_little=True)
        client.sendall(LONG * 100)
        time.sleep(1)
        assert received(client) > 14_000_000


def test_silent_sockets_are_closed_and_pages_kept() -> None:
    with lab(Limits(start_seconds=0.4, closing_seconds=0.2, of_address=3)) as server:
        address = f"ws://127.0.0.1:{server.port}/api/live"
        with connect(address, compression=None, max_queue=None) as page:
            say(page, "start", state={})
            hear(page, "frame")
            # Same address, more than its share: the server closes waiting sockets first.
            silent = [server.socket() for _ in range(5)]
            assert seconds_open(silent) < 2
            time.sleep(0.8)
            say(page, "state", state={"k": 20_000})
            hear(page, "frame", 2)
        # Neither a valid WebSocket handshake nor a request that the server waits for.
        unanswered = [server.client(OTHER) for _ in range(3)]
        for client in unanswered:
            client.sendall(UPGRADE + b"X: " + b"a" * 9000 + b"\r\n\r\n")
        assert seconds_open(unanswered, b"a") < 2
        assert server.status() == 200


def received(client: socket.socket) -> int:
    """Count the bytes received until the connection ends."""
    count = 0
    with suppress(OSError):
        while data := client.recv(65536):
            count += len(data)
    return count


def sent_until_closed(client: socket.socket, data: bytes, most: int) -> int:
    """Count the bytes sent until the connection ended."""
    sent = 0
    with suppress(OSError):
        while sent < most:
            client.sendall(data)
            sent += len(data)
    return sent


def test_endless_fragments_and_pings_use_bounded_memory() -> None:
    most = 50_000_000
    with lab(Limits()) as server:
        # Pings whose pongs are not read: the system itself buffers a few megabytes.
        pings = b"\x89\xfd\0\0\0\0" + b"a" * 125
        assert sent_until_closed(server.socket(), pings * 1000, most) < most / 2
        client = server.socket()
        client.sendall(b"\x01\x80\0\0\0\0" + b"\x00\x80\0\0\0\0" * 100)
        assert b"more than 64 frames" in client.recv(4096)
        client = server.socket()
        # A frame of more than twice the message limit, of a message that never ends.
        client.sendall(b"\x01\xff" + (70_000).to_bytes(8) + b"\0\0\0\0")
        assert b"exceeds limit of 32768 bytes" in client.recv(4096)

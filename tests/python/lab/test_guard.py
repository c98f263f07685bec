"""Access control by Host, Origin and token, and the lifetime of the command."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi", reason="needs hullnet[lab]")
pytest.importorskip("uvicorn", reason="needs hullnet[lab]")
pytest.importorskip("websockets", reason="needs hullnet[lab]")

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from conftest import COMMAND
from hull.lab.guard import MOST_WRONG, WAIT_SECONDS, Guard
from lab.lab_client import Server, hear, say, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.mark.parametrize(
    ("host", "origin", "allowed"),
    [
        ("127.0.0.1:8765", None, True),
        ("localhost:8765", "http://localhost:8765", True),
        ("[::1]:8765", "http://[::1]:8765", True),
        ("127.0.0.1:9000", "http://127.0.0.1:9000", True),
        ("evil.example:8765", "http://evil.example:8765", False),
        ("evil.example", None, False),
        ("127.0.0.1.evil.example:8765", None, False),
        ("192.168.1.2:8765", None, False),
        ("127.0.0.1:8765", "http://evil.example", False),
        ("127.0.0.1:8765", "http://127.0.0.1:3000", False),
        ("127.0.0.1:8765", "http://localhost:8765", False),
        ("127.0.0.1:8765", "null", False),
        ("127.0.0.1:8765", "", False),
        ("127.0.0.1:8765", "http://[", False),
        ("[::1", None, False),
        ("", None, False),
        (None, None, False),
    ],
)
def test_loopback_serves_only_its_own_page(
    host: str | None, origin: str | None, allowed: bool
) -> None:
    assert (Guard("127.0.0.1", "127.0.0.1").refusal(host, origin) is None) == allowed


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("192.168.1.2:8765", True),
        ("lab.example:8765", True),
        (f"{socket.gethostname()}:1", True),
        ("evil.example:8765", False),
    ],
)
def test_other_binds_accept_addresses_and_own_name(host: str, allowed: bool) -> None:
    guard = Guard("lab.example", "192.168.1.2")
    assert guard.token
    assert len(guard.token) > 20
    assert guard.token != Guard("0.0.0.0", "0.0.0.0").token
    assert (guard.refusal(host, None) is None) == allowed


def test_headers_are_checked_for_pages_and_sockets(server: Server) -> None:
    for path in ("/", "/api/model", "/page/main.js"):
        status, _, body = server.get(path, Host="evil.example")
        assert status == 403
        assert json.loads(body)["error"].startswith("Host: evil.example is invalid; expected")
    assert server.get("/api/model", Origin="http://evil.example")[0] == 403
    assert server.get("/api/scenario", **{"Sec-Fetch-Site": "cross-site"})[0] == 403
    own = f"127.0.0.1:{server.port}"
    assert server.get("/api/model", Origin=f"http://{own}")[0] == 200
    for name, origin in (
        ("evil.example", None),
        (own, "http://evil.example"),
        (own, "null"),
    ):
        with (
            socket.create_connection(("127.0.0.1", server.port)) as raw,
            pytest.raises(InvalidStatus) as refused,
        ):
            connect(f"ws://{name}/api/live", sock=raw, origin=Origin(origin) if origin else None)
        assert refused.value.response.status_code == 403
    with server.page(origin=f"http://{own}") as page:
        say(page, "start", state={})
        hear(page, "frame")


def test_wrong_tokens_are_rejected_logged_and_throttled() -> None:
    with serving("--host", "0.0.0.0") as server:
        assert server.token
        right = {"Authorization": f"Bearer {server.token}"}
        assert json.loads(server.get("/api/model")[2])["token_needed"]
        assert server.get("/api/scenario", **right)[0] == 200
        with server.page() as page:
            say(page, "start", state={}, token=server.token)
            hear(page, "frame")
        for token in (None, "", "wrong", 7):
            with server.page() as page:
                say(page, "start", state={}, token=token)
                message = json.loads(page.recv(timeout=10))
                assert message["message"].startswith("token: wrong")
                with pytest.raises(ConnectionClosed) as end:
                    page.recv(timeout=10)
                assert end.value.rcvd
                assert end.value.rcvd.code == 4401
        # A client's claim to forward a request for another address is ignored.
        elsewhere = {"X-Forwarded-For": "192.0.2.9"}
        wrong = {"Authorization": "Bearer wr\xf6ng", **elsewhere}
        status, headers, _ = server.get("/api/theory", **wrong)
        assert (status, headers["www-authenticate"]) == (401, "Bearer")
        # That was the fifth failure: this address is now locked out, even with the right token.
        status, headers, body = server.get("/api/theory", **right)
        assert status == 429
        assert 50 < int(headers["retry-after"]) <= 60
        assert "wait" in json.loads(body)["error"]
        with server.page() as page:
            say(page, "start", state={}, token=server.token)
            assert json.loads(page.recv(timeout=10))["message"].startswith("too many wrong tokens")
            with pytest.raises(ConnectionClosed) as end:
                page.recv(timeout=10)
            assert end.value.rcvd
            assert end.value.rcvd.code == 4429
        # The page itself needs no token, and other addresses are not locked out.
        assert server.get("/api/model")[0] == 200
        other = http.client.HTTPConnection(
            "127.0.0.1", server.port, timeout=10, source_address=("127.0.0.2", 0)
        )
        other.request("GET", "/api/theory", headers=right)
        assert other.getresponse().status == 200
        other.close()
    lines = [line for line in server.errors if "token" in line]
    assert len(lines) == MOST_WRONG
    assert lines[0] == "hull lab: no token from 127.0.0.1 (1 of 5 in a minute)\n"
    assert lines[-1] == "hull lab: wrong token from 127.0.0.1 (5 of 5 in a minute)\n"


def test_block_expires_and_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    guard = Guard("0.0.0.0", "0.0.0.0")
    for _ in range(MOST_WRONG):
        assert guard.blocked_for("10.0.0.1") == 0
        assert not guard.admits("wrong", "10.0.0.1")
    assert guard.blocked_for("10.0.0.1") == WAIT_SECONDS
    assert guard.blocked_for("10.0.0.2") == 0
    now += WAIT_SECONDS
    assert guard.blocked_for("10.0.0.1") == 0
    assert guard.admits(guard.token, "10.0.0.1")
    for host in range(MOST_WRONG):
        assert not guard.admits("wrong", f"2001:db8::{host}")
    assert guard.blocked_for("2001:db8::ffff") > 0
    assert guard.blocked_for("2001:db9::1") == 0
    # A dual-stack socket: IPv4 addresses are still counted individually.
    for _ in range(MOST_WRONG):
        assert not guard.admits("wrong", "::ffff:10.0.0.3")
    assert guard.blocked_for("::ffff:10.0.0.3") == guard.blocked_for("10.0.0.3") > 0
    assert guard.blocked_for("::ffff:10.0.0.4") == guard.blocked_for("::1") == 0
    for host in range(5000):
        guard.admits("wrong", f"10.1.{host // 256}.{host % 256}")
    assert len(guard._wrong) <= 1000


def test_ctrl_c_ends_it_with_pages_open() -> None:
    with serving() as server, server.page() as page:
        say(page, "start", state={})
        hear(page, "frame")
        asked = time.monotonic()
        server.process.send_signal(signal.SIGINT)
        with pytest.raises(ConnectionClosed) as end:
            hear(page, "none")
        assert end.value.rcvd
        assert end.value.rcvd.code in (1001, 1012)
        assert server.process.wait(5) in (0, 130)
        assert time.monotonic() - asked < 3


def hull(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "lab", "--no-open", *arguments], capture_output=True, text=True, timeout=60
    )


def test_a_port_in_use_is_one_clear_message(server: Server) -> None:
    done = hull("--port", str(server.port))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        f"hull: error: --host 127.0.0.1 --port {server.port}: address already in use; expected "
        "an address of this machine with a free port (--port 0 finds one)\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--port", "70000"), "--port: 70000 is invalid; expected 0 (any free one) to 65535"),
        (("--host", ""), '--host: "" is invalid; expected an address of this machine'),
        (("--host", "nowhere.invalid"), "--host: nowhere.invalid is invalid; expected an address"),
        (("--host", "192.0.2.1"), "--host 192.0.2.1 --port 8765: cannot assign requested address"),
        (
            ("--host", "::1\n\x1b[31m"),
            r"--host: ::1\n\x1b[31m is invalid; expected an address of this",
        ),
        (("--host", "a" * 100_000), f"--host: {'a' * 40}... is invalid; expected an address of t"),
        (("--host", os.fsdecode(b"\xff")), r"--host: \udcff is invalid; expected an address of t"),
    ],
)
def test_invalid_options(arguments: tuple[str, ...], message: str) -> None:
    done = hull(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"hull: error: {message}")
    assert done.stderr.count("\n") == 1


def test_unprintable_address_is_shown_as_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    # Fullwidth digits, which name resolution treats as ASCII digits.
    with serving("--host", "\uff11\uff12\uff17.0.0.1", has_token=False) as server:
        assert server.get("/api/model")[0] == 200
    assert server.line == f"hull lab: http://127.0.0.1:{server.port}/  (Ctrl-C to stop)\n"


def test_missing_packages_name_the_extra() -> None:
    code = (
        "import sys; sys.modules['uvicorn'] = None; sys.argv = ['hull', 'lab']; "
        "from hull.cli import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        'hull: error: hull lab: uvicorn is not installed; pip install "hullnet[lab]"\n'
    )

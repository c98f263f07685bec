"""A real lab server on loopback, with a WebSocket client in place of the page."""

import json
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import pairwise
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs hullnet[lab]")
pytest.importorskip("uvicorn", reason="needs hullnet[lab]")
pytest.importorskip("websockets", reason="needs hullnet[lab]")

from websockets.exceptions import ConnectionClosed
from websockets.frames import Close, CloseCode, Frame, Opcode
from websockets.sync.client import ClientConnection

from hull.lab.model import read_state
from lab.lab_client import Server, hear, say, serving

pytestmark = pytest.mark.quiet

HEAVY = {"a": "hull", "b": "dctcp", "rate": 40e9, "rtt": 1e-3, "flows": 32, "load": 0.5, "speed": 1}
"""More than a processor can simulate in time."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def idle(server: Server) -> Server:
    """The server, once it has no runs."""
    wait_for_runs(server, 0)
    return server


def wait_for_runs(server: Server, count: int) -> None:
    until = time.monotonic() + 5
    while server.runs() != count:
        assert time.monotonic() < until, f"{server.runs()} runs, not {count}"
        time.sleep(0.01)


def closed(page: ClientConnection) -> tuple[int, str, str]:
    """Return the code and reason of the server's close, and its last message."""
    last = ""
    end = None
    while end is None:
        try:
            last = str(page.recv(timeout=20))
        except ConnectionClosed as error:
            end = error.rcvd
    return end.code, end.reason, json.loads(last)["message"] if last else ""


def test_a_page_gets_begin_and_then_frames(idle: Server) -> None:
    with idle.page() as page:
        say(page, "start", state={"a": "hull", "b": "dctcp"}, fps=60)
        begin = hear(page, "begin")
        assert (begin["generation"], begin["schemes"]) == (1, ["hull", "dctcp"])
        assert begin["warmup"] < begin["duration"] == pytest.approx(1.02)
        names = {p["name"] for p in begin["theory"]["schemes"][1]["predictions"]}
        assert {"queue_mean", "throughput", "window", "alpha"} <= names
        started, frames = time.monotonic(), []
        while time.monotonic() < started + 2:
            frames.append(hear(page, "frame"))
        elapsed = time.monotonic() - started
    assert 30 * elapsed < len(frames) < 60 * elapsed + 5
    # The run begins 2 s of wall-clock time ahead.
    assert frames[-1]["t"] == pytest.approx(0.005 * (2 + elapsed), rel=0.15)
    for scheme in range(2):
        looks = [frame["schemes"][scheme] for frame in frames]
        times = [t for look in looks for t in look["t"]]
        assert times[0] == 0
        assert all(b - a == pytest.approx(begin["interval"]) for a, b in pairwise(times))
        assert len(times) == pytest.approx(200 * (2 + elapsed), rel=0.15)
        for look in looks:
            columns = [look["queue"], look["throughput"]]
            columns += [flow[name] for flow in look["flows"] for name in ("cwnd", "alpha")]
            columns += [look["phantom"]] if scheme == 0 else []
            assert {len(column) for column in columns if column is not None} == {len(look["t"])}
        assert looks[-1]["phantom"] is not None if scheme == 0 else looks[-1]["phantom"] is None
        assert looks[-1]["stats"]["throughput"] > 1e9


def test_plane_schemes_send_only_numbers(idle: Server) -> None:
    with idle.page() as page:
        say(page, "start", state={"a": "hull", "more": "tcp,dctcp", "load": 0.1}, fps=60)
        begin = hear(page, "begin")
        assert (begin["schemes"], begin["more"]) == (["hull"], ["tcp", "dctcp"])
        kinds = begin["bandwidth"], begin["latency"], begin["classes"]
        assert kinds == ("goodput_long", "fct_small", ["1 KB requests", "20 KB requests"])
        assert [found["id"] for found in begin["theory"]["more"]] == ["tcp", "dctcp"]
        frame = hear(page, "frame")
        while frame["t"] < 0.01:
            frame = hear(page, "frame")
        assert [len(part["t"]) for part in frame["more"]] <= [1, 1]
        assert all(part["stats"]["goodput_long"] > 1e9 for part in frame["more"])
        say(page, "state", state={"a": "hull", "flows": 0})
        begin = hear(page, "begin", 2)
        kinds = begin["bandwidth"], begin["latency"], begin["classes"]
        assert kinds == ("throughput", "latency", [])


def samples(page: ClientConnection, until: float) -> dict[float, tuple[int, float]]:
    found: dict[float, tuple[int, float]] = {}
    while True:
        frame = hear(page, "frame")
        for look in frame["schemes"]:
            values = zip(look["queue"], look["throughput"], strict=True)
            found |= dict(zip(look["t"], values, strict=True))
        if frame["t"] >= until:
            return {t: value for t, value in found.items() if t < until}


def test_the_same_state_shows_the_same_samples(idle: Server) -> None:
    state = {"a": "hull", "rtt": 2e-5, "seed": 7}
    runs = []
    for seed in (7, 7, 8):
        with idle.page() as page:
            say(page, "start", state={**state, "seed": seed}, fps=30)
            runs.append(samples(page, 0.005))
    assert runs[0] == runs[1] != runs[2]
    assert len(runs[0]) == 200


def test_a_run_ends_at_its_duration_and_another_can_follow(idle: Server) -> None:
    with idle.page() as page:
        say(page, "start", state={"rtt": 1e-5, "rate": 1e9, "speed": 1, "load": 0})
        end = hear(page, "end")
        assert (end["generation"], end["reason"]) == (1, "duration")
        say(page, "state", state={"rtt": 1e-5})
        assert hear(page, "begin")["generation"] == 2
        assert hear(page, "frame", 2)["schemes"][0]["t"][0] == 0
        say(page, "stop")
        with pytest.raises(ConnectionClosed) as stopped:
            hear(page, "none")
        assert stopped.value.rcvd
        assert stopped.value.rcvd.code == 1000
    wait_for_runs(idle, 0)


def test_pause_step_and_resume(idle: Server) -> None:
    with idle.page() as page:
        say(page, "start", state={})
        hear(page, "frame")
        say(page, "pause")
        time.sleep(0.2)
        while True:
            try:
                last = json.loads(page.recv(timeout=0.3))
            except TimeoutError:
                break
        say(page, "step", seconds=0.001)
        stepped = hear(page, "frame")
        assert stepped["t"] == pytest.approx(last["t"] + 0.001, abs=1e-9)
        assert len(stepped["schemes"][0]["t"]) in (39, 40, 41)
        say(page, "step")
        assert hear(page, "frame")["t"] == pytest.approx(stepped["t"] + 0.02 * 0.005, abs=1e-9)
        say(page, "state", state={"k": 20_000})
        assert hear(page, "frame", 2)["generation"] == 2
        with pytest.raises(TimeoutError):
            page.recv(timeout=0.3)
        say(page, "resume")
        first = hear(page, "frame")["t"]
        assert hear(page, "frame")["t"] > first
        # Time spent paused is not caught up after resuming.
        say(page, "pause")
        while True:
            try:
                last = json.loads(page.recv(timeout=0.5))
            except TimeoutError:
                break
        time.sleep(0.5)
        say(page, "resume")
        resumed = hear(page, "frame")
        assert last["t"] <= resumed["t"] < last["t"] + 0.3 * 0.005


def drain(page: ClientConnection) -> None:
    try:
        for _ in page:
            pass
    except ConnectionClosed:
        pass


def answers(server: Server, others: dict[str, Any], number: int) -> list[float]:
    """With five pages open, return the times from a state to its run's first frame, ms."""
    found = []
    with ExitStack() as stack:
        pages = [stack.enter_context(server.page()) for _ in range(5)]
        for page in pages:
            say(page, "start", state=others)
            hear(page, "begin")
        for page in pages[1:]:
            threading.Thread(target=drain, args=(page,), daemon=True).start()
        page = pages[0]
        for generation in range(2, 52):
            time.sleep(0.02)
            sent = time.perf_counter()
            drained = 0.9 + 0.001 * generation + 0.0001 * number
            say(page, "state", state={"a": "hull", "b": "dctcp", "drain": drained})
            hear(page, "frame", generation)
            found.append(1e3 * (time.perf_counter() - sent))
        assert server.runs() == 5
    return found


@pytest.mark.parametrize("others", [{"a": "hull", "b": "dctcp"}, HEAVY], ids=["usual", "heavy"])
def test_a_slider_is_answered_within_100_ms(idle: Server, others: dict[str, Any]) -> None:
    """Median and worst of 50, five pages open. Other work on the machine may spoil a round, not
    all three."""
    rounds = []
    for number in range(3):
        times = answers(idle, others, number)
        wait_for_runs(idle, 0)
        rounds.append((statistics.median(times), max(times)))
        print(f"median {rounds[-1][0]:.0f} ms, worst {rounds[-1][1]:.0f} ms")
        if max(times) < 100:
            break
    assert min(rounds, key=lambda found: found[1])[1] < 100, rounds


def test_five_pages_stay_below_300_mb(idle: Server) -> None:
    with ExitStack() as stack:
        for _ in range(5):
            page = stack.enter_context(idle.page())
            say(page, "start", state=HEAVY)
            hear(page, "begin")
            threading.Thread(target=drain, args=(page,), daemon=True).start()
        time.sleep(4)
        assert idle.runs() == 5
    peak = idle.status("VmHWM") / 1e3
    print(f"{peak:.0f} MB")
    assert peak < 300


def test_sixth_page_is_rejected_until_one_leaves(idle: Server) -> None:
    with ExitStack() as stack:
        pages = [stack.enter_context(idle.page()) for _ in range(5)]
        for page in pages:
            say(page, "start", state={})
            hear(page, "frame")
            threading.Thread(target=drain, args=(page,), daemon=True).start()
        with idle.page() as sixth:
            say(sixth, "start", state={})
            code, reason, message = closed(sixth)
        assert code == 1013
        assert message == reason == "5 pages are open; close one of them"
        pages[0].close()
        wait_for_runs(idle, 4)
        with idle.page() as sixth:
            say(sixth, "start", state={})
            hear(sixth, "frame")


def test_a_page_that_goes_away_ends_its_run(idle: Server) -> None:
    for state in ({}, HEAVY):
        with idle.page() as page:
            say(page, "start", state=state)
            hear(page, "frame")
            assert idle.runs() == 1
            # As when a laptop is closed: no close frame.
            page.socket.shutdown(socket.SHUT_RDWR)
            wait_for_runs(idle, 0)
    used = idle.cpu_seconds()
    time.sleep(1)
    assert idle.cpu_seconds() - used < 0.2


GARBAGE: list[tuple[str | bytes, str]] = [
    ("not json", "message: not json is invalid; expected JSON"),
    ("", 'message: "" is invalid; expected JSON'),
    ("[1]", "message: [1] is invalid; expected an object with a type"),
    ("{}", "message: {} is invalid; expected an object with a type"),
    ('{"type": 1}', 'message: {"type": 1} is invalid; expected an object with a type'),
    ('{"type": "shutdown"}', "type: shutdown is invalid; expected start, state, "),
    ('{"type": "start", "path": "/etc"}', "key: path is invalid; expected with start: "),
    ('{"type": "start", "state": 1}', "state: 1 is invalid; expected an object of rate, "),
    ('{"type": "start", "state": {"rtt": 2}}', "rtt: 2 is invalid; expected a number from "),
    ('{"type": "start", "state": {"rtt": NaN}}', "rtt: nan is invalid; expected a number from "),
    ('{"type": "start", "state": {"k": 1e999}}', "k: inf is invalid; expected a number from "),
    ('{"type": "start", "state": {"x": 2}}', "key: x is invalid; expected a, b, more, "),
    ('{"type": "start", "state": {"a": []}}', "a: [] is invalid; expected hull, "),
    ('{"type": "start", "fps": 0}', "fps: 0 is invalid; expected a number from 1 to 60"),
    ('{"type": "start", "fps": "many"}', "fps: many is invalid; expected a number from 1 to 60"),
    (json.dumps({"type": "\U0001f600" * 60}, ensure_ascii=False), "type: \U0001f600"),
    ("[" * 4000, "message: [[[["),
    ("x" * 30_000, "message: found 30000 characters; expected at most 4096"),
    ('{"type": "\\ud800\\n\\u001b\\u0000"}', r"type: \ud800\n\x1b\x00 is invalid; expected start"),
    (b"\x00\x01", "message: bytes are invalid; expected JSON as text"),
]


def test_invalid_messages(idle: Server) -> None:
    for sent, expected in GARBAGE:
        with idle.page() as page:
            page.send(sent)
            code, reason, message = closed(page)
        assert (code, message[: len(expected)]) == (1008, expected)
        assert message.startswith(reason)
    assert idle.runs() == 0


def test_invalid_messages_end_a_run(idle: Server) -> None:
    garbage: list[tuple[str | bytes, str]] = [
        (b"\x00", "message: bytes are invalid; expected JSON as text"),
        ("[", "message: [ is invalid; expected JSON"),
        ('{"type": "state", "fps": 1}', "key: fps is invalid; expected with state: type, state"),
        ('{"type": "state", "state": {"rtt": 0}}', "rtt: 0 is invalid; expected a number from"),
        ('{"type": "step", "seconds": -1}', "seconds: -1 is invalid; expected a number from 0 to"),
        ('{"type": "step", "seconds": NaN}', "seconds: nan is invalid; expected"),
        ('{"type": "pause", "state": {}}', "key: state is invalid; expected with pause: type"),
    ]
    for sent, expected in garbage:
        with idle.page() as page:
            say(page, "start", state={})
            hear(page, "frame")
            page.send(sent)
            code, _, message = closed(page)
        assert (code, message[: len(expected)]) == (1008, expected)
    wait_for_runs(idle, 0)


def test_only_the_first_message_is_start(idle: Server) -> None:
    with idle.page() as page:
        say(page, "pause")
        assert closed(page)[::2] == (1008, "type: pause is invalid; expected start at first")
    with idle.page() as page:
        say(page, "start", state={})
        say(page, "start", state={})
        first = "expected only as the first message"
        assert closed(page)[::2] == (1008, "type: start is invalid; " + first)


@pytest.mark.parametrize("size", [33_000, 3_000_000])
def test_messages_above_32_kib_are_not_read(idle: Server, size: int) -> None:
    with idle.page() as page:
        # The server closes during this send, so the client may or may not learn the reason.
        with suppress(ConnectionClosed):
            page.send("x" * size)
        with pytest.raises(ConnectionClosed) as end:
            page.recv(timeout=10)
        assert end.value.rcvd is None or end.value.rcvd.code == 1009
    assert idle.runs() == 0


@pytest.mark.parametrize("starts", [False, True])
def test_non_utf8_text_is_reported_but_not_logged(idle: Server, starts: bool) -> None:
    lines = len(idle.errors)
    close = Frame(Opcode.CLOSE, CloseCode.NORMAL_CLOSURE.to_bytes(2))
    for parts, goodbye in (([b"abc\xff"], []), ([b"ab", b"c\xff"], []), ([b"\xff"], [close])):
        with idle.page() as page:
            if starts:
                say(page, "start", state={})
                hear(page, "frame")
            first, *rest = parts
            frames = [Frame(Opcode.TEXT, first, fin=not rest)]
            frames += [Frame(Opcode.CONT, part, fin=True) for part in rest]
            # Sent twice: the server answers only the first, and a close frame in preference to it.
            frames += [*frames, *goodbye]
            page.socket.sendall(b"".join(frame.serialize(mask=True) for frame in frames))
            with pytest.raises(ConnectionClosed) as end:
                hear(page, "none")
        assert end.value.rcvd
        reason = "" if goodbye else "message: byte 3 is invalid; expected UTF-8"
        assert end.value.rcvd == Close(1000 if goodbye else 1007, reason)
    wait_for_runs(idle, 0)
    assert idle.errors[lines:] == []


HOSTILE = [
    b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /%ff%00%0a%1b[31m HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /page/%ed%a0%80%00%0a HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /api/theory?rtt=%ff%0a%00%1b[31m HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /api/theory?%ff%0a%00%1b[31m=1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /api/theory?\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://\xff\x85\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nX: \x1b\x00\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 1_000_000,
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: \xff\r\nConnection: upgrade\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n\xff\xfe",
    # A complete request followed by an invalid body.
    b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n\xff\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
]


def test_arbitrary_requests_are_answered_but_not_logged(server: Server) -> None:
    lines = len(server.errors)
    for request in HOSTILE:
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as client:
            with suppress(OSError):
                client.sendall(request)
            answer = client.recv(4096)
        status, _, rest = answer.partition(b"\r\n")
        assert status.split()[1] in (b"200", b"400", b"403", b"404", b"413", b"422"), request
        assert b"\x1b" not in rest
        assert b"\x00" not in rest
        assert len(answer) < 4096 or request[:5] == b"GET /"
    assert server.get("/api/model")[0] == 200
    assert server.errors[lines:] == []


def test_endpoints_the_page_uses(server: Server) -> None:
    status, headers, body = server.get("/api/model")
    content = json.loads(body)
    assert status == 200
    assert not content["token_needed"]
    assert content["limits"]["pages"] == 5
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "set-cookie" not in headers
    assert headers["x-content-type-options"] == "nosniff"
    query = read_state({"a": "hull", "b": "tcp"}).query()
    status, headers, body = server.get(f"/api/scenario?{query}")
    assert status == 200
    assert b"[schemes.tcp]" in body
    assert headers["content-disposition"] == "attachment; filename=lab.toml"
    status, _, body = server.get(f"/api/theory?{query}")
    assert status == 200
    assert [s["id"] for s in json.loads(body)["schemes"]] == ["hull", "tcp"]
    for query, message in (
        ("rtt=9", "rtt: 9 is invalid; expected a number from 2e-06 to 0.001"),
        ("rtt=1e-4&rtt=1e-4", "rtt: is given twice; expected once"),
        ("a=tcp&y=upwards", "y: upwards is invalid; expected linear, log"),
    ):
        for path in ("scenario", "theory"):
            status, _, body = server.get(f"/api/{path}?{query}")
            assert (status, json.loads(body)) == (422, {"error": message})
    # A link exactly as the page writes it.
    assert server.get("/api/theory?a=tcp&y=log")[0] == 200
    for path in ("/docs", "/openapi.json", "/page/../server.py", "/page/%2e%2e/server.py"):
        status, _, body = server.get(path)
        assert (status, json.loads(body)) == (404, {"error": "Not Found"})

"""Shared by the lab's tests: states, a server process, a WebSocket client as the page."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

import ctrl_c

COMMAND = [sys.executable, "-m", "hull", "lab", "--no-open"]


@dataclass
class Server:
    """`hull lab` as a user starts it."""

    process: subprocess.Popen[str]
    port: int
    token: str | None
    line: str
    """The first line on stdout."""
    threads: int = 0
    """Threads when it began to listen."""
    errors: list[str] = field(default_factory=list)
    """Lines on stderr so far."""

    @contextmanager
    def page(self, **options: Any) -> Iterator[ClientConnection]:
        """A connection on which no message has been sent."""
        address = f"ws://127.0.0.1:{self.port}/api/live"
        with connect(address, max_size=None, compression=None, **options) as socket:
            yield socket

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, found, answer.read()
        finally:
            connection.close()

    def runs(self) -> int:
        """Return the threads beyond those present when it began to listen: one for each run."""
        return self.status("Threads") - self.threads

    def status(self, key: str) -> int:
        """A number of /proc/PID/status, such as VmHWM in kB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(rf"^{key}:\s+(\d+)", text, re.MULTILINE)
        assert found
        return int(found[1])

    def cpu_seconds(self) -> float:
        """Processor time so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(*options: str, has_token: bool | None = None) -> Iterator[Server]:
    """A server on a free port until the block ends; Ctrl-C stops it without a traceback."""
    process = subprocess.Popen(
        [*COMMAND, "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=ctrl_c.heard,
    )
    assert process.stdout
    assert process.stderr
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+:(\d+)/", line)
        assert found, line + process.stderr.read()
        if has_token is None:
            has_token = bool(options)
        token = process.stdout.readline().split()[1] if has_token else None
        server = Server(process, int(found[1]), token, line)
        assert server.get("/api/model")[0] == 200
        server.threads = server.status("Threads")
        pipe = process.stderr
        reader = threading.Thread(target=lambda: server.errors.extend(pipe), daemon=True)
        reader.start()
        yield server
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(10)
        reader.join(10)
        assert process.returncode in (0, 130)
        errors = "".join(server.errors)
        assert "Traceback" not in errors, errors
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()
        process.stderr.close()


def say(socket: ClientConnection, kind: str, **content: Any) -> None:
    """Send one message as a page."""
    socket.send(json.dumps({"type": kind, **content}))


def hear(socket: ClientConnection, kind: str, generation: int | None = None) -> dict[str, Any]:
    """Return the next message of a kind (and of this generation or a later one)."""
    while True:
        message: dict[str, Any] = json.loads(socket.recv(timeout=20))
        late = generation is None or message.get("generation", 0) >= generation
        if message["type"] == kind and late:
            return message
        assert message["type"] != "error", message

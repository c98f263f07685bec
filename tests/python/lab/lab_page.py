"""Shared by the tests of the lab's page: the server process, and pages that must log nothing.

A module binds a fixture that it uses to a name of its own: `open_page = lab_page.open_page`.
"""

import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from os import geteuid
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

import ctrl_c

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Request

HERE = Path(__file__).parent
SMALL = (
    "a=dctcp&b=hull&rate=1e9&rtt=2e-4&flows=2&load=0&drain=0.95&threshold=1000&k=30000&speed=0.005"
)
Open = Callable[..., "Page"]


class Server:
    """`hull lab` as a process."""

    def __init__(self, *options: str, port: int = 0) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hull", "lab", "--no-open", "--port", str(port), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=ctrl_c.heard,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+:(\d+)/", line)
        if found is None:
            self.process.kill()
            pytest.fail(f"hull lab: {line}{self.process.communicate()[1]}")
        self.port = int(found[1])
        self.url = f"http://127.0.0.1:{self.port}/"

    def token(self) -> str:
        """Read the token from the second line on stdout."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().removeprefix("token:").strip()

    def end(self) -> str:
        """Stop the server as Ctrl-C does; return its stderr."""
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=15)[1]


def listen(page: "Page", noise: list[str], server: str, *, errors: bool = True) -> None:
    """Record a page's console output, its errors, and its requests to other servers."""
    if errors:
        page.on("console", lambda message: noise.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: noise.append(f"error: {error}"))

    def note(request: "Request") -> None:
        if urlsplit(request.url).netloc not in (server, ""):
            noise.append(f"request: {request.url}")

    page.on("request", note)


def live(page: "Page") -> "Page":
    """Return the page once it streams."""
    from playwright.sync_api import expect

    expect(page.locator("#connection")).to_have_attribute("data-kind", "live", timeout=15_000)
    until(page, "window.draws > 40")
    return page


def until(page: "Page", condition: str) -> None:
    """Wait for a condition. (Playwright's own wait would need the page to allow eval.)"""
    end = time.monotonic() + 10
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(20)


def pictures(page: "Page", seconds: float) -> float:
    """Return the charts' redraws per second."""
    before, start = page.evaluate("window.pictures"), time.monotonic()
    page.wait_for_timeout(1000 * seconds)
    return float((page.evaluate("window.pictures") - before) / (time.monotonic() - start))


@pytest.fixture(scope="module")
def lab_server() -> Iterator[Server]:
    running = Server()
    yield running
    running.end()


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    sync_api = pytest.importorskip("playwright.sync_api")
    arguments = ["--no-sandbox"] if geteuid() == 0 else []
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=arguments
        )
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(lab_server: Server, browser: "Browser") -> Iterator[Open]:
    """Opens pages that must be quiet: no errors, no requests to other servers."""
    contexts: list[BrowserContext] = []
    noise: list[str] = []

    def call(
        state: str = SMALL, *, url: str = lab_server.url, loud: bool = False, **options: Any
    ) -> "Page":
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        context.add_init_script(path=HERE / "watch.js")
        page = context.new_page()
        listen(page, noise, urlsplit(url).netloc, errors=not loud)
        page.goto(f"{url}#{state}" if state else url)
        return page

    yield call
    for context in contexts:
        context.close()
    assert noise == []

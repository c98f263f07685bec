"""Fixtures of the tests of the lab's page: `hull lab`, a browser, pages in it."""

import shutil
from collections.abc import Iterator
from os import geteuid
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from lab.lab_page import HERE, SMALL, Open, Server, listen

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page


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
    """Opens pages that have to be quiet: no errors, nothing from elsewhere."""
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

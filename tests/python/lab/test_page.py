"""The lab's page in a real browser: Debian's chromium, driven by Playwright, against `hull lab`."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import pytest

from lab import lab_page
from lab.lab_page import HERE, Open, Server, listen, live, pictures, until

pytestmark = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="no chromium (Debian: apt install chromium)"
)
pytest.importorskip("playwright.sync_api")
pytest.importorskip("fastapi")

from playwright.sync_api import Browser, expect  # noqa: E402

lab_server, browser, open_page = lab_page.lab_server, lab_page.browser, lab_page.open_page

CHARTS = 11
"""With two schemes."""


@pytest.mark.parametrize(
    ("script", "noted"),
    [
        ("console.error('a message')", "error: a message"),
        ("setTimeout(() => { throw new Error('thrown') })", "error: thrown"),
        ("Promise.reject(new Error('unhandled'))", "error: unhandled"),
        ("new Image().src = 'http://elsewhere.invalid/x.png'", "request: http://elsewhere.invalid"),
    ],
)
def test_page_noise_is_recorded(browser: Browser, script: str, noted: str) -> None:
    noise: list[str] = []
    page = browser.new_page()
    listen(page, noise, "")
    page.evaluate(f"() => {{ {script} }}")
    page.wait_for_timeout(200)
    page.close()
    assert any(noted in line for line in noise), noise


def test_streams_quietly_without_moving_the_layout(
    open_page: Open, record_property: Callable[[str, object], None]
) -> None:
    page = live(open_page())
    assert (
        page.evaluate("document.querySelectorAll('.chart:not([hidden]) .plot canvas').length")
        == CHARTS
    )
    page.wait_for_timeout(1000)
    page.evaluate("window.shifts = 0")
    frames = pictures(page, 2)
    record_property("frames_per_second", frames)
    print(f"{frames:.0f} frames a second")
    assert frames > 5
    page.locator("#set-drain").focus()
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(60)
    page.wait_for_timeout(500)
    assert page.evaluate("window.shifts") < 0.001
    row = page.locator("#readout tbody tr").first
    expect(row).to_contain_text("DCTCP")
    expect(row).to_contain_text("theory")
    expect(page.locator(".chart .theory").first).to_contain_text("(thesis")


def test_first_visit_shows_the_first_example(open_page: Open) -> None:
    page = live(open_page(""))
    expect(page.locator("#presets button[aria-pressed=true]")).to_have_count(1)
    expect(page.locator("#look-text")).to_contain_text("phantom queue")
    page.locator("#presets button").last.click()
    expect(page.locator("#set-rate")).to_have_attribute("aria-valuetext", "400 gigabits per second")
    page.wait_for_timeout(400)
    assert "rate=4e11" in page.url


def test_slider_is_answered(
    open_page: Open, record_property: Callable[[str, object], None]
) -> None:
    page = live(open_page())
    slider = page.locator("#set-drain")
    slider.focus()
    for i in range(12):
        page.keyboard.press("ArrowLeft" if i < 6 else "ArrowRight")
        page.wait_for_timeout(120)
    box = slider.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.9, middle)
    page.mouse.down()
    for i in range(10):
        page.mouse.move(box["x"] + box["width"] * (0.9 - 0.05 * i), middle)
        page.wait_for_timeout(60)
    page.mouse.up()
    page.wait_for_timeout(400)
    answers: list[float] = page.evaluate("window.answers")
    print(f"answers: {len(answers)}, median {median(answers):.0f} ms, worst {max(answers):.0f} ms")
    record_property("answer_ms", answers)
    assert len(answers) >= 15
    # The target is 100 ms on an idle machine; other tests may run at the same time.
    assert median(answers) < 200
    share = float(slider.input_value())
    assert 0.6 < share < 0.85
    assert page.locator("output[for=set-drain]").inner_text() == f"{100 * share:.3g}%"
    page.wait_for_timeout(400)
    assert f"drain={share:g}" in page.url


def test_link_reproduces_the_view(open_page: Open) -> None:
    first = live(open_page(""))
    first.locator("#scheme-b").select_option("tcp")
    first.locator("#set-flows").fill("5")
    first.locator("#set-buffer").press("ArrowLeft")
    first.locator("#log").check()
    first.locator("#copy").click()
    expect(first.locator("#notice")).to_contain_text("link", ignore_case=True)
    fragment = urlsplit(first.url).fragment
    second = live(open_page(fragment))
    values = (
        "[...document.querySelectorAll('#controls input, #controls select')].map((e) => e.value)"
    )
    assert second.evaluate(values) == first.evaluate(values)
    assert second.locator("#log").is_checked()
    assert urlsplit(second.url).fragment == fragment
    first.wait_for_timeout(300)
    theory = "[...document.querySelectorAll('.theory')].map((e) => e.textContent)"
    assert second.evaluate(theory) == first.evaluate(theory)


def test_bad_link_is_explained(open_page: Open) -> None:
    page = live(open_page("a=hull&rate=5&colour=red&flows=1.5"))
    notice = page.locator("#notice")
    expect(notice).to_contain_text(
        "rate: 5 is invalid; expected 1e9, 1e10, 2.5e10, 4e10, 1e11, 4e11"
    )
    expect(notice).to_contain_text("colour: not known")
    expect(notice).to_contain_text("flows: 1.5 is invalid")
    page.locator("#restart").click()  # the notice covers no control
    page.locator("#notice-close").click()
    expect(notice).to_be_hidden()


def test_incomplete_or_nonsense_links_still_run(open_page: Open) -> None:
    for link, schemes, notice in (
        ("a=hull&b=hull", ("hull", ""), "b: hull is the same as a"),
        ("b=dctcp", ("hull", "dctcp"), ""),
        ("a=tcp&b=", ("tcp", ""), ""),
        ("a=hull&load=1e-320", ("hull", ""), ""),
        ("a=tcp&flows=3&flows=4", ("tcp", ""), "flows: is given twice"),
        ("x" * 9000, ("hull", ""), "x…: not known"),
    ):
        page = live(open_page(link))
        found = page.locator("#scheme-a").input_value(), page.locator("#scheme-b").input_value()
        assert found == schemes, link
        text = page.locator("#notice-text").text_content() or ""
        assert notice in text
        assert bool(text) == bool(notice)
        assert len(text) < 200
        page.close()


def test_saved_scenario_runs(open_page: Open, tmp_path: Path) -> None:
    page = live(open_page())
    with page.expect_download() as download:
        page.locator("#save").click()
    file = tmp_path / "lab.toml"
    download.value.save_as(file)
    assert download.value.suggested_filename == "lab.toml"
    command = [sys.executable, "-m", "hull", "run", str(file), "--out", str(tmp_path / "out")]
    short = ["--set", "run.duration=20ms", "--set", "run.warmup=5ms"]
    done = subprocess.run([*command, *short], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    summary = (tmp_path / "out" / "summary.json").read_text()
    assert '"dctcp"' in summary
    assert '"hull"' in summary


def test_continues_after_a_server_restart(open_page: Open) -> None:
    first = Server()
    page = live(open_page(url=first.url, loud=True))
    page.locator("#set-flows").fill("3")
    first.end()
    expect(page.locator("#connection")).to_contain_text("Server gone")
    again = Server(port=first.port)
    try:
        live(page)
        assert page.locator("#set-flows").input_value() == "3"
        assert pictures(page, 0.5) > 4
    finally:
        again.end()


HIDE = """(hidden) => {
    Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
    document.dispatchEvent(new Event('visibilitychange')); }"""


def test_background_tab_reconnects_to_a_new_server(open_page: Open) -> None:
    first = Server()
    page = live(open_page(url=first.url, loud=True))
    page.evaluate(HIDE, True)
    first.end()
    again = Server(port=first.port)
    try:
        connection = page.locator("#connection")
        expect(connection).to_contain_text("Paused", timeout=15_000)
        page.evaluate(HIDE, False)
        expect(connection).to_contain_text("Live")
        assert pictures(page, 0.5) > 4
    finally:
        again.end()


def test_pause_and_step(open_page: Open) -> None:
    page = live(open_page())
    expect(page.locator("#step")).to_be_disabled()
    page.locator("#pause").click()
    expect(page.locator("#connection")).to_contain_text("Paused")
    page.wait_for_timeout(300)
    assert pictures(page, 0.4) == 0
    before = page.evaluate("window.draws")
    page.locator("#step").press("Enter")
    until(page, f"window.draws > {before}")
    page.locator("#set-drain").press("ArrowLeft")
    until(page, "window.answers.length > 0")
    page.locator("#pause").click()
    assert pictures(page, 0.5) > 4


LONG = (
    "a=dctcp_pq&b=tcp_ecn&rate=4e10&rtt=1e-3&flows=32&load=0.8&speed=0.1&burst=64000&k=1e6"
    "&buffer=2e6"
)
CUT = """() => [...document.querySelectorAll(
    '#readout strong, #readout small, .value, .theory, .head h3, #notes, #look, select, button')]
    .filter((e) => e.checkVisibility() && (e.scrollWidth > e.clientWidth + 1
      || e.scrollHeight > e.clientHeight + 1) && getComputedStyle(e).display !== 'inline')
    .map((e) => `${e.className || e.tagName}: ${e.textContent}`)"""
OVER = """() => [...document.querySelectorAll('#readout tr, .head')].flatMap((row) => {
    const boxes = [...row.querySelectorAll('h3 > span, .value, tr > *')].map((e) => {
      if (e.tagName === 'SPAN') return e.getBoundingClientRect();
      const range = document.createRange();
      range.selectNodeContents(e);
      return range.getBoundingClientRect(); });
    return boxes.flatMap((p, i) => boxes.slice(i + 1).filter((q) => p.width && q.width
      && p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1
      && q.top < p.bottom - 1).map(() => row.textContent)); })"""


@pytest.mark.parametrize("width", [320, 360, 640, 800, 960, 1100, 1280])
def test_nothing_is_cut_off_or_overlaps(open_page: Open, width: int) -> None:
    page = live(open_page(LONG, viewport={"width": width, "height": 780}))
    page.wait_for_timeout(500)
    assert page.evaluate(OVER) == []
    if width in (320, 360):
        assert page.evaluate(CUT) == []
    # Charts out of view are painted too, as a picture of the whole page needs.
    assert page.evaluate("document.documentElement.scrollHeight") > 1000
    page.evaluate("window.painted.clear()")
    until(page, f"window.painted.size === {CHARTS}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_fits_and_can_be_read(open_page: Open, scheme: str, width: int) -> None:
    page = live(open_page(color_scheme=scheme, viewport={"width": width, "height": 780}))
    page.locator("#numbers summary").click()
    if width == 360:
        page.locator("#settings summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    contrast = (HERE / "contrast.js").read_text()
    assert page.evaluate(contrast) == []
    page.locator("#theme").select_option("light" if scheme == "dark" else "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != ground
    page.wait_for_timeout(300)  # transitions
    assert page.evaluate(contrast) == []


def test_warm_up_is_announced(open_page: Open) -> None:
    """The page announces the warm-up from the start: 40 ms, at 5 ms a second."""
    page = live(open_page())
    page.locator("#numbers summary").click()
    table = page.locator("#numbers table")
    expect(page.locator("#notes")).to_contain_text("Warming up: until 40 ms the numbers count from")
    expect(table).to_contain_text("Mean queue, since the start")
    # 40 ms of simulated time at 5 ms a second.
    expect(table).to_contain_text("Mean queue, since the warm-up", timeout=10_000)
    expect(page.locator("#notes")).not_to_contain_text("Warming up")


def test_names_order_and_alternatives(open_page: Open) -> None:
    page = live(open_page())
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('input, select, button, summary')]
        .filter((e) => !(e.labels?.[0] ?? e).textContent.trim()).map((e) => e.id)"""
    )
    assert unnamed == []
    for slider in page.locator("input[type=range]").all():
        assert re.match(r"[\d.,]+", slider.get_attribute("aria-valuetext") or "")
        described = slider.get_attribute("aria-describedby")
        assert page.locator(f"#{described}").text_content()
    assert page.locator("#set-rtt").get_attribute("aria-valuetext") == "200 microseconds"
    assert page.locator("[tabindex]:not([tabindex='-1'])").count() == 0
    ids = "[...document.querySelectorAll('[id]')].map((e) => e.id)"
    found = page.evaluate(ids)
    assert len(found) == len(set(found))
    # Tab alone reaches every control once, in document order.
    order = page.evaluate(
        """() => [...document.querySelectorAll('a[href], button, input, select, summary')]
        .filter((e) => !e.disabled && e.checkVisibility() && !e.closest('dialog'))
        .map((e) => e.id || e.textContent)"""
    )
    reached = []
    for _ in order:
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        reached.append(focused.evaluate("(e) => e.id || e.textContent"))
        assert focused.evaluate("(e) => getComputedStyle(e).outlineStyle") != "none"
    assert reached == order
    labels = [
        plot.get_attribute("aria-label") or ""
        for plot in page.locator(".chart:not([hidden]) .plot").all()
    ]
    assert len(labels) == CHARTS
    assert re.match(r"Queue of DCTCP over time: mean [\d.]+ K?B, largest .*Theory: mean", labels[0])
    expect(page.locator("#live")).to_have_attribute("aria-live", "off")
    # Only sliders announce their values.
    assert page.locator("output:not([aria-live=off])").count() == 0
    changes = page.evaluate(
        """() => new Promise((resolve) => {
        let count = 0;
        const look = new MutationObserver((list) => { count += list.length; });
        const only = { attributes: true, attributeFilter: ['aria-label'] };
        look.observe(document.querySelector('.plot'), only);
        setTimeout(() => resolve(count), 2100); })"""
    )
    assert changes <= 2


def test_reduced_motion_draws_five_times_a_second(open_page: Open) -> None:
    page = live(open_page(reduced_motion="reduce"))
    assert 1 < pictures(page, 1.5) < 6.5


def test_token_is_requested_and_kept_in_the_tab(open_page: Open) -> None:
    guarded = Server("--host", "0.0.0.0")
    try:
        token = guarded.token()
        page = open_page(url=guarded.url, loud=True)
        dialog = page.locator("#token-dialog")
        expect(dialog).to_be_visible()
        expect(page.locator("#token")).to_be_focused()
        page.locator("#token").fill("wrong")
        page.keyboard.press("Enter")
        expect(page.locator("#token-why")).to_contain_text("wrong")
        page.locator("#token").fill(token)
        page.keyboard.press("Enter")
        expect(dialog).to_be_hidden()
        live(page)
        with page.expect_download():
            page.locator("#save").click()
        page.locator("#set-flows").fill("3")
        page.wait_for_timeout(400)
        assert token not in page.url
        assert page.evaluate("Object.values(sessionStorage)") == [token]
        assert page.evaluate("Object.keys(localStorage).length") == 0
        assert page.context.cookies() == []
        # The page does not send the old token to a restarted server: it would count as wrong.
        guarded.end()
        guarded = Server("--host", "0.0.0.0", port=guarded.port)
        expect(page.locator("#token-why")).to_contain_text("restarted", timeout=10_000)
        page.locator("#token").fill(guarded.token())
        page.keyboard.press("Enter")
        live(page)
        assert page.locator("#set-flows").input_value() == "3"
    finally:
        errors = guarded.end()
    assert "token" not in errors

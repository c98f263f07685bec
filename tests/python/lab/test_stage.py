"""What stays in view: the plane with a dot for each scheme, and the network; lessons; own files."""

import json
import re
import shutil
import tomllib
from pathlib import Path
from urllib.request import urlopen

import pytest

from lab import lab_page
from lab.lab_page import Open, Server, live, until
from lab.test_own import LEAF_SPINE

pytestmark = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="no chromium (Debian: apt install chromium)"
)
pytest.importorskip("playwright.sync_api")
pytest.importorskip("fastapi")

from playwright.sync_api import Page, expect  # noqa: E402

lab_server, browser, open_page = lab_page.lab_server, lab_page.browser, lab_page.open_page

THREE = (
    "a=dctcp&b=hull&more=tcp&rate=1e9&rtt=2e-4&flows=2&load=0.1&drain=0.95&threshold=1000&k=30000"
    "&speed=0.1"
)
PLACE = """(name) => {
    const labels = [...document.querySelectorAll('#plane .label')];
    const label = labels.find((e) => e.textContent.startsWith(name));
    return label && label.style.display !== 'none'
      ? [Number(label.dataset.x), Number(label.dataset.y)] : null; }"""


def label(page: Page, name: str) -> str:
    """Return the text beside a scheme's dot."""
    texts = page.locator("#plane .label").all_text_contents()
    return next(text for text in texts if text.startswith(f"{name} "))


def test_each_schemes_dot_agrees_with_the_run(open_page: Open) -> None:
    page = live(open_page(THREE))
    expect(page.locator("#plane .dot")).to_have_count(3)
    expect(page.locator("#plane .dot circle.unsure")).to_have_count(0, timeout=15_000)
    told = re.compile(r"HULL: [\d.]+% of the link, 99th percentile \d+ microseconds, median")
    expect(page.locator("#plane .scene")).to_have_attribute("aria-label", told)
    page.locator("#pause").click()
    page.wait_for_timeout(500)
    page.locator("#numbers summary").click()
    cells = page.locator("#numbers td").all_text_contents()
    rows = {(s, q): v for s, q, v in zip(cells[::4], cells[1::4], cells[2::4], strict=True)}
    for name in ("DCTCP", "HULL"):
        share, latency = label(page, name).removeprefix(f"{name} ").split("%, ")
        assert rows[(name, "1 KB FCT, 99%, since the warm-up")] == latency
        goodput = rows[(name, "Goodput of the long flows, since the warm-up")]
        number, unit = goodput.split()
        bps = float(number) * {"Gbps": 1e9, "Mbps": 1e6}[unit]
        assert float(share) == pytest.approx(100 * bps / 1e9, abs=0.2)
    x = {name: page.evaluate(PLACE, name) for name in ("DCTCP", "HULL", "TCP")}
    # HULL is to the left and below: less bandwidth, less latency; TCP fills the buffer.
    assert x["HULL"][0] < x["DCTCP"][0] - 20
    assert x["TCP"][1] < x["DCTCP"][1] < x["HULL"][1]
    # DCTCP and HULL have a model; TCP has none.
    assert page.locator("#plane .expected > *").count() == 2


def test_dots_move_with_a_slider_and_leave_a_trail(open_page: Open) -> None:
    page = live(open_page(THREE))
    until(page, f"({PLACE})('HULL') !== null")
    page.wait_for_timeout(1500)
    before = label(page, "HULL")
    slider = page.locator("#set-drain")
    slider.focus()
    for _ in range(40):
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(50)
    page.wait_for_timeout(1500)

    def share(text: str) -> float:
        return float(text.split()[1].removesuffix("%,"))

    assert share(label(page, "HULL")) < share(before) - 8
    assert page.locator("#plane .trails circle").count() > 1
    # Another kind of latency has another axis and no trail.
    page.locator("#set-load").fill("0")
    expect(page.locator("#plane .note")).to_contain_text("queue's latency")
    expect(page.locator("#plane .trails circle")).to_have_count(0)


SEEN = """() => {
    const box = document.querySelector('#plane .scene').getBoundingClientRect();
    const at = (x, y) => document.elementFromPoint(x, y)?.closest('#plane');
    return box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth
      && Boolean(at(box.left + 9, box.top + 9) && at(box.right - 9, box.bottom - 9)); }"""


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720), (390, 844), (360, 780)])
def test_the_plane_stays_in_view_while_sliders_are_dragged(
    open_page: Open, width: int, height: int
) -> None:
    page = live(open_page(THREE, viewport={"width": width, "height": height}))
    assert page.evaluate(SEEN)
    if width < 960:
        page.locator("#settings summary").click()
    for where in (0, 400, 100_000):
        page.evaluate(f"scrollTo(0, {where})")
        for name in ("drain", "load", "speed"):
            slider = page.locator(f"#set-{name}")
            slider.focus()
            page.keyboard.press("ArrowLeft")
            page.wait_for_timeout(150)
            assert page.evaluate(SEEN), (where, name)
            box = slider.bounding_box()
            assert box is not None
            assert 0 <= box["y"] <= height
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_charts_of_a_lesson_come_first(open_page: Open) -> None:
    page = live(open_page(""))
    first = page.locator("#charts .chart h3").first
    for lesson, chart in (
        ("One tooth, slowly", "Windows, packets"),
        ("What pacing does", "Throughput, all flows"),
        ("Small requests", "Queueing latency, CDF"),
        ("Why a phantom queue", "Queue"),
    ):
        page.get_by_role("button", name=lesson, exact=True).press("Enter")
        expect(first).to_contain_text(chart)
    # The lesson's order of charts persists while a slider moves, and in the link.
    page.locator("#set-drain").press("ArrowLeft")
    page.wait_for_timeout(400)
    assert page.url.endswith("&lesson=why")
    assert page.locator("#presets button[aria-pressed=true]").count() == 0
    elsewhere = live(open_page(page.url.partition("#")[2].replace("lesson=why", "lesson=tooth")))
    expect(elsewhere.locator("#charts .chart h3").first).to_contain_text("Windows")


def test_hosts_queue_is_picked_with_the_keyboard(open_page: Open, tmp_path: Path) -> None:
    page = live(open_page(THREE))
    queue = page.locator("#set-queue")
    expect(queue).to_have_value("fair")
    assert page.get_by_role("combobox", name="Queue").get_attribute("id") == "set-queue"
    expect(page.locator("#set-queue-summary")).to_contain_text("hosts of today")
    expect(queue).to_have_attribute("aria-describedby", "set-queue-summary")
    queue.focus()
    page.keyboard.press("ArrowDown")
    expect(queue).to_have_value("fifo")
    expect(page.locator("#set-queue-summary")).to_contain_text("hosts of 2012")
    page.wait_for_timeout(400)
    assert "&queue=fifo&" in page.url
    with page.expect_download() as download:
        page.locator("#save").click()
    download.value.save_as(tmp_path / "lab.toml")
    saved = tomllib.loads((tmp_path / "lab.toml").read_text())
    assert saved["host"]["queue"] == "fifo"
    # A link restores it; a wrong one is named.
    again = live(open_page(page.url.partition("#")[2].replace("queue=fifo", "queue=fq")))
    expect(again.locator("#set-queue")).to_have_value("fq")
    wrong = live(open_page(THREE + "&queue=pfifo"))
    expect(wrong.locator("#notice-text")).to_contain_text(
        "queue: pfifo is invalid; expected fair, fifo, fq, fq_codel"
    )


def test_each_lesson_sets_its_queue(open_page: Open) -> None:
    page = live(open_page(""))
    lessons = page.locator("#presets button")
    found = []
    for i in range(lessons.count()):
        page.locator("#set-queue:enabled").select_option("fq")
        lessons.nth(i).press("Enter")
        found.append(page.locator("#set-queue").input_value())
        if page.locator("#set-queue").is_disabled():  # the lossless network
            page.get_by_role("button", name="Why a phantom queue").press("Enter")
    assert found == ["fair", *["fifo"] * 8, *["fair"] * 2, *["fifo"] * 4]


def test_network_is_drawn_and_described(open_page: Open) -> None:
    page = live(open_page(THREE.replace("flows=2", "flows=6")))
    names = ["flow 1", "flow 2", "flow 3", "flow 4", "2 more flows", "8 servers", "receiver"]
    expect(page.locator("#network .host")).to_have_text(names)  # waits until it is drawn
    assert page.locator("#network .lane").all_text_contents() == ["DCTCP", "HULL"]
    assert page.locator("#network .kind").all_text_contents() == ["queue", "queue", "phantom"]
    said = page.locator("#network .scene").get_attribute("aria-label") or ""
    assert re.search(r"DCTCP: queue .* to the receiver; HULL: queue .*, phantom queue ", said)
    until(page, "document.querySelector('#network .trough + rect').width.baseVal.value > 3")


def test_keyboard_adds_at_most_three_schemes(open_page: Open) -> None:
    page = live(open_page(THREE))
    page.locator("#more-cubic").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.locator("#plane .dot")).to_have_count(5)
    page.wait_for_timeout(400)
    assert "more=tcp,cubic,vegas" in page.url.replace("%2C", ",")
    expect(page.locator("#more-tcp_ecn")).to_be_disabled()
    # A scheme that gets charts leaves the list.
    page.locator("#scheme-b").select_option("cubic")
    expect(page.locator("#more-cubic")).to_be_hidden()
    expect(page.locator("#more-tcp_ecn")).to_be_enabled()


def test_link_speed_sets_its_recommended_values(open_page: Open, lab_server: Server) -> None:
    page = live(open_page(THREE))
    page.locator("#set-rate").focus()
    page.keyboard.press("End")
    expect(page.locator("output[for=set-rate]")).to_have_text("400 Gbps")
    address = f"{lab_server.url}api/recommended?rate=4e11&rtt=2e-4&flows=2"
    with urlopen(address, timeout=10) as answer:
        found = json.load(answer)
    assert found["k"] == pytest.approx(1.7e6)
    expect(page.locator("output[for=set-k]")).to_have_text("1.7 MB")
    expect(page.locator("output[for=set-buffer]")).to_have_text("8 MB")
    page.wait_for_timeout(400)
    assert f"speed={found['speed']:g}" in page.url
    # The button restores the recommended settings.
    page.locator("#set-k").press("Home")
    expect(page.locator("output[for=set-k]")).to_have_text("1.5 KB")
    page.locator("#recommend").press("Enter")
    expect(page.locator("output[for=set-k]")).to_have_text("1.7 MB")


def test_own_network_runs_and_is_described(open_page: Open, tmp_path: Path) -> None:
    file = tmp_path / "rack.toml"
    file.write_text(LEAF_SPINE)
    server = Server(str(file))
    try:
        assert server.process.stdout is not None
        told = [server.process.stdout.readline().strip() for _ in range(4)]
        assert told[0] == f"{file}: Our rack"
        assert told[1] == "runs as it is: leaf-spine of 40 hosts, its traffic, its schemes"
        assert told[2].startswith("star with its numbers: link speed 25 Gbps; round trip 25.23 us")
        assert told[3].startswith("not in the star: leaf-spine of 40 hosts: shows the port to")
        page = live(open_page("", url=server.url, loud=True))
        expect(page.locator("#presets button[aria-pressed=true]")).to_have_text("rack.toml")
        page.locator("#own summary").press("Enter")
        expect(page.locator("#own dd").first).to_have_text("link speed 25 Gbps")
        expect(page.locator("#own dd").last).to_contain_text("shows the port to one host")
        expect(page.locator("#plane .dot")).to_have_count(3)
        assert page.locator("#network .name").text_content() == (
            "leaf-spine of 40 hosts: port to host 0"
        )
        names = page.locator("#network .host").all_text_contents()
        assert names == ["flow 1", "flow 2", "flow 3", "other hosts", "host 0"]
        assert page.locator("#network .lane").all_text_contents() == ["dctcp", "hull"]
        expect(page.locator("#set-rate")).to_be_disabled()
        expect(page.locator("#set-drain")).to_be_enabled()
        expect(page.locator("#set-queue")).to_have_value("fifo")
        page.locator("#set-queue").select_option("fair")
        with page.expect_download():
            page.locator("#save").click()
        # Switch to the star with the same numbers.
        page.locator("#scheme-a").select_option("dctcp")
        expect(page.locator("#set-rate")).to_be_enabled()
        assert page.locator("#set-k").get_attribute("aria-valuetext") == "100 kilobytes"
        page.locator("#save").click()
        expect(page.locator("#notice-text")).to_contain_text("expected schemes of one network")
    finally:
        errors = server.end()
    assert errors.count("\n") <= 1

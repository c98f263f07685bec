"""The lab's warnings: as `hull check` has them, and of drops without marks in a live run."""

import json
import shutil
from pathlib import Path

import pytest

from hull.lab.model import STANDARD, State, read_state
from hull.lab.own import Own, cells_of, read_own, saved
from hull.lab.warned import Warned
from hull.runs.plan import make_plan
from hull.warnings.scenario import warnings_before
from lab import lab_page
from lab.lab_page import SMALL, Open, live

lab_server, browser, open_page = lab_page.lab_server, lab_page.browser, lab_page.open_page

FULL_DRAIN = f"{SMALL}&drain=1&buffer=100000&flows=4".replace("&drain=0.95", "")
FULL_DRAIN = FULL_DRAIN.replace("&flows=2", "").replace("a=dctcp&b=hull", "a=dctcp_pq")


LEAF_SPINE = """
name = "own"
run = { duration = "1ms" }
topology.leaf_spine = { leaves = 4, spines = 1, hosts_per_leaf = 4, uplink_rate = "10Gbps" }
host = { rate = "10Gbps", delay = "1us" }
switch = { rate = "10Gbps", delay = "1us", buffer = "100KB" }
workload.flows = { load = "60%", sizes = { fixed = "10KB" } }
"""


def before(state: State, own: Own | None = None) -> list[str]:
    schemes = (STANDARD if own is None else own.catalog).schemes
    return Warned(schemes).before(cells_of(state, own))


@pytest.mark.parametrize(
    ("settings", "begins"),
    [
        ({"a": "dctcp", "k": 30_000}, None),
        ({"a": "dctcp", "k": 29_000, "buffer": 30_000}, "switch.marking.threshold: 29KB is not"),
        ({"a": "tcp_ecn", "k": 1e6, "buffer": 1e5}, "transport.ecn: true, but no switch marks"),
        ({"a": "hull", "drain": 1.0}, "switch.phantom_queue.drain: 100% is not below"),
    ],
)
def test_settings_have_the_warnings_of_the_saved_scenario(
    settings: dict[str, object], begins: str | None
) -> None:
    state = read_state(settings)
    found = before(state)
    assert found == warnings_before(make_plan(saved(state, None), "lab.toml", []))
    assert [text.startswith(begins or "-") for text in found] == [True] * (begins is not None)


def test_a_warning_names_its_schemes_by_their_titles() -> None:
    [text] = before(read_state({"a": "dctcp", "b": "hull", "drain": 1.0}))
    assert text.endswith(" (HULL)")


def test_a_file_has_the_warnings_of_its_check(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(LEAF_SPINE, encoding="utf-8")
    own = read_own(str(path))
    expected = warnings_before(make_plan(LEAF_SPINE, "own.toml", []))
    assert len(expected) == 1
    assert before(own.state, own) == expected


def test_a_live_run_drops_and_marks_none() -> None:
    """The condition under which the page shows the sentence, with the numbers of a frame."""
    state = read_state({"a": "dctcp_pq", "b": "dctcp", "drain": 1.0, "flows": 4, "buffer": 1e5})
    cells = cells_of(state, None)
    found = Warned(STANDARD.schemes).without_marks(cells)
    assert set(found) == {"dctcp_pq", "dctcp"}
    assert found["dctcp_pq"].endswith("(DCTCP + phantom queue)")
    for cell, marks in zip(cells, (False, True), strict=True):
        run = cell.live(1, 1e-3, [0.0])
        run.advance(0.01, 10**6)
        stats = json.loads(run.take(1))["stats"]
        assert (stats["marks"] > 0) == marks
        assert marks or stats["drops"] > 0
    # TCP without ECN asks for no mark, and hosts with CoDel drop by themselves.
    for other in ({"a": "tcp"}, {"a": "dctcp", "queue": "fq_codel"}):
        assert not Warned(STANDARD.schemes).without_marks(cells_of(read_state(other), None))


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium")
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_shows_them_without_moving(open_page: Open, width: int) -> None:
    pytest.importorskip("fastapi")
    from playwright.sync_api import expect

    page = live(open_page(FULL_DRAIN, viewport={"width": width, "height": 900}))
    place = page.locator("#warnings")
    line, status = place.locator("summary"), page.locator("#warnings-aloud")
    expect(line).to_contain_text("2 warnings: switch.phantom_queue.drain: 100%")
    expect(line).to_be_in_viewport()
    expect(status).to_contain_text("packets were dropped and none was marked so far")
    expect(place.get_by_role("list", name="Warnings")).to_be_hidden()
    line.focus()
    page.keyboard.press("Enter")
    expect(place.get_by_role("listitem")).to_have_count(2)
    if width < 1000:
        page.locator("#settings > summary").click()
    page.wait_for_timeout(500)
    page.evaluate("window.shifts = 0")
    page.locator("#set-drain").focus()
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    expect(line).to_have_text("No warnings")
    expect(status).to_have_text("No warnings")
    page.wait_for_timeout(300)
    assert page.evaluate("window.shifts") < 0.001

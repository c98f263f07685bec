"""The lab's lossless network: who is paused, what the victim gets, and that it runs as saved."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hull
from hull.errors import UsageError
from hull.lab import lossless, scenario
from hull.lab.model import SCHEMES, State, read_state
from hull.lab.own import cells_of, read_own, saved
from hull.lab.recommended import recommended
from hull.lab.theory import predictions
from lab import lab_page
from lab.lab_page import Open, live

lab_server, browser, open_page = lab_page.lab_server, lab_page.browser, lab_page.open_page

NETWORK = {"rate": 100e9, "rtt": 12e-6, **recommended(100e9, 12e-6, 1500, 4)}
LOSSLESS = [id_ for id_, scheme in SCHEMES.items() if scheme.lossless]


def looks(state: State, until: float) -> dict[str, dict[str, Any]]:
    """Return what the page has of each scheme at a time, s."""
    found = {}
    for cell in cells_of(state, None):
        run = cell.live(int(state.seed), 2 * state.rtt, scenario.edges(state))
        run.advance(until, 10**8)
        found[cell.scheme] = json.loads(run.take(400))
    return found


def test_the_victim_gets_half_as_in_thesis_5_1() -> None:
    """A sender at each switch: the victim gets what the flow beside it gets, half of the link."""
    state = read_state({"a": "pfc", **NETWORK, "flows": 2})
    (look,) = looks(state, 3e-3).values()
    pauses = look["pauses"]
    victim, beside, other = (rate / 1e9 for rate in pauses["goodput"])
    payload = 100 * (1500 - scenario.ACK) / (1500 + 20)  # preamble and gap of Ethernet
    assert victim == pytest.approx(beside, rel=0.05)
    assert victim == pytest.approx(payload / 2, rel=0.1)
    assert beside + other == pytest.approx(look["stats"]["goodput_long"] / 1e9, rel=1e-3)
    # The congested port is the root; the victim's host waits for the port that it makes wait.
    causes = {(c["root"], c["cause"], c["paused"], c["depth"]) for c in pauses["causes"]}
    assert causes == {
        ("s1->h0", "s1->h0", "s0->s1", 0),
        ("s1->h0", "s1->h0", "h4->s1", 0),
        ("s1->h0", "s0->s1", "h1->s0", 1),
        ("s1->h0", "s0->s1", "h3->s0", 1),
    }
    of_links = sum(link["time"] for link in pauses["links"])  # at the last sample
    assert pauses["time"] == pytest.approx(of_links, rel=0.01)


def test_a_phantom_queue_frees_the_victim() -> None:
    state = read_state({"a": "pfc", "b": "dcqcn_pq", **NETWORK, "flows": 4})
    found = looks(state, 4e-3)
    victim = {id_: look["pauses"]["goodput"][0] for id_, look in found.items()}
    paused = {id_: look["pauses"]["time"] for id_, look in found.items()}
    assert victim["dcqcn_pq"] > 3 * victim["pfc"]
    assert paused["dcqcn_pq"] < paused["pfc"] / 50
    assert found["pfc"]["phantom"] is None
    assert max(found["dcqcn_pq"]["phantom"]) > 0


@pytest.mark.parametrize("flows", [0, 1, 32])
@pytest.mark.parametrize("rate", [1e9, 400e9])
def test_every_scheme_runs_and_loses_nothing(rate: float, flows: int) -> None:
    values = {**recommended(rate, 2e-5, 1500, 2), "rate": rate, "rtt": 2e-5, "flows": flows}
    for xoff in (3e3, 20e6):
        state = read_state(
            {"a": "pfc", "b": "dcqcn", "more": "dcqcn_pq,hpcc", **values, "xoff": xoff}
        )
        assert list(state.all_schemes) == LOSSLESS
        for look in looks(state, 2e-4).values():
            assert look["stats"]["drops"] == 0
            assert len(look["flows"]) == len(look["pauses"]["rates"]) == min(1 + flows, 4)


def test_a_saved_scenario_shows_the_same_samples(tmp_path: Path) -> None:
    state = read_state({"a": "dcqcn", "b": "hpcc", **NETWORK, "flows": 4, "xoff": 2e4})
    file = tmp_path / "saved.toml"
    file.write_text(saved(state, None))
    settings = ["run.duration=1ms", "run.warmup=99us"]
    result = hull.run(file, tmp_path / "out", set=settings, jobs=1)
    for id_, look in looks(state, 1.099e-3).items():
        folder = result.folder / "parts" / "base" / id_ / "seed-1"
        queues = pl.read_parquet(folder / "queues.parquet")
        shown = dict(zip((round(t * 1e12) for t in look["t"]), look["queue"], strict=True))
        measured = dict(zip(queues["time_ps"], queues["bytes"], strict=True))
        times = shown.keys() & measured.keys()
        assert len(times) > 200
        assert {t: shown[t] for t in times} == {t: measured[t] for t in times}
        paused_ps = int(pl.read_parquet(folder / "pauses.parquet")["paused_ps"].sum())
        assert look["pauses"]["time"] == pytest.approx(paused_ps / 1e12, rel=0.01)


def test_two_networks_cannot_be_saved() -> None:
    mixed = read_state({"a": "hull", "b": "hpcc"})
    assert [cell.scheme for cell in cells_of(mixed, None)] == ["hull", "hpcc"]
    message = "schemes of the star and of the lossless network are invalid together"
    with pytest.raises(UsageError, match=message):
        saved(mixed, None)


def test_theory_has_no_line_and_says_why() -> None:
    found = predictions(read_state({"a": "dcqcn_pq", "b": "hpcc", **NETWORK}))
    assert found["notes"] == []
    for scheme in found["schemes"]:
        assert {p["value"] for p in scheme["predictions"]} == {None}
        assert {p["why"] for p in scheme["predictions"]} == {
            "hull.theory has no model of this scheme"
        }


def test_a_files_pause_threshold_can_be_dragged(tmp_path: Path) -> None:
    text = saved(read_state({"a": "pfc", "b": "dcqcn", **NETWORK}), None)
    (tmp_path / "mine.toml").write_text(text)
    own = read_own(str(tmp_path / "mine.toml"))
    assert own.state.xoff == 2e5
    assert "pauses from 200KB" in own.taken
    state = read_state({"a": "own:pfc", "xoff": 5e4}, own.catalog)
    (cell,) = cells_of(state, own)
    assert cell.scenario["switch"]["pfc"]["xoff"] == "50000B"


def test_hosts_and_links_are_those_of_the_thesis() -> None:
    state = read_state({"a": "pfc", **NETWORK, "flows": 5})
    content = lossless.content(state, state.schemes)
    edges = json.loads(content["topology"]["graph"]["text"])["edges"]
    at = {switch: [e["source"] for e in edges if e["target"] == switch] for switch in ("s0", "s1")}
    assert at == {"s0": ["h1", "h3", "h5", "h7"], "s1": ["h0", "h2", "h4", "h6", "s0"]}
    # As much as the four hosts behind it send.
    assert content["topology"]["links"] == [{"link": "s0--s1", "rate": "400Gbps"}]


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium")
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_shows_who_paused_whom(open_page: Open, width: int) -> None:
    from playwright.sync_api import expect

    state = "a=pfc&b=dcqcn_pq&rate=1e11&rtt=12e-6&flows=2&k=26000&xoff=2e5&speed=3e-4"
    page = live(open_page(state, viewport={"width": width, "height": 900}))
    trees = page.locator("#pauses .pauses")
    expect(trees).to_have_count(2)
    ports = trees.first.locator(".port")
    expect(ports).to_have_count(5, timeout=10_000)
    assert sorted(ports.all_text_contents()) == ["h1→s0", "h3→s0", "h4→s1", "s0→s1", "s1→h0"]
    assert ports.first.text_content() == "s1→h0"
    expect(trees.first.locator("canvas.strip")).to_have_count(4)
    # In the direction that waits, the wire is hatched.
    waits = "[...document.querySelectorAll('#network .waits')].map((e) => Number(e.style.opacity))"
    assert max(page.evaluate(waits)) > 0
    told = re.compile(r"Pauses alone: victim .* the victim paused \d+% of the time")
    expect(page.locator("#network .scene")).to_have_attribute("aria-label", told, timeout=10_000)
    titles = page.locator("#charts .chart:not([hidden]) h3").all_text_contents()
    assert any(title.startswith("Paused links") for title in titles)
    assert not any(title.startswith("Windows") for title in titles)
    # With a star the section and the charts are gone.
    if width < 960:
        page.locator("#settings summary").click()
    page.locator("#scheme-b").select_option("dctcp")
    page.locator("#scheme-a").select_option("hull")
    expect(page.locator("#pauses")).to_be_hidden()
    titles = page.locator("#charts .chart:not([hidden]) h3").all_text_contents()
    assert not any(title.startswith(("Paused links", "Rates")) for title in titles)

"""Every experiment in its quick form: pages over all of them, claims, figures.

One table per experiment records which claims hold and the approximate values (expected.py).
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import expected
from conftest import COMMAND
from hull.experiments import all_experiments
from hull.experiments.common.measured import Results

IDS = tuple(all_experiments())
GALLERY = Path(__file__).parents[2] / "tools" / "gallery.py"


def claims(everything: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((everything / "all-quick" / "claims.json").read_text())
    return found


def test_claims(everything: Path) -> None:
    found = claims(everything)
    keys = {"id", "source", "claim", "kind", "bound", "measured", "holds"}
    assert all(set(claim) == keys for claim in found)
    assert len({claim["id"] for claim in found}) == len(found)


def test_failing_claim_is_explained() -> None:
    for id_, experiment in all_experiments().items():
        failing = {row.quantity for row in expected.read(id_) if row.value == "FAILS"}
        for claim in experiment.claims:
            assert claim.tried or claim.id not in failing, claim.id


def test_every_table_belongs_to_an_experiment() -> None:
    assert {path.stem for path in expected.FOLDER.iterdir()} == set(IDS)


FINITE = {"requests", "flows", "incast", "partition_aggregate", "production", "all_to_all", "bulk"}
FINITE |= {"permutation"}


@pytest.mark.parametrize("id_", IDS)
def test_completion_is_defined_where_flows_end(id_: str) -> None:
    """Paper 6.3 counts until the last ACK (16.2 us for 6.8 KB), a client until its last byte."""
    experiment = all_experiments()[id_]
    cells = experiment.plan("quick", 1).cells
    ends = any(has_ends(cell.scenario["workload"]) for cell in cells)
    assert (experiment.completion is not None) == ends
    acked = id_ in ("fig12-13", "sec6-3-loads") or id_.startswith(("uec-", "uno-"))
    assert (experiment.completion == "acked") == acked


def has_ends(workload: dict[str, Any]) -> bool:
    """Whether any of its flows is finite."""
    long_lived = (workload.get("long_lived") or {}).get("flows", [])
    of_a_size = any(flows.get("size") for flows in long_lived)
    return of_a_size or bool(FINITE & {name for name, given in workload.items() if given})


@dataclass(frozen=True)
class Drawn:
    """A completed experiment: its summary and its figure."""

    id: str
    summary: dict[str, Any]
    figure: Figure


@pytest.fixture(scope="module", params=IDS)
def drawn(request: pytest.FixtureRequest, everything: Path) -> Drawn:
    """Each experiment, drawn once for all tests of its figure."""
    id_: str = request.param
    folder = everything / f"{id_}-quick"
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return Drawn(id_, summary, all_experiments()[id_].draw(Results(folder, summary)))


def test_results_match_the_recorded_tables(drawn: Drawn) -> None:
    """These tables only record the last run; other tests cover the published values, and a claim's
    limits come from the document."""
    expected.compare(drawn.id, expected.rows(drawn.summary, drawn.figure))


def test_figure(drawn: Drawn, everything: Path) -> None:
    """The figure has labels, a legend without duplicates, and is not blank."""
    figure = drawn.figure
    assert any(axis.get_ylabel() or axis.get_title(loc="left") for axis in figure.axes)
    keys = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert len(set(keys)) == len(keys)
    site = everything / "all-quick" / "figures"
    assert (site / f"{drawn.id}.pdf").read_bytes().startswith(b"%PDF")
    with Image.open(site / f"{drawn.id}.png") as image:
        assert image.width >= 900
        grey = np.asarray(image.convert("L"))
        assert grey.min() < 60 < 250 < grey.max()


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ("105", ""),
        ("89", "100 +- 10 -> 89, -11%"),
        ("nan", "100 +- 10 -> nan"),
    ],
)
def test_changes_are_described(found: str, words: str) -> None:
    before = expected.Row("latency mean", "100", "10")
    assert words in before.moved(expected.Row("latency mean", found, "9"))
    assert bool(before.moved(expected.Row("latency mean", found, "9"))) == bool(words)
    verdict = expected.Row("fig9-lower", "holds")
    assert verdict.moved(expected.Row("fig9-lower", "FAILS")) == "holds -> FAILS"


class Links(HTMLParser):
    """Collects the references of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in ("href", "src") and value]


def test_pages_open_from_disk(everything: Path) -> None:
    site = everything / "all-quick"
    page = (site / "index.html").read_text(encoding="utf-8")
    links = Links()
    links.feed(page)
    assert {f"{id_}.html" for id_ in IDS} <= set(links.found)
    for link in links.found:
        assert (site / link).is_file(), link
    for id_ in IDS:
        text = (site / f"{id_}.html").read_text(encoding="utf-8")
        assert "data:image/png;base64," in text
        assert not re.search(r'(?:src|href)="(?:https?:)?//', text)


def test_nothing_is_run_again(everything: Path) -> None:
    command = [*COMMAND, "reproduce", "--claims", "--format", "json", "--out", str(everything)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == claims(everything)
    assert done.stderr.count("already holds this run") == len(IDS)


def test_bytes_do_not_depend_on_hash_or_thread_order(everything: Path, tmp_path: Path) -> None:
    """Cached results evaluated again give the same bytes, as on another machine."""
    ids = ("epfl-table2", "epfl-fig4", "thesis-fig2-16", "thesis-fig2-17", "thesis-fig5-13")
    out = tmp_path / "out"
    command = [*COMMAND, "reproduce", *ids, "--quick", "--jobs", "1", "--format", "json"]
    done = subprocess.run(
        [*command, "--out", str(out), "--cache", str(everything / "cache")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": "12345", "POLARS_MAX_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads((everything / "all-quick" / "comparison.json").read_text())
    assert json.loads(done.stdout) == [
        row for id_ in ids for row in rows if row["experiment"] == id_
    ]
    for id_ in ids:
        for name in ("figure.png", "figure.pdf", "flows.parquet", "latency.parquet"):
            again, first = (folder / f"{id_}-quick" / name for folder in (out, everything))
            assert again.exists() == first.exists()
            assert not first.exists() or again.read_bytes() == first.read_bytes(), (id_, name)


def test_gallery_of_a_folder_of_results(everything: Path, tmp_path: Path) -> None:
    results, made = tmp_path / "results", tmp_path / "gallery"
    results.mkdir()
    (results / "fig9-quick").symlink_to(everything / "fig9-quick")
    done = subprocess.run(
        [sys.executable, GALLERY, results, made],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1  # the others have no pictures
    assert "no results of epfl-fig2b, " in done.stderr
    record = json.loads((made / "record.json").read_text(encoding="utf-8"))
    assert list(record) == ["fig9"]
    assert record["fig9"]["size"] == "quick"
    assert set(record["fig9"]["claims"]) == {c.id for c in all_experiments()["fig9"].claims}
    with Image.open(made / "fig9.webp") as image:
        assert 480 < image.width <= 1100

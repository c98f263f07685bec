"""Every experiment in its quick form: claims, the pages over all of them, repetition and gallery. A
file of its own, so that another worker runs it beside test_experiments.py.
"""

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from PIL import Image

from conftest import COMMAND
from hull.experiments import all_experiments

IDS = tuple(all_experiments())
GALLERY = Path(__file__).parents[2] / "tools" / "gallery.py"


def claims(everything: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((everything / "all-quick" / "claims.json").read_text())
    return found


def test_claims(everything: Path) -> None:
    found = claims(everything)
    keys = {"id", "source", "claim", "kind", "bound", "measured", "holds", "state", "cause"}
    assert all(set(claim) == keys for claim in found)
    assert len({claim["id"] for claim in found}) == len(found)


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
    assert "no results of collectives, " in done.stderr
    record = json.loads((made / "record.json").read_text(encoding="utf-8"))
    assert list(record) == ["fig9"]
    assert record["fig9"]["size"] == "quick"
    ids = {c.id for c in all_experiments()["fig9"].claims}
    measured = record["fig9"]["measured"]
    assert set(record["fig9"]["claims"]) == set(measured["claims"]) == ids
    assert (measured["size"], measured["seeds"]) == ("quick", record["fig9"]["seeds"])
    with Image.open(made / "fig9.webp") as image:
        assert 480 < image.width <= 1100

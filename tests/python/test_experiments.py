"""Every experiment in its quick form: pages over all of them, claims, figures.

The results are the same on every machine, so what was found once is kept: which claims hold
(snapshots/claims.txt) and what each figure shows (snapshots/<ID>.txt).
"""

import json
import os
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from PIL import Image

from conftest import COMMAND
from hull.experiments import all_experiments
from hull.experiments.common.measured import Results

SNAPSHOTS = Path(__file__).parent / "snapshots"
IDS = tuple(all_experiments())


def claims(everything: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((everything / "all-quick" / "claims.json").read_text())
    return found


def compare(name: str, text: str) -> None:
    """Against a snapshot; HULL_SNAPSHOTS=write makes it anew."""
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("HULL_SNAPSHOTS") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_claims(everything: Path) -> None:
    found = claims(everything)
    keys = {"id", "source", "claim", "kind", "bound", "measured", "holds"}
    assert all(set(claim) == keys for claim in found)
    assert len({claim["id"] for claim in found}) == len(found)
    compare("claims", "".join(f"{'holds' if c['holds'] else 'FAILS'} {c['id']}\n" for c in found))


def test_what_does_not_hold_says_why() -> None:
    snapshot = (SNAPSHOTS / "claims.txt").read_text(encoding="utf-8")
    failing = {line.split()[1] for line in snapshot.splitlines() if line.startswith("FAILS")}
    for experiment in all_experiments().values():
        for claim in experiment.claims:
            assert claim.tried or claim.id not in failing, claim.id


FINITE = {"requests", "flows", "incast", "partition_aggregate", "production", "all_to_all", "bulk"}


@pytest.mark.parametrize("id_", IDS)
def test_where_flows_end_it_says_which_end_counts(id_: str) -> None:
    """Paper 6.3 counts until the last ACK (16.2 us for 6.8 KB), a client until its last byte."""
    experiment = all_experiments()[id_]
    cells = experiment.plan("quick", 1).cells
    ends = any(FINITE & {k for k, v in cell.scenario["workload"].items() if v} for cell in cells)
    assert (experiment.completion is not None) == ends
    assert (experiment.completion == "acked") == (id_ in ("fig12-13", "sec6-3-loads"))


@pytest.mark.parametrize("id_", IDS)
def test_figure(everything: Path, id_: str) -> None:
    folder = everything / f"{id_}-quick"
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    figure = all_experiments()[id_].draw(Results(folder, summary))
    compare(id_, description(figure))
    site = everything / "all-quick" / "figures"
    assert (site / f"{id_}.pdf").read_bytes().startswith(b"%PDF")
    with Image.open(site / f"{id_}.png") as image:
        assert image.width >= 900
        grey = np.asarray(image.convert("L"))
        assert grey.min() < 60 < 250 < grey.max()


def description(figure: Figure) -> str:
    """What a figure shows, in words and rounded numbers."""
    lines = [f"figure {figure.get_figwidth():.1f} x {figure.get_figheight():.1f} inches"]
    for legend in figure.legends:
        lines.append("key: " + ", ".join(text.get_text() for text in legend.get_texts()))
    for axis in figure.axes:
        if axis.get_visible():
            lines += described(axis)
    return "\n".join(lines) + "\n"


def described(axis: Axes) -> list[str]:
    title = " ".join(axis.get_title(loc="left").split())
    lines = [
        f"panel {title!r}: {axis.get_xlabel()!r} ({axis.get_xscale()}), "
        f"{axis.get_ylabel()!r} ({axis.get_yscale()})"
    ]
    for line in axis.get_lines():
        y = [float(value) for value in np.asarray(line.get_ydata())]
        shown = " ".join(f"{value:.2g}" for value in (y if len(y) <= 12 else [min(y), max(y)]))
        lines.append(f"  line of {len(y)}: {shown}")
    for mesh in axis.collections:
        if isinstance(mesh, QuadMesh):
            values = np.asarray(mesh.get_array())
            lines.append(f"  grid of {values.size}: {np.median(values):.2g} {values.max():.2g}")
    lines += [f"  bar: {patch.get_height():.2g}" for patch in axis.patches]  # type: ignore[attr-defined]
    return lines


class Links(HTMLParser):
    """Collects what a page refers to."""

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
    assert done.stderr.count("has this run already") == len(IDS)


def test_same_bytes_whatever_the_order_of_hashes_and_threads(
    everything: Path, tmp_path: Path
) -> None:
    """Results that are kept, evaluated anew: as in a second run on another machine."""
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

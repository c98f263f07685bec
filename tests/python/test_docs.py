"""The documentation: commands run, excerpts match the sources, pictures exist."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

import hull
from conftest import COMMAND
from hull.experiments import all_experiments
from hull.experiments.common.claims import OTHERS, document

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GALLERY = DOCS / "gallery"
TRIED = (
    *(DOCS / f"{name}.md" for name in ("start", "python", "capture", "trace")),
    *(DOCS / f"{name}.md" for name in ("sweeps", "results", "command_line")),
    DOCS / "adding_congestion_control.md",
    *sorted((DOCS / "howto").glob("*.md")),
)
NOT_RUN = {
    'pip install "hullnet[dask]"': "needs several machines; sweep/test_dask.py runs it on loopback",
    'pip install "hullnet[slurm]"': "needs a cluster; sweep/test_slurm.py starts one",
    'pip install "hullnet[lab]"': "serves until it is stopped; the tests in lab start it",
    "marimo edit ": "waits for a browser; test_notebooks.py runs and exports each notebook",
    "hull-traffic ": "needs two machines; linux/traffic/tests runs both ends on loopback",
    "hull design --rate 10Gbps --rtt 300us --flows 2 --load 0.4 --check": (
        "takes half a minute; theory/test_design.py simulates this network without load"
    ),
}
"""Beginnings of blocks of commands that do not run here, with the reason."""

RECIPES = ("adding_congestion_control.md", "adding_marking.md", "adding_statistic.md")

WRAPPER = f"""#!/bin/sh
if [ "$1 $2" = "scenarios copy" ]; then
  {" ".join(COMMAND)} "$@" || exit
  exec sed -i '/^duration/s/"100s"/"200ms"/; /^warmup/s/"20s"/"20ms"/' "$3.toml"
fi
"""
"""Begins the command of a page: scenarios of minutes that it copies are short."""


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    """Language and text of each code block."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    return [(language, text) for language, text in found if language in languages]


def words(line: str) -> str:
    return " ".join(line.split())


@pytest.mark.parametrize("page", TRIED, ids=lambda page: page.stem)
def test_commands_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page's code blocks run in order in an empty folder."""
    command = tmp_path / "bin" / "hull"
    command.parent.mkdir()
    command.write_text(f'{WRAPPER}exec {" ".join(COMMAND)} "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    names: dict[str, object] = {}
    output = ""
    for language, text in blocks(page, "sh", "python", "text"):
        if text.startswith(tuple(NOT_RUN)):
            continue
        if language == "sh":
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", text],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, f"{text}\n{done.stderr}"
            output = done.stdout
        elif language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(text, page.name, "exec"), names)
            output = printed.getvalue()
        else:
            lines = {words(line) for line in output.splitlines()}
            assert {words(line) for line in text.splitlines()} <= lines


def test_commands_not_run_are_documented() -> None:
    """Pages outside TRIED contain only commands in NOT_RUN; each NOT_RUN entry matches a block."""
    pages = [DOCS / f"{name}.md" for name in ("lab", "notebooks", "linux/traffic", "theory/design")]
    for page in pages:
        assert all(text.startswith(tuple(NOT_RUN)) for _, text in blocks(page, "sh")), page
    texts = [text for page in (*TRIED, *pages) for _, text in blocks(page, "sh")]
    assert [start for start in NOT_RUN if not any(text.startswith(start) for text in texts)] == []


def test_targets_exist() -> None:
    """Every `make` target that a page names exists."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.M))
    for page in DOCS.rglob("*.md"):
        named = re.findall(r"`make ([a-z-]+)[^`]*`", page.read_text(encoding="utf-8"))
        assert set(named) <= targets, page


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_from_the_root(page: str) -> None:
    """Linked files exist; `make docs` checks the links of pages below docs."""
    links = re.findall(r"\]\((?!https://)([^)#\s]+)", (ROOT / page).read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("page", RECIPES)
def test_named_sources_exist(page: str) -> None:
    """Every Rust file named on such a page exists, matched by the end of its path."""
    files = [path.as_posix() for path in (ROOT / "crates").rglob("*.rs")]
    named = re.findall(r"`([\w/-]+\.rs)`", (DOCS / page).read_text(encoding="utf-8"))
    ends = [re.sub(r"^(hull-(sim|core)/)(?!src|tests)", r"\1src/", name) for name in named]
    assert ends
    assert [end for end in ends if not any(file.endswith(f"/{end}") for file in files)] == []


def test_public_api_is_documented() -> None:
    """The Python page documents each name in `hull`, the theory pages each theory module."""
    page = (DOCS / "python.md").read_text(encoding="utf-8")
    assert [name for name in hull.__all__ if f":: hull.{name}\n" not in page] == []
    pages = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "theory").glob("*.md"))
    modules = {path.stem for path in (ROOT / "python" / "hull" / "theory").glob("*.py")}
    own_use = {"__init__", "assumptions", "options", "report", "sources"}
    shown = {name for name in modules if f"automodule:: hull.theory.{name}\n" in pages}
    assert shown == modules - own_use


def test_every_experiment_is_in_the_gallery() -> None:
    """Each experiment has a picture and the generated table of its claims on its page."""
    record = json.loads((GALLERY / "record.json").read_text(encoding="utf-8"))
    assert set(record) == set(all_experiments())
    names = {f"{id_}.webp" for id_ in record}
    assert {path.name for path in GALLERY.iterdir()} == names | {"record.json"}
    size = sum(path.stat().st_size for path in GALLERY.glob("*.webp"))
    assert size < 40_000 * len(record)
    for id_, experiment in all_experiments().items():
        ids = {claim.id for claim in experiment.claims}
        assert set(record[id_]["claims"]) == set(record[id_]["measured"]["claims"]) == ids, id_
        picture = GALLERY / f"{id_}.webp"
        assert picture.stat().st_size < 200_000, id_
        with Image.open(picture) as image:
            assert 480 <= image.width <= 1100, id_
        page = (DOCS / "experiments" / f"{id_}.md").read_text(encoding="utf-8")
        assert f"](../gallery/{id_}.webp)" in page, id_
        assert f"```{{include}} ../generated/claims/{id_}.inc\n```" in page, id_
        assert not re.search(r"^\| claim \|", page, re.M), f"{id_}: a table of claims by hand"


def test_contradictions_name_the_claims_that_they_cause() -> None:
    """The table names the documents' claims whose cause is a contradiction, and no others."""
    causes = {
        claim.id: claim.cause
        for experiment in all_experiments().values()
        for claim in experiment.claims
        if document(claim.source) != OTHERS
    }
    page = (DOCS / "contradictions.md").read_text(encoding="utf-8")
    table = re.findall(r"^\|[^|]*\|[^|]*\|([^|]*`[^|]*)\|$", page, re.M)
    named = []
    for cell in table:
        whole = ""
        for name in re.findall(r"`([^`]+)`", cell):
            # "-middle" after `thesis-fig5-6-short` is thesis-fig5-6-middle.
            whole = name if name[0] != "-" else whole
            ends = [i for i, mark in enumerate(whole) if mark == "-"]
            found = [name] if name[0] != "-" else [whole[:i] + name for i in ends]
            named += [id_ for id_ in found if id_ in causes]
    caused = [id_ for id_, cause in causes.items() if cause == "documents contradict"]
    assert sorted(named) == sorted(caused)


def test_the_readme_counts_the_claims() -> None:
    record = json.loads((GALLERY / "record.json").read_text(encoding="utf-8"))
    judged = [
        (record[id_]["states"][claim.id], claim.bound)
        for id_, experiment in all_experiments().items()
        for claim in experiment.claims
        if document(claim.source) != OTHERS and claim.kind == "predicted"
    ]
    hold, fail, undecided = (
        sum(found == state for found, _ in judged) for state in ("holds", "fails", "undecided")
    )
    assert hold + fail + undecided == len(judged)
    own = judged.count(("holds", "document"))
    readme = words((ROOT / "README.md").read_text(encoding="utf-8"))
    assert (
        f"of {len(judged)} predicted claims of the paper, the thesis and the report {hold} hold "
        f"over several seeds ({own} of them by a bound of the document itself), {fail} fail, and "
        f"{undecided} are undecided"
    ) in readme


PAGE = '<p id="here"><a href="{}">x</a><img src="there.png" alt="a picture"></p>'


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("#here", None),
        ("other.html#here", None),
        ("below/third.html", None),
        ("https://example.org/a?b#c", None),
        ("nothing.html", "no such file"),
        ("../outside.html", "no such file"),
        ("other.html#nowhere", "no such anchor"),
        ("/other.html", "begins at the root"),
        ("http://example.org", "no address of the form"),
        ("https://example", "no address of the form"),
    ],
)
def test_link_check(link: str, problem: str | None, tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "below").mkdir(parents=True)
    (site / "there.png").write_bytes(b"")
    (site / "index.html").write_text(PAGE.format(link))
    (site / "other.html").write_text(PAGE.format(""))
    (site / "below" / "third.html").write_text("<p>")
    (tmp_path / "outside.html").write_text("<p>")
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "check_links.py", site],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (1 if problem else 0), done.stderr
    assert (problem or "") in done.stderr
    assert done.stderr.count("\n") == (1 if problem else 0)


def test_first_paragraph_quotes_table4() -> None:
    """The README's factors and percentages follow from the page's tables of means."""
    page = (DOCS / "experiments" / "table4.md").read_text(encoding="utf-8")

    def means(title: str) -> dict[str, dict[str, float]]:
        part = page.split(f"### {title}")[1].split("###")[0]
        rows = re.findall(r"^\| (\d+%) \| (\w+) \| ([\d.]+) ±", part, re.M)
        found: dict[str, dict[str, float]] = {}
        for load, scheme, mean in rows:
            found.setdefault(load, {})[scheme] = float(mean)
        return found

    hull_, others = "dctcp_pq950_pacer", ("tcp_droptail", "dctcp_30k")
    latency = means("Switch latency (us)").values()
    factors = [sorted(at[other] / at[hull_] for at in latency) for other in others]
    longer = [
        100 * (at.pop(hull_) / min(at.values()) - 1)
        for at in means("Completion time of 10 MB (ms)").values()
    ]
    text = words((ROOT / "README.md").read_text(encoding="utf-8"))
    tcp = re.search(r"is (\d+) to (\d+) times lower than with TCP", text)
    dctcp = re.search(r"(\d+) to (\d+) times lower than with DCTCP", text)
    transfers = re.search(r"take (\d+), (\d+) and (\d+)% longer", text)
    assert tcp
    assert dctcp
    assert transfers
    for written, (least, *_, most) in ((tcp, factors[0]), (dctcp, factors[1])):
        # The page rounds its means to three digits.
        assert list(map(float, written.groups())) == pytest.approx([least, most], rel=0.03)
    assert list(map(float, transfers.groups())) == pytest.approx(longer, abs=1)

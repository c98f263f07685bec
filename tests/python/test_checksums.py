"""Results modified after they were written are regenerated if possible, otherwise rejected."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import hull
from conftest import SHORT, Hull, sets, snapshot
from hull import UsageError, scenarios
from hull.files.checksums import damage, digest
from hull.runner import perform
from hull.runs.cache import Cache
from hull.runs.plan import make_plan

RUN = ("run", "scenario.toml", *sets(SHORT), "--out", "out")
PART = "parts/load=40%/dctcp_30k/seed-2"


def flip(path: Path) -> None:
    """Flips a bit in the middle; replaces the file, because hard links share the old one."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink()
    path.write_bytes(content)


def cut(path: Path) -> None:
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[: len(content) // 2])


DAMAGES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "a table with another bit": ("flows.parquet", flip),
    "half a table": ("links.parquet", cut),
    "no table": ("latency.parquet", Path.unlink),
    "a summary with another bit": ("summary.json", flip),
    "a part's table with another bit": (f"{PART}/flows.parquet", flip),
    "no table of a part": (f"{PART}/flows.parquet", Path.unlink),
    "no record of a part": (f"{PART}/run.json", Path.unlink),
    "half a record of a part": (f"{PART}/run.json", cut),
    "no part": (PART, shutil.rmtree),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "scenario.toml").write_text(scenarios.text("epfl-table2"), encoding="utf-8")
    hull.run(folder / "scenario.toml", folder / "out", set=SHORT)
    return folder / "out"


def tables(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in snapshot(folder).items() if name.endswith(".parquet")}


def test_checksums_cover_all_files(whole: Path) -> None:
    found = {}
    for record in whole.rglob("run.json"):
        for name, sum_ in json.loads(record.read_text(encoding="utf-8"))["sha256"].items():
            found[record.parent / name] = sum_
    there = {path for path in whole.rglob("*") if path.is_file()}
    assert found.keys() == there - {whole / "run.json"}
    assert found == {path: digest(path) for path in found}


@pytest.mark.parametrize("what", DAMAGES)
def test_damaged_run_is_rerun(hull: Hull, place: Path, whole: Path, what: str) -> None:
    shutil.copytree(whole, "out")
    assert "already holds this run" in hull(*RUN).stderr
    name, change = DAMAGES[what]
    change(Path("out", name))
    again = hull(*RUN)
    assert again.returncode == 0, again.stderr
    named = f"{name}/run.json" if what == "no part" else name
    assert f"out/{named} " in again.stderr.splitlines()[0]
    assert "; it is repeated" in again.stderr.splitlines()[0]
    kept = 24 if not name.startswith("parts") else 23
    assert f"hull: epfl-table2: 24 parts, {kept} of them reused" in again.stderr
    assert tables(Path("out")) == tables(whole)
    assert {path.name for path in place.iterdir()} == {"scenario.toml", "out"}
    assert "already holds this run" in hull(*RUN).stderr


def test_resume_skips_damaged_parts(hull: Hull, place: Path, whole: Path) -> None:
    shutil.copytree(whole, "out.partial")
    flip(Path("out.partial", PART, "latency.parquet"))
    Path("out.partial/.hull-0.partial").touch()
    done = hull(*RUN)
    assert done.returncode == 0, done.stderr
    assert f"{PART}/latency.parquet differs from its SHA-256 in run.json; that" in done.stderr
    assert "24 parts, 23 of them reused" in done.stderr
    assert tables(Path("out")) == tables(whole)
    assert not list(place.rglob(".hull-*"))


@pytest.mark.parametrize(
    ("name", "change", "read"),
    [
        ("summary.json", flip, lambda _: None),
        ("flows.parquet", flip, lambda result: result.flows),
        ("latency.parquet", cut, lambda result: result.latency),
        ("links.parquet", Path.unlink, lambda result: result.links),
        (f"{PART}/flows.parquet", cut, lambda result: result.perfetto("x.pftrace")),
        (f"{PART}/flows.parquet", Path.unlink, lambda result: result.perfetto("x.pftrace")),
        (PART, shutil.rmtree, lambda result: result.perfetto("x.pftrace")),
    ],
)
def test_damaged_results_are_refused(
    place: Path,
    whole: Path,
    name: str,
    change: Callable[[Path], None],
    read: Callable[[hull.Result], object],
) -> None:
    shutil.copytree(whole, "out")
    if name == "summary.json":
        path = Path("out", name)
        path.write_text(path.read_text().replace('"mean": 1', '"mean": 2', 1))
    else:
        change(Path("out", name))
    with pytest.raises(UsageError, match=f"out/{name}.* (differs|is missing).*; expected"):
        read(hull.load("out"))
    assert not list(place.glob("*pftrace*"))


def test_results_of_earlier_versions_are_read(hull: Hull, place: Path, whole: Path) -> None:
    shutil.copytree(whole, "out")
    for record in Path("out").rglob("run.json"):
        content = json.loads(record.read_text(encoding="utf-8"))
        del content["sha256"]
        record.unlink()
        if record.parent == Path("out"):
            record.write_text(json.dumps(content), encoding="utf-8")
    before = snapshot(Path("out"))
    assert "already holds this run" in hull(*RUN).stderr
    assert snapshot(Path("out")) == before
    assert hull("trace", "out").returncode == 0
    # A run interrupted in an earlier version gets its checksums on resume.
    Path("out").rename("out.partial")
    done = hull(*RUN)
    assert "24 parts, 24 of them reused" in done.stderr
    assert tables(Path("out")) == tables(whole)


def test_a_damaged_part_of_the_cache_is_simulated_again(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = make_plan(scenarios.text("epfl-table2"), "x.toml", SHORT, 1)
    cache = Cache(Path("cache"))
    first = tables(perform(plan, Path("first"), cache=cache).folder)
    kept = next(Path("cache").glob("??/*/flows.parquet"))
    flip(kept)
    capsys.readouterr()
    assert tables(perform(plan, Path("second"), cache=cache).folder) == first
    assert (
        f"hull: {kept} differs from its SHA-256 in run.json; that part" in capsys.readouterr().err
    )
    assert damage(kept.parent) is None
    assert tables(perform(plan, Path("third"), cache=cache).folder) == first
    assert capsys.readouterr().err == ""

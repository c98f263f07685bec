"""The notebooks under examples/: each runs as a script and through `marimo export`, and its
results match its text.
"""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
DOCUMENTATION = Path(__file__).parents[2] / "docs" / "notebooks.md"
NAMES = ("first_run", "csv_trace", "own_congestion_control", "sweep", "simulation_to_linux")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the notebooks: marimo writes beside them."""
    folder = tmp_path_factory.mktemp("notebooks")
    for path in FOLDER.glob("*.*"):
        shutil.copy(path, folder)
    return folder


def definitions(name: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The definitions of a notebook's cells after all have run."""
    pytest.importorskip("marimo", reason="needs marimo (pip install marimo)")
    monkeypatch.chdir(place)
    spec = importlib.util.spec_from_file_location(name, place / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    _, found = module.app.run()
    return dict(found)


def test_all_exist_and_are_documented() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(NAMES)
    text = DOCUMENTATION.read_text(encoding="utf-8")
    assert all(f"{name}.py" in text for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_exports_headless(name: str, place: Path) -> None:
    pytest.importorskip("marimo", reason="needs marimo (pip install marimo)")
    page = place / f"{name}.html"
    done = subprocess.run(
        [sys.executable, "-m", "marimo", "export", "html", f"{name}.py", "-o", page],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "data:image/png" in page.read_text(encoding="utf-8")


CHANGES = {
    "first_run": ('"drain": "95%"', '"drain": "90%"'),
    "csv_trace": ('"drain": "95%"', '"drain": "90%"'),
    "own_congestion_control": ("g = 16", "g = 8"),
    "sweep": ("seeds=4", "seeds=5"),
    "simulation_to_linux": ("run.duration=30ms", "run.duration=20ms"),
}
"""What a user may change first in each."""


@pytest.mark.parametrize("name", NAMES)
def test_reruns_only_after_a_change(name: str, tmp_path: Path) -> None:
    """A script prints results; a second run simulates nothing again; a changed one runs."""
    pytest.importorskip("marimo", reason="needs marimo (pip install marimo)")

    def told() -> str:
        done = subprocess.run(
            [sys.executable, f"{name}.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def made() -> dict[Path, int]:
        files = [*tmp_path.glob("results/**/*.parquet"), *tmp_path.glob("results/*/summary.json")]
        return {path: path.stat().st_mtime_ns for path in files}

    for path in FOLDER.glob("*.*"):
        shutil.copy(path, tmp_path)
    first, files = told(), made()
    assert first.strip()
    assert files
    assert (told(), made()) == (first, files)
    page = tmp_path / f"{name}.py"
    old, new = CHANGES[name]
    text = page.read_text(encoding="utf-8")
    assert old in text
    page.write_text(text.replace(old, new), encoding="utf-8")
    assert told().strip()
    assert made() != files


def test_first_run(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TCP fills the buffer, DCTCP stays at its threshold, HULL near empty and below its drain."""
    found = definitions("first_run", place, monkeypatch)
    assert found["mean_bytes"]["tcp"] > 200_000
    assert found["mean_bytes"]["dctcp"] == pytest.approx(30_000, rel=0.2)
    assert found["mean_bytes"]["hull"] < 1500
    assert found["median_us"]["hull"] < found["median_us"]["dctcp"] < found["median_us"]["tcp"]
    assert 0.8 < found["throughput"]["hull"] < 0.95


def test_csv_trace(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = definitions("csv_trace", place, monkeypatch)
    assert dict(found["finished"]) == {"tcp": 528, "hull": 528}
    assert found["slowdown"]["slowdown"].min() > 1
    tails = {(size, scheme): worst for size, scheme, _, worst in found["tails"].iter_rows()}
    assert tails["small", "hull"] < 0.2 * tails["small", "tcp"]


def test_own_congestion_control(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Halving empties the queue (thesis 2.2.3); neither DCTCP implementation does."""
    found = definitions("own_congestion_control", place, monkeypatch)
    used, lowest = found["used"], found["lowest"]
    assert used["halving"] < 0.96
    assert used["proportional"] > 0.999
    assert used["hull's DCTCP"] > 0.999
    assert lowest["halving"] == 0 < lowest["proportional"]


def test_sweep(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lower drain rate lengthens transfers; the store holds one file for each of 24 runs."""
    found = definitions("sweep", place, monkeypatch)
    points = found["points"].filter(statistic="fct.500KB.mean")
    means = {
        (drain, load): mean
        for drain, load, mean in points["scheme.drain", "workload.load", "mean"].iter_rows()
    }
    for load in (0.2, 0.4):
        assert means["80%", load] > means["90%", load] > means["95%", load]
    assert points["n"].to_list() == [4] * 6
    assert len(list((place / "results" / "store" / "runs").rglob("*.parquet"))) == 24


def test_simulation_to_linux(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = definitions("simulation_to_linux", place, monkeypatch)
    assert found["measured"]["hull"] == pytest.approx(
        found["found"].predicted["hull_throughput"], abs=0.05
    )
    assert "--drain 9500000000bps --threshold 3125B" in found["commands"]
    assert "dctcp_shift_g" in found["commands"]

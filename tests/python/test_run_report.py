"""A run's report is made on request, is the same now or later, and is not part of the run."""

import json
import shutil
from pathlib import Path

import pytest

import hull
from conftest import SHORT, Hull, sets
from hull.files.checksums import damage

RUN = ("run", "scenario.toml", "--out", "out", "--seeds", "1", *sets(SHORT))


def test_report_is_written_on_request(hull: Hull, place: Path) -> None:
    page = place / "out" / "report.html"
    done = hull(*RUN)
    assert done.returncode == 0, done.stderr
    assert not page.exists()
    made = hull("report", "out")
    assert (made.returncode, made.stdout, made.stderr) == (0, f"{page}\n", "")
    later = page.read_bytes()
    page.unlink()
    assert "already holds this run" in hull(*RUN).stderr
    at_once = hull(*RUN, "--report")
    assert at_once.stdout.splitlines()[-1] == str(page)
    assert "hull report" not in at_once.stderr
    assert page.read_bytes() == later
    assert hull(*RUN, "--report", "--quiet").stdout == f"{page}\n"
    assert "already holds this run" in hull(*RUN).stderr


def test_report_does_not_disturb_json_output(hull: Hull, place: Path) -> None:
    done = hull(*RUN, "--format", "json", "--report")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert (place / "out" / "report.html").exists()


@pytest.mark.parametrize("words", [("report", "absent"), ("report", "."), ("report",)])
def test_no_results_to_report(hull: Hull, words: tuple[str, ...]) -> None:
    done = hull(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("hull: error: ")


def test_damaged_results_have_no_report(hull: Hull, place: Path) -> None:
    assert hull(*RUN).returncode == 0
    table = place / "out" / "flows.parquet"
    shutil.copyfile(table, place / "copy")
    table.write_bytes(b"PAR1")
    done = hull("report", "out")
    assert done.returncode == 2
    assert "flows.parquet differs from its SHA-256" in done.stderr
    table.unlink()
    done = hull("report", "out")
    assert done.returncode == 2
    assert "flows.parquet is missing" in done.stderr
    assert not (place / "out" / "report.html").exists()


def test_changed_summary_without_checksums_has_no_report(hull: Hull, place: Path) -> None:
    assert hull(*RUN).returncode == 0
    for record in (place / "out").rglob("run.json"):
        content = json.loads(record.read_text(encoding="utf-8"))
        record.write_text(json.dumps({**content, "sha256": {}}), encoding="utf-8")
    summary = place / "out" / "summary.json"
    text = summary.read_text(encoding="utf-8")
    summary.write_text(text.replace('"ci95"', '"ci95ci95"'), encoding="utf-8")
    done = hull("report", "out")
    assert done.returncode == 2
    assert done.stderr.startswith("hull: error: "), done.stderr
    assert "summary.json: cannot be read ('ci95'), and run.json has no checksums" in done.stderr


def test_experiment_report_is_rebuilt_identically(place: Path, hull: Hull) -> None:
    assert hull("reproduce", "table1", "--seeds", "1").returncode == 0
    folder = place / "results" / "table1-quick"
    page = folder / "report.html"
    before = page.read_bytes()
    assert b'id="claims"' in before
    page.write_text("another")
    assert "report.html differs" in (damage(folder) or "")
    assert hull("report", str(folder)).returncode == 0
    assert page.read_bytes() == before
    assert damage(folder) is None


def test_in_python(place: Path) -> None:
    result = hull.run("scenario.toml", "out", set=SHORT, seeds=1)
    path = result.report()
    assert path == result.folder / "report.html"
    assert "<title>" in path.read_text(encoding="utf-8")

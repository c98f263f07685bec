"""Experiments: their rows against the published data, and the command that prints them."""

import dataclasses
import json
import tomllib
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from hull import cli, experiment
from hull.experiment import Experiment, Size, all_experiments

SHORT = Size(overrides=("run.duration=300ms", "run.warmup=20ms"), seeds=2)
TABLES = {"epfl-table2": ("epfl-ns2", "table2"), "table4": ("hull-paper", "table4")}
ROW = (
    *("experiment", "condition", "scheme", "metric", "statistic", "unit"),
    *("measured", "ci95", "published", "ratio", "seeds"),
)


@pytest.fixture
def short(place: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Experiment]:
    """Every experiment, so short that its numbers mean nothing."""
    known = {
        id_: dataclasses.replace(found, quick=SHORT) for id_, found in all_experiments().items()
    }
    monkeypatch.setattr(experiment, "all_experiments", lambda: known)
    return known


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["hull", *arguments])
    return cli.main()


def published(file: str, table: str) -> dict[str, Any]:
    text = (files("hull") / "published" / f"{file}.toml").read_text(encoding="utf-8")
    content: dict[str, Any] = tomllib.loads(text)[table]
    return content


def test_list(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert call(monkeypatch, "reproduce", "--list") == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == sorted(all_experiments())
    assert set(TABLES) <= set(listed)


def test_json(
    short: dict[str, Experiment],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert call(monkeypatch, "reproduce", "epfl-table2", "table4", "--format", "json") == 0
    captured = capsys.readouterr()
    rows = json.loads(captured.out)
    assert all(tuple(row) == ROW for row in rows)
    assert Counter(row["experiment"] for row in rows) == {
        "epfl-table2": (3 * 4 + 1) * 3 * 2,
        "table4": 3 * 4 * 3 * 3,
    }
    for row in rows:
        file, table = TABLES[row["experiment"]]
        values = published(file, table)[row["condition"]][row["scheme"]][row["metric"]]
        assert row["published"] in values
        assert row["unit"] == row["metric"].rsplit("_", 1)[1]
        assert row["seeds"] == 2
        if row["measured"] is not None:
            assert row["ratio"] == pytest.approx(row["measured"] / row["published"])
    for id_ in TABLES:
        folder = Path("results", f"{id_}-quick")
        assert (folder / "report.html").exists()
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        assert summary["comparison"] == [row for row in rows if row["experiment"] == id_]


def test_table(
    short: dict[str, Experiment],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert call(monkeypatch, "reproduce", "epfl-table2", "--seeds", "1", "--out", "there") == 0
    text = capsys.readouterr().out
    assert "load20_threshold_1500" in text
    assert "dctcp_pq950_pacer" in text
    assert "2284" in text  # published, of drop-tail TCP at 20% load
    assert str(Path("there/epfl-table2-quick/report.html").resolve()) in text


def test_the_variant_changes_only_its_threshold() -> None:
    plan = all_experiments()["epfl-table2"].plan("quick", 1)
    cells = {(cell.condition, cell.scheme): cell for cell in plan.cells}
    assert len(cells) == len(plan.cells) == 13
    base = cells["load20", "dctcp_pq950_pacer"].toml.splitlines()
    variant = cells["load20_threshold_1500", "dctcp_pq950_pacer"].toml.splitlines()
    changed = [(a, b) for a, b in zip(base, variant, strict=True) if a != b]
    assert len(changed) == 1
    assert "threshold" in changed[0][1]
    assert "1.5KB" in changed[0][1]


def test_full_is_longer_than_quick() -> None:
    for found in all_experiments().values():
        assert len(found.plan("full", None).parts) > len(found.plan("quick", None).parts)

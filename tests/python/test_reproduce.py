"""Experiments: their rows against the published data, and the command that prints them."""

import dataclasses
import json
import re
import shutil
import tomllib
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from hull import cli, experiments
from hull.experiments import all_experiments
from hull.experiments.common.claims import Claim, Finding
from hull.experiments.common.experiment import Experiment, Size
from hull.experiments.common.measured import Results
from hull.experiments.common.stated import beside
from hull.figures import Line, Panel, plot_sweep

DOCS = Path(__file__).parents[2] / "docs"
SHORT = Size(overrides=("run.duration=300ms", "run.warmup=20ms"), seeds=2)
TABLES = {"epfl-table2": ("epfl-ns2", "table2"), "table4": ("hull-paper", "table4")}
ROW = (
    *("experiment", "condition", "scheme", "metric", "statistic", "unit"),
    *("measured", "ci95", "published", "ratio", "seeds"),
)


@pytest.fixture
def short(place: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Experiment]:
    """Every experiment, too short for meaningful numbers."""
    known = {
        id_: dataclasses.replace(found, quick=SHORT) for id_, found in all_experiments().items()
    }
    monkeypatch.setattr(experiments, "all_experiments", lambda: known)
    return known


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["hull", *arguments])
    return cli.main()


def published(file: str, table: str) -> dict[str, Any]:
    text = (files("hull.experiments.common") / "published" / f"{file}.toml").read_text(
        encoding="utf-8"
    )
    content: dict[str, Any] = tomllib.loads(text)[table]
    return content


def test_list(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert call(monkeypatch, "reproduce", "--list") == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == list(all_experiments())
    assert {"epfl-table2", "table4", "fig12-13"} <= set(listed)


def test_documented_example_is_an_experiment(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file suffices: hull finds and runs it, and draws its schemes as it declares."""
    before = set(all_experiments())
    page = (DOCS / "experiments" / "adding.md").read_text(encoding="utf-8")
    source = page.split("```python\n")[1].split("```")[0]
    folder = place / "more"
    folder.mkdir()
    (folder / "mine.py").write_text(source, encoding="utf-8")
    monkeypatch.setattr(experiments, "__path__", [*experiments.__path__, str(folder)])
    found = experiments.all_experiments.__wrapped__()
    assert set(found) - before == {"mine"}
    monkeypatch.setattr(experiments, "all_experiments", lambda: found)
    cells = found["mine"].plan("full", None).cells
    assert [c.problems for c in beside(found["mine"].stated, cells, "full") if c.problems] == []
    assert call(monkeypatch, "reproduce", "mine", "--seeds", "1", "--format", "json") == 0
    assert [row["published"] for row in json.loads(capsys.readouterr().out)] == [1100.6]
    report = Path("results", "mine-quick", "report.html").read_text(encoding="utf-8")
    assert {"DCTCP-60K", "DCTCP-30K", "TCP drop-tail"} <= set(re.findall(r"[\w -]+", report))


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


def test_queries(
    short: dict[str, Experiment],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows, claims and a figure exist even if there is nothing to measure."""
    ids = ("epfl-fig4", "epfl-fig5", "epfl-fig6")
    assert call(monkeypatch, "reproduce", *ids, "--seeds", "1", "--format", "json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["experiment"] for row in rows} == set(ids)
    for id_ in ids:
        folder = Path("results", f"{id_}-quick")
        assert (folder / "figure.png").exists()
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        assert len(summary["claims"]) == len(short[id_].claims)


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
        if found.scenario is None:
            continue
        full, quick = found.plan("full", None), found.plan("quick", None)
        assert full.seeds != quick.seeds or full.cells != quick.cells


def test_cached_runs_are_not_repeated(
    short: dict[str, Experiment],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def results() -> dict[str, bytes]:
        tables = Path("results/epfl-table2-quick").rglob("*.parquet")
        return {str(path): path.read_bytes() for path in tables}

    assert call(monkeypatch, "reproduce", "epfl-table2", "--seeds", "1") == 0
    first = results()
    shutil.rmtree("results/epfl-table2-quick")
    assert call(monkeypatch, "reproduce", "epfl-table2", "--seeds", "1") == 0
    assert ", 0.0 s simulated" in capsys.readouterr().err.splitlines()[-1]
    assert results() == first
    # A changed run of the experiment replaces the first and reuses its seeds.
    assert call(monkeypatch, "reproduce", "epfl-table2") == 0
    found = json.loads(Path("results/epfl-table2-quick/summary.json").read_text(encoding="utf-8"))
    assert found["seeds"] == [1, 2]


def test_unusable_caches(
    short: dict[str, Experiment],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = Path("other")
    other.mkdir()
    (other / "mine.txt").write_text("mine", encoding="utf-8")
    command = ("reproduce", "epfl-table2", "--cache", str(other))
    assert call(monkeypatch, *command) == 2
    assert "other exists and is not a cache of hull" in capsys.readouterr().err
    (other / "cache.json").write_text('{"format": 99}', encoding="utf-8")
    assert call(monkeypatch, *command) == 2
    message = capsys.readouterr().err
    assert "another version of hull (format 99, here 1)" in message
    assert message.count("\n") == 1
    assert sorted(path.name for path in other.iterdir()) == ["cache.json", "mine.txt"]
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("fig12-31",), ["no experiment 'fig12-31'", "fig12-13"]),
        (("table4", "--all"), ["ID, --all", "one of them"]),
        (("table4", "--jobs", "0"), ["--jobs", "0", "at least 1"]),
        (("table4", "--quick", "--full"), ["--quick, --full"]),
        (("--all", "--seeds", "x"), ["--seeds", "x"]),
    ],
)
def test_bad_input(
    arguments: tuple[str, ...],
    named: list[str],
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert call(monkeypatch, "reproduce", *arguments) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert all(name in message for name in named), message
    assert not Path("results").exists()


def test_experiment_without_simulation(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a simulation, the folder still has a figure, claims and a page."""

    def draw(results: Results) -> Figure:
        return plot_sweep([Panel("", "x", "y", [Line("a", [0, 1], [0, 1])])])

    computed = Experiment(
        id="computed",
        title="Nothing but a model",
        source="thesis 3.2",
        scenario=None,
        draw=draw,
        claims=(
            Claim(
                "full",
                "thesis 3.2",
                "it knows its size",
                lambda r: Finding("", r.is_full),
                kind="predicted",
                bound="document",
            ),
        ),
    )
    monkeypatch.setattr(experiments, "all_experiments", lambda: {"computed": computed})
    for size, holds in (("quick", False), ("full", True)):
        assert call(monkeypatch, "reproduce", "--all", f"--{size}") == 0
        folder = Path("results", f"computed-{size}")
        assert {p.name for p in folder.iterdir()} == {
            *("figure.pdf", "figure.png", "report.html", "run.json"),
            *("scenario.toml", "summary.json"),
        }
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        assert summary["parts"] == summary["cells"] == summary["seeds"] == []
        assert [claim["holds"] for claim in summary["claims"]] == [holds]
        assert "data:image/png;base64," in (folder / "report.html").read_text(encoding="utf-8")
    assert "(computed)" in capsys.readouterr().out


def test_override_has_its_own_results(
    short: dict[str, Experiment],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The override takes precedence over the experiment's, and its results have their own name."""
    command = ("reproduce", "epfl-table2", "--seeds", "1")
    assert call(monkeypatch, *command, "--set", "switch.phantom_queue.threshold=2KB") == 0
    (folder,) = (path for path in Path("results").iterdir() if path.name != "cache")
    assert folder.name.startswith("epfl-table2-set-")
    assert folder.name.endswith("-quick")
    plan = short["epfl-table2"].plan("quick", 1, ("switch.phantom_queue.threshold=2KB",))
    raised = [cell for cell in plan.cells if cell.condition == "load20_threshold_1500"]
    assert "2KB" in raised[0].toml
    assert "1.5KB" not in raised[0].toml.split("phantom_queue")[1].split("[")[0]
    capsys.readouterr()
    assert call(monkeypatch, "reproduce", "--all", "--set", "run.seed=2") == 2
    assert "--set: given without an ID" in capsys.readouterr().err
    assert call(monkeypatch, *command, "--set", "schemes.nosuch.pacer.beta=3") == 2
    assert "--set: schemes.nosuch is unknown; expected dctcp" in capsys.readouterr().err
    assert call(monkeypatch, *command, "--set", "host.no=1") == 2

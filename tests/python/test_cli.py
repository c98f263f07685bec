"""The hull command: output, loaded modules, rejection of bad input."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from conftest import SHORT, Hull, sets, snapshot
from hull import __version__, scenarios


def test_version(hull: Hull) -> None:
    assert hull("--version").stdout == f"hull {__version__}\n"


def test_no_argument_shows_help(hull: Hull) -> None:
    done = hull()
    assert done.returncode == 0
    assert "reproduce" in done.stdout


def test_schema_is_json_schema(hull: Hull) -> None:
    schema = json.loads(hull("schema").stdout)
    assert "$schema" in schema
    assert "properties" in schema


def test_keys_lists_units_and_defaults(hull: Hull) -> None:
    lines = hull("keys").stdout.splitlines()
    duration = next(line for line in lines if line.startswith("run.duration "))
    assert "required" in duration
    ecn = next(line for line in lines if line.startswith("transport.ecn "))
    assert ecn.split()[1:3] == ["boolean", "false"]


def test_closed_pipe_is_not_an_error(place: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "hull", "schema"],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.stderr == ""


def test_shipped_scenarios_have_a_line_each(hull: Hull) -> None:
    lines = [line.partition("  ") for line in hull("scenarios").stdout.splitlines()]
    assert [name for name, _, _ in lines] == scenarios.names()
    titles = [title.strip() for _, _, title in lines]
    assert all(titles)
    assert len(set(titles)) == len(titles)
    assert not [title for title in titles if "  " in title or len(title) > 110]


def test_copy_a_shipped_scenario(hull: Hull) -> None:
    assert hull("scenarios", "copy", "epfl-table2").stdout == "epfl-table2.toml\n"
    copied = Path("epfl-table2.toml").read_text(encoding="utf-8")
    assert copied == scenarios.text("epfl-table2")
    assert hull("scenarios", "copy", "epfl-table2", "mine.toml").stdout == "mine.toml\n"
    again = hull("scenarios", "copy", "epfl-table2")
    assert again.returncode == 2
    assert "epfl-table2.toml" in again.stderr


HEAVY = (
    *("matplotlib", "numpy", "polars", "pydantic", "rich", "scipy", "vl_convert", "asyncio"),
    *(
        "hull.experiments",
        "hull.figures",
        "hull.report.page",
        "hull.inputs.scenario_types",
        "hull.theory",
    ),
)
"""What takes long to load; a run, and what one asks of a run, does without."""


def loaded(words: Sequence[str]) -> list[str]:
    """The modules in HEAVY that are loaded when a command exits."""
    code = (
        "import sys; from hull.cli import main; status = main(); "
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr); "
        "sys.exit(status)"
    )
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[str] = ast.literal_eval(done.stderr.splitlines()[-1])
    return found


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_run_imports_only_what_it_needs(place: Path, form: str) -> None:
    assert loaded((*RUN, *sets(SHORT), "--out", "out", "--format", form)) == []
    assert loaded(("show", "out", "--format", form)) == []


@pytest.mark.parametrize(
    "words", [("--version",), ("scenarios",), ("schema",), ("keys",), ("check", "scenario.toml")]
)
def test_lookup_commands_import_nothing_heavy(place: Path, words: tuple[str, ...]) -> None:
    assert loaded(words) == []


def test_import_hull_loads_nothing_heavy() -> None:
    code = f"import sys, hull; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_simulation_starts_before_charts_and_tables_are_loaded() -> None:
    code = (
        "import sys, hull.experiments.common.experiment;"
        "print([m for m in ('polars', 'matplotlib', 'vl_convert', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


RUN = ("run", "scenario.toml")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("run", "absent.toml"), ["absent.toml", "no such file"]),
        (("run", "epfl-table2.toml"), ["hull scenarios copy epfl-table2"]),
        (("run", "."), ["directory"]),
        (("run", "binary.toml"), ["binary.toml", "UTF-8"]),
        (("run", "broken.toml"), ["broken.toml"]),
        ((*RUN, "--jobs", "0"), ["--jobs", "0", "at least 1"]),
        ((*RUN, "--jobs", "many"), ["--jobs", "many", "at least 1"]),
        ((*RUN, "--seeds", "-1"), ["--seeds", "-1", "at least 1"]),
        ((*RUN, "--seeds", "1.5"), ["--seeds", "1.5", "at least 1"]),
        ((*RUN, "--seeds", "9" * 20), ["scenario.toml", "run.seeds", "a whole number from 0 to"]),
        ((*RUN, "--set", "run.seed=2147483648"), ["scenario.toml", "run.seed", "2147483647"]),
        ((*RUN, "--set", "nonsense"), ["--set", "nonsense", "key=value"]),
        ((*RUN, "--set", "run.duratoin=1s"), ["scenario.toml", "run.duratoin", "duration"]),
        ((*RUN, "--set", "run.duration=5B"), ["scenario.toml", "run.duration", "5B"]),
        ((*RUN, "--set", "run.duration=-1s"), ["scenario.toml", "run.duration", "-1s"]),
        (
            (*RUN, "--set", "workload.requests.load=100%"),
            ["scenario.toml", "workload.requests.load", "100%"],
        ),
        ((*RUN, "--out", "/proc/results/x"), ["--out", "/proc/results/x"]),
        ((*RUN, "--out", "scenario.toml"), ["--out", "scenario.toml"]),
        ((*RUN, "--out", "scenario.toml/x"), ["--out", "scenario.toml/x"]),
        ((*RUN, "--out", "."), ["--out", "holds no run of hull"]),
        ((*RUN, "--out", "/"), ["--out", "/"]),
        ((*RUN, "--out", "r\udcff"), ["--out", "r\\udcff", "UTF-8"]),
        ((*RUN, "--set", "name=\udcff"), ["scenario.toml", "name=\\udcff", "UTF-8"]),
        (("sweep", "scenario.toml", "--set", "name=\udcff"), ["\\udcff", "UTF-8"]),
        ((*RUN, "--loud"), ["--loud"]),
        (("run",), ["file"]),
        (("walk",), ["walk"]),
        (("reproduce",), ["--all and collectives"]),
        (("reproduce", "tabel4"), ["tabel4", "nearest: table4"]),
        (("reproduce", "table4", "figure99"), ["figure99", "nearest"]),
        (("reproduce", "table4", "--quick", "--full"), ["--quick", "--full"]),
        (("reproduce", "table4", "--format", "xml"), ["xml", "json"]),
        (("scenarios", "copy", "absent"), ["absent", "epfl-table2"]),
    ],
)
def test_bad_input(hull: Hull, place: Path, arguments: tuple[str, ...], named: list[str]) -> None:
    (place / "binary.toml").write_bytes(b"\xff\xfe")
    (place / "broken.toml").write_text("name = \n", encoding="utf-8")
    before = snapshot(place)
    done = hull(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("hull: error: ")
    assert "Traceback" not in done.stderr
    for name in named:
        assert name in done.stderr
    assert snapshot(place) == before
    assert {path.name for path in place.iterdir()} == set(before)


def test_run_prints_its_results_folder(hull: Hull, place: Path) -> None:
    done = hull(*RUN, *sets(SHORT), "--out", "out in here")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(place / "out in here")
    assert "24 parts" in done.stderr
    assert done.stderr.splitlines()[-1] == "hull: charts and tables: hull report 'out in here'"

"""`--scheme` runs a subset of a scenario's schemes."""

import json
from pathlib import Path
from types import MappingProxyType

import polars as pl
import pytest

import hull as hull_package
from conftest import SHORT, Hull, sets, snapshot
from hull import scenarios
from hull.runs.scheme_choice import chosen

SHORTER = [*SHORT, "run.duration=50ms", "run.seeds=1"]
SCHEMES = MappingProxyType({"a": 1, "b, c": 2, "d": 3})


def test_names_with_commas_and_in_any_order() -> None:
    def of(*given: str) -> list[str]:
        return chosen(given, SCHEMES, str)

    assert of() == of("a,d", "b, c") == ["a", "b, c", "d"]
    assert of("d,a") == of("d", "a", "d") == ["a", "d"]
    assert of("b, c") == ["b, c"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("dctcp_30", "scheme 'dctcp_30'; did you mean dctcp_30k? It has tcp_droptail, dctcp_30k, "),
        ("zzz", "has no scheme 'zzz'; expected one of tcp_droptail, dctcp_30k, dctcp_6k_pacer"),
        ("dctcp_30k,", "has no scheme ''; expected one of "),
    ],
)
def test_an_unknown_name_lists_the_known_ones(
    hull: Hull, place: Path, given: str, said: str
) -> None:
    before = snapshot(place)
    for command in (["run"], ["check"], ["sweep", "--over", "switch.loss=0%,1%"]):
        done = hull(*command, "scenario.toml", "--scheme", given)
        assert done.returncode == 2
        assert done.stderr.startswith("hull: error: --scheme: the scenario ")
        assert said in done.stderr
    with pytest.raises(hull_package.UsageError, match=r"^schemes: the scenario "):
        hull_package.run("scenario.toml", schemes=[given])
    with pytest.raises(hull_package.UsageError, match=r"^schemes: .* expected a list of names"):
        hull_package.run("scenario.toml", schemes="dctcp_30k")
    assert snapshot(place) == before


def test_a_scenario_without_schemes(hull: Hull, place: Path) -> None:
    text = scenarios.text("epfl-table2")
    Path("one.toml").write_text(text[: text.index("[schemes.")], encoding="utf-8")
    done = hull("check", "one.toml", "--scheme", "dctcp")
    assert done.returncode == 2
    assert "--scheme: dctcp is invalid; the scenario has no [schemes]" in done.stderr


def test_a_subset_has_the_same_results(hull: Hull, place: Path) -> None:
    whole = hull_package.run("scenario.toml", "whole", set=SHORTER)
    command = ["run", "scenario.toml", "--out", "part", *sets(SHORTER)]
    done = hull(*command, "--scheme", "dctcp_6k_pacer,dctcp_30k")
    assert done.returncode == 0, done.stderr
    part = hull_package.load("part")
    names = ["dctcp_30k", "dctcp_6k_pacer"]
    assert list(dict.fromkeys(cell["scheme"] for cell in part.summary["cells"])) == names
    rows = pl.col("scheme").is_in(names)
    assert part.flows.equals(whole.flows.filter(rows))
    assert part.links.equals(whole.links.filter(rows))
    text = (part.folder / "scenario.toml").read_text(encoding="utf-8")
    assert "# --scheme dctcp_6k_pacer,dctcp_30k\n" in text
    checked = json.loads(
        hull("check", "scenario.toml", "--scheme", names[0], "--format", "json").stdout
    )
    assert checked["schemes"] == names[:1]


def test_a_sweep_of_a_subset(place: Path) -> None:
    over = {"workload.load": ["20%", "40%"]}
    whole = hull_package.sweep("scenario.toml", over, set=SHORTER, seeds=1)
    part = hull_package.sweep("scenario.toml", over, set=SHORTER, seeds=1, schemes=["dctcp_30k"])
    assert part.equals(whole.filter(pl.col("scheme") == "dctcp_30k"))

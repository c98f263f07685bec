"""A run's folder: its contents, and that they do not depend on when or how the run is made."""

import json
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hull
from conftest import SHORT, Hull, sets, snapshot
from hull import scenarios
from hull.figures import plot_fct
from hull.results.columns import COLUMNS

SHORTER = [*SHORT, "run.duration=100ms"]


def tables(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in snapshot(folder).items() if name.endswith(".parquet")}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> hull.Result:
    scenario = scenarios.text("epfl-table2")
    return hull.run(tomllib.loads(scenario), tmp_path_factory.mktemp("run") / "out", set=SHORT)


def test_folder(result: hull.Result) -> None:
    assert {path.name for path in result.folder.iterdir()} == {
        "scenario.toml",
        "run.json",
        "summary.json",
        "flows.parquet",
        "latency.parquet",
        "links.parquet",
        "parts",
    }
    parts = result.summary["parts"]
    assert len(parts) == 3 * 4 * 2
    for part in parts:
        folder = result.folder / "parts" / part["condition"] / part["scheme"]
        assert {path.name for path in (folder / f"seed-{part['seed']}").iterdir()} == {
            "scenario.toml",
            "run.json",
            "summary.json",
            "flows.parquet",
            "latency.parquet",
            "links.parquet",
        }


def test_summary(result: hull.Result) -> None:
    summary = result.summary
    assert summary["seeds"] == [1, 2]
    for key in ("packet_hops", "events", "simulated_seconds", "cpu_seconds"):
        assert summary[key] == pytest.approx(sum(part[key] for part in summary["parts"]))
    assert summary["wall_seconds"] > 0
    # The peak of this process, which includes earlier tests.
    assert summary["peak_rss_bytes"] == max(part["peak_rss_bytes"] for part in summary["parts"])
    cell = summary["cells"][0]
    values = [
        part["switch_latency"]["occupancy"]["mean_us"]
        for part in summary["parts"]
        if (part["condition"], part["scheme"]) == (cell["condition"], cell["scheme"])
    ]
    assert len(values) == 2
    averaged = cell["switch_latency"]["occupancy"]["mean_us"]
    assert averaged["mean"] == pytest.approx(sum(values) / 2)
    assert averaged["ci95"] == pytest.approx(12.7062 * abs(values[0] - values[1]) / 2)


def test_peak_memory_of_a_run(hull: Hull) -> None:
    done = hull("run", "scenario.toml", "--out", "out", *sets(SHORT))
    assert done.returncode == 0, done.stderr
    summary = json.loads(Path("out", "summary.json").read_bytes())
    assert 10e6 < summary["peak_rss_bytes"] < 250e6


def test_packets_are_conserved(result: hull.Result) -> None:
    for part in result.summary["parts"]:
        packets = part["packets"]
        assert packets["sent"] == (packets["delivered"] + packets["dropped"] + packets["in_flight"])


def test_columns_match_the_documentation(result: hull.Result) -> None:
    always = [name for name in COLUMNS["flows"] if name not in ("transport", "group")]
    assert result.flows.columns == always
    assert result.latency.columns == list(COLUMNS["latency"])
    assert result.links.columns == list(COLUMNS["links"])
    for table in ("flows", "latency", "links"):
        metadata = pl.read_parquet_metadata(result.folder / f"{table}.parquet")
        # `group` is described only if present, so that runs without groups stay byte-identical.
        told = {name: of for name, of in result.columns[table].items() if name != "group"}
        assert json.loads(metadata["hull.columns"]) == told
    assert result.flows["start_ps"].dtype == pl.Int64
    assert result.flows["fct_ps"].min() > 0  # type: ignore[operator]


def test_rows_are_in_the_order_of_the_parts(result: hull.Result) -> None:
    cells = result.latency.select("condition", "scheme", "seed").unique(maintain_order=True)
    parts = [(p["condition"], p["scheme"], p["seed"]) for p in result.summary["parts"]]
    assert cells.rows() == parts


def test_load_returns_the_same_result(result: hull.Result) -> None:
    opened = hull.load(result.folder)
    assert opened.summary == result.summary
    assert opened.flows.equals(result.flows)
    with pytest.raises(hull.UsageError, match=r"summary\.json"):
        hull.load(result.folder / "parts")


def test_sweep_over_lists(tmp_path: Path) -> None:
    """Folders are named after the values, and brackets in a name are not a glob pattern."""
    scenario = tomllib.loads(scenarios.text("thesis-qcn-one"))
    scenario["schemes"] = {"tcp": scenario["schemes"]["tcp"]}
    scenario["sweep"] = {"topology.dumbbell.rtts": [["50us"], ["100us", "200us"]]}
    short = ["run.duration=4ms", "run.warmup=1ms", "topology.dumbbell.pairs=2"]
    out = tmp_path / "[ab]*"
    result = hull.run(scenario, out, set=short)
    names = [part["condition"] for part in result.summary["parts"]]
    assert len(names) == 2
    assert all("[" in name for name in names)
    assert set(hull.load(out).latency["condition"]) == set(names)
    assert result.report() == out / "report.html"


def test_plots(result: hull.Result) -> None:
    assert result.plot_fct().axes
    assert result.plot_latency().axes
    assert result.plot_queue().axes
    assert type(plot_fct(result)).__name__ == "Figure"


def test_scenario_of_a_part_can_be_run(result: hull.Result, tmp_path: Path) -> None:
    part = result.summary["parts"][-1]
    folder = result.folder.joinpath("parts", part["condition"], part["scheme"], "seed-2")
    again = hull.run(folder / "scenario.toml", tmp_path / "again")
    assert [p["seed"] for p in again.summary["parts"]] == [1, 2]
    assert again.summary["parts"][1]["switch_latency"] == part["switch_latency"]


def test_bytes_do_not_depend_on_jobs_or_time(place: Path) -> None:
    one = hull.run("scenario.toml", "one", set=SHORTER, jobs=1)
    two = hull.run("scenario.toml", "two", set=SHORTER, jobs=2)
    assert tables(one.folder) == tables(two.folder)
    assert len(tables(one.folder)) == 3 + 3 * 24


def test_default_folder_is_named_by_the_scenario(place: Path) -> None:
    result = hull.run("scenario.toml", set=SHORTER, seeds=1)
    assert result.folder == place / "results" / "epfl-table2"
    assert result.summary["seeds"] == [1]


def test_a_finished_run_is_reused(place: Path) -> None:
    first = hull.run("scenario.toml", "out", set=SHORTER)
    before = snapshot(first.folder)
    again = hull.run("scenario.toml", "out", set=SHORTER, jobs=1)
    assert again.summary == first.summary
    assert snapshot(again.folder) == before


def test_referenced_file_is_part_of_the_run(place: Path) -> None:
    scenario = {
        "name": "list",
        "run": {"duration": "10ms"},
        "topology": {"star": {"hosts": 3}},
        "host": {"rate": "1Gbps", "delay": "1us"},
        "switch": {"rate": "1Gbps", "delay": "1us"},
        "workload": {"flows": "list.csv"},
    }
    header = "start_ps,src,dst,bytes\n"
    Path("list.csv").write_text(f"{header}0,1,0,1000\n", encoding="utf-8")
    one = hull.run(scenario, "out")
    Path("list.csv").write_text(f"{header}0,1,0,1000\n5,2,0,9000\n", encoding="utf-8")
    with pytest.raises(hull.UsageError, match="another run"):
        hull.run(scenario, "out")
    two = hull.run(scenario, "other")
    assert (len(one.flows), len(two.flows)) == (1, 2)


def test_another_run_is_rejected_or_replaced(place: Path) -> None:
    hull.run("scenario.toml", "out", set=SHORTER)
    before = snapshot(place)
    for changed in ({"set": SHORT}, {"set": SHORTER, "seeds": 1}):
        with pytest.raises(hull.UsageError, match="another run"):
            hull.run("scenario.toml", "out", **changed)
    assert snapshot(place) == before
    replaced = hull.run("scenario.toml", "out", set=SHORTER, seeds=1, force=True)
    assert replaced.summary["seeds"] == [1]
    assert {path.name for path in place.iterdir()} == {"scenario.toml", "out"}


def test_messages_name_options_as_python_does(place: Path) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"jobs": 0}, "jobs: 0 is invalid"),
        ({"seeds": 0}, "seeds: 0 is invalid"),
        ({"set": ["run.seeds"]}, "set: 'run.seeds'; the form is key=value"),
        ({"set": ["run.seeds=x"]}, "scenario.toml: set run.seeds: "),
        ({"out": "/"}, "out: / is invalid"),
    ]
    for given, said in wrong:
        with pytest.raises(ValueError, match=f"^{said}"):
            hull.run("scenario.toml", **given)
    with pytest.raises(hull.UsageError, match=r"^max_seeds: given without until; expected both$"):
        hull.sweep("scenario.toml", {"run.duration": ["1ms"]}, max_seeds=3)


def test_force_spares_unrelated_folders(place: Path) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.tex").write_text("years", encoding="utf-8")
    with pytest.raises(hull.UsageError, match="no run of hull"):
        hull.run("scenario.toml", "mine", set=SHORTER, force=True)
    assert Path("mine/thesis.tex").exists()


def test_an_empty_folder_is_filled(place: Path) -> None:
    Path("out").mkdir()
    assert hull.run("scenario.toml", "out", set=SHORTER, seeds=1).flows.height > 0


def test_bad_scenario_raises(place: Path) -> None:
    with pytest.raises(hull.ScenarioError, match=r"scenario: colour"):
        hull.run({"name": "x", "colour": "red"})
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": None}, "scenario: name: None is invalid"),
        ({"run": {"seed": 2**63}}, "run.seed: 9223372036854775808 is invalid; expected a whole"),
        ({"topology": {"links": [{"link": b"x"}]}}, "topology.links[0].link: b'x' is invalid"),
        ({"run": {1: 2}}, "scenario: run: the key 1 is invalid"),
        ({"\x1b": {1, 2}}, "scenario: \\x1b: {1, 2} is invalid"),
    ],
)
def test_value_toml_cannot_hold_is_named_by_key(
    given: dict[str, Any], said: str, place: Path
) -> None:
    with pytest.raises(hull.UsageError) as error:
        hull.run(given)
    assert said in str(error.value)


def test_recursive_dict() -> None:
    endless: dict[str, Any] = {}
    endless["run"] = endless
    with pytest.raises(hull.UsageError, match="is invalid; expected tables and lists at most 40"):
        hull.run(endless)


def test_force_reruns_only_what_changed(place: Path) -> None:
    one = hull.run("scenario.toml", "out", set=SHORTER, seeds=1)

    def made(folder: Path) -> dict[str, int]:
        # A reused part shares its files (inodes) with the run that it comes from.
        return {
            str(path.relative_to(folder)): path.stat().st_ino
            for path in folder.glob("parts/*/*/seed-1/flows.parquet")
        }

    before = made(one.folder)
    change = "schemes.dctcp_30k.switch.marking.threshold=20KB"
    two = hull.run("scenario.toml", "out", set=[*SHORTER, change], seeds=1, force=True)
    after = made(two.folder)
    assert set(after) == set(before)
    again = {name for name in before if before[name] != after[name]}
    assert again == {name for name in before if "/dctcp_30k/" in name}

"""Several transports in one run, as results and sweeps show them."""

import subprocess
from pathlib import Path

import polars as pl
import pytest

import hull
from conftest import COMMAND
from hull import scenarios
from hull.report.transports import by_transport
from test_measurements import scenario

TWO = {
    "bulk": {"flows": 2, "transport": "cubic"},
    "flows": {"flows_per_second": 20_000.0, "sizes": {"fixed": "10KB"}},
}
CUBIC = {"congestion_control": "cubic", "ecn": False}


def mixed() -> dict[str, object]:
    table = scenario(TWO)
    table["transport"] |= {"congestion_control": "dctcp", "ecn": True}
    table["switch"] |= {"marking": {"threshold": "30KB"}}
    return {**table, "transports": {"cubic": CUBIC}}


def test_results_are_by_transport(tmp_path: Path) -> None:
    result = hull.run(mixed(), tmp_path / "out", seeds=2)
    [cell] = result.summary["cells"]
    of = cell["transports"]
    assert list(of) == ["default", "cubic"]
    assert of["cubic"]["marks"]["mean"] == 0
    assert of["default"]["marks"]["mean"] > 0
    total = cell["throughput"]["total_goodput_bps"]["mean"]
    both = sum(transport["goodput_bps"]["mean"] for transport in of.values())
    assert both == pytest.approx(total)
    assert result.flows["transport"].unique().to_list() == ["default"]
    counts = [size["count"]["mean"] for size in of["default"]["fct"]]
    assert sum(counts) == result.flows.height / 2


def test_one_transport_has_no_column(tmp_path: Path) -> None:
    table = scenario({"bulk": {"flows": 2, "size": "10KB"}})
    result = hull.run(table, tmp_path / "out")
    assert "transport" not in result.flows.columns
    assert "transports" not in result.summary["cells"][0]


def test_keys_of_a_transport_can_be_swept(tmp_path: Path) -> None:
    frame = hull.sweep(
        mixed(),
        over={"transports.cubic.initial_window": [2, 20]},
        set=["run.duration=5ms"],
        store=tmp_path / "store",
    )
    assert set(frame["transports.cubic.initial_window"]) == {2, 20}
    goodput = frame.filter(pl.col("statistic") == "transports.cubic.goodput")
    assert goodput["unit"].to_list() == ["bit/s", "bit/s"]
    with pytest.raises(hull.UsageError, match=r"transports\.reno\.initial_window"):
        hull.sweep(mixed(), over={"transports.reno.initial_window": [2]}, store=tmp_path / "s")


def test_an_unknown_transport_is_refused(tmp_path: Path) -> None:
    table = {**mixed(), "transports": {"vegas": CUBIC}}
    with pytest.raises(hull.ScenarioError, match=r'workload.bulk.transport: "cubic" is invalid'):
        hull.run(table, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_class_of_requests_has_its_transport(tmp_path: Path) -> None:
    sizes = [
        {"size": "1KB", "share": "50%"},
        {"size": "1KB", "share": "30%", "transport": "cubic"},
        {"size": "2KB", "share": "20%", "transport": "cubic"},
    ]
    requests = {"load": "20%", "classes": sizes, "connections_per_server": 2}
    result = hull.run({**mixed(), "workload": {"requests": requests}}, tmp_path / "out")
    flows = result.flows
    classes = flows.group_by("transport").agg(pl.col("class").unique().sort())
    of = {str(transport): found for transport, found in classes.iter_rows()}
    assert of == {"default": ["1KB"], "cubic": ["1KB cubic", "2KB"]}
    # A connection has one transport; each transport uses the first connections of its block.
    numbers = flows.group_by("connection").agg(pl.col("transport").n_unique())
    assert numbers["transport"].unique().to_list() == [1]
    first = flows.group_by("transport").agg(pl.col("connection").min())
    servers = scenario({})["topology"]["star"]["hosts"] - 1
    assert dict(first.iter_rows()) == {"default": 0, "cubic": 2 * servers}


ROWS = pl.DataFrame(
    {
        "start_ps": [0, 1, 2, 3],
        "src": [1, 2, 1, 2],
        "dst": [0, 0, 0, 0],
        "bytes": [1000, 2000, 3000, 4000],
        "transport": ["cubic", None, "", "default"],
    }
)


def listed(file: Path) -> dict[str, object]:
    return {**mixed(), "workload": {"flows": str(file)}}


@pytest.mark.parametrize("type_", [pl.String, pl.Categorical])
def test_a_flow_list_in_parquet_names_transports(type_: type[pl.DataType], tmp_path: Path) -> None:
    ROWS.with_columns(pl.col("transport").cast(type_)).write_parquet(tmp_path / "list.parquet")
    table = {**listed(tmp_path / "list.parquet"), "run": {"duration": "50ms", "warmup": "0s"}}
    result = hull.run(table, tmp_path / "out")
    found = {row["bytes"]: row["transport"] for row in result.flows.iter_rows(named=True)}
    assert found == {1000: "cubic", 2000: "default", 3000: "default", 4000: "default"}
    # The flow table of a run is a valid flow list.
    again = {**table, "workload": {"flows": str(tmp_path / "out" / "flows.parquet")}}
    replayed = hull.run(again, tmp_path / "again")
    assert replayed.flows.equals(result.flows)


@pytest.mark.parametrize(
    ("rows", "keys", "problem"),
    [
        ("0,1,0,5,reno", 'cubic = {}', 'line 2, column transport: "reno" is invalid; expected one '
         "of [transports], default, cubic, or an empty cell"),
        ("0,1,0,5,", 'cubic = {}', "transports.cubic: a transport without flows is invalid; "
         'expected a workload with transport = "cubic"'),
    ],
)  # fmt: skip
def test_bad_lists_are_refused_before_anything_is_written(
    rows: str, keys: str, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "list.csv").write_text(f"start_ps,src,dst,bytes,transport\n{rows}\n")
    given = [f"transports={{{keys}}}", f'workload={{flows="{tmp_path / "list.csv"}"}}']
    settings = [word for text in (*given, "schemes={}", "sweep={}") for word in ("--set", text)]
    (tmp_path / "my.toml").write_text(scenarios.text("static"), encoding="utf-8")
    file, out = str(tmp_path / "my.toml"), str(tmp_path / "out")
    command = [*COMMAND, "run", file, "--out", out, *settings]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["list.csv", "my.toml"]


def test_integers_are_not_transport_names(tmp_path: Path) -> None:
    ROWS.with_columns(transport=pl.lit(1)).write_parquet(tmp_path / "list.parquet")
    with pytest.raises(
        hull.ScenarioError, match=r"column transport: another type is invalid; .*te"
    ):
        hull.run(listed(tmp_path / "list.parquet"), tmp_path / "out")


def test_the_report_is_by_transport(tmp_path: Path) -> None:
    """Also where another scheme has a single transport."""
    several = {
        "transports": {"cubic": CUBIC},
        "workload": {"flows": {**TWO["flows"], "transport": "cubic"}},
    }
    table = {**mixed(), "workload": {"flows": TWO["flows"]}}
    del table["transports"]
    table["schemes"] = {"one": {}, "several": several}
    result = hull.run(table, tmp_path / "out")
    found = result.flows.group_by("scheme").agg(pl.col("transport").unique())
    assert dict(found.iter_rows()) == {"one": [None], "several": ["cubic"]}
    page = result.report().read_text(encoding="utf-8")
    assert page.count(": by transport</span>") == 1
    head, body = page.split(": by transport</span>")[1].split("</table>")[0].split("</thead>")
    columns = head.count("<th ")
    rows = [row.count("<td>") for row in body.split("<tr>")[1:]]
    assert rows == [columns - 1, columns - 1]
    assert "FCT of (0, 10KB] flows, transport cubic" in page
    titles = [axis.get_title(loc="left") for axis in result.plot_fct().axes]
    assert titles[:2] == ["(0, 10KB] flows", "(0, 10KB] flows, transport cubic"]


def test_single_transport_is_not_distinguished() -> None:
    flows = pl.LazyFrame({"class": ["1KB"]})
    assert [words for words, _ in by_transport(flows)] == [""]

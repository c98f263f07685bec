"""Groups of flows in one run, as results, reports and sweeps show them."""

import csv
import math
import subprocess
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl
import pytest

import hull
from conftest import COMMAND
from hull import scenarios
from hull.report.labels import number
from hull.results.essentials import lines_of
from test_measurements import scenario

FLOWS = {"flows": {"flows_per_second": 20_000.0, "sizes": {"csv": "websearch"}}}
GROUPS = {"rpc": "bytes<10KB", "backups": "src:h3", "to_0": "dst:0&bytes>=30KB"}


def grouped(**tables: Any) -> dict[str, Any]:
    return scenario(FLOWS, groups=GROUPS, **tables)


def group_of(size: int, src: int, dst: int) -> str:
    if size < 10_000:
        return "rpc"
    if src == 3:
        return "backups"
    return "to_0" if dst == 0 and size >= 30_000 else "other"


def test_rows_and_statistics_have_their_groups(tmp_path: Path) -> None:
    result = hull.run(grouped(), tmp_path / "out", seeds=2)
    flows = result.flows
    by_hand = [group_of(*ends) for ends in flows.select("bytes", "src", "dst").iter_rows()]
    assert flows["group"].to_list() == by_hand
    [cell] = result.summary["cells"]
    assert list(cell["groups"]) == ["other", *GROUPS]
    for name, of in cell["groups"].items():
        mine = flows.filter(pl.col("group") == name)
        assert mine.height > 20, name
        for entry in of["fct"]:
            rows = mine.filter(pl.col("class") == entry["class"])
            assert entry["count"]["mean"] == rows.height / 2
            assert entry["bytes"]["mean"] == rows["bytes"].sum() / 2
            if rows.height:
                # Per seed first, then the mean over seeds.
                means = [
                    float(of_seed["fct_ps"].to_numpy().mean())
                    for _, of_seed in rows.group_by("seed")
                ]
                mean_us = fmean(means) * 1e-6
                assert entry["mean_us"]["mean"] == pytest.approx(mean_us, rel=1e-9)
        for entry in of["slowdown"]:
            rows = mine.filter(pl.col("class") == entry["class"])
            if rows.height:
                most = [
                    float(of_seed["slowdown"].to_numpy().max())
                    for _, of_seed in rows.group_by("seed")
                ]
                assert entry["p999"]["mean"] == pytest.approx(fmean(most), rel=1e-4)
    assert result.summary["warnings"] == []


def test_no_groups_no_change(tmp_path: Path) -> None:
    bare = hull.run(scenario(FLOWS), tmp_path / "bare")
    with_groups = hull.run(grouped(), tmp_path / "grouped")
    assert "group" not in bare.flows.columns
    assert "groups" not in bare.summary["cells"][0]
    assert "by group" not in bare.report().read_text(encoding="utf-8")
    assert with_groups.flows.drop("group").equals(bare.flows)


def test_same_bytes_on_any_number_of_threads(tmp_path: Path) -> None:
    table = grouped(topology={"leaf_spine": {"leaves": 3, "hosts_per_leaf": 4, "spines": 2}})
    fast = ["host.rate=100Gbps", "switch.rate=100Gbps", "workload.flows.connections=per_flow"]
    names = [f"{threads}" for threads in (1, 2, 3)]
    for name in names:
        hull.run(table, tmp_path / name, set=[*fast, f"run.threads={name}", "run.duration=10ms"])
    files = [(tmp_path / name / "flows.parquet").read_bytes() for name in names]
    assert files[0] == files[1] == files[2]
    parts = [hull.load(tmp_path / name).summary["parts"][0] for name in names]
    assert parts[0]["groups"] == parts[1]["groups"] == parts[2]["groups"]
    assert [part["divided"]["parts"] for part in parts] == [1, 2, 3]


ROWS = pl.DataFrame(
    {
        "start_ps": [0, 1, 2, 3, 4],
        "src": [1, 2, 1, 2, 3],
        "dst": [0, 0, 0, 0, 0],
        "bytes": [1000, 2000, 3000, 40_000, 50_000],
        "group": ["web search", None, "", "other", "to_0"],
    }
)


@pytest.mark.parametrize("type_", [pl.String, pl.Categorical])
def test_a_flow_list_in_parquet_has_labels(type_: type[pl.DataType], tmp_path: Path) -> None:
    file = tmp_path / "list.parquet"
    ROWS.with_columns(pl.col("group").cast(type_)).write_parquet(file)
    table = {**grouped(), "workload": {"flows": str(file)}, "run": {"duration": "50ms"}}
    groups = {name: text for name, text in GROUPS.items() if name != "backups"}
    result = hull.run({**table, "groups": groups}, tmp_path / "out")
    found = {row["bytes"]: row["group"] for row in result.flows.iter_rows(named=True)}
    assert found == {
        1000: "web search", 2000: "rpc", 3000: "rpc", 40_000: "to_0", 50_000: "to_0"
    }  # fmt: skip
    # A run's flows.parquet is itself a valid flow list with the same labels.
    again = {**table, "workload": {"flows": str(tmp_path / "out" / "flows.parquet")}}
    del again["groups"]
    assert hull.run(again, tmp_path / "again").flows.equals(result.flows)


def test_integers_are_not_labels(tmp_path: Path) -> None:
    ROWS.with_columns(group=pl.lit(1)).write_parquet(tmp_path / "list.parquet")
    table = {**grouped(), "workload": {"flows": str(tmp_path / "list.parquet")}}
    with pytest.raises(hull.ScenarioError, match=r"column group: another type is invalid; .*te"):
        hull.run(table, tmp_path / "out")


def test_reports_and_essentials_have_groups(tmp_path: Path) -> None:
    result = hull.run(grouped(schemes={"one": {}, "two": {}}), tmp_path / "out")
    page = result.report().read_text(encoding="utf-8")
    head, body = page.split(": by group</span>")[1].split("</table>")[0].split("</thead>")
    columns = head.count("<th ")
    rows = [row.count("<td>") for row in body.split("<tr>")[1:]]
    assert rows == [columns - 1] * 8  # two schemes, three groups and `other`
    assert "Slowdown, (0, 10KB]: p99" in head
    lines = lines_of(result.summary)
    of_rpc = [line for line in lines if line.what == "FCT, group rpc, (0, 10KB]"]
    assert [(line.scheme, line.statistic) for line in of_rpc] == [("one", "mean"), ("two", "mean")]
    [part, _] = result.summary["parts"]
    [entry, *_] = part["groups"]["rpc"]["fct"]
    assert of_rpc[0].value.mean == entry["mean_us"]  # a percentile needs more flows
    assert of_rpc[0].count == entry["count"]


def test_means_by_group_have_intervals(tmp_path: Path) -> None:
    result = hull.run(grouped(), tmp_path / "out", set=["run.seeds=2"])
    page = result.report().read_text(encoding="utf-8")
    table = page.split(": by group</span>")[1].split("</table>")[0]
    # The class is shown in ms: its mean is above 10 ms.
    parts = [part["groups"]["rpc"]["fct"][0] for part in result.summary["parts"]]
    one, other = (entry["p99_us"] / 1000 for entry in parts)
    # Student's t with one degree of freedom is the tangent: 95% is tan(0.475 pi).
    half = math.tan(0.475 * math.pi) * abs(one - other) / 2
    assert half > 0
    assert f'<td>{number((one + other) / 2)}<span class="ci"> ± {number(half)}</span></td>' in table


def test_groups_in_sweeps(tmp_path: Path) -> None:
    frame = hull.sweep(
        grouped(),
        over={"groups.rpc": ["bytes<5KB", "bytes<10KB"]},
        set=["run.duration=10ms"],
        store=tmp_path / "store",
    )
    counts = frame.filter(pl.col("statistic") == "groups.rpc.fct.(0, 10KB].count")
    assert counts["groups.rpc"].to_list() == ["bytes<5KB", "bytes<10KB"]
    few, many = counts["mean"].to_list()
    assert 0 < few < many
    with pytest.raises(hull.UsageError, match=r"groups\.idle"):
        hull.sweep(grouped(), over={"groups.idle": ["bytes<1"]}, store=tmp_path / "s")


def test_warns_of_empty_group(tmp_path: Path) -> None:
    table = {**grouped(), "groups": {**GROUPS, "idle": "bytes<1"}}
    result = hull.run(table, tmp_path / "out")
    assert result.summary["warnings"] == ["measured: no flow of these groups completed: idle"]


@pytest.mark.parametrize(
    ("groups", "rows", "problem"),
    [
        ('rpc="byte<1KB"', "0,1,0,5,", 'groups.rpc: "byte<1KB" is invalid; expected conditions'),
        ('far="src:h99"', "0,1,0,5,", 'groups.far: "src:h99" is invalid; expected hosts by number'),
        ('idle="bytes<5"', "0,1,0,5,", 'groups.idle: "bytes<5" fits none of 1 flows of'),
        ('other="bytes<5"', "0,1,0,5,", 'groups: "other" is invalid; expected names of letters'),
        ('rpc="bytes<5KB"', f"0,1,0,5,{'x' * 101}", "line 2, column group: "),
    ],
)  # fmt: skip
def test_bad_groups_are_refused_before_anything_is_written(
    groups: str, rows: str, problem: str, tmp_path: Path
) -> None:
    with (tmp_path / "list.csv").open("w", encoding="utf-8") as file:
        print("start_ps,src,dst,bytes,group", rows, sep="\n", file=file)
    given = [f"groups={{{groups}}}", f'workload={{flows="{tmp_path / "list.csv"}"}}']
    settings = [word for text in (*given, "schemes={}", "sweep={}") for word in ("--set", text)]
    (tmp_path / "my.toml").write_text(scenarios.text("static"), encoding="utf-8")
    command = [*COMMAND, "run", str(tmp_path / "my.toml"), "--out", str(tmp_path / "out")]
    done = subprocess.run([*command, *settings], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["list.csv", "my.toml"]


def test_groups_match_the_labels_in_the_csv(tmp_path: Path) -> None:
    """The group of each flow equals the label in the CSV as written, independent of hull."""
    lines = [(i * 10_000, 1 + i % 3, 0, 500 + i, f"g{i % 4}" if i % 4 else "") for i in range(40)]
    with (tmp_path / "list.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("start_ps", "src", "dst", "bytes", "group"), *lines])
    result = hull.run(scenario({"flows": str(tmp_path / "list.csv")}), tmp_path / "out",
                      set=["run.warmup=0s"])  # fmt: skip
    found = dict(result.flows.select("bytes", "group").iter_rows())
    assert found == {line[3]: line[4] or "other" for line in lines}

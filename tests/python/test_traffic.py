"""Results of hull-traffic, measured on real TCP, in hull's own tables, report and figures."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from hull.report.page import write_report
from hull.result import load
from hull.results.fairness import jain
from hull.results.merged_tables import merge_tables
from hull.results.summary import summarise
from hull.runs.plan import Cell, Plan

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[2] / "target"))
BUILT = [TARGET / profile / "hull-traffic" for profile in ("release", "debug")]
COMMAND = next((path for path in BUILT if path.exists()), None)

pytestmark = pytest.mark.skipif(
    COMMAND is None, reason="hull-traffic is not built; `cargo test --workspace` builds it"
)


def client(mode: str, server: str, out: Path, *options: str) -> None:
    command = [str(COMMAND), mode, "--server", server, "--out", str(out), *options]
    subprocess.run(command, check=True, timeout=30)


@pytest.fixture
def server() -> Iterator[str]:
    """Address of a server on the loopback interface."""
    command = [str(COMMAND), "serve", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[2]
        process.terminate()


def test_runs_are_parts_of_a_comparison(server: str, tmp_path: Path) -> None:
    cells = tuple(Cell("load=20%", scheme, {}, "") for scheme in ("cubic", "reno"))
    plan = Plan("real", "Requests over real TCP", "", cells, (1, 2))
    for part in plan.parts:
        client(
            "dynamic",
            server,
            tmp_path / part.path,
            *("--load=20%", "--rate=100Mbps", "--class=1KB:80%", "--class=20KB:20%"),
            *("--connections=2", "--warmup=50ms", "--duration=300ms", f"--seed={part.seed}"),
            f"--condition={part.cell.condition}",
            f"--scheme={part.cell.scheme}",
        )
    parts = [json.loads((tmp_path / p.path / "summary.json").read_text()) for p in plan.parts]
    summary = summarise(plan, parts, 1.0)
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    merge_tables(tmp_path, plan.parts)
    (tmp_path / "scenario.toml").write_text("")
    result = load(tmp_path)
    assert result.flows.columns[:3] == ["condition", "scheme", "seed"]
    for part in parts:
        mine = (pl.col("scheme") == part["scheme"]) & (pl.col("seed") == part["seed"])
        flows = result.flows.filter(mine)
        for found in part["fct"]:
            times_us = flows.filter(pl.col("class") == found["class"])["fct_ps"] / 1e6
            assert len(times_us) == found["count"]
            assert found["mean_us"] == pytest.approx(times_us.mean(), rel=1e-9)
            p99_us = times_us.quantile(0.99, interpolation="higher")
            assert found["p99_us"] == pytest.approx(p99_us, rel=1e-3)
    page = write_report(tmp_path, summary, title="real").read_text()
    assert "FCT, 20KB" in page
    assert result.plot_fct().axes


def test_long_flows_have_a_series(server: str, tmp_path: Path) -> None:
    out = tmp_path / "long"
    client("long", server, out, "--flows=3", "--duration=400ms", "--interval=50ms")
    result = load(out)
    last = result.series.group_by("flow").agg(pl.col("delivered_bytes").max())
    assert len(last) == 3
    assert result.summary["fairness"]["jain"] == pytest.approx(
        jain(flow["goodput_bps"] for flow in result.summary["long_flows"])
    )


def test_queries_are_in_their_table(server: str, tmp_path: Path) -> None:
    out = tmp_path / "incast"
    client("incast", server, out, "--total=100KB", "--queries=20")
    result = load(out)
    mean_us = (result.queries["completion_ps"] / 1e6).mean()
    assert result.summary["queries"]["mean_us"] == pytest.approx(mean_us)
    assert result.queries["bytes"].to_list() == [100_000] * 20

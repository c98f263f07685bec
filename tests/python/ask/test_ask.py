"""`hull ask` end to end: three forms of a trace, the page, rejected input, theory."""

import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from ask.generator import collector_csv, nfdump_csv, some_flows
from conftest import COMMAND
from hull.theory.slowdown import usable

NETWORK = "2x4@10G,2x40G"
SHORT = ["--give-up", "5%", "--seeds", "2", "--today", "dctcp"]
REPLAY = [*SHORT, "--replay"]


def ask(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "ask", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=folder,
        env={**os.environ, "COLUMNS": "200"},
    )


@pytest.mark.parametrize("form", ["collector", "nfdump"])
def test_one_command_from_a_trace_to_a_page(tmp_path: Path, form: str) -> None:
    flows = some_flows(400)
    trace = tmp_path / f"{form}.csv"
    (collector_csv if form == "collector" else nfdump_csv)(trace, flows)
    done = ask(tmp_path, trace, "--topology", NETWORK, *SHORT, "--out", "answer")
    assert done.returncode == 0, done.stderr
    out = tmp_path / "answer"
    assert done.stdout.splitlines()[-1] == "answer/ask.html"
    page = (out / "ask.html").read_text(encoding="utf-8")
    for told in ("<strong>", "What small flows gain", "How sure this is", "The traffic"):
        assert told in page
    assert (out / "frontier.pdf").read_bytes().startswith(b"%PDF")
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert {row["scheme"] for row in summary["frontier"]} == {"dctcp", "hull-5"}
    runs = pl.read_parquet(out / "runs" / "flows.parquet")
    # Each flow arrives in each scheme with each seed.
    assert runs.height == summary["flows"] * 2 * 2
    # The same command again reuses the results.
    again = ask(tmp_path, trace, "--topology", NETWORK, *SHORT, "--out", "answer")
    assert again.returncode == 0
    assert "already holds this run" in again.stderr


def test_json_groups_and_drawn_flows(tmp_path: Path) -> None:
    trace = collector_csv(tmp_path / "flows.csv", some_flows(400))
    done = ask(
        tmp_path,
        *(trace, "--topology", NETWORK, *SHORT, "--out", "answer"),
        *("--group", "small=bytes<10KB", "--format", "json"),
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {row["group"] for row in found} == {"all", "small", "other"}
    page = (tmp_path / "answer" / "ask.html").read_text(encoding="utf-8")
    assert "KS distance" in page
    assert "Each seed draws new flows" in page
    assert "In another such period" not in page, "without a recommendation there is none"
    # The runs carry the group labels, too.
    runs = pl.read_parquet(tmp_path / "answer" / "runs" / "flows.parquet")
    small = pl.when(pl.col("bytes") < 10_000).then(pl.lit("small")).otherwise(pl.lit("other"))
    assert runs["group"].to_list() == runs.select(small).to_series().to_list()


def test_flows_that_differ_only_in_group(tmp_path: Path) -> None:
    """Rows of a trace with equal times, endpoints and sizes stay distinct by their group."""
    rows = [f"{i / 1e5:.6f},10.0.0.{1 + i % 3},10.0.0.9,{1000 + i}" for i in range(60)]
    text = [f"{row},{name}" for row in rows for name in ("web", "", "logs")]
    trace = tmp_path / "flows.csv"
    trace.write_text("\n".join(["ts,src_ip,dst_ip,bytes,group", *text]) + "\n", encoding="utf-8")
    done = ask(
        tmp_path,
        *(trace, "--topology", NETWORK, *REPLAY, "--out", "answer", "--format", "json"),
    )
    assert done.returncode == 0, done.stderr
    runs = pl.read_parquet(tmp_path / "answer" / "runs" / "flows.parquet")
    counts = dict(runs.group_by("group").len().iter_rows())
    assert counts == dict.fromkeys(("web", "logs", "other"), 60 * 2 * 2)
    for row in json.loads(done.stdout):
        for count in (row["small"], row["large"]):
            assert count["started"] == count["completed"]


def test_some_hosts_change(tmp_path: Path) -> None:
    trace = collector_csv(tmp_path / "flows.csv", some_flows(400))
    done = ask(
        tmp_path,
        *(trace, "--topology", NETWORK, *SHORT, "--out", "answer"),
        *("--deployed", "50%", "--format", "json"),
    )
    assert done.returncode == 0, done.stderr
    groups = {row["group"] for row in json.loads(done.stdout)}
    assert groups == {"all", "between changed hosts", "with an unchanged host"}
    runs = pl.read_parquet(tmp_path / "answer" / "runs" / "flows.parquet")
    assert set(runs["transport"].unique()) == {"default", "unchanged"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "--topology: required; expected NETWORK: 2x20@25G,2x100G (leaves x hosts, spines)"),
        (["--topology", "2x20@25G"], "--topology: 2x20@25G: 2 leaves without spines"),
        (["--topology", NETWORK, "--give-up", "70%"], "--give-up: 70% is invalid"),
        (["--topology", NETWORK, "--today", "reno"], "--today: reno is invalid"),
        (["--topology", NETWORK, "--seeds", "0"], "--seeds: 0 is invalid"),
        (["--topology", NETWORK, "--fit", "--replay"], "--replay: must not be given with --fit"),
        (["--topology", NETWORK, "--columns", "start=when"], "when"),
        (["--topology", NETWORK, "--place", "192.0.2.0/24=0-7"], "--place"),
        (["--topology", NETWORK, "--deployed", "nowhere"], "--deployed: nowhere is invalid"),
        (["--topology", NETWORK, "--gateway", "h99"], "--gateway: h99 is invalid"),
        (["--topology", "2x4@10M,2x10M"], "times its rate"),
    ],
)
def test_refused_before_anything_is_written(tmp_path: Path, options: list[str], told: str) -> None:
    trace = collector_csv(tmp_path / "flows.csv", some_flows(400))
    done = ask(tmp_path, trace, *options, "--out", "answer")
    assert done.returncode == 2, done.stderr
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "answer").exists()


def test_usage_has_the_network_that_is_required(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "ask", "--help"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stdout.startswith("Usage: hull ask TRACE --topology NETWORK [OPTIONS]\n")
    done = subprocess.run(
        [*COMMAND, "ask", "x.csv"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 2
    assert re.fullmatch(r"hull: error: --topology: required; expected NETWORK: .*\n", done.stderr)


LOAD = 0.4
FLOWS = 400


def test_frontier_follows_equation_3(tmp_path: Path) -> None:
    """Equal large flows arrive at random at one host, an M/G/1 queue with processor sharing (paper
    equations 1 to 3): mean FCTs are within 15% of it. HULL's capacity is the paper's: the drain
    rate less 8% for rate variations (6.2.1).
    """
    generator = np.random.default_rng(7)
    rate_bps, size = 10e9, 25_000_000
    wire = size * 1500 / 1460
    mean_gap_s = 8 * wire / (LOAD * rate_bps)
    start = np.cumsum(generator.exponential(mean_gap_s, FLOWS))
    rows = [f"{s:.9f},{1 + i % 9},0,{size}" for i, s in enumerate(start)]
    table = "address,host\n" + "".join(f"{host},{host}\n" for host in range(10))
    (tmp_path / "places.csv").write_text(table, encoding="utf-8")
    trace = tmp_path / "flows.csv"
    trace.write_text("start_s,src,dst,bytes\n" + "\n".join(rows) + "\n", encoding="utf-8")
    done = ask(
        tmp_path,
        *(trace, "--topology", "10@10G", "--place", "places.csv", "--seeds", "2"),
        *(
            "--replay",
            "--give-up",
            "10%,20%",
            "--today",
            "dctcp",
            "--format",
            "json",
            "--out",
            "answer",
        ),
    )
    assert done.returncode == 0, done.stderr
    found = {row["scheme"]: row for row in json.loads(done.stdout)}
    # Processor sharing of these exact arrivals: 400 flows do not reach the long-run mean.
    alone = wire * 8 / rate_bps
    for scheme, capacity in (("dctcp", 1.0), ("hull-10", usable(0.9)), ("hull-20", usable(0.8))):
        expected_us = 1e6 * sharing(start, alone / capacity)
        measured_us = found[scheme]["large_mean_us"]["mean"]
        assert measured_us == pytest.approx(expected_us, rel=0.15), scheme


def sharing(start: np.ndarray, work_s: float) -> float:
    """Return the mean time of flows of equal work that share a server evenly, s."""
    left: list[list[float]] = []
    now, total = 0.0, 0.0
    for at in [*start, np.inf]:
        while left:
            first = min(left)
            least_s = first[0]
            takes_s = least_s * len(left)
            if now + takes_s > at:
                break
            now += takes_s
            for flow in left:
                flow[0] -= least_s
            total += now - first[1]
            left.remove(first)
        if at == np.inf:
            break
        for flow in left:
            flow[0] -= (at - now) / len(left)
        now = at
        left.append([work_s, at])
    return total / len(start)

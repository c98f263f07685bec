"""Transfers that were paced in the trace: the need by hand, their writes, and what counts."""

from pathlib import Path

import polars as pl
import pytest

from ask.test_cases import NETWORK, traffic_of
from hull.ask.network import read_network
from hull.ask.paced import needed_ps
from hull.ask.question import Question, settings_for
from hull.ask.sizes import Sizes
from hull.ask.traffic import Traffic, TrafficOptions, read_traffic
from hull.ask.trial import Trial, run

MS = 10**9


@pytest.mark.parametrize(
    ("bytes_", "us"),
    [
        # At 1 Gbps and 100 us: rounds of 14,600, 29,200, 58,400, ... bytes, and 8 ns a byte.
        (14_600, 100 + 116.8),
        (14_601, 200 + 116.808),
        (43_800, 200 + 350.4),
        (102_200, 300 + 817.6),
        (1, 100 + 0.008),
    ],
)
def test_need_by_hand(bytes_: int, us: float) -> None:
    found = pl.select(needed_ps(pl.lit(float(bytes_)), 1e9, 100e-6)).item()
    assert found / 1e6 == pytest.approx(us)


def trace(folder: Path) -> Path:
    """One paced transfer of 160 KB in 12 ms, one of a single window, and one at full speed."""
    rows = [
        "start_us,end_us,src,dst,bytes",
        "0,12000,10.0.0.1,10.0.0.2,160000",
        "0,12000,10.0.0.3,10.0.0.2,5000",
        "1001,1101,10.0.0.3,10.0.0.4,50000",
    ]
    path = folder / "trace.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def traffic(folder: Path, *, as_fast: bool = False) -> Traffic:
    options = TrafficOptions(trace(folder), as_fast_as_possible=as_fast)
    return read_traffic(options, read_network(NETWORK))


def test_a_paced_transfer_is_spread_over_its_duration(tmp_path: Path) -> None:
    found = traffic(tmp_path)
    writes = found.flows.filter(pl.col("write")).select("start_ps", "bytes").rows()
    # 160,000 bytes are two writes of 65,536 and one of 28,928, 4 ms apart.
    assert writes == [(0, 65_536), (4 * MS, 65_536), (8 * MS, 28_928)]
    others = found.flows.filter(~pl.col("write"))["bytes"].to_list()
    assert sorted(others) == [5_000, 50_000]
    text = "\n".join(found.sentences)
    assert "1 transfer with 160 KB (74.4% of the bytes) took more than 10 times" in text
    assert "as 3 writes of 64 KB at most, evenly spaced, which count in no statistic" in text


def test_as_fast_as_possible(tmp_path: Path) -> None:
    found = traffic(tmp_path, as_fast=True)
    assert sorted(found.flows["bytes"]) == [5_000, 50_000, 160_000]
    assert not found.flows["write"].any()
    assert "as fast as the network allows (--as-fast-as-possible)" in "\n".join(found.sentences)


def test_writes_load_the_network_and_do_not_count(tmp_path: Path) -> None:
    network = read_network(NETWORK)
    question = Question(network, (), ("dctcp",), settings_for(network), replays=True)
    flows = traffic(tmp_path).flows
    title = name = "paced"
    folder = tmp_path / "runs"
    trial = Trial(
        question, flows, Sizes(14_600, 40_000, ""), 12 * MS, title, name, tmp_path, folder, 1
    )
    ran = run(trial, 1, force=False)
    assert ran.result.flows.height == 5
    assert sorted(ran.finished["bytes"]) == [5_000, 50_000]
    (row,) = ran.rows
    assert (row.small.started, row.small.completed) == (1, 1)
    assert (row.large.started, row.large.completed) == (1, 1)


def test_without_durations_nothing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("start_ms,src,dst,bytes\n0,10.0.0.1,10.0.0.2,1000000\n5,10.0.0.1,10.0.0.2,9\n")
    assert "recorded durations" not in traffic_of(path)

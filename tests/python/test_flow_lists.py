"""Parquet flow lists written by polars: read correctly, or rejected with the column's name."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

import hull
from hull import scenarios

SETTINGS = (
    "topology={star={hosts=3}}",
    "run.duration=10ms",
    "run.warmup=0s",
    "host.rate=1Gbps",
    "schemes={}",
    "sweep={}",
)
FLOWS = pl.DataFrame(
    {"start_ps": [500_000, 0], "src": [1, 2], "dst": [0, 0], "bytes": [1000, 2000]}
)


def replay(folder: Path, write: Callable[[Path], object]) -> hull.Result:
    """Writes a list and runs it."""
    file = folder / "flows.parquet"
    write(file)
    scenario = folder / "replay.toml"
    text = scenarios.text("static").replace("[measure.probe] # paper 5.2", "")
    scenario.write_text(text, encoding="utf-8")
    settings = [*SETTINGS, f'workload={{flows="{file}"}}']
    return hull.run(scenario, set=settings, seeds=1, out=folder / "out")


@pytest.mark.parametrize("codec", ["zstd", "lz4", "gzip", "brotli", "snappy", "uncompressed"])
def test_every_codec_is_read(codec: "pl._typing.ParquetCompression", tmp_path: Path) -> None:
    result = replay(tmp_path, lambda file: FLOWS.write_parquet(file, compression=codec))
    assert sorted(result.flows["bytes"].to_list()) == [1000, 2000]


def test_whole_decimals_and_small_integers_are_read(tmp_path: Path) -> None:
    flows = FLOWS.with_columns(pl.col("src").cast(pl.UInt8), pl.col("dst").cast(pl.Int16))
    result = replay(tmp_path, flows.write_parquet)
    assert sorted(result.flows["bytes"].to_list()) == [1000, 2000]


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("bytes", pl.Series([Decimal("1000.00"), Decimal("2000.00")], dtype=pl.Decimal(10, 2))),
        (
            "start_ps",
            pl.Series([timedelta(microseconds=500), timedelta()], dtype=pl.Duration("us")),
        ),
        ("start_ps", pl.Series([datetime(2026, 1, 1), datetime(2026, 1, 2)])),
        ("bytes", pl.Series([1000.0, 2000.0])),
    ],
    ids=["decimals", "durations", "dates", "floats"],
)
def test_ambiguous_values_are_rejected(column: str, values: pl.Series, tmp_path: Path) -> None:
    flows = FLOWS.with_columns(values.alias(column))
    with pytest.raises(hull.ScenarioError, match=f"column {column}: .*; expected"):
        replay(tmp_path, flows.write_parquet)


@pytest.mark.parametrize("write", ["write_csv", "write_parquet"])
def test_data_pass_the_switch_of_their_row(write: str, tmp_path: Path) -> None:
    flows = pl.DataFrame(
        {
            "start_ps": [0, 1, 2],
            "src": [0, 1, 0],
            "dst": [2, 3, 3],
            "bytes": [146_000, 292_000, 9_000],
            "via": ["spine1", "spine2", None],
        }
    )
    file = tmp_path / "flows"
    getattr(flows, write)(file)
    network = "topology={leaf_spine={leaves=2,spines=3,hosts_per_leaf=2}}"
    settings = [*SETTINGS[1:], network, "switch.buffer=unlimited", f'workload={{flows="{file}"}}']
    scenario = tmp_path / "via.toml"
    text = scenarios.text("static").replace("[measure.probe] # paper 5.2", "")
    scenario.write_text(text, encoding="utf-8")
    result = hull.run(scenario, set=settings, seeds=1, out=tmp_path / "out")
    assert len(result.flows) == 3
    links = pl.read_parquet(next((tmp_path / "out").rglob("links.parquet")))
    up = links.filter(pl.col("from") == "leaf0", pl.col("to").str.starts_with("spine"))
    packets = dict(zip(up["to"], up["packets"], strict=True))
    assert 100 <= packets["spine1"] < 110
    assert 200 <= packets["spine2"] < 210
    wrong = flows.with_columns(pl.lit("leaf9").alias("via"))
    getattr(wrong, write)(file)
    row = "line 2" if write == "write_csv" else "row 1"
    with pytest.raises(
        hull.ScenarioError, match=f'{row}, column via: "leaf9" is invalid; expected'
    ):
        hull.run(scenario, set=settings, seeds=1, out=tmp_path / "wrong")

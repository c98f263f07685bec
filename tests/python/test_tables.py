"""The merged tables of a run: its parts concatenated, against polars."""

import os
from pathlib import Path

import duckdb
import polars as pl
import pytest

from hull import _core
from hull.errors import RunError
from hull.results.columns import COLUMNS
from hull.results.merged_tables import merge_tables
from hull.runs.plan import Cell, Plan

GROUP = 1 << 18
"""Rows of a row group."""


def rows(first: int, count: int) -> pl.DataFrame:
    number = pl.int_range(first, first + count, eager=True)
    return pl.DataFrame(
        {
            "start_ps": number,
            "src": (number % 7).cast(pl.Int32),
            "connection": number.replace(first + 3, None),
            "slowdown": 1 + number / 1000,
            "class": "(" + (number % 5).cast(pl.String) + "KB]",
        }
    )


PARTS = [
    rows(0, 300_000),
    rows(1, 0),
    rows(1_000_000, 10).with_columns(group=pl.lit("rpc")),
    rows(2_000_000, 2 * GROUP - 300_010 + 1),
]


def merged(folder: Path) -> Path:
    paths = []
    for at, part in enumerate(PARTS):
        paths.append((str(folder / f"{at}.parquet"), f"load={at}%", "one", 7 + at))
        part.write_parquet(folder / f"{at}.parquet", row_group_size=70_000)
    out = folder / "flows.parquet"
    _core.merge_tables(str(out), paths, lambda names: ("names", " ".join(names)))
    return out


def test_rows_of_all_parts(tmp_path: Path) -> None:
    out = merged(tmp_path)
    expected = [
        part.select(
            pl.lit(f"load={at}%").alias("condition"),
            pl.lit("one").alias("scheme"),
            pl.lit(7 + at, dtype=pl.Int32).alias("seed"),
            pl.all(),
        )
        for at, part in enumerate(PARTS)
    ]
    found = pl.read_parquet(out)
    assert found.equals(pl.concat(expected, how="diagonal"))
    assert pl.read_parquet_metadata(out)["names"] == " ".join(found.columns)
    columns = "row_group_id, row_group_num_rows"
    query = f"select distinct {columns} from parquet_metadata('{out}') order by 1"
    assert duckdb.execute(query).fetchall() == [(0, GROUP), (1, GROUP), (2, 1)]


def test_same_rows_same_bytes(tmp_path: Path) -> None:
    found = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        found.append(merged(tmp_path / name).read_bytes())
    assert found[0] == found[1]


def test_damaged_table_is_named(tmp_path: Path) -> None:
    plan = Plan("real", "", "", (Cell("", "one", {}, ""),), (1,))
    folder = tmp_path / plan.parts[0].path
    folder.mkdir(parents=True)
    (folder / "links.parquet").write_bytes(b"PAR1" + bytes(100))
    assert "links" in COLUMNS
    with pytest.raises(RunError, match=r"seed-1/links\.parquet: "):
        merge_tables(tmp_path, plan.parts)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")
def test_no_room_names_the_table(tmp_path: Path) -> None:
    PARTS[2].write_parquet(tmp_path / "one.parquet")
    with pytest.raises(OSError, match="No space left on device") as found:
        _core.merge_tables(
            "/dev/full", [(str(tmp_path / "one.parquet"), "", "one", 1)], lambda _: ("names", "")
        )
    assert found.value.filename == "/dev/full"


def test_only_known_slowdowns_are_returned(tmp_path: Path) -> None:
    flows = rows(0, 5).with_columns(
        bytes=pl.col("start_ps") * 10,
        slowdown=pl.Series([1.0, None, 3.0, 4.0, None], dtype=pl.Float64),
    )
    flows.write_parquet(tmp_path / "flows.parquet")
    sizes, slowdowns = _core.flow_slowdowns(tmp_path / "flows.parquet")
    assert memoryview(sizes).cast("q").tolist() == [0, 20, 30]
    assert memoryview(slowdowns).cast("d").tolist() == [1.0, 3.0, 4.0]

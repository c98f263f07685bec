"""Puts the tables of all parts into one, in the plan's order.

The parts are read as a stream, so memory does not grow with them. Row groups have a fixed size:
the bytes of the file depend on the rows only.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from hull.columns import COLUMNS, described
from hull.errors import RunError, reason_of
from hull.plan import Part

_ROW_GROUP = 1 << 18
_PAGE = 1 << 16


def merge_tables(folder: Path, parts: Sequence[Part]) -> None:
    """Write each table of a folder from those of the parts that have it."""
    for table in COLUMNS:
        name = f"{table}.parquet"
        with_it = [part for part in parts if (folder / part.path / name).exists()]
        if not with_it:
            continue
        frames = [
            pl.scan_parquet(folder / part.path / name, glob=False).select(
                pl.lit(part.cell.condition).alias("condition"),
                pl.lit(part.cell.scheme).alias("scheme"),
                pl.lit(part.seed, dtype=pl.Int32).alias("seed"),
                pl.all(),
            )
            for part in with_it
        ]
        try:
            # Only schemes with several transports, or with groups, have those columns.
            merged = pl.concat(frames, how="diagonal")
            columns = described(table, merged.collect_schema().names())
            merged.sink_parquet(
                folder / name,
                row_group_size=_ROW_GROUP,
                metadata={"hull.columns": json.dumps(columns)},
            )
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = _refusal(folder / name) or reason_of(error)
            raise RunError(f"{folder / name}: {reason}") from error


def _refusal(broken: Path) -> str | None:
    """Why the system takes no more of a file that could not be written: polars may name only the
    piece that it was writing. None where the system takes more.
    """
    try:
        with broken.open("ab") as file:
            file.write(bytes(_PAGE))
    except OSError as error:
        return error.strerror
    return None

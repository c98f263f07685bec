"""Puts the tables of all parts into one, in the plan's order."""

import json
from collections.abc import Sequence
from pathlib import Path

from hull import _core
from hull.errors import RunError
from hull.results.columns import COLUMNS, described
from hull.runs.plan import Part


def merge_tables(folder: Path, parts: Sequence[Part]) -> None:
    """Write each table of a folder from the parts' tables, for the parts that have it."""
    for table in COLUMNS:
        name = f"{table}.parquet"
        with_it = [
            (str(path), part.cell.condition, part.cell.scheme, part.seed)
            for part in parts
            if (path := folder / part.path / name).exists()
        ]

        def describe(names: list[str], table: str = table) -> tuple[str, str]:
            return "hull.columns", json.dumps(described(table, names))

        if not with_it:
            continue
        try:
            _core.merge_tables(str(folder / name), with_it, describe)
        except RuntimeError as error:
            raise RunError(str(error)) from error

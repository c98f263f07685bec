"""The results of a sweep as one frame: a row for each statistic of each run, with the mean over the
seeds of its point.
"""

import io
import os
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from hull.errors import RunError, UsageError
from hull.files.names import check_path
from hull.files.output_file import whole_file
from hull.results.statistics import mean_ci95
from hull.sweeps.grid import Grid
from hull.sweeps.numbers import Row
from hull.sweeps.values import Value, shown

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

SUFFIXES = (".parquet", ".csv")
_KINDS = ("i8", "i8", "f8", "f8", "f8", "i8")


class Found:
    """The statistics of runs: names once, values as numbers."""

    def __init__(self) -> None:
        """Empty."""
        self._names: dict[tuple[tuple[str, str], ...], int] = {}
        self._lists: list[tuple[tuple[str, str], ...]] = []
        self._runs: dict[tuple[int, int], tuple[int, array[float]]] = {}

    def add(self, case: int, seed: int, rows: Sequence[Row]) -> None:
        """Add the statistics of a finished run."""
        names = tuple(map(itemgetter(0, 1), rows))
        index = self._names.setdefault(names, len(self._lists))
        if index == len(self._lists):
            self._lists.append(names)
        self._runs[case, seed] = index, array("d", map(itemgetter(2), rows))

    def __len__(self) -> int:
        return len(self._runs)

    def __contains__(self, run: tuple[int, int]) -> bool:
        return run in self._runs

    def names(self) -> list[str]:
        """Every statistic that a run has, in order."""
        return list(dict.fromkeys(name for names in self._lists for name, _ in names))

    def can_have(self, name: str) -> bool:
        """Whether runs have this statistic, or could: the mean of a class without a flow."""
        names = self.names()
        group, _, last = name.rpartition(".")
        return name in names or (
            group in {known.rpartition(".")[0] for known in names}
            and last in {known.rpartition(".")[2] for known in names}
        )

    def units(self) -> dict[str, str]:
        """The unit of every statistic."""
        return {name: unit for names in self._lists for name, unit in names}

    def lists(self) -> list[tuple[str, ...]]:
        """The statistics that runs have, each list once."""
        return [tuple(name for name, _ in names) for names in self._lists]

    def run(self, case: int, seed: int) -> "tuple[int, array[float]] | None":
        """The index in `lists` of a run's statistics, and their values; None without the run."""
        return self._runs.get((case, seed))

    def values(self, case: int, seed: int) -> Mapping[str, float] | None:
        """The statistics of a run; None without the run."""
        if (case, seed) not in self._runs:
            return None
        index, values = self._runs[case, seed]
        return {name: value for (name, _), value in zip(self._lists[index], values, strict=True)}


def make_frame(
    grid: Grid, found: Found, seeds_of: Callable[[int], Iterable[int]]
) -> "pl.DataFrame":
    """Rows by point in the grid's order, scheme in the file's order, seed, statistic."""
    import numpy as np
    import polars as pl

    names = found.names()
    units = found.units()
    number = {name: index for index, name in enumerate(names)}
    cases = [
        _columns_of_case(found, case, seeds_of(case), number) for case in range(len(grid.cases))
    ]
    place = np.repeat(np.arange(len(grid.places)), [len(cases[p.case][0]) for p in grid.places])

    def of_rows(column: int) -> "np.ndarray":
        """Build a column for all places and free its parts, which take much memory."""
        joined = np.concatenate([cases[place.case][column] for place in grid.places])
        for case in cases:
            case[column] = case[column][:0]
        return joined

    columns = [
        _axis_column(axis.name, [place.values[index] for place in grid.places]).gather(place)
        for index, axis in enumerate(grid.axes)
    ]
    schemes = pl.Series("scheme", [place.scheme for place in grid.places], dtype=pl.String)
    columns.append(schemes.gather(place))
    columns.append(pl.Series("seed", of_rows(0), dtype=pl.Int64))
    statistic = of_rows(1)
    for name, texts in (("statistic", names), ("unit", [units[name] for name in names])):
        columns.append(pl.Series(name, texts, dtype=pl.String).gather(statistic))
    for column, name in enumerate(("value", "mean", "ci95"), start=2):
        # Without an interval, as with one seed, there is none: null.
        columns.append(pl.Series(name, of_rows(column), dtype=pl.Float64, nan_to_null=True))
    columns.append(pl.Series("n", of_rows(5), dtype=pl.Int64))
    return pl.DataFrame(columns)


def check_out(out: Path) -> Path:
    """`--out`, if a frame can be written there."""
    check_path("--out", out, "results/load.parquet")
    if out.suffix not in SUFFIXES:
        endings = " or ".join(SUFFIXES)
        raise UsageError(f"--out: {out} is invalid; expected a file that ends with {endings}")
    if out.is_dir():
        raise UsageError(f"--out: {out} is a folder; expected a writable file")
    there = next(folder for folder in out.absolute().parents if folder.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        why = "is a read-only folder" if there.is_dir() else "is not a folder"
        raise UsageError(f"--out: {out}: {there} {why}; expected a writable file")
    return out


def write_frame(frame: "pl.DataFrame", out: Path) -> None:
    """Write a frame atomically: the file is complete or absent."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(out) as file:
            if out.suffix == ".csv":
                frame.write_csv(file)
            else:
                content = io.BytesIO()  # as polars has many words for a full disk
                frame.write_parquet(content)
                file.write(content.getbuffer())
    except OSError as error:
        raise RunError(f"{out}: {error.strerror or error}") from None


def _columns_of_case(
    found: Found, case: int, seeds: Iterable[int], number: Mapping[str, int]
) -> list["np.ndarray"]:
    """Seed, number of the statistic, value, mean, half width, n; by seed, then statistic."""
    import numpy as np

    runs = [(seed, *run) for seed in seeds if (run := found.run(case, seed)) is not None]
    if not runs:
        return [np.zeros(0, kind) for kind in _KINDS]
    of_list = [np.array([number[name] for name in names], np.int64) for names in found.lists()]
    seed = np.concatenate([np.full(len(values), seed, np.int64) for seed, _, values in runs])
    statistic = np.concatenate([of_list[index] for _, index, _ in runs])
    value = np.concatenate([np.frombuffer(values, np.float64) for _, _, values in runs])
    over_seeds = np.zeros((3, len(number)))
    for one in np.unique(statistic):
        values = value[statistic == one].tolist()
        mean, ci95 = mean_ci95(values)
        over_seeds[:, one] = mean, np.nan if ci95 is None else ci95, len(values)
    mean_of_row, ci95_of_row, n = over_seeds[:, statistic]
    return [seed, statistic, value, mean_of_row, ci95_of_row, n.astype(np.int64)]


def _axis_column(name: str, values: list[Value]) -> "pl.Series":
    """Numbers where all values are numbers, else texts."""
    import polars as pl

    kinds = {type(value) for value in values}
    if kinds <= {int}:
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds <= {int, float}:
        return pl.Series(name, values, dtype=pl.Float64)
    return pl.Series(name, [shown(value) for value in values], dtype=pl.String)

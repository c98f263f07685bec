"""Expected results: for each experiment, a table of its quick form's results with tolerances.

`expected/ID.csv` has a row for each claim (holds or FAILS) and for each number: each measured value
that is compared with a published one, and mean and largest value of each line and of a panel's bars
in the figure. Tolerances are absolute: 10% for means, 30% for percentiles and largest values, 0.1%
for computed (not simulated) values, and at least a fifth of this share of the largest number in the
panel or metric (2% for means).
"""

import csv
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

FOLDER = Path(__file__).parent / "expected"
HEADER = ("quantity", "value", "tolerance")
MEAN, TAIL, COMPUTED, LEAST = 0.1, 0.3, 0.001, 0.02


@dataclass(frozen=True)
class Row:
    """A number with its tolerance, or a claim's verdict."""

    quantity: str
    value: str
    tolerance: str = ""

    def moved(self, found: "Row") -> str:
        """Describes the difference from the table; empty if within tolerance."""
        if self.value == found.value:
            return ""
        if not self.tolerance or not found.tolerance:
            return f"{self.value} -> {found.value}"
        before, now, room = float(self.value), float(found.value), float(self.tolerance)
        if abs(now - before) <= room:
            return ""
        share = f", {now / before - 1:+.0%}" if before else ""
        return f"{before:g} +- {room:g} -> {now:g}{share}"


def read(id_: str) -> list[Row]:
    """The table of an experiment; empty if it has none yet."""
    path = FOLDER / f"{id_}.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [Row(*line) for line in list(csv.reader(file))[1:]]


def compare(id_: str, found: Sequence[Row]) -> None:
    """Fails with all differences; HULL_EXPECTED=write updates these rows and keeps the others."""
    before = {row.quantity: row for row in read(id_)}
    now = {row.quantity: row for row in found}
    assert len(now) == len(found), f"{id_}: duplicate row names"
    moved = {name: before[name].moved(row) for name, row in now.items() if name in before}
    moved |= {name: f"new: {row.value}" for name, row in now.items() if name not in before}
    moved |= {name: f"gone: {row.value}" for name, row in before.items() if name not in now}
    moved = {name: words for name, words in moved.items() if words}
    if moved and os.environ.get("HULL_EXPECTED") == "write":
        with (FOLDER / f"{id_}.csv").open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(HEADER)
            for name, row in now.items():
                kept = row if name in moved else before[name]
                lines.writerow((kept.quantity, kept.value, kept.tolerance))
        return
    width = max(map(len, moved), default=0)
    assert not moved, f"{id_}:\n" + "\n".join(f"  {n:{width}}  {w}" for n, w in moved.items())


def rows(summary: Mapping[str, Any], figure: Figure) -> list[Row]:
    """Rows for the claims, compared numbers and figure of an experiment's run."""
    computed = not summary["parts"]
    found = [Row(c["id"], "holds" if c["holds"] else "FAILS") for c in summary["claims"]]
    for metric in dict.fromkeys(row["metric"] for row in summary["comparison"]):
        found += _rows(_measured(summary["comparison"], metric), computed=computed)
    shown = [axis for axis in figure.axes if axis.get_visible()]
    for number, axis in enumerate(shown, start=1):
        title = " ".join(axis.get_title(loc="left").split()) or axis.get_ylabel()
        drawn = {f"{number}. {title}: {name}": value for name, value in _drawn(axis)}
        found += _rows(drawn, computed=computed)
    return found


def _rows(values: Mapping[str, float], *, computed: bool) -> Iterator[Row]:
    largest = max(map(abs, values.values()), default=0.0)
    for name, value in values.items():
        share = COMPUTED if computed else MEAN if name.endswith("mean") else TAIL
        room = max(share * abs(value), share * LEAST / MEAN * largest)
        yield Row(name, f"{value:.4g}", f"{room:.2g}")


def _measured(comparison: Sequence[Mapping[str, Any]], metric: str) -> dict[str, float]:
    keys = ("condition", "scheme", "metric", "statistic")
    return {
        " ".join(str(row[key]) for key in keys if row[key]): float(row["measured"])
        for row in comparison
        if row["metric"] == metric and row["measured"] is not None
    }


def _drawn(axis: Axes) -> Iterator[tuple[str, float]]:
    lines = [np.asarray(line.get_ydata(), dtype=float) for line in axis.get_lines()]
    shown = {f"line {i}": line for i, line in enumerate(lines, start=1) if len(line) > 2}
    heights = [patch.get_height() for patch in axis.patches if hasattr(patch, "get_height")]
    if heights:
        shown["bars"] = np.asarray(heights, dtype=float)
    for mesh in axis.collections:
        if isinstance(mesh, QuadMesh):
            shown["grid"] = np.asarray(mesh.get_array(), dtype=float)
    for name, values in shown.items():
        finite = values[np.isfinite(values)]
        if finite.size:
            yield f"{name}, mean", math.fsum(finite.flat) / finite.size
            yield f"{name}, largest", float(finite.max())

"""A finished run: what its folder holds, in Python."""

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hull.columns import described
from hull.errors import UsageError

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


class Result:
    """The results of a run; the tables are read when they are first asked for."""

    columns: ClassVar = {table: described(table) for table in ("flows", "latency")}
    """Table name -> column name -> {"unit", "meaning"}."""

    def __init__(self, folder: Path, summary: dict[str, Any]) -> None:
        """Use `hull.run` or `hull.load`."""
        self.folder = folder
        self.summary = summary
        """Content of summary.json (docs/results.md)."""

    def __repr__(self) -> str:
        return f"<hull.Result {self.summary['name']!r} in {self.folder}>"

    @cached_property
    def flows(self) -> "pl.DataFrame":
        """One row per finished flow."""
        return self._table("flows")

    @cached_property
    def latency(self) -> "pl.DataFrame":
        """One row per sample of the switch's queue."""
        return self._table("latency")

    def plot_fct(self) -> "Figure":
        """Distribution of the flow completion time, per size class and scheme."""
        from hull.figures import plot_fct

        return plot_fct(self)

    def plot_latency(self) -> "Figure":
        """Distribution of the switch latency, per scheme."""
        from hull.figures import plot_latency

        return plot_latency(self)

    def plot_queue(self) -> "Figure":
        """Queue of the measured port over time, per scheme."""
        from hull.figures import plot_queue

        return plot_queue(self)

    def _table(self, name: str) -> "pl.DataFrame":
        import polars as pl

        return pl.read_parquet(self.folder / f"{name}.parquet")


def load(folder: str | Path) -> Result:
    """Open the results of an earlier run."""
    path = Path(folder)
    try:
        summary = json.loads((path / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise UsageError(
            f"{path}: no results of hull here; expected a folder with summary.json"
        ) from None
    return Result(path, summary)

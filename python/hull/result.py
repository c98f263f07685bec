"""A finished run: the content of its folder in Python."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hull.errors import UsageError
from hull.files.checksums import check
from hull.files.input_file import read_json
from hull.files.table_file import check_table, read_table
from hull.process.extras import require
from hull.process.forked import check_not_forked
from hull.results.columns import ASKED_FOR, COLUMNS, described
from hull.styles import declared

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


class Result:
    """The results of a run; tables are read on first access.

    Columns with their units are in `Result.columns`: times in ps (`_ps`), sizes in bytes. A table
    that the scenario did not request raises UsageError, which names the key.
    """

    columns: ClassVar = {table: described(table) for table in COLUMNS}
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
        """One row per probe or sample of the queue at the port to the client."""
        return self._table("latency")

    @cached_property
    def links(self) -> "pl.DataFrame":
        """One row per link and direction."""
        return self._table("links")

    @cached_property
    def queries(self) -> "pl.DataFrame":
        """One row per query; needs a workload with queries."""
        return self._table("queries")

    @cached_property
    def queues(self) -> "pl.DataFrame":
        """Queues of watched ports over time; needs `measure.ports` or `measure.queue_changes`."""
        return self._table("queues")

    @cached_property
    def series(self) -> "pl.DataFrame":
        """Flows over time: delivered bytes, window, alpha, round trip; needs `measure.flows`."""
        return self._table("series")

    @cached_property
    def pacers(self) -> "pl.DataFrame":
        """Pacers over time: rate and backlog; needs `measure.pacers`, and a pacer."""
        return self._table("pacers")

    @cached_property
    def pauses(self) -> "pl.DataFrame":
        """Pauses of links by class; needs `switch.pfc`."""
        return self._table("pauses")

    @cached_property
    def pause_causes(self) -> "pl.DataFrame":
        """Pauses by the port whose queue caused them; needs `switch.pfc`."""
        return self._table("pause_causes")

    @cached_property
    def pause_events(self) -> "pl.DataFrame":
        """Pauses one by one; needs `measure.pauses` and `switch.pfc`."""
        return self._table("pause_events")

    def plot_fct(self) -> "Figure":
        """Distribution of the flow completion time (us or ms), per size class and scheme."""
        require("plots", "Result.plot_fct")
        from hull.figures import plot_fct

        return plot_fct(self, declared(self.summary))

    def plot_latency(self) -> "Figure":
        """Distribution of the switch latency (us), per scheme."""
        require("plots", "Result.plot_latency")
        from hull.figures import plot_latency

        return plot_latency(self, declared(self.summary))

    def plot_queue(self) -> "Figure":
        """Queue of the measured port over time, per scheme."""
        require("plots", "Result.plot_queue")
        from hull.figures import plot_queue

        return plot_queue(self, declared(self.summary))

    def plot_slowdown(
        self, path: str | Path | None = None, *, percentile: float = 99, bins: int = 10
    ) -> "Figure":
        """Slowdown by flow size, one column of a paper (3.5 in) wide: a percentile for each of
        `bins` bins of equally many flows, with 95% bands over seeds, a panel for each condition.

        With a path, also writes it as PDF and PNG with these suffixes.

        Raises UsageError for results without slowdown, RunError if the path is not writable.
        """
        require("plots", "Result.plot_slowdown")
        from hull.figures import plot_slowdown
        from hull.figures.slowdown import write_figure
        from hull.results.slowdown import percentile_name, slowdown_by_size

        name = percentile_name(percentile)
        table = slowdown_by_size(self.flows, bins=bins, percentiles=[percentile])
        if table.is_empty():
            raise UsageError(f"{self.folder}: no flow has a slowdown, so there is none to plot")
        label = "median" if percentile == 50 else f"{percentile:g}th percentile"
        figure = plot_slowdown(table, name, label, declared(self.summary), bins=bins)
        if path is not None:
            write_figure(figure, Path(path))
        return figure

    def report(self) -> Path:
        """Make the report, tables and charts in one HTML file in the folder; returns its path.

        Raises UsageError for results that were changed, RunError if the disk is full.
        """
        require("report", "Result.report")
        from hull.run_report import write_run_report

        return write_run_report(self.folder, self.summary)

    def perfetto(
        self,
        path: str | Path,
        *,
        condition: str | None = None,
        scheme: str | None = None,
        seed: int | None = None,
    ) -> Path:
        """Write queues and flows over time as a trace for ui.perfetto.dev, of all parts or of
        those that are named; returns the path.

        Raises UsageError for a missing part, RunError if the path is not writable.
        """
        require("tables", "Result.perfetto")
        from hull.perfetto import write_trace

        place = Path(path)
        return write_trace(
            self.folder, self.summary, place, condition=condition, scheme=scheme, seed=seed
        ).path

    def _table(self, name: str) -> "pl.DataFrame":
        require("tables", f"Result.{name}")
        check_not_forked(f"Result.{name}")
        path = self.folder / f"{name}.parquet"
        check_table(self.folder, path.name)
        if name in ASKED_FOR and not path.exists():
            raise UsageError(f"{path}: not found; it requires {ASKED_FOR[name]} in the scenario")
        return read_table(path)


def load(folder: str | Path) -> Result:
    """Open the results of an earlier run from its folder.

    Raises UsageError if there are none.
    """
    path = Path(folder)
    try:
        summary = read_json(path / "summary.json")
    except OSError:
        summary = None
    except ValueError as error:
        raise UsageError(
            f"{path}: no results of hull here, as summary.json {error}; expected a folder that "
            "hull run has made"
        ) from None
    if not isinstance(summary, dict) or "name" not in summary:
        raise UsageError(f"{path}: no results of hull here; expected a folder with summary.json")
    if not _is_list_of_parts(summary.get("parts", [])):
        raise UsageError(
            f"{path / 'summary.json'}: parts is invalid; expected a list of objects with "
            'condition, scheme and seed, such as {"condition": "", "scheme": "dctcp", "seed": 1}'
        )
    check(path, "summary.json")
    return Result(path, summary)


def _is_list_of_parts(value: object) -> bool:
    kinds = {"condition": str, "scheme": str, "seed": int}
    return isinstance(value, list) and all(
        isinstance(part, dict) and all(isinstance(part.get(key), kinds[key]) for key in kinds)
        for part in value
    )

"""Tables on the terminal: published numbers beside measured ones, scenario keys, statistics."""

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hull.claims import headline
from hull.experiment import Experiment
from hull.registry import Statistic

_PLAIN_WIDTH = 110
_FAR = 2.0


def print_tables(experiment: Experiment, summary: dict[str, Any]) -> None:
    """One table per metric: schemes under each condition, published, measured and their ratio."""
    out = console()
    rows = summary["comparison"]
    how = f"seeds: {len(summary['seeds'])}" if summary["seeds"] else "computed"
    out.print(Text(f"{experiment.title} ({how})", style="bold"))
    for metric in dict.fromkeys(row["metric"] for row in rows):
        of_metric = [row for row in rows if row["metric"] == metric]
        statistics = list(dict.fromkeys(row["statistic"] for row in of_metric))
        out.print(_metric_table(metric, statistics, of_metric))


def print_claims(claims: Sequence[dict[str, Any]]) -> None:
    """What a document says, its kind and whose its bound is, what was measured, and whether it
    holds; the counts above."""
    if not claims:
        return
    table = Table(
        title=headline(claims), title_justify="left", box=None, pad_edge=False, header_style="bold"
    )
    for column in ("holds", "kind", "bound", "claim", "measured"):
        table.add_column(column, overflow="fold")
    for claim in claims:
        verdict = Text("yes") if claim["holds"] else Text("no!", style="yellow")
        cells = (Text(claim[key]) for key in ("kind", "bound", "claim", "measured"))
        table.add_row(verdict, *cells)
    console().print(table)


def print_keys(keys: Sequence[dict[str, Any]]) -> None:
    """The keys of a scenario file."""
    _print_rows(KEY_COLUMNS, map(key_row, keys))


def print_statistics(statistics: Iterable[Statistic]) -> None:
    """The registry of statistics."""
    _print_rows(STATISTIC_COLUMNS, map(statistic_row, statistics))


KEY_COLUMNS = ("key", "type", "example", "default", "meaning")


def key_row(key: dict[str, Any]) -> tuple[str, ...]:
    """One key of a scenario file as KEY_COLUMNS."""
    default, example = _value(key["default"]), _value(key["unit"])
    if key["default"] is None and key["required"]:
        default = "required"
    return key["key"], key["type"], example, default, key["doc"]


STATISTIC_COLUMNS = ("statistic", "unit", "combined", "meaning")
_COMBINED = {
    "mean": "mean over seeds",
    "sum": "sum over parts",
    "max": "largest of parts",
    "not": "",
}


def statistic_row(statistic: Statistic) -> tuple[str, ...]:
    """One entry of the registry of statistics as STATISTIC_COLUMNS."""
    combined = _COMBINED[statistic.combined]
    return statistic.key, statistic.unit, combined, statistic.meaning


def _print_rows(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console().print(table)


def _value(value: Any) -> str:
    """As in a scenario file, texts without quotes; "" where there is none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def number(value: float | None) -> str:
    """Four significant digits at most, and no exponent."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def console() -> Console:
    """Standard output; of one width where it is no terminal."""
    console = Console()
    if not console.is_terminal:
        console.width = _PLAIN_WIDTH
    return console


def _metric_table(metric: str, statistics: Sequence[str], rows: list[dict[str, Any]]) -> Table:
    table = Table(title=metric, title_justify="left", box=None, pad_edge=False, padding=(0, 1))
    table.add_column("scheme", no_wrap=True)
    for statistic in statistics:
        table.add_column(statistic, justify="right", style="bold")
        table.add_column("publ.", justify="right")
        table.add_column("ratio", justify="right")
    for condition, in_condition in groupby(rows, key=lambda row: str(row["condition"])):
        table.add_row(Text(condition, style="italic"))
        for scheme, of_scheme in groupby(in_condition, key=lambda row: str(row["scheme"])):
            found = {row["statistic"]: row for row in of_scheme}
            cells: list[Text] = []
            for statistic in statistics:
                row = found.get(statistic)
                if row is None:
                    cells += [Text(), Text(), Text()]
                    continue
                cells.append(Text(number(row["measured"])))
                cells.append(Text(number(row["published"])))
                cells.append(_ratio(row["ratio"]))
            table.add_row(Text(f"  {scheme}"), *cells)
    return table


def _ratio(ratio: float | None) -> Text:
    """Marked with "!" where it is off by more than a factor of two."""
    if ratio is None:
        return Text("-")
    far = not 1 / _FAR <= ratio <= _FAR
    return Text(f"{ratio:.2f}{'!' if far else ' '}", style="yellow" if far else "")

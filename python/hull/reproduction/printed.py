"""Tables on the terminal: published numbers beside measured ones, and claims."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rich.table import Table
from rich.text import Text

from hull.experiments.common.claims import by_cause, headline
from hull.experiments.common.deviations import explain, is_far
from hull.experiments.common.experiment import Experiment
from hull.terminal.tables import console, number

_WHERE = "what was tried to explain each: report.html below, docs/claims.md"


def print_tables(experiment: Experiment, summary: dict[str, Any]) -> None:
    """Print one table per metric: schemes under each condition, published, measured, ratio."""
    out = console()
    rows = summary["comparison"]
    how = f"seeds: {len(summary['seeds'])}" if summary["seeds"] else "computed"
    out.print(Text(f"{experiment.title} ({how})", style="bold"))
    for metric in dict.fromkeys(row["metric"] for row in rows):
        of_metric = [row for row in rows if row["metric"] == metric]
        statistics = list(dict.fromkeys(row["statistic"] for row in of_metric))
        out.print(_metric_table(metric, statistics, of_metric))
    for line in explain(rows, experiment.deviations, f"docs/experiments/{experiment.id}.md"):
        out.print(Text(line))


def print_claims(claims: Sequence[dict[str, Any]]) -> None:
    """Print counts, then each claim: verdict, what the seeds decide, kind, source of its bound,
    text, measured value."""
    if not claims:
        return
    table = Table(
        title=headline(claims), title_justify="left", box=None, pad_edge=False, header_style="bold"
    )
    for column in ("holds", "over seeds", "kind", "bound", "claim", "measured"):
        table.add_column(column, overflow="fold")
    for claim in claims:
        verdict = Text("yes") if claim["holds"] else Text("no!", style="yellow")
        cells = (Text(claim[key]) for key in ("state", "kind", "bound", "claim", "measured"))
        table.add_row(verdict, *cells)
    console().print(table)
    failing = [claim for claim in claims if not claim["holds"]]
    if failing:
        console().print(Text(f"no! marks {len(failing)} claims that do not hold; {_WHERE}"))
    for cause, of_cause in by_cause(failing).items():
        console().print(Text(f"{cause}: {', '.join(claim['id'] for claim in of_cause)}"))


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
    """A ratio as text, marked with "!" beyond a factor of two."""
    if ratio is None:
        return Text("-")
    far = is_far(ratio)
    return Text(f"{ratio:.2f}{'!' if far else ' '}", style="yellow" if far else "")

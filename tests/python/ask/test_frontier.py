"""Charts of an answer: the points of each group, and the fit beside the recorded flows."""

import polars as pl

from hull.ask.answer import ALL, Row
from hull.ask.fit_charts import fit_section
from hull.ask.frontier import frontiers
from hull.changes import Value
from hull.report.charts import Chart


def row(scheme: str, group: str, small: float | None, large: float | None) -> Row:
    def value(of: float | None) -> Value | None:
        return None if of is None else Value(of, 1.0)

    return Row(scheme, group, 9, 9, value(small), value(small), value(large), None, None, None, 0)


def test_missing_group_values_come_from_all_flows() -> None:
    rows = [
        row("dctcp", ALL, 10.0, 1000.0),
        row("hull", ALL, 4.0, 1100.0),
        row("dctcp", "rpc", 8.0, None),
        row("hull", "rpc", 3.0, None),
        row("dctcp", "backups", None, 2000.0),
        row("hull", "backups", None, 2300.0),
        row("dctcp", "between", None, None),
    ]
    found = {one.title: [(n, x.mean, y.mean) for n, x, y in one.points] for one in frontiers(rows)}
    assert found == {
        "All flows": [("dctcp", 1000.0, 10.0), ("hull", 1100.0, 4.0)],
        "Group rpc, small flows only": [("dctcp", 1000.0, 8.0), ("hull", 1100.0, 3.0)],
        "Group backups, large flows only": [("dctcp", 2000.0, 10.0), ("hull", 2300.0, 4.0)],
    }
    assert frontiers([row("dctcp", ALL, None, None)]) == []


def test_fit_is_plotted_against_the_recording() -> None:
    seen = pl.DataFrame({"start_ps": [5_000_000, 1_000_000, 3_000_000], "bytes": [10, 20, 30]})
    drawn = pl.DataFrame({"start_ps": [0, 1_000_000, 9_000_000], "bytes": [20, 20, 20]})
    charts: list[Chart] = []
    assert "How well the drawn flows fit" in fit_section(seen, drawn, charts)
    assert [chart.title for chart in charts] == [
        "Flow size",
        "Gap between starts",
        "Flows in a hundredth of the time",
    ]
    # Medians by hand: sizes 10, 20, 30 and 20, 20, 20; gaps 2, 2 and 1, 8.
    assert "Recorded flows 20" in charts[0].alt
    assert "Drawn flows, first seed 20" in charts[0].alt
    assert "Recorded flows 2" in charts[1].alt

"""Charts of an answer: the points of each group, and the fit beside the recorded flows."""

import polars as pl
import pytest

from hull.ask.answer import ALL, BySeed, Count, Row
from hull.ask.fit_charts import fit_section
from hull.ask.frontier import frontiers
from hull.report.charts import Chart


def row(
    scheme: str,
    group: str,
    small: float | None,
    large: float | None,
    base: tuple[float | None, float | None] | None,
) -> Row:
    def by_seed(small: float | None, large: float | None) -> dict[str, BySeed]:
        of = {"small_p99": small, "large_mean": large}
        return {
            name: {} if us is None else {("", 1): us * 0.9, ("", 2): us / 0.9}
            for name, us in of.items()
        }

    against = by_seed(*base) if base else {}
    return Row(scheme, group, Count(9, 9), Count(9, 9), by_seed(small, large), against)


def test_missing_group_values_come_from_all_flows() -> None:
    rows = [
        row("dctcp", ALL, 10.0, 1000.0, None),
        row("hull", ALL, 4.0, 1100.0, (10.0, 1000.0)),
        row("dctcp", "rpc", 8.0, None, None),
        row("hull", "rpc", 3.0, None, (8.0, None)),
        row("dctcp", "backups", None, 2000.0, None),
        row("hull", "backups", None, 2300.0, (None, 2000.0)),
        row("dctcp", "between", None, None, None),
    ]
    found = {
        one.title: [(name, x.value, y.value) for name, x, y in one.points]
        for one in frontiers(rows)
    }
    # Changes in per cent; today's scheme is at (0, 0).
    assert found == {
        "All flows": [("dctcp", 0, 0), ("hull", pytest.approx(10), pytest.approx(-60))],
        "Group rpc, small flows only": [
            ("dctcp", 0, 0),
            ("hull", pytest.approx(10), pytest.approx(-62.5)),
        ],
        "Group backups, large flows only": [
            ("dctcp", 0, 0),
            ("hull", pytest.approx(15), pytest.approx(-60)),
        ],
    }
    assert frontiers([row("dctcp", ALL, None, None, None)]) == []


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

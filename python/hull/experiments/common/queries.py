"""Report III-B: fan-out queries beside 10 MB transfers: their measurements, and plots in the
report's form (figures 4, 5 and 6): a group of bars per background load.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from hull.experiments.common.claims import cut_pct
from hull.experiments.common.measured import (
    Estimate,
    Measure,
    Results,
    from_summary,
    from_table,
    query,
    value,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

TCP, DCTCP, HULL = "tcp_droptail", "dctcp_30k", "dctcp_pq950_pacer"
ALONE = "queries only"
LOADED = ("200 Mbps", "400 Mbps", "600 Mbps")
"""Average background traffic on the client's link."""
CONDITIONS = {"load=0%": ALONE, **{f"load={n}%": f"{n}0 Mbps" for n in (20, 40, 60)}}

completion = from_summary(query("p99"))
"""99th percentile of the completion time of queries, which end with their slowest response, us."""


def _response_p99_us(queries: "pl.DataFrame") -> float:
    """99th percentile of the mean response time of a query's servers, us."""
    value = queries["mean_response_ps"].quantile(0.99, "linear")
    return float("nan") if value is None else value / 1e6


def _worst_in_time(queries: "pl.DataFrame") -> float:
    """Responses within the deadline: mean over the worst hundredth of the queries."""
    count = max(1, round(queries.height / 100))
    return float(fmean(queries["in_time"].sort().head(count)))


response = from_table("queries", _response_p99_us)
in_time = from_table("queries", _worst_in_time)


def average_cut(
    measure: Measure, other: str, conditions: Sequence[str] = LOADED
) -> Callable[[Results], Estimate | None]:
    """HULL's reduction against another scheme, averaged over conditions, percent."""

    def read(results: Results) -> Estimate | None:
        if not all(results.parts(c, s) for c in conditions for s in (HULL, other)):
            return None
        return Estimate(fmean(cuts(measure, results, other, conditions)), None)

    return read


def cuts(
    measure: Measure, results: Results, other: str, conditions: Sequence[str] = LOADED
) -> list[float]:
    """HULL's reduction against another scheme in each condition, percent."""
    return [
        cut_pct(value(measure, results, c, HULL), value(measure, results, c, other))
        for c in conditions
    ]


@dataclass(frozen=True)
class Drawn:
    """One plot: a bar per scheme and load."""

    title: str
    y_label: str
    measure: Measure
    published: dict[tuple[str, str], float] | None = None
    """By condition and scheme, in the plot's unit."""
    unit: float = 1.0
    """What the measured value is divided by."""
    log_y: bool = False


def draw_queries(results: Results, drawn: Sequence[Drawn], columns: int) -> "Figure":
    """The plots in rows of `columns`."""
    from hull.figures import BarPanel, plot_bars

    panels = []
    for plot in drawn:
        values, ci95 = {}, {}
        for condition in results.conditions:
            for scheme in results.schemes:
                if (found := plot.measure(results, condition, scheme)) is not None:
                    values[condition, scheme] = found.mean / plot.unit
                    ci95[condition, scheme] = found.ci95 and found.ci95 / plot.unit
        panels.append(
            BarPanel(
                title=plot.title,
                y_label=plot.y_label,
                groups=results.conditions,
                schemes=results.schemes,
                values=values,
                ci95=ci95,
                published=plot.published or {},
                log_y=plot.log_y,
            )
        )
    return plot_bars(panels, columns=columns, width=3.9)

"""Completion times until a flow's sender has the last acknowledgment, from flows.parquet.

The logs of htsim and its forks have these times, one per flow. Percentiles are interpolated
linearly.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from hull.experiments.common.experiment import Point
from hull.experiments.common.measured import Estimate, Measure, Results, from_table

if TYPE_CHECKING:
    import polars as pl

Kept = Callable[["pl.DataFrame"], "pl.DataFrame"]
"""Which flows count."""


def acked_us(statistic: str, kept: Kept) -> Measure:
    """Mean, min, max or a percentile ("p99") of the flows that count, us."""

    def read(flows: "pl.DataFrame") -> float:
        times = kept(flows)["acked_ps"].drop_nulls() / 1e6
        if statistic.startswith("p"):
            found = times.quantile(float(statistic[1:]) / 100, "linear")
        else:
            found = getattr(times, statistic)()
        return float("nan") if found is None else float(found)

    return from_table("flows", read)


def acked_point(
    scheme: str, metric: str, statistic: str, published: float, measure: Measure
) -> Point:
    """A published completion time beside hull's."""

    def read(results: Results) -> Estimate | None:
        return measure(results, "", scheme)

    return Point("", scheme, metric, statistic, published, read)

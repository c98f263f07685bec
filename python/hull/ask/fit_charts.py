"""The fit as a picture: the flows that were seen beside those that were drawn, as distributions of
sizes and of gaps between starts, and how many start in each stretch of the time.
"""

import polars as pl

from hull.report.charts import Chart, cdf_chart
from hull.report.curves import PS_PER_US, cdfs_of
from hull.report.document import figures, key_of
from hull.report.schemes import BLUE, VERMILION, Scheme

_SEEN = Scheme("seen", "Recorded flows", BLUE, (), "o")
_DRAWN = Scheme("drawn", "Drawn flows, first seed", VERMILION, (5, 2), "s")
_POINTS = 200
_STRETCHES = 100
"""Of the time, in which starts are counted."""


def fit_section(seen: pl.DataFrame, drawn: pl.DataFrame, charts: list[Chart]) -> str:
    """HTML; the charts' specifications go to `charts`."""
    pairs = [(_SEEN, seen), (_DRAWN, drawn)]
    looks = [look for look, _ in pairs]
    found = []
    for title, unit, value in (
        ("Flow size", "bytes", pl.col("bytes").cast(pl.Float64)),
        ("Gap between starts", "µs", _gap().clip(lower_bound=1e-3)),
        ("Flows in a hundredth of the time", "flows", None),
    ):
        frames = [
            (_starts(flows) if value is None else flows.lazy().select(value.alias("value"))).select(
                "value", condition=pl.lit(""), scheme=pl.lit(look.name)
            )
            for look, flows in pairs
        ]
        curves = cdfs_of(pl.concat(frames), pl.col("value"), _POINTS)
        found.append(cdf_chart(title, unit, curves, looks))
    return (
        f"<h3>How well the drawn flows fit</h3>{key_of(looks)}{figures(found, charts)}"
        "<p>Each curve is a distribution: of sizes, of gaps (below 1 ns at the left edge), and of "
        "how many flows start in each hundredth of the time, where bursts show.</p>"
    )


def _gap() -> pl.Expr:
    return pl.col("start_ps").sort().diff().drop_nulls() / PS_PER_US


def _starts(flows: pl.DataFrame) -> pl.LazyFrame:
    begin = pl.col("start_ps") - pl.col("start_ps").min()
    stretch = (begin * _STRETCHES // (begin.max() + 1)).alias("stretch")
    every = pl.LazyFrame({"stretch": pl.int_range(_STRETCHES, eager=True)})
    counted = flows.lazy().select(stretch).group_by("stretch", maintain_order=True).len()
    joined = every.join(counted, on="stretch", how="left", maintain_order="left")
    # A logarithmic axis has no 0.
    return joined.select(value=pl.col("len").fill_null(0).cast(pl.Float64).clip(lower_bound=0.1))

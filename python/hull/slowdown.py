"""Slowdown by flow size: how many times as long as alone in the network flows took.

The bins hold equally many flows, as the field plots it. They are those of all flows of a condition
together, so that its schemes and seeds have the same ones. A percentile is the smallest value of a
seed with at least that share at or below it; what is told is the mean over seeds.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from hull.errors import UsageError, check_count
from hull.statistics import mean_ci95

BINS = 10
PERCENTILES = (50.0, 95.0, 99.0, 99.9)
"""Those in summary.json."""
_PARTS = 1000
"""Of a percent: percentiles are ranks in whole numbers."""

_KEYS = ("condition", "scheme", "seed")
_NEEDED = (*_KEYS, "bytes", "slowdown")


def slowdown_by_size(
    flows: pl.DataFrame | pl.LazyFrame,
    *,
    bins: int = BINS,
    percentiles: Sequence[float] = PERCENTILES,
) -> pl.DataFrame:
    """The slowdown of `result.flows` in at most `bins` bins of flow size with equally many flows.

    Rows are by condition, scheme and size. `bytes` is the largest size of the bin and `share` that
    of all flows of the condition up to it; a size that fills several bins has one row. `flows` are
    those of the row in all seeds, `mean`, `p50` and so on means over the seeds, `mean_ci95`, ...
    the half widths of their 95% intervals (null for one seed).

    Raises UsageError for flows without slowdown, as an earlier version of hull wrote them.
    """
    check_count("bins", bins)
    ranks = {percentile_name(percentile): _rank(percentile) for percentile in percentiles}
    lazy = flows.lazy()
    if missing := [name for name in _NEEDED if name not in lazy.collect_schema().names()]:
        raise UsageError(
            f"no column {missing[0]} in the table of flows; expected flows.parquet as this version "
            "of hull writes it"
        )
    known = lazy.select(_NEEDED).filter(pl.col("slowdown").is_not_null())
    conditions = known.select(pl.col("condition").unique(maintain_order=True)).collect()
    rows: list[dict[str, Any]] = []
    for condition in conditions["condition"]:
        # One at a time: those of a long sweep together would take gigabytes.
        rows += _of_condition(known.filter(pl.col("condition") == condition), bins, ranks)
    values = [f"{name}{end}" for name in ("mean", *ranks) for end in ("", "_ci95")]
    schema = {
        "condition": pl.String,
        "scheme": pl.String,
        "bytes": pl.Int64,
        "share": pl.Float64,
        "flows": pl.Int64,
        **dict.fromkeys(values, pl.Float64),
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def percentile_name(percentile: float) -> str:
    """p50, p999; UsageError for a percentile that there is not."""
    if not 0 < percentile < 100:
        raise UsageError(f"percentile: {percentile:g} is invalid; expected above 0 and below 100")
    digits = f"{percentile:g}"
    return f"p{digits}" if percentile < 10 else f"p{digits.replace('.', '')}"


def add_by_size(summary: dict[str, Any], flows: Path) -> None:
    """Put the bins into the cells of a summary, from the folder's flows.parquet."""
    table = slowdown_by_size(pl.scan_parquet(flows, glob=False))
    bins: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in table.iter_rows(named=True):
        entry = {key: row[key] for key in ("bytes", "share", "flows")}
        for key in ("mean", *map(percentile_name, PERCENTILES)):
            entry[key] = {"mean": row[key], "ci95": row[f"{key}_ci95"]}
        bins.setdefault((row["condition"], row["scheme"]), []).append(entry)
    for cell in summary["cells"]:
        cell["slowdown_by_size"] = bins.get((cell["condition"], cell["scheme"]), [])


def _of_condition(
    known: pl.LazyFrame, bins: int, ranks: dict[str, int]
) -> Iterator[dict[str, Any]]:
    frame = known.collect()
    edges = _edges(frame["bytes"].sort(), bins)
    sizes = pl.Series(list(edges), dtype=pl.Int64)
    place = sizes.search_sorted(frame["bytes"], side="left")
    ordered = pl.col("slowdown").sort()
    count = pl.len().cast(pl.Int64)
    per_seed = (
        frame.with_columns(pl.Series("place", place))
        .group_by("condition", "scheme", "place", "seed", maintain_order=True)
        .agg(
            count.alias("flows"),
            pl.col("slowdown").mean().alias("mean"),
            *(
                ordered.get((count * rank + 100 * _PARTS - 1) // (100 * _PARTS) - 1).alias(name)
                for name, rank in ranks.items()
            ),
        )
    )
    schemes = frame["scheme"].unique(maintain_order=True).to_list()
    groups = per_seed.partition_by("condition", "scheme", "place", as_dict=True)
    for (condition, scheme, at), group in sorted(
        groups.items(), key=lambda item: (schemes.index(item[0][1]), item[0][2])
    ):
        size = sizes[at]
        row = {
            "condition": condition,
            "scheme": scheme,
            "bytes": size,
            "share": edges[size],
            "flows": group["flows"].sum(),
        }
        for name in ("mean", *ranks):
            row[name], row[f"{name}_ci95"] = mean_ci95(group[name].to_list())
        yield row


def _edges(ordered: pl.Series, bins: int) -> dict[int, float]:
    """The largest size of each bin, and the share of flows up to there."""
    count = len(ordered)
    ranks = [(count * number + bins - 1) // bins for number in range(1, bins + 1)]
    return {int(ordered[rank - 1]): (at + 1) / bins for at, rank in enumerate(ranks)}


def _rank(percentile: float) -> int:
    return max(1, round(percentile * _PARTS))

"""Slowdown by flow size: how many times as long as alone in the network flows took.

The bins hold equally many flows, as the field plots it. All flows of a condition together define
them, so that its schemes and seeds have the same ones. A percentile is the smallest value of a seed
with at least that share at or below it; what is told is the mean over seeds.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hull import _core
from hull.errors import UsageError, check_count
from hull.results.statistics import mean_ci95
from hull.runs.plan import Part

if TYPE_CHECKING:
    import polars as pl

BINS = 10
PERCENTILES = (50.0, 95.0, 99.0, 99.9)
"""Those in summary.json."""
_PARTS = 1000
"""Of a percent: percentiles are ranks in whole numbers."""

_KEYS = ("condition", "scheme", "seed")
_NEEDED = (*_KEYS, "bytes", "slowdown")

_Flows = tuple[bytes, bytes]
"""Sizes and slowdowns of flows, as `hull._core.flow_slowdowns` gives them."""


def slowdown_by_size(
    flows: "pl.DataFrame | pl.LazyFrame",
    *,
    bins: int = BINS,
    percentiles: Sequence[float] = PERCENTILES,
) -> "pl.DataFrame":
    """The slowdown of `result.flows` in at most `bins` bins of flow size with equally many flows.

    Rows are by condition, scheme and size. `bytes` is the largest size of the bin and `share` the
    share of the condition's flows up to it; a size that fills several bins has one row. `flows` is
    the number of the row's flows in all seeds; `mean`, `p50` and so on are means over the seeds,
    `mean_ci95`, ... the half widths of their 95% intervals (null for one seed).

    Raises UsageError for flows without slowdown, as an earlier version of hull wrote them.
    """
    import polars as pl

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
        # One at a time: all conditions of a long sweep together would take gigabytes.
        here = known.filter(pl.col("condition") == condition).collect()
        groups = here.partition_by("scheme", "seed", as_dict=True, maintain_order=True)
        parts = [
            (
                str(scheme),
                (
                    group["bytes"].cast(pl.Int64).to_numpy().tobytes(),
                    group["slowdown"].cast(pl.Float64).to_numpy().tobytes(),
                ),
            )
            for (scheme, _seed), group in groups.items()
        ]
        rows += [{"condition": condition, **row} for row in _of_condition(parts, bins, ranks)]
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


def add_by_size(summary: dict[str, Any], folder: Path, parts: Sequence[Part]) -> None:
    """Put the bins into the cells of a summary, from the flows.parquet of the parts in a folder."""
    ranks = {percentile_name(percentile): _rank(percentile) for percentile in PERCENTILES}
    bins: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for condition in dict.fromkeys(part.cell.condition for part in parts):
        # One at a time: all conditions of a long sweep together would take gigabytes.
        here = [
            (part.cell.scheme, _core.flow_slowdowns(str(folder / part.path / "flows.parquet")))
            for part in parts
            if part.cell.condition == condition
        ]
        for row in _of_condition(here, BINS, ranks):
            entry = {key: row[key] for key in ("bytes", "share", "flows")}
            for key in ("mean", *ranks):
                entry[key] = {"mean": row[key], "ci95": row[f"{key}_ci95"]}
            bins.setdefault((condition, row["scheme"]), []).append(entry)
    for cell in summary["cells"]:
        cell["slowdown_by_size"] = bins.get((cell["condition"], cell["scheme"]), [])


def _of_condition(
    parts: Sequence[tuple[str, _Flows]], bins: int, ranks: dict[str, int]
) -> Iterator[dict[str, Any]]:
    """The rows of a condition by scheme and size; `parts` are schemes with their flows."""
    edges, found = _core.slowdown_bins([flows for _, flows in parts], bins, list(ranks.values()))
    schemes = [scheme for scheme, _ in parts]
    for scheme in dict.fromkeys(schemes):
        mine = [of for name, of in zip(schemes, found, strict=True) if name == scheme]
        for at, (size, share) in enumerate(edges):
            seeds = [entry for of in mine for entry in of if entry[0] == at]
            if not seeds:
                continue
            row = {
                "scheme": scheme,
                "bytes": size,
                "share": share,
                "flows": sum(flows for _, flows, *_ in seeds),
            }
            values = [(mean, *percentiles) for _, _, mean, percentiles in seeds]
            for name, column in zip(("mean", *ranks), zip(*values, strict=True), strict=True):
                row[name], row[f"{name}_ci95"] = mean_ci95(column)
            yield row


def _rank(percentile: float) -> int:
    return max(1, round(percentile * _PARTS))

"""The answer: what small flows gain and large flows lose at each headroom.

Completion times in us. Each change is the ratio to today's scheme on the same flows and seed, so
that variation between seeds cancels (`hull.changes`). What follows is in `hull.ask.verdict`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from hull.ask.question import Question
from hull.changes import Change, Value, change, value_of

if TYPE_CHECKING:
    import polars as pl

ALL = "all"
CHANGED, OTHERS = "between changed hosts", "with an unchanged host"
"""Groups of flows where only some hosts change."""
Seed = tuple[str, int]
"""Condition and seed of a run."""
_TIMES = ("small_p99_us", "small_mean_us", "large_mean_us")
FEW = 100
"""Flows that the usual bound should hold at least, or a hundredth of all."""
_INITIAL_WINDOW_BYTES = 14_600
_LARGE_BYTES = 1_000_000
_LARGE_SHARE = 0.1
"""Of all bytes, which flows of the usual bound should carry at least."""


@dataclass(frozen=True)
class Sizes:
    """Which flows are small and which large, bytes: up to `small`, from `large` on."""

    small: int
    large: int
    why: str


@dataclass(frozen=True)
class Row:
    """One scheme on one group of flows."""

    scheme: str
    group: str
    small_flows: int
    """In each seed, on average."""
    large_flows: int
    small_p99_us: Value | None
    small_mean_us: Value | None
    large_mean_us: Value | None
    small_p99_change: Change | None
    """Against today's scheme; None for that one."""
    small_mean_change: Change | None
    large_mean_change: Change | None
    unfinished: int
    """Flows not completed at the end of the run, over all seeds."""
    small_p99_by_seed: Mapping[Seed, float | None] = field(default_factory=dict)
    large_mean_by_seed: Mapping[Seed, float | None] = field(default_factory=dict)

    def against(self, other: "Row") -> "Row":
        """The same with changes against another scheme."""
        return replace(
            self,
            small_p99_change=change(self.small_p99_by_seed, other.small_p99_by_seed),
            large_mean_change=change(self.large_mean_by_seed, other.large_mean_by_seed),
        )


def choose_sizes(sizes: "pl.Series", small: int | None, large: int | None) -> Sizes:
    """The requested bounds. By default the first window of a connection and 1 MB; if the trace has
    no such flows, its smallest tenth and the largest flows that carry half of the bytes.
    """
    ordered = sizes.sort()
    why = []
    if small is None:
        small = _INITIAL_WINDOW_BYTES
        text = f"small: up to {small:,} bytes, the first window of a new connection"
        if int((ordered <= small).sum()) < min(FEW, max(1, len(ordered) // 100)):
            small = int(ordered[len(ordered) // 10])
            text = f"small: up to {small:,} bytes, the smallest tenth, as few fit a first window"
        why.append(text)
    if large is None:
        large = _LARGE_BYTES
        text = f"large: {large:,} bytes or more"
        total = float(ordered.sum())
        if float(ordered.filter(ordered >= large).sum()) < _LARGE_SHARE * total:
            sums = ordered.reverse().cum_sum()
            place = int((sums < total / 2).sum())
            large = int(ordered[len(ordered) - 1 - min(place, len(ordered) - 1)])
            text = f"large: {large:,} bytes or more, the largest that carry half of all bytes"
        why.append(text)
    return Sizes(small, large, "; ".join(why))


def rows_of(
    question: Question,
    finished: "pl.DataFrame",
    asked: "pl.DataFrame",
    sizes: Sizes,
) -> list[Row]:
    """A row for each scheme and group. `asked` are the flows that were to be carried, of each
    condition with its number of seeds in `seeds`; `finished` is `flows.parquet` of the runs. Both
    have a column `group`, and `changed` where only some hosts change.
    """
    import polars as pl

    named = asked["group"].unique(maintain_order=True).to_list()
    of_group = {ALL: pl.lit(True)}
    if len(named) > 1:
        of_group |= {group: pl.col("group") == group for group in named}
    if question.partly:
        of_group |= {CHANGED: pl.col("changed"), OTHERS: ~pl.col("changed")}
    found = []
    for group, is_inside in of_group.items():
        inside = finished.filter(is_inside)
        wanted = int(asked.filter(is_inside)["seeds"].sum())
        of_scheme = {
            scheme: _samples(inside.filter(pl.col("scheme") == scheme), sizes)
            for scheme in question.schemes
        }
        base = of_scheme[question.today[0]]
        for scheme, samples in of_scheme.items():
            known = list(samples.values())
            count = max(1, len(known))
            is_base = scheme == question.today[0]
            values = {key: value_of([sample[key] for sample in known]) for key in _TIMES}
            changes = {
                key: None if is_base else change(_only(samples, key), _only(base, key))
                for key in _TIMES
            }
            found.append(
                Row(
                    scheme=scheme,
                    group=group,
                    small_flows=round(sum(sample["small"] for sample in known) / count),
                    large_flows=round(sum(sample["large"] for sample in known) / count),
                    small_p99_us=values["small_p99_us"],
                    small_mean_us=values["small_mean_us"],
                    large_mean_us=values["large_mean_us"],
                    small_p99_change=changes["small_p99_us"],
                    small_mean_change=changes["small_mean_us"],
                    large_mean_change=changes["large_mean_us"],
                    unfinished=wanted - int((inside["scheme"] == scheme).sum()),
                    small_p99_by_seed=_only(samples, "small_p99_us"),
                    large_mean_by_seed=_only(samples, "large_mean_us"),
                )
            )
    return found


def _samples(flows: "pl.DataFrame", sizes: Sizes) -> dict[Seed, dict[str, Any]]:
    """The statistics of each condition and seed."""
    import polars as pl

    small, large = pl.col("bytes") <= sizes.small, pl.col("bytes") >= sizes.large
    us = pl.col("fct_ps") * 1e-6
    found = flows.group_by("condition", "seed", maintain_order=True).agg(
        small.sum().alias("small"),
        large.sum().alias("large"),
        us.filter(small).quantile(0.99, "linear").alias("small_p99_us"),
        us.filter(small).mean().alias("small_mean_us"),
        us.filter(large).mean().alias("large_mean_us"),
    )
    return {(row["condition"], row["seed"]): row for row in found.iter_rows(named=True)}


def _only(samples: Mapping[Seed, dict[str, Any]], key: str) -> dict[Seed, float | None]:
    return {place: sample[key] for place, sample in samples.items()}


def as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The frontier as `--format json` prints it."""
    return [_as_json(row) for row in rows]


def _as_json(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in fields(row):
        value = getattr(row, one.name)
        if isinstance(value, Change):
            value = value.as_json()
        elif isinstance(value, Value):
            value = asdict(value)
        if not one.name.endswith("_by_seed"):
            found[one.name] = value
    return found

"""The answer: what small flows gain and large flows lose at each headroom, and the recommendation.

Completion times in us. Each change is against today's scheme on the same flows and seed, so that
variation between seeds cancels; its interval is Student's t over the seeds (95%).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hull.ask.question import Question, hull_name, percent
from hull.changes import Value, change, in_words, value_of

if TYPE_CHECKING:
    import polars as pl

ALL = "all"
CHANGED, OTHERS = "between changed hosts", "with an unchanged host"
"""Groups of flows where only some hosts change."""
_TIMES = ("small_p99_us", "small_mean_us", "large_mean_us")
FEW = 100
"""Flows below which a 99th percentile says little."""
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
    small_p99_change: Value | None
    """Part of today's: -0.5 is half of it; None for today's own."""
    small_mean_change: Value | None
    large_mean_change: Value | None
    unfinished: int
    """Flows not completed at the end of the run, over all seeds."""


@dataclass(frozen=True)
class Advice:
    """What is recommended, why, and how sure that is."""

    scheme: str | None
    """None: leave it as it is."""
    sentence: str
    sure: tuple[str, ...]


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
                )
            )
    return found


def _samples(flows: "pl.DataFrame", sizes: Sizes) -> dict[tuple[str, int], dict[str, Any]]:
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


def _only(
    samples: Mapping[tuple[str, int], dict[str, Any]], key: str
) -> dict[tuple[str, int], float | None]:
    return {place: sample[key] for place, sample in samples.items()}


def advise(question: Question, rows: Sequence[Row], most_loss: float) -> Advice:
    """The smallest headroom whose gain for small flows is not below the best one's, among those
    that lengthen large flows by at most `most_loss`.

    Gains are compared by their intervals: where two overlap, the smaller headroom is preferred.
    """
    base = question.today[0]
    label = {scheme.name: scheme.label for scheme in question.looks}
    by_scheme = {row.scheme: row for row in rows if row.group == ALL}
    offered = [by_scheme[hull_name(part)] for part in question.give_up]
    known = [row for row in offered if row.small_p99_change is not None]
    if not known:
        return Advice(None, "No headroom can be judged: the trace has no small flow.", ())
    cheap = [row for row in known if _loss(row) <= most_loss]
    gaining = [row for row in cheap if _gain(row).high < 0]
    if not gaining:
        if helping := [row for row in known if _gain(row).high < 0]:
            least = min(helping, key=_loss)
            assert least.large_mean_change is not None
            reason = (
                f"no headroom that shortens small flows is sure to lengthen large ones by at most "
                f"{percent(most_loss)} (--most-loss; the upper end of the interval counts). "
                f"With {label[least.scheme]}, the gentlest, "
                f"the 99th percentile of small flows {in_words(_gain(least))}, the mean of large "
                f"ones {in_words(least.large_mean_change)}"
            )
        else:
            reason = "no headroom shortens the small flows by more than the seeds vary"
        return Advice(None, f"Leave {label[base]} as it is: {reason}.", _sure(rows, None))
    best = min(gaining, key=lambda row: _gain(row).mean)
    chosen = next(row for row in gaining if _gain(row).low <= _gain(best).high)
    part = next(p for p in question.give_up if hull_name(p) == chosen.scheme)
    gain, loss = _gain(chosen), chosen.large_mean_change
    sentence = (
        f"Give up {percent(part)} of the bandwidth: the 99th percentile of small flows "
        f"{in_words(gain)} against {label[base]}"
    )
    sentence += "." if loss is None else f", the mean of large flows {in_words(loss)}."
    return Advice(chosen.scheme, sentence, _sure(rows, chosen))


def _gain(row: Row) -> Value:
    assert row.small_p99_change is not None
    return row.small_p99_change


def _loss(row: Row) -> float:
    """How much longer large flows take, at the upper end; 0 if there are none."""
    return 0.0 if row.large_mean_change is None else row.large_mean_change.high


def _sure(rows: Sequence[Row], chosen: Row | None) -> tuple[str, ...]:
    found = []
    of = chosen or next(row for row in rows if row.group == ALL)
    if of.small_flows < FEW:
        found.append(
            f"There are only {of.small_flows} small flows: their 99th percentile is that of one or "
            "two of them."
        )
    if of.small_p99_us is not None and of.small_p99_us.ci95 is None:
        found.append("There is one seed, hence no interval: give --seeds 5 or more.")
    if of.large_flows == 0:
        found.append("The trace has no large flow, so the cost for large flows is unknown.")
    late = sum(row.unfinished for row in rows if row.group == ALL)
    if late:
        found.append(f"{late} flows had not arrived when their runs ended; they are left out.")
    return tuple(found)


def as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The frontier as `--format json` prints it."""
    return [asdict(row) for row in rows]

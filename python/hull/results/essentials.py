"""The essential numbers of a run: each scheme against the first one, for small and large flows.

Small and large are the smallest and the largest size class with flows. Each change is the ratio to
the first scheme under the same condition, seed by seed, with its 95% range
(`hull.results.changes`). A percentile is taken in each seed; with few flows two or three would
decide it, so the mean stands in its place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hull.results.changes import Change, Value, change, in_words, value_of
from hull.results.registry import NO_GROUP

_US = {"mean_us": "mean", "p99_us": "p99"}
_OF_GROUP = "FCT, group "
ENOUGH = 300
"""Flows of a run for a 99th percentile."""
_MEAN, _P99 = {"mean_us": "mean"}, {"p99_us": "p99"}
_IN_WORDS = {"mean": "mean", "p99": "99th percentile"}
_MOST_GROUPS = 4
"""With more, the report's table is enough."""
Samples = dict[int, float | None]
"""A number by seed."""


@dataclass(frozen=True)
class Line:
    """A number of one scheme under one condition."""

    condition: str
    scheme: str
    what: str
    """Such as "FCT, 1KB" or "goodput"."""
    statistic: str
    """mean, p99, or empty."""
    unit: str
    value: Value
    change: Change | None
    """Against the first scheme; None for that one."""
    count: int
    """Flows, packets or runs behind it, all seeds together."""
    lower_bound: bool
    """Whether unfinished flows could change it."""


def lines_of(summary: Mapping[str, Any], *, every: bool = False) -> list[Line]:
    """The essential numbers by condition, scheme and kind; with `every`, of all size classes."""
    found: list[Line] = []
    parts = summary["parts"]
    for condition in dict.fromkeys(part["condition"] for part in parts):
        here = [part for part in parts if part["condition"] == condition]
        schemes = list(dict.fromkeys(part["scheme"] for part in here))
        of = {s: {p["seed"]: p for p in here if p["scheme"] == s} for s in schemes}
        kinds = _kinds(here, every=every)
        for scheme in schemes:
            for what, statistic, unit, read, counted, bounded in kinds:
                samples = {seed: read(part) for seed, part in of[scheme].items()}
                value = value_of(list(samples.values()))
                if value is None:
                    continue
                first = {seed: read(part) for seed, part in of[schemes[0]].items()}
                count = sum(counted(part) for part in of[scheme].values())
                against = None if scheme == schemes[0] else change(samples, first)
                bound = any(bounded(part) for part in of[scheme].values())
                found.append(
                    Line(condition, scheme, what, statistic, unit, value, against, count, bound)
                )
    return found


def sentence(lines: Sequence[Line], labels: Mapping[str, str]) -> str:
    """The run in one sentence: of the schemes that are shown to shorten the tail of small flows the
    one that does so most, and its effect on large ones; empty with a single scheme.
    """
    lines = [line for line in lines if not line.what.startswith(_OF_GROUP)]
    times = [line for line in lines if line.unit == "us" and line.statistic in _IN_WORDS]
    tails = [line for line in times if line.statistic == times[0].statistic]
    compared = [line for line in tails if line.change is not None]
    if not compared:
        return ""
    small = tails[0].what
    of_small = [line for line in compared if line.what == small]
    if not of_small:
        return ""
    of_flows = f"the {_IN_WORDS[tails[0].statistic]} of {_flows(small)}"
    # The best of several is better than it is by chance, so the ranges of all are wider.
    least = [(line, line.change.among(len(of_small))) for line in of_small if line.change]
    ranged = [(line, of) for line, of in least if of.has_range]
    shown = [(line, of) for line, of in ranged if of.is_shown]
    shorter = [(line, of) for line, of in shown if of.ratio < 1]
    best, change_of_best = min(shorter or shown or ranged or least, key=lambda one: one[1].ratio)
    first = next(line.scheme for line in tails if line.condition == best.condition)
    against = labels.get(first, first)
    if ranged and not shown:
        return f"No scheme is shown to differ from {against} in {of_flows}: the seeds vary more."
    if ranged and not shorter and len(least) > 1:
        return (
            f"No scheme is shown to shorten {of_flows} against {against}; {len(shown)} of "
            f"{len(least)} lengthen it."
        )
    told_of = f"With {labels.get(best.scheme, best.scheme)}"
    told_of += f" ({best.condition})" if best.condition else ""
    text = f"{told_of}, {of_flows} {in_words(change_of_best)} against {against}"
    large = [
        line
        for line in lines
        if (line.condition, line.scheme, line.statistic) == (best.condition, best.scheme, "mean")
        and line.unit == "us"
        and line.what != small
    ]
    if large and large[-1].change is not None:
        text += f", the mean of {_flows(large[-1].what)} {in_words(large[-1].change)}"
    return f"{text}{_unsure(change_of_best)}."


def _unsure(best: Change) -> str:
    """Why there is no range; empty if there is one."""
    if best.has_range:
        return ""
    return " (one seed: no range)" if best.seeds == 1 else " (all seeds agree: no range)"


def as_rows(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """As JSON prints them."""
    return [
        {**asdict(line), "change": line.change.as_json() if line.change else None} for line in lines
    ]


def as_csv(lines: Sequence[Line]) -> str:
    """As CSV, with a header."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ("value", "ci95", "ratio", "ratio_low", "ratio_high", "count", "lower_bound")
    writer.writerow(("condition", "scheme", "what", "statistic", "unit", *names))
    for line in lines:
        change = line.change.as_json() if line.change else {}
        against = [change.get(key) for key in ("ratio", "low", "high")]
        named = (line.condition, line.scheme, line.what, line.statistic, line.unit)
        bound = "true" if line.lower_bound else "false"
        writer.writerow((*named, line.value.mean, line.value.ci95, *against, line.count, bound))
    return text.getvalue()


def _flows(what: str) -> str:
    return f"{what.removeprefix('FCT, ')} flows"


def _kinds(parts: Sequence[Mapping[str, Any]], *, every: bool) -> list[Any]:
    """What is read from parts: name, statistic, unit, how to read it, how many are behind it, and
    whether it is a lower bound.
    """
    counts: dict[str, int] = {}
    for part in parts:
        for entry in part["fct"]:
            counts[entry["class"]] = counts.get(entry["class"], 0) + entry["count"]
    classes = [name for name, count in counts.items() if count]
    if len(classes) > 2 and not every:
        classes = [classes[0], classes[-1]]

    def packets(part: Mapping[str, Any]) -> int:
        return int(part["packet_hops"])

    kinds: list[Any] = []
    for place, name in enumerate(classes):
        # Of small flows the tail counts, of large ones the mean.
        last = len(classes) > 1 and place == len(classes) - 1
        few = counts[name] < ENOUGH * len(parts)
        shown = _US if every else _MEAN if last or few else _P99
        for key, statistic in shown.items():
            kinds.append((f"FCT, {name}", statistic, "us", *_of_class(("fct",), name, key)))
        of_slowdown = "mean" if few and not every else "p99"
        read = _of_class(("slowdown",), name, of_slowdown)
        kinds.append((f"slowdown, {name}", of_slowdown, "1", *read))
    kinds += _of_groups(parts, every=every)
    kinds += _of_ends(parts)
    if any(map(_unfinished, parts)):
        kinds.append(("unfinished flows", "", "1", _unfinished, _started, _never))
    if any(part.get("queries") for part in parts):
        asked = sum((part.get("queries") or {}).get("count", 0) for part in parts)
        few = asked < ENOUGH * len(parts)
        for key, statistic in (_MEAN if few and not every else _US).items():
            kinds.append(
                (
                    *("queries", statistic, "us"),
                    lambda part, key=key: (part["queries"] or {}).get(key),
                    lambda part: (part["queries"] or {}).get("count", 0),
                    lambda part, name=statistic: _is_bound(part["queries"] or {}, name),
                )
            )
    goodput = ("throughput", "total_goodput_bps")
    kinds.append(
        (
            *("goodput of all hosts", "", "bit/s"),
            lambda part: part[goodput[0]][goodput[1]],
            packets,
            _never,
        )
    )
    return kinds


def _unfinished(part: Mapping[str, Any]) -> float:
    """Flows that started and did not complete."""
    return float(sum(entry.get("unfinished") or 0 for entry in part["fct"]))


def _started(part: Mapping[str, Any]) -> int:
    return int(_unfinished(part)) + sum(int(entry["count"]) for entry in part["fct"])


def _never(_: Mapping[str, Any]) -> bool:
    return False


def _is_bound(entry: Mapping[str, Any], statistic: str) -> bool:
    """Whether a statistic of a class, or of queries, is a lower bound."""
    return bool(entry.get("lower_bound", {}).get(statistic))


def _of_groups(parts: Sequence[Mapping[str, Any]], *, every: bool) -> list[Any]:
    """For each group the 99th percentile of its fullest class, or the mean of few flows; with
    `every`, all its classes.
    """
    counts: dict[str, dict[str, int]] = {}
    for part in parts:
        for group, of in part.get("groups", {}).items():
            in_class = counts.setdefault(group, {})
            for entry in of["fct"]:
                in_class[entry["class"]] = in_class.get(entry["class"], 0) + entry["count"]
    named = [group for group, in_class in counts.items() if any(in_class.values())]
    if not every:
        named = [group for group in named if group != NO_GROUP][:_MOST_GROUPS]

    kinds: list[Any] = []
    for group in named:
        classes = [name for name, count in counts[group].items() if count]
        if not every:
            classes = [max(classes, key=lambda name: counts[group][name])]
        for name in classes:
            few = counts[group][name] < ENOUGH * len(parts)
            shown = _US if every else _MEAN if few else _P99
            what, path = f"{_OF_GROUP}{group}, {name}", ("groups", group, "fct")
            kinds += [
                (what, word, "us", *_of_class(path, name, key)) for key, word in shown.items()
            ]
    return kinds


def _of_ends(parts: Sequence[Mapping[str, Any]]) -> list[Any]:
    """For each workload that ends by itself the time until its last flow is complete. A scheme with
    an unfinished flow in any seed has their number instead.
    """
    workloads = list(dict.fromkeys(name for part in parts for name in part.get("last_flow", {})))

    def number(name: str, key: str) -> tuple[Any, Any, Any]:
        def entry(part: Mapping[str, Any]) -> Mapping[str, Any]:
            found: Mapping[str, Any] = part.get("last_flow", {}).get(name) or {}
            return found

        unfinished = {part["scheme"] for part in parts if entry(part).get("unfinished")}

        def read(part: Mapping[str, Any]) -> float | None:
            is_shown = (part["scheme"] in unfinished) == (key == "unfinished")
            return entry(part).get(key) if is_shown else None

        return read, lambda part: entry(part).get("flows", 0), _never

    kinds: list[Any] = []
    for name in workloads:
        of = f" of {name}" if len(workloads) > 1 else ""
        kinds += [
            (f"last flow{of} completes", "", "us", *number(name, "completion_us")),
            (f"last flow{of} missing: unfinished", "", "1", *number(name, "unfinished")),
        ]
    return kinds


def _of_class(path: Sequence[str], name: str, key: str) -> tuple[Any, Any, Any]:
    """How to read a number of a size class, how many flows are behind it, and whether it is a lower
    bound.
    """

    def entry(part: Mapping[str, Any]) -> Mapping[str, Any]:
        found: Any = part
        for step in path:
            found = found.get(step) or {}
        return next((entry for entry in found if entry["class"] == name), {})

    return (
        lambda part: entry(part).get(key),
        lambda part: entry(part).get("count", 0),
        lambda part: _is_bound(entry(part), key.removesuffix("_us")),
    )

"""The numbers over all parts of a run: totals, and per cell the mean over seeds.

Which numbers are combined, and how, the registry of statistics says.
"""

from collections.abc import Sequence
from typing import Any

from hull import _core
from hull.results.registry import STATISTICS
from hull.results.statistics import mean_ci95
from hull.results.warnings import warnings_of
from hull.runs.plan import Plan
from hull.warnings.scenario import warnings_before

_SUMS = tuple(statistic.key for statistic in STATISTICS if statistic.combined == "sum")
_LARGEST = tuple(statistic.key for statistic in STATISTICS if statistic.combined == "max")
_MEANS = [statistic for statistic in STATISTICS if statistic.combined == "mean"]
_AVERAGED = tuple(dict.fromkeys(s.path[0] for s in _MEANS if not s.where_several))
_WHERE_SEVERAL = tuple(dict.fromkeys(s.path[0] for s in _MEANS if s.where_several))
_CONSTANT = ("class",)


def summarise(plan: Plan, parts: Sequence[dict[str, Any]], wall_seconds: float) -> dict[str, Any]:
    """Content of summary.json; `parts` are the summaries of the plan's parts in its order."""
    per_cell = len(plan.seeds)
    groups = [parts[i : i + per_cell] for i in range(0, len(parts), per_cell or 1)]
    cells = [average(group) for group in groups]
    return {
        "hull_version": _core.version(),
        "name": plan.name,
        "title": plan.title,
        "seeds": list(plan.seeds),
        **{key: sum(part[key] for part in parts) for key in _SUMS},
        "wall_seconds": wall_seconds,
        **{key: max((p[key] for p in parts if p[key]), default=None) for key in _LARGEST},
        "warnings": [*warnings_before(plan), *warnings_of(plan, cells, groups)],
        "cells": cells,
        "parts": list(parts),
    }


def average(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One cell: each number becomes {"mean", "ci95"} over its seeds."""
    return {
        "condition": parts[0]["condition"],
        "scheme": parts[0]["scheme"],
        "seeds": len(parts),
        # What a real network cannot tell, as where its packets were dropped, is null.
        **{key: _average([part.get(key) for part in parts]) for key in _AVERAGED},
        **{
            key: _average([part[key] for part in parts])
            for key in _WHERE_SEVERAL
            if key in parts[0]
        },
    }


def _average(values: list[Any]) -> Any:
    """Averages numbers; recurses into dicts and lists; None if every value is missing."""
    present = [value for value in values if value is not None]
    if not present:
        return None
    first = present[0]
    if isinstance(first, dict):
        # A class without a single flow has no statistics: keys may be absent in some seeds.
        keys = dict.fromkeys(key for value in present for key in value)
        return {
            key: first[key] if key in _CONSTANT else _average([v.get(key) for v in present])
            for key in keys
        }
    if isinstance(first, list):
        return [_average(list(members)) for members in zip(*present, strict=True)]
    mean, ci95 = mean_ci95(present)
    return {"mean": mean, "ci95": ci95}

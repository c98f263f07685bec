"""Labels: how conditions, metrics and numbers of the result files read in tables and figures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

NO_VALUE = "-"
_SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "KB"))


def conditions_of(summary: Mapping[str, Any]) -> list[str]:
    """The conditions of a run, each once, in the order in which its summary lists them."""
    return list(dict.fromkeys(part["condition"] for part in summary["parts"]))


def condition_label(condition: str) -> str:
    """`load20` and `load=20%` as "20% load"; with a variant, "20% load, threshold 1500 B"."""
    if not condition:
        return "All runs"
    match = re.fullmatch(r"load(?:=(\d+)%|(\d+))(?:_threshold_(\d+))?", condition)
    if match is None:
        return condition
    load = f"{match[1] or match[2]}% load"
    return f"{load}, threshold {match[3]} B" if match[3] else load


def metric_label(metric: str, unit: str) -> str:
    """A metric's name without its unit: `fct_10mb_ms` as "FCT of 10 MB flows"."""
    name = metric.removesuffix(f"_{unit}")
    if name == "switch_latency":
        return "Switch latency"
    match = re.fullmatch(r"fct_(\d+)(b|kb|mb|gb)", name)
    return f"FCT of {match[1]} {match[2].upper()} flows" if match else name


def unit_label(unit: str) -> str:
    """The unit's sign: `us` as µs."""
    return "µs" if unit == "us" else unit


def number(value: float | None) -> str:
    """About three to five significant digits, a dash if there is no value."""
    if value is None:
        return NO_VALUE
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def size_label(size: int) -> str:
    """At most three digits: 900 B, 1.46 KB, 2 MB."""
    for unit, sign in _SIZES:
        if size >= 0.9995 * unit:
            return f"{size / unit:.3g} {sign}"
    return f"{size} B"


def count(value: float | None) -> str:
    """A count, which is a whole number unless it is a mean over seeds."""
    if value is None:
        return NO_VALUE
    return f"{value:,.0f}" if value == round(value) or value >= 1000 else f"{value:,.1f}"

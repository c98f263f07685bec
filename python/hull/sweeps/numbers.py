"""The summary of a run as statistics with dotted names and units: `fct.10MB.mean` in us.

What differs from one execution to the next (times, memory, threads) is no statistic.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

_LABELS = ("hull_version", "name", "condition", "scheme", "seed")
_OF_THE_MACHINE = ("threads", "cpu_seconds", "wall_seconds", "peak_rss_bytes")
_ENDINGS = {
    "_us": "us",
    "_bps": "bit/s",
    "_seconds": "s",
    "_per_second": "1/s",
}
_PACKETS = (
    *("packet_hops", "marks", "drops", "pacer_drops", "retransmissions", "paced", "packets"),
    *("sent", "delivered", "dropped", "in_flight", "lost"),
)

Row = tuple[str, str, float]
"""Name, unit and value of a statistic."""


def rows_of(summary: dict[str, Any]) -> list[Row]:
    """The statistics of one run, in the order of its summary."""
    kept = {k: v for k, v in summary.items() if k not in _LABELS and k not in _OF_THE_MACHINE}
    return [(*_name_and_unit(path), float(value)) for path, value in _leaves("", kept)]


def _leaves(path: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(f"{path}.{key}" if path else key, inner)
    elif isinstance(value, list):
        for member in value:
            inside = {k: v for k, v in member.items() if k != "class"}
            yield from _leaves(f"{path}.{member['class']}", inside)
    elif isinstance(value, int | float):
        yield path, value


@cache
def _name_and_unit(path: str) -> tuple[str, str]:
    for ending, unit in _ENDINGS.items():
        if path.endswith(ending):
            return path.removesuffix(ending), unit
    last = path.rpartition(".")[2]
    if last == "bytes":
        return path, "byte"
    if path.startswith("drops_by_place."):
        return path, "packet"
    return path, "packet" if last in _PACKETS else "1"

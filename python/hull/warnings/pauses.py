"""Warnings about pauses between ports: links that could wait for each other for ever, and pauses
that begin before marks do.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import floor
from typing import Any

from hull.warnings.marking import size_text

_MOST_NAMES = 8


def pause_warnings(
    scenario: Mapping[str, Any],
    cycle: Callable[[], Sequence[str] | None],
    kinds: Callable[[], str],
) -> Iterator[str]:
    """The sentences for a scenario with pauses; `cycle` finds ports that wait for each other,
    `kinds` are the kinds of ports that pause, as JSON.
    """
    if "pfc" not in scenario["switch"]:
        return
    yield from _late_marks(json.loads(kinds()))
    watchdog = scenario["switch"]["pfc"].get("watchdog")
    ports = cycle()
    if ports:
        shown = ", ".join(ports[:_MOST_NAMES])
        more = f" and {len(ports) - _MOST_NAMES} more" if len(ports) > _MOST_NAMES else ""
        ends = watchdog is not None and watchdog["action"] != "alert"
        until = "until the watchdog acts" if ends else "for ever"
        yield (
            f"switch.pfc: pauses can lock {len(ports)} ports {until}, because paths between hosts "
            f"make each wait for the next and the last for the first: {shown}{more}; routes that "
            "go up and then down, as in a fat tree, have no such cycle"
        )


def _late_marks(kinds: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The port that marks last, compared with the links whose packets wait for it."""

    def ratio(kind: Mapping[str, Any]) -> float:
        return float(kind["late_marks"]["threshold_bytes"] / max(kind["xoff_bytes"], 1))

    late = max((kind for kind in kinds if kind["late_marks"]), key=ratio, default=None)
    if late:
        port = late["late_marks"]["port"]
        threshold = size_text(late["late_marks"]["threshold_bytes"])
        yield (
            f"switch.pfc: a {late['tiers']} link is paused above {size_text(late['xoff_bytes'])}, "
            f"but {port} marks only above {threshold}: unless {floor(ratio(late)) + 1} links or "
            "more fill its queue together, the congestion control acts after the pause"
        )

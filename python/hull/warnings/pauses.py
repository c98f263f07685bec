"""Warnings about pauses between ports: links that could wait for each other for ever."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

_MOST_NAMES = 8


def pause_warnings(
    scenario: Mapping[str, Any], cycle: Callable[[], Sequence[str] | None]
) -> Iterator[str]:
    """The sentence for a scenario with pauses; `cycle` finds ports that wait for each other."""
    if "pfc" not in scenario["switch"]:
        return
    ports = cycle()
    if ports:
        shown = ", ".join(ports[:_MOST_NAMES])
        more = f" and {len(ports) - _MOST_NAMES} more" if len(ports) > _MOST_NAMES else ""
        yield (
            f"switch.pfc: pauses can lock {len(ports)} ports for ever, because paths between hosts "
            f"make each wait for the next and the last for the first: {shown}{more}; routes that "
            "go up and then down, as in a fat tree, have no such cycle"
        )

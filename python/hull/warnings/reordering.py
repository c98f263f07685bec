"""Warnings about streams that take packets for lost which others have only overtaken."""

from collections.abc import Iterator, Mapping
from typing import Any

_USUAL = 3
"""Duplicates that prove a loss on one path (RFC 5681)."""


def reordering_warnings(scenario: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each transport that spreads the packets of a stream without tolerance."""
    others = scenario.get("transports", {}).items()
    tables = {
        "transport": scenario["transport"],
        **{f"transports.{name}": of for name, of in others},
    }
    for key, own in tables.items():
        spray = own.get("spray")
        counts = own.get("loss_detection", "duplicates") == "duplicates"
        threshold = own.get("duplicate_threshold", _USUAL)
        acknowledges = own["congestion_control"] != "constant_rate"
        if spray is None or not counts or threshold > _USUAL or not acknowledges:
            continue
        if spray["load_balancing"] != "flowlet":
            yield (
                f"{key}.spray: packets overtake each other on several paths, and {threshold} that "
                f'do count as a loss; {key}.loss_detection = "rack" waits for late packets'
            )

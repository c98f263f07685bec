"""Values as documents print them ("1/16", "30KB", "20pkts") against resolved scenarios."""

import math
import re

PACKET_BYTES = 1500
"""The documents' packet, where a threshold or buffer is given in packets."""
_UNITS = {
    "": ("", 1.0),
    "%": ("", 1e-2),
    "ps": ("s", 1e-12),
    "ns": ("s", 1e-9),
    "us": ("s", 1e-6),
    "ms": ("s", 1e-3),
    "s": ("s", 1.0),
    "min": ("s", 60.0),
    "bps": ("bps", 1.0),
    "kbps": ("bps", 1e3),
    "Mbps": ("bps", 1e6),
    "Gbps": ("bps", 1e9),
    "B": ("B", 1.0),
    "KB": ("B", 1e3),
    "MB": ("B", 1e6),
    "pkts": ("pkts", 1.0),
}
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)(?:/(\d+))?\s*([A-Za-z%]*)")


def agree(stated: str, resolved: str, within: float = 0.0) -> bool:
    """Whether a resolved value equals the stated one within a relative tolerance."""
    bound = stated.removeprefix(">= ")
    first, second = _parse(bound), _parse(resolved)
    if first is None or second is None:
        return stated == resolved
    if {first[0], second[0]} == {"pkts", "B"}:
        first, second = _bytes(first), _bytes(second)
    if first[0] != second[0]:
        return False
    if bound != stated:
        return second[1] >= first[1]
    return math.isclose(first[1], second[1], rel_tol=max(within, 1e-9))


def _parse(text: str) -> tuple[str, float] | None:
    """Dimension and value; None for a word."""
    match = _NUMBER.fullmatch(text)
    if match is None or match[3] not in _UNITS:
        return None
    dimension, factor = _UNITS[match[3]]
    return dimension, float(match[1]) / float(match[2] or 1) * factor


def _bytes(quantity: tuple[str, float]) -> tuple[str, float]:
    dimension, value = quantity
    return "B", value * (PACKET_BYTES if dimension == "pkts" else 1)

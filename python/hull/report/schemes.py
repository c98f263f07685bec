"""Scheme: how each compared scheme is named and drawn, the same in every chart and figure.

Colours are Okabe and Ito's, which people with the usual colour vision deficiencies can distinguish;
dash and marker repeat the distinction without colour. The schemes of the paper's table 4 and the
report's table II, the three kinds of them, and DCTCP with a phantom queue look the same everywhere;
an experiment declares the looks of its other schemes. What is not declared is named as in the
scenario and takes the remaining colours in the order in which a summary lists it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#999999"


@dataclass(frozen=True)
class Scheme:
    """One scheme's looks. `dash` is in pixels or points (empty = solid)."""

    name: str
    label: str
    colour: str
    dash: tuple[float, ...]
    marker: str


Looks = tuple[Scheme, ...]
"""What an experiment declares."""

_EVERYWHERE = (
    Scheme("tcp_droptail", "TCP drop-tail", VERMILION, (2, 2), "o"),
    Scheme("dctcp_30k", "DCTCP-30K", BLUE, (5, 2), "s"),
    Scheme("dctcp_6k_pacer", "DCTCP-6K + pacer", ORANGE, (10, 3), "^"),
    Scheme("dctcp_pq950_pacer", "HULL (PQ 950)", GREEN, (), "D"),
    # The same where an experiment has one of each kind.
    Scheme("tcp", "TCP", VERMILION, (2, 2), "o"),
    Scheme("dctcp", "DCTCP", BLUE, (5, 2), "s"),
    Scheme("hull", "HULL", GREEN, (), "D"),
    # With the paper's phantom queue, simulated or on a real network.
    Scheme("dctcp_pq_pacer", "DCTCP + PQ + pacer", GREEN, (), "D"),
    Scheme("dctcp_pq", "DCTCP + PQ, not paced", SKY, (6, 2, 1, 2), "P"),
)
_SPARE_COLOURS = (PURPLE, SKY, GREY, YELLOW)
_SPARE_DASHES = ((6, 2, 1, 2), (2, 1), (5, 1, 1, 1, 1, 1), (9, 4))
_SPARE_MARKERS = ("v", "P", "X", "*")


def schemes(names: Iterable[str], declared: Looks = ()) -> list[Scheme]:
    """The looks of `names`, in their order, each name once."""
    known = {scheme.name: scheme for scheme in (*_EVERYWHERE, *declared)}
    found: dict[str, Scheme] = {}
    spare = 0
    for name in names:
        if name in found:
            continue
        if name in known:
            found[name] = known[name]
            continue
        colour = _SPARE_COLOURS[spare % len(_SPARE_COLOURS)]
        dash = _SPARE_DASHES[(spare + spare // len(_SPARE_COLOURS)) % len(_SPARE_DASHES)]
        marker = _SPARE_MARKERS[spare % len(_SPARE_MARKERS)]
        found[name] = Scheme(name, name, colour, dash, marker)
        spare += 1
    return list(found.values())


def schemes_of(summary: Mapping[str, Any], declared: Looks = ()) -> list[Scheme]:
    """The schemes of a run in the order in which its summary lists them."""
    return schemes((part["scheme"] for part in summary["parts"]), declared)


def named(looks: Iterable[Scheme]) -> list[Scheme]:
    """The same with a label for the scheme of a scenario that compares none, as its folder is
    called: Vega reads an empty text of its data as null.
    """
    return [replace(scheme, label=scheme.label or "base") for scheme in looks]

"""Where small flows spend their time, by scheme: in the transport, the sending host, its pacer,
each tier of switches, and the receiving host.

Small flows belong to the smallest size class with flows. The places add up to the completion time;
each value is the mean over the seeds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TRANSPORT, SENDER, PACER, RECEIVER, MOVING = "transport", "sender", "pacer", "receiver", "moving"
LABELS = {SENDER: "sending host", RECEIVER: "receiving host"}
"""How a place is shown, where not by its name."""
EXPLAINED = (
    "Transport: until the last packet was sent, or while an earlier one was missing. Hosts: queues "
    "and stacks. Moving: transmission and propagation. The rest is waiting at links' ports."
)
_NEGLIGIBLE_US = 0.0005
"""A place with less in all schemes is left out."""
_US = "_us"


@dataclass(frozen=True)
class Waits:
    """Mean times of the small flows of a scheme under a condition, us, by place in the order of a
    path: of all of them, and of those beyond the 99th percentile of the completion time.
    """

    condition: str
    scheme: str
    flows: str
    """Name of the size class."""
    mean_us: Mapping[str, float]
    tail_us: Mapping[str, float]

    def longest(self) -> tuple[str, float]:
        """The place where the flows beyond the 99th percentile wait longest, and its share of
        their completion time.
        """
        waits = {place: us for place, us in self.tail_us.items() if place != MOVING}
        place = max(waits, key=lambda place: waits[place])
        whole = sum(self.tail_us.values())
        return place, waits[place] / whole if whole else 0.0


def waits_of(summary: Mapping[str, Any]) -> list[Waits]:
    """In the order of the summary's parts; none for results of an earlier version or of a real
    network.
    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for part in summary["parts"]:
        groups.setdefault((part["condition"], part["scheme"]), []).append(part)
    smallest: dict[str, str] = {}
    for (condition, _), parts in groups.items():
        names = [entry["class"] for part in parts for entry in _classes(part) if entry["all"]]
        if names:
            smallest.setdefault(condition, names[0])
    found = []
    for (condition, scheme), parts in groups.items():
        of_parts = [
            entry
            for part in parts
            for entry in _classes(part)
            if entry["class"] == smallest.get(condition) and entry["all"]
        ]
        if of_parts:
            mean = _means([entry["all"] for entry in of_parts])
            tail = _means([entry["tail"] for entry in of_parts])
            found.append(Waits(condition, scheme, smallest[condition], mean, tail))
    return found


def in_a_sentence(waits: Waits, scheme: str) -> str:
    """Where the slowest small flows of a scheme wait longest."""
    place, share = waits.longest()
    where = f"at the links {place}"
    if place in (TRANSPORT, PACER, *LABELS):
        where = f"in the {label(place)}"
    return (
        f"With {scheme}, {waits.flows} flows beyond the 99th percentile wait longest {where}: "
        f"{100 * share:.0f}% of their time."
    )


def places_of(waits: Sequence[Waits]) -> list[str]:
    """The places to show, in the order of a path."""
    places = dict.fromkeys(place for one in waits for place in one.mean_us)
    return [
        place
        for place in places
        if any(one.tail_us.get(place, 0.0) > _NEGLIGIBLE_US for one in waits)
    ]


def label(place: str) -> str:
    """A place as tables show it."""
    return LABELS.get(place, place)


def _classes(part: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return part.get("waits") or ()


def _means(entries: Sequence[Mapping[str, float]]) -> dict[str, float]:
    places = [key for key in entries[0] if key.endswith(_US)]
    return {
        place.removesuffix(_US): sum(entry[place] for entry in entries) / len(entries)
        for place in places
    }

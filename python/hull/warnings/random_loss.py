"""Where a scenario loses packets at random: links of hosts, of switches, or single links."""

from collections.abc import Mapping
from typing import Any

from hull import _core


def loses_at_random(scenario: Mapping[str, Any]) -> bool:
    """Whether any link of a resolved scenario has random loss."""
    host, switch = scenario["host"], scenario["switch"]
    places = (host, switch, *switch.get("ports", ()), *scenario["topology"].get("links", ()))
    return any(_core.quantity("share", place.get("loss", "0%")) > 0 for place in places)

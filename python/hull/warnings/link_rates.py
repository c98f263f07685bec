"""Warnings of rates that a shape gives its links by default."""

from collections.abc import Iterator

from hull import _core
from hull.warnings.marking import Scenario

_UNSET = {
    "leaf_spine": ("uplink_rate",),
    "tree": ("uplink_rate", "core_rate"),
    "fat_tree": ("uplink_rate",),
    "rail_optimized": ("uplink_rate",),
    "dual_tor": ("uplink_rate",),
    "two_datacentres": ("uplink_rate",),
}
"""Keys of shapes whose links between switches take switch.rate without them."""


def link_rate_warnings(scenario: Scenario) -> Iterator[str]:
    """The sentence for links between switches that take switch.rate, if hosts have another rate:
    the ports of switches toward hosts take it too.
    """
    topology = scenario["topology"]
    host, switch = scenario["host"]["rate"], scenario["switch"]["rate"]
    if "links" in topology or _core.quantity("rate", host) == _core.quantity("rate", switch):
        return
    for shape, keys in _UNSET.items():
        unset = [key for key in keys if shape in topology and key not in topology[shape]]
        if unset:
            names = " and ".join(f"topology.{shape}.{key}" for key in unset)
            yield (
                f"switch.rate: {switch} is the rate of links between switches, as {names} "
                f"{'is' if len(unset) == 1 else 'are'} unset, and of switches' ports toward hosts, "
                f"which send at host.rate = {host}; if only links between switches have it, set "
                f"{names} to {switch} and switch.rate to {host}"
            )

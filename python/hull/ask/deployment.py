"""Which hosts change, where not all do: a share of each rack, or the hosts of a group.

A flow runs DCTCP through the pacer when both of its ends have changed, since both have to agree on
ECN; all others stay with CUBIC. Switches have the phantom queue either way.
"""

import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hull.errors import UsageError, shown

if TYPE_CHECKING:
    import polars as pl

_SEED = 1


def changed_hosts(
    deployed: str, racks: Mapping[str, Sequence[int]], flows: "pl.DataFrame"
) -> frozenset[int]:
    """The hosts of `--deployed`: a share such as 50%, drawn in each rack, or a group's hosts."""
    import polars as pl

    number, sign, rest = deployed.strip().partition("%")
    if sign and not rest:
        try:
            share = float(number) / 100
        except ValueError:
            share = 0.0
        if not 0 < share < 1:
            raise UsageError(
                f"--deployed: {shown(deployed)} is invalid; expected a share above 0% and below "
                "100%, such as 50%, or the name of a group"
            )
        chosen: set[int] = set()
        draw = random.Random(_SEED)
        for hosts in racks.values():
            chosen.update(draw.sample(list(hosts), round(share * len(hosts))))
    else:
        of_group = flows.filter(pl.col("group") == deployed)
        if not len(of_group):
            raise UsageError(
                f"--deployed: {shown(deployed)} is invalid; expected a share such as 50%, or one "
                f"of the groups: {', '.join(sorted(flows['group'].unique()))}"
            )
        chosen = set(of_group["src"].to_list()) | set(of_group["dst"].to_list())
    if len(chosen) < 2:
        raise UsageError(
            f"--deployed: {shown(deployed)} changes {len(chosen)} hosts; expected two or more, "
            "since both ends of a flow have to change"
        )
    return frozenset(chosen)


def with_transports(
    flows: "pl.DataFrame", changed: frozenset[int], unchanged: str
) -> "pl.DataFrame":
    """The flows with the transport of each, and whether it is a changed one."""
    import polars as pl

    both = pl.col("src").is_in(list(changed)) & pl.col("dst").is_in(list(changed))
    transport = pl.when(both).then(pl.lit("default")).otherwise(pl.lit(unchanged))
    return flows.with_columns(both.alias("changed"), transport.alias("transport"))

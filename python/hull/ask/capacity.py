"""Whether a network can carry a trace: bytes over rates, link by link.

A rack's traffic to other racks must fit through its switch's links to other switches, a host's
traffic through its own link. Loads are shares of the rate, with bytes on the wire, over the time in
which flows start plus the duration of the longest of them.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hull.ask.network import Network
from hull.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

_HEADERS_OF = 40


@dataclass(frozen=True)
class Load:
    """What a link, or links together, would carry."""

    link: str
    part: float


def loads(network: Network, flows: "pl.DataFrame", duration_ps: int, longest_ps: int) -> list[Load]:
    """The mean load of each host's link and of each rack's uplinks, highest first."""
    import polars as pl

    payload = network.mtu_bytes - _HEADERS_OF
    largest_bytes = int(flows["bytes"].to_numpy().max())
    alone_s = max(longest_ps * 1e-12, 8 * largest_bytes / network.rate_bps)
    seconds = duration_ps * 1e-12 + alone_s
    switch_of = {number: host.switch for number, host in enumerate(network.hosts)}
    bits = flows.select(
        "src",
        "dst",
        (8 * (pl.col("bytes") + _HEADERS_OF * (pl.col("bytes") / payload).ceil())).alias("bits"),
    )
    found = []
    for end, way in (("src", "out"), ("dst", "in")):
        for number, sent in (
            bits.group_by(end, maintain_order=True).agg(pl.col("bits").sum()).iter_rows()
        ):
            host = network.hosts[number]
            rate_bps = host.out_bps if way == "out" else host.in_bps
            told = f"the link {'out of' if way == 'out' else 'into'} {host.name}"
            found.append(Load(told, sent / seconds / rate_bps))
        racks = bits.with_columns(
            pl.col("src").replace_strict(switch_of).alias("from"),
            pl.col("dst").replace_strict(switch_of).alias("to"),
        ).filter(pl.col("from") != pl.col("to"))
        of_rack = racks.group_by("from" if way == "out" else "to", maintain_order=True).agg(
            pl.col("bits").sum()
        )
        for switch, sent in of_rack.iter_rows():
            rate_bps = network.uplink_bps(switch)[0 if way == "out" else 1]
            told = f"the uplinks {'out of' if way == 'out' else 'into'} {switch} together"
            found.append(Load(told, sent / seconds / rate_bps))
    return sorted(found, key=lambda load: -load.part)


def check_capacity(found: list[Load]) -> None:
    """UsageError where a link would carry more than it can."""
    if found and found[0].part > 1:
        worst = found[0]
        more = sum(load.part > 1 for load in found) - 1
        others = f", and {more} more" if more else ""
        raise UsageError(
            f"TRACE: {worst.link} would carry {worst.part:.3g} times its rate{others}; expected a "
            "network that can carry the trace: faster or more links in --topology, or --window for "
            "a part of the trace"
        )

"""A guess at which host an address is, from the bytes that it sends and receives.

Addresses of a /24 (IPv6: /64) are probably one rack's. The busiest block comes first, into the
first rack that has room for all of it, else into those with the most room; within it the busiest
address first. When no host is free, an address joins the host with the fewest bytes. Public
addresses are outside, where the trace has private ones as well.
"""

import heapq
from collections.abc import Sequence

from hull.ask.addresses import Address
from hull.ask.counts import counted, number
from hull.ask.place_rules import Places


def guess(
    addresses: Sequence[Address], racks: Sequence[Sequence[int]], gateway: int | None
) -> Places:
    """Hosts for addresses, which come by bytes, most first."""
    private = [a for a in addresses if a.ip is None or not a.ip.is_global]
    inside = private or list(addresses)
    free = [list(rack) for rack in racks]
    if len(inside) < len(addresses) or gateway is not None:
        # The gateway's link belongs to the outside addresses.
        through = max(host for rack in racks for host in rack) if gateway is None else gateway
        for rack in free:
            if through in rack:
                rack.remove(through)
    blocks: dict[str, list[Address]] = {}
    for address in inside:
        blocks.setdefault(address.block, []).append(address)
    order = sorted(blocks.values(), key=lambda block: -sum(a.bytes for a in block))
    host_of: dict[str, int] = {}
    load: dict[int, int] = {}
    left: list[Address] = []
    split = 0
    for block in order:
        rooms = [rack for rack in free if len(rack) >= len(block)]
        split += not rooms
        for address in block:
            here = rooms[0] if rooms else max(free, key=len)
            if not here:
                left.append(address)
                continue
            host = here.pop(0)
            host_of[address.text] = host
            load[host] = address.bytes
    least = [(bytes_, host) for host, bytes_ in load.items()]
    heapq.heapify(least)
    for address in sorted(left, key=lambda a: -a.bytes):
        bytes_, host = heapq.heappop(least)
        host_of[address.text] = host
        heapq.heappush(least, (bytes_ + address.bytes, host))
    guessed = [
        f"Places are guessed: {counted(len(inside), 'address', 'addresses')} in "
        f"{counted(len(blocks), 'block')} (/24, /64 of IPv6), the busiest first, each block in one "
        "rack where it fits; set them with --place."
    ]
    if split:
        guessed.append(f"Blocks that did not fit into one rack: {number(split)}.")
    if left:
        hosts = len(load)
        guessed.append(
            f"More addresses than hosts: "
            f"{counted(len(inside), 'address', 'addresses')} share {counted(hosts, 'host')}."
        )
    if len(inside) < len(addresses):
        public = len(addresses) - len(inside)
        guessed.append(f"Public addresses count as outside the network: {number(public)}.")
    how = "Addresses are placed by a guess from the bytes that they move."
    return Places("guess", host_of, how, tuple(guessed))

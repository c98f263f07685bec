"""The flow lists that several simulators read: CSV with the header `start_ps,src,dst,bytes`.

The draws are the same as in validation/ns3, so that both places have the same lists.
"""

import flow_lists
from flow_lists import Row, write

__all__ = ["Row", "pareto", "permutation", "write"]

SEED = 22


def pareto(hosts: int, count: int, load: float, rate_bps: float) -> list[Row]:
    """Poisson arrivals of Pareto sizes between all hosts: HULL paper 6.3, cut at 30 MB."""
    return flow_lists.between_all(hosts, flow_lists.PARETO, load * hosts * rate_bps, count, SEED)


def permutation(hosts: int, size: int) -> list[Row]:
    """Each host to the one half of the network away, all at once."""
    return [(0, host, (host + hosts // 2) % hosts, size) for host in range(hosts)]

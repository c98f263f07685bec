"""Collectives on packets in an empty network, against their closed forms.

A star of equal links, and a control that starts at the line rate and meets no mark (DCQCN). A
message of N packets of P bytes of payload and H of headers over two links of rate R takes

    t(m) = (N - 1) (P + H) 8/R + (l + H) 8/R + store and forward + both links' delays,

l bytes in the last packet; the switch stores the first packet, which is the only one if N = 1. A
message ends with its last byte at the receiver. The terms of alpha and beta in
docs/jobs.md take t(m) for each message.
"""

from math import ceil, log2
from pathlib import Path

import pytest

import hull

RATE_GBPS, DELAY_NS = 400, 500
MTU, HEADER = 4136, 40
RANKS = 16
SCENARIO = """
name = "empty"
run.duration = "1s"
topology.star.hosts = 16
host = {{ queue = "fifo", rate = "400Gbps", delay = "500ns" }}
switch = {{ rate = "400Gbps", delay = "500ns" }}
transport = {{ congestion_control = "dcqcn", ecn = true, mtu = "4136B" }}

[workload.job]
servers.ranks = 4
[workload.job.collective]
operation = "{operation}"
algorithm = "{algorithm}"
size = "{size}B"
chunks = {chunks}
"""


def message_ns(size: float) -> float:
    """Time of a message between two hosts that do nothing else."""
    payload = MTU - HEADER
    packets = max(1, ceil(size / payload))
    last = size - (packets - 1) * payload + HEADER
    wire = (packets - 1) * MTU + last
    stored = MTU if packets > 1 else last
    return (wire + stored) * 8 / RATE_GBPS + 2 * DELAY_NS


def closed_ns(operation: str, algorithm: str, size: int, chunks: int) -> float:
    """The closed form of a collective of 16 ranks in servers of 4."""
    n, steps = RANKS, int(log2(RANKS))
    halves = sum(message_ns(size / 2**step) for step in range(1, steps + 1))
    return {
        ("all_reduce", "ring"): 2 * (n - 1) * message_ns(size / n),
        ("all_reduce", "halving_doubling"): 2 * halves,
        ("all_reduce", "recursive_doubling"): steps * message_ns(size),
        ("all_reduce", "hierarchical"): 6 * message_ns(size / 4) + 6 * message_ns(size / n),
        ("reduce_scatter", "ring"): (n - 1) * message_ns(size / n),
        ("all_gather", "recursive_doubling"): halves,
        ("all_to_all", "pairwise"): (n - 1) * message_ns(size / n),
        ("broadcast", "binomial"): steps * message_ns(size),
        ("broadcast", "chain"): (n - 2 + chunks) * message_ns(size / chunks),
    }[operation, algorithm]


@pytest.mark.parametrize(("size", "within"), [(65_536, 0.03), (1 << 20, 0.01), (1 << 24, 0.01)])
@pytest.mark.parametrize(
    ("operation", "algorithm", "chunks"),
    [
        ("all_reduce", "ring", 1),
        ("all_reduce", "halving_doubling", 1),
        ("all_reduce", "recursive_doubling", 1),
        ("all_reduce", "hierarchical", 1),
        ("reduce_scatter", "ring", 1),
        ("all_gather", "recursive_doubling", 1),
        ("all_to_all", "pairwise", 1),
        ("broadcast", "binomial", 1),
        ("broadcast", "chain", 8),
    ],
)
def test_time_is_the_closed_form(
    operation: str, algorithm: str, chunks: int, size: int, within: float, tmp_path: Path
) -> None:
    text = SCENARIO.format(operation=operation, algorithm=algorithm, size=size, chunks=chunks)
    (tmp_path / "empty.toml").write_text(text, encoding="utf-8")
    result = hull.run(tmp_path / "empty.toml", out=tmp_path / "out")
    found = 1000 * result.summary["parts"][0]["job"]["step_us"]
    assert found == pytest.approx(closed_ns(operation, algorithm, size, chunks), rel=within)

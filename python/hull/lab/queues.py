"""The queues of hosts that the lab offers (`host.queue`)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Queue:
    """A queue of the hosts (`host.queue`)."""

    id: str
    title: str
    summary: str


QUEUES = {
    queue.id: queue
    for queue in (
        Queue(
            "fair",
            "fair: a queue per flow",
            "Flows of a host take turns: hosts of today, with TCP small queues.",
        ),
        Queue(
            "fifo",
            "fifo: one for all flows",
            "All flows of a host wait in one queue: hosts of 2012.",
        ),
        Queue(
            "fq",
            "fq: per flow, paced",
            "Linux's sch_fq: flows take turns, and TCP spaces out its packets.",
        ),
        Queue(
            "fq_codel",
            "fq_codel: per flow, CoDel",
            "The default of many Linux distributions: CoDel keeps each flow's queue short.",
        ),
    )
}

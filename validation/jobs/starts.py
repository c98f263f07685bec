"""The order in which htsim_uec starts the sends that a schedule posts at its beginning.

The program keeps free operations in a heap by time alone (`event_order.py`). A send whose interface
is not free goes back into it, so the sends of a rank do not leave in the order of the schedule.
Messages that arrive go through the same heap; they are left out here, so the order of late sends is
not exactly the program's.
"""

from pathlib import Path

from event_order import OPERATION, SEND, Event, Heap, Operation, in_heap, read


def order(ranks: list[list[Operation]], gap_ns: float, payload: int) -> dict[int, list[Operation]]:
    """Sends of each rank that need nothing, as they start."""
    heap = Heap(in_heap)
    free_ns: dict[tuple[int, int], int] = {}
    started: dict[int, list[Operation]] = {}
    for ops in ranks:
        for op in ops:
            if op.missing == 0:
                heap.push(Event(0, 0, op.kind, op))
    while heap.events:
        event = heap.pop()
        op, nic = event.op, (event.op.rank, event.op.nic)
        if event.kind != SEND:
            continue
        if free_ns.get(nic, 0) > event.at_ns:
            heap.push(Event(free_ns[nic], 0, SEND, op))
            continue
        started.setdefault(op.rank, []).append(op)
        free_ns[nic] = event.at_ns + int(gap_ns * (-(-op.size // payload) + 1))
    return started


def as_started(schedule: Path, copy: Path, gap_ns: float, payload: int) -> Path:
    """The schedule with its first sends in the program's order, or itself if they have it."""
    ranks = read(schedule)
    wanted = order(ranks, gap_ns, payload)
    places = {
        rank: [op.index for op in ops if op.kind == SEND and op.missing == 0]
        for rank, ops in enumerate(ranks)
    }
    turns = {
        rank: dict(zip(places[rank], [op.index for op in ops], strict=True))
        for rank, ops in wanted.items()
    }
    if all(place == other for turn in turns.values() for place, other in turn.items()):
        return schedule
    lines, rank = [], -1
    operations: list[str] = []
    others: list[str] = []
    for line in schedule.read_text(encoding="utf-8").splitlines():
        if line.startswith("rank "):
            rank += 1
            operations, others = [], []
            lines.append(line)
        elif line.startswith("}"):
            turn = turns.get(rank, {})
            lines += [operations[turn.get(i, i)] for i in range(len(operations))]
            lines += [*others, line]
        elif rank >= 0 and OPERATION.match(line):
            operations.append(line)
        else:
            (others if rank >= 0 else lines).append(line)
    copy.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return copy

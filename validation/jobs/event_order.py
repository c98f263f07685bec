"""Models of the recorded programs without packets: what the order of events at one time decides.

The programs keep operations and messages in a binary heap by time. ATLAHS compares the time alone,
so the heap's own moves order what has one time: `in_heap`. LogGOPSim takes such events in the order
in which they came: `as_inserted`. `OfWire` has the rules of ATLAHS's LogGOPSim (HTSIM 8a33f33),
`OfReceiver` the rules of LogGOPSim (76451de). Times ns, sizes bytes.
"""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

SEND, RECEIVE, COMPUTE, ARRIVAL = range(4)
OPERATION = re.compile(
    r"^(?:(\w+):\s*)?(send|recv|calc)\s+(\d+)\s*b?(?:\s+(?:to|from)\s+(-?\d+))?(.*)$"
)
_REQUIRES = re.compile(r"^(\w+)\s+(i?)requires\s+(\w+)")
_KINDS = {"send": SEND, "recv": RECEIVE, "calc": COMPUTE}


@dataclass
class Operation:
    """An operation of a rank."""

    rank: int
    index: int
    kind: int
    size: int
    peer: int
    tag: int = 0
    cpu: int = 0
    nic: int = 0
    missing: int = 0
    ready_ns: int = 0
    behind_end: list["Operation"] = field(default_factory=list)
    behind_start: list["Operation"] = field(default_factory=list)


@dataclass
class Event:
    """An operation, or a message at its receiver, at a time."""

    at_ns: int
    born: int
    kind: int
    op: Operation


class Heap:
    """A binary heap as the programs' library has it. The last event takes the first one's place and
    sinks to a leaf, past the earlier child (of two at one time the second); then it rises.
    """

    def __init__(self, is_later: Callable[[Event, Event], bool]) -> None:
        self.events: list[Event] = []
        self.is_later = is_later

    def push(self, event: Event) -> None:
        """Adds an event."""
        self.events.append(event)
        self._rise(len(self.events) - 1, event)

    def pop(self) -> Event:
        """Takes the first event."""
        events = self.events
        first, last = events[0], events.pop()
        hole = 0
        while (second := 2 * hole + 2) <= len(events):
            child = second
            if second == len(events) or self.is_later(events[second], events[second - 1]):
                child = second - 1
            events[hole] = events[child]
            hole = child
        if events:
            self._rise(hole, last)
        return first

    def _rise(self, hole: int, event: Event) -> None:
        while hole and self.is_later(self.events[above := (hole - 1) // 2], event):
            self.events[hole] = self.events[above]
            hole = above
        self.events[hole] = event


def in_heap(one: Event, other: Event) -> bool:
    """Compares times alone."""
    return one.at_ns > other.at_ns


def as_inserted(one: Event, other: Event) -> bool:
    """Compares times, then the order in which the events came."""
    return (one.at_ns, one.born) > (other.at_ns, other.born)


def read(path: Path) -> list[list[Operation]]:
    """The operations of each rank of a schedule in text."""
    ranks: list[list[Operation]] = []
    labels: dict[str, Operation] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("rank "):
            ranks.append([])
            labels = {}
        elif found := OPERATION.match(line):
            label, kind, size, peer, rest = found.groups()
            op = Operation(len(ranks) - 1, len(ranks[-1]), _KINDS[kind], int(size), int(peer or 0))
            for key, value in re.findall(r"(tag|cpu|nic) (-?\d+)", rest):
                setattr(op, key, int(value))
            ranks[-1].append(op)
            labels.setdefault(label, op)
        elif found := _REQUIRES.match(line):
            op, before = labels[found[1]], labels[found[3]]
            (before.behind_start if found[2] else before.behind_end).append(op)
            op.missing += 1
    return ranks


class OfWire:
    """Bytes take their time on the way; a message is charged when it is matched."""

    def __init__(
        self,
        ranks: list[list[Operation]],
        params: dict[str, Any],
        is_later: Callable[[Event, Event], bool],
    ) -> None:
        self.params = params
        self.ranks = len(ranks)
        self.heap = Heap(is_later)
        self.births = count()
        self.cpu_ns: Counter[tuple[int, int]] = Counter()
        self.sending_ns: Counter[tuple[int, int]] = Counter()
        self.receiving_ns: Counter[tuple[int, int]] = Counter()
        self.posted: defaultdict[tuple[int, int, int], deque[Operation]] = defaultdict(deque)
        self.arrived: defaultdict[tuple[int, int, int], deque[Operation]] = defaultdict(deque)
        self.freed: dict[int, list[Operation]] = {}
        for ops in ranks:
            for op in self.in_turn([op for op in ops if op.missing == 0]):
                self.push(0, op.kind, op)

    def push(self, at_ns: int, kind: int, op: Operation) -> None:
        """Adds an event."""
        self.heap.push(Event(at_ns, next(self.births), kind, op))

    def again(self, at_ns: int, event: Event) -> None:
        """Takes an event up later."""
        self.heap.push(Event(at_ns, event.born, event.kind, event.op))

    def free(self, op: Operation, behind: list[Operation], at_ns: int) -> None:
        """Counts an operation for those behind it."""
        self.freed.setdefault(op.rank, [])
        for other in behind:
            other.missing -= 1
            other.ready_ns = max(other.ready_ns, at_ns)
            if other.missing == 0:
                self.freed[other.rank].append(other)

    def run(self) -> list[int]:
        """Processes all events; the end of each rank, when the last of its processors is free."""
        steps = {
            COMPUTE: self.compute,
            SEND: self.send,
            RECEIVE: self.receive,
            ARRIVAL: self.arrive,
        }
        while self.heap.events:
            event = self.heap.pop()
            self.freed = {}
            steps[event.kind](event)
            for rank in self.ranks_in_turn():
                for op in self.in_turn(self.freed[rank]):
                    self.push(self.begin_ns(op), op.kind, op)
        return [
            max((at_ns for (of, _), at_ns in self.cpu_ns.items() if of == rank), default=0)
            for rank in range(self.ranks)
        ]

    def in_turn(self, freed: list[Operation]) -> list[Operation]:
        """Operations that became free at once, in the program's order."""
        return freed

    def ranks_in_turn(self) -> list[int]:
        """Ranks with free operations: the program's set gives the last one first."""
        return list(reversed(self.freed))

    def begin_ns(self, op: Operation) -> int:
        """First time at which a free operation is taken up."""
        if op.kind == COMPUTE:
            return max(op.ready_ns, self.cpu_ns[op.rank, op.cpu])
        if op.kind == SEND:
            return max(op.ready_ns, self.sending_ns[op.rank, op.nic])
        return op.ready_ns

    def compute(self, event: Event) -> None:
        """A computation takes its processor."""
        op, key = event.op, (event.op.rank, event.op.cpu)
        if self.cpu_ns[key] > event.at_ns:
            self.again(self.cpu_ns[key], event)
            return
        self.cpu_ns[key] = event.at_ns + op.size
        self.free(op, op.behind_start, 0)
        self.free(op, op.behind_end, event.at_ns + op.size)

    def send(self, event: Event) -> None:
        """A send takes its processor and its interface; the message is on its way."""
        op, p = event.op, self.params
        cpu, nic = (op.rank, op.cpu), (op.rank, op.nic)
        free_ns = max(self.cpu_ns[cpu], self.sending_ns[nic])
        if free_ns > event.at_ns:
            self.again(free_ns, event)
            return
        self.free(op, op.behind_start, 0)
        self.cpu_ns[cpu] = event.at_ns + p["o"] + (op.size - 1) * p["O"]
        self.sending_ns[nic] = event.at_ns + p["g"] + self.bytes_ns(op)
        self.push(self.arrival_ns(event.at_ns, op), ARRIVAL, op)
        if op.size <= p["S"]:
            self.free(op, op.behind_end, self.cpu_ns[cpu])

    def bytes_ns(self, op: Operation) -> int:
        """Time of a message's bytes."""
        return int((op.size - 1) * self.params["G"])

    def arrival_ns(self, _: int, op: Operation) -> int:
        """When all of a message is at its receiver."""
        return self.cpu_ns[op.rank, op.cpu] + self.params["L"] + self.bytes_ns(op)

    def receive(self, event: Event) -> None:
        """A receive is posted."""
        op = event.op
        self.free(op, op.behind_start, 0)
        key = (op.rank, op.peer, op.tag)
        if self.arrived[key]:
            self.late(event, self.arrived[key].popleft())
        else:
            self.posted[key].append(op)

    def late(self, event: Event, sent: Operation) -> None:
        """A receive finds its message."""
        since_ns = max(self.sending_ns[event.op.rank, event.op.nic], event.at_ns)
        self.match(event.op, sent, since_ns + self.params["g"])

    def arrive(self, event: Event) -> None:
        """A message is at its receiver."""
        sent = event.op
        key = (sent.peer, sent.rank, sent.tag)
        if not self.posted[key]:
            self.arrived[key].append(sent)
            return
        op = self.posted[key][0]
        free_ns = max(self.cpu_ns[op.rank, op.cpu], self.receiving_ns[op.rank, sent.nic])
        if free_ns > event.at_ns:
            self.posted[key].rotate(-1)
            self.again(free_ns, event)
            return
        self.posted[key].popleft()
        self.match(op, sent, event.at_ns + self.params["g"])

    def match(self, op: Operation, sent: Operation, nic_ns: int) -> None:
        """A receive and a message have found each other: both ranks are busy with it."""
        p = self.params
        end_ns = nic_ns + p["o"] + (sent.size - 1) * p["O"]
        self.cpu_ns[op.rank, op.cpu] = end_ns
        self.receiving_ns[op.rank, op.nic] = nic_ns
        if sent.size > p["S"]:
            self.hold(sent, op, end_ns, nic_ns)
        self.free(op, op.behind_end, end_ns)

    def hold(self, sent: Operation, op: Operation, end_ns: int, nic_ns: int) -> None:
        """A rendezvous ends for its sender, whose processor and interface are not free before."""
        self.free(sent, sent.behind_end, end_ns)
        cpu, nic = (sent.rank, op.cpu), (sent.rank, op.nic)
        self.cpu_ns[cpu] = max(self.cpu_ns[cpu], end_ns)
        self.sending_ns[nic] = max(self.sending_ns[nic], nic_ns)


class OfReceiver(OfWire):
    """Bytes take the receiver's processor and interface from the arrival of the first one on."""

    def in_turn(self, freed: list[Operation]) -> list[Operation]:
        """Sends, then receives, then computations."""
        return sorted(freed, key=lambda op: op.kind)

    def ranks_in_turn(self) -> list[int]:
        """Ranks with free operations, by number."""
        return sorted(self.freed)

    def begin_ns(self, op: Operation) -> int:
        """First time at which a free operation is taken up: its processor's own, also where what it
        requires ends later on another one.
        """
        sending_ns = self.sending_ns[op.rank, op.nic] if op.kind == SEND else 0
        return max(self.cpu_ns[op.rank, op.cpu], sending_ns)

    def arrival_ns(self, at_ns: int, op: Operation) -> int:
        """When the first byte of a message is at its receiver."""
        return at_ns + self.params["o"] + self.params["L"]

    def late(self, event: Event, sent: Operation) -> None:
        """A receive finds its message, which has been charged."""
        self.end(event.op, sent, event.at_ns)

    def arrive(self, event: Event) -> None:
        """A message takes the receiver's processor and interface, then looks for its receive."""
        sent, p = event.op, self.params
        cpu, nic = (sent.peer, sent.cpu), (sent.peer, sent.nic)
        free_ns = max(self.cpu_ns[cpu], self.receiving_ns[nic])
        if free_ns > event.at_ns:
            self.again(free_ns, event)
            return
        self.cpu_ns[cpu] = event.at_ns + p["o"] + (sent.size - 1) * max(p["O"], p["G"])
        self.receiving_ns[nic] = event.at_ns + p["g"] + self.bytes_ns(sent)
        key = (sent.peer, sent.rank, sent.tag)
        if self.posted[key]:
            self.end(self.posted[key].popleft(), sent, event.at_ns)
        else:
            self.arrived[key].append(sent)

    def end(self, op: Operation, sent: Operation, at_ns: int) -> None:
        """Ends a receive, and a rendezvous for its sender."""
        if sent.size > self.params["S"]:
            self.hold(sent, op, at_ns, at_ns)
        self.free(op, op.behind_end, at_ns)


def ends(path: Path, params: dict[str, Any], *, of_wire: bool) -> list[int]:
    """End of each rank as the recorded program has it."""
    if of_wire:
        return OfWire(read(path), params, in_heap).run()
    return OfReceiver(read(path), params, as_inserted).run()

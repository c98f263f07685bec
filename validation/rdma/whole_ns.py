"""TIMELY and HPCC in a small model of the recorded programs, with their clock or an exact one.

It proves one cause: the recorded programs cut each transmission and each gap between packets to
whole nanoseconds. With `unit_ps` 1000 the model repeats recorded rows; with 1 and everything else
equal it has hull's results. It shares no code with hull. Rules: `rdma-notes.md`. Without losses,
pauses and marks.

Times are units of `unit_ps`, sizes bytes, rates bit/s.
"""

import argparse
import heapq
import json
import math
import tomllib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from networks import Network, network
from whole_ns_controls import (
    BYTES_BITS,
    BYTES_UNIT,
    QUEUE_BITS,
    QUEUE_UNIT,
    TIME_BITS,
    Flow,
    Hpcc,
    Record,
    Timely,
)

LINE_BPS = 100_000_000_000


@dataclass
class Rules:
    """What the recorded programs and hull do differently."""

    unit_ps: int = 1000
    cuts_more: bool = False
    """H and C lose one more unit where the exact time is whole."""
    acks_first: bool = False
    """ACKs have a class of their own, served first."""
    wire_bytes: int = 1056
    payload_bytes: int = 1000
    full_ns: int = 84
    """Recorded transmission of a full packet."""
    ack_bytes: int = 60

    def time(self, size: int, bps: int) -> int:
        """Transmission, or gap at a rate, cut to the unit."""
        bits = size * 8 * 1_000_000_000_000
        if self.unit_ps == 1:
            return bits // bps
        return (bits - self.cuts_more) // (bps * self.unit_ps)

    @property
    def line(self) -> int:
        """Rate of the links; with an exact clock a full packet takes `full_ns` at it."""
        return LINE_BPS if self.unit_ps > 1 else round(self.wire_bytes * 8e9 / self.full_ns)

    def link(self, size: int) -> int:
        """Transmission on a link."""
        return self.time(size, self.line)

    def ns(self, ns: int) -> int:
        """Whole nanoseconds in units."""
        return ns * 1000 // self.unit_ps


class Events:
    """Events in the order of their times, and of their scheduling where these are equal."""

    def __init__(self) -> None:
        self.now = 0
        self._due: list[tuple[int, int, Callable[..., None], tuple[Any, ...]]] = []
        self._number = 0

    def after(self, wait: int, act: Callable[..., None], *of: Any) -> None:
        """Schedules a call."""
        self._number += 1
        heapq.heappush(self._due, (self.now + wait, self._number, act, of))

    def run(self, until: int) -> None:
        """Calls what is due up to a time."""
        while self._due and self._due[0][0] <= until:
            self.now, _, act, of = heapq.heappop(self._due)
            act(*of)


@dataclass
class Packet:
    """Data or, with `upto`, its acknowledgment."""

    flow: Flow
    size: int
    end: int
    sent_at: int
    records: list[Record] = field(default_factory=list)
    is_ack: bool = False


@dataclass
class Port:
    """Output of a node to the next one: its queues, ACKs first if they are apart."""

    to: int
    busy: bool = False
    queues: tuple[deque[Packet], deque[Packet]] = field(default_factory=lambda: (deque(), deque()))
    flows: list[Flow] = field(default_factory=list)
    last: int = 0
    sent: int = 0
    alarm: int | None = None
    """Time of the alarm, if one is set, and its number."""
    alarms: int = 0


class Model:
    """A network of hosts and switches with one path between any two hosts."""

    def __init__(self, net: Network, rules: Rules) -> None:
        self.net, self.rules, self.events = net, rules, Events()
        self.ports: dict[tuple[int, int], Port] = {}
        self.hops: dict[int, dict[int, int]] = {}
        for link in net.links:
            for a, b in (link.ends, link.ends[::-1]):
                self.ports[a, b] = Port(b)
        for target in range(net.hosts):
            seen, front = {target}, [target]
            while front:
                near = front.pop(0)
                for a, b in self.ports:
                    if b == near and a not in seen and (a >= net.hosts or near != a):
                        seen.add(a)
                        front.append(a)
                        self.hops.setdefault(a, {})[target] = near
        self.watched: tuple[int, int] = (-1, -1)
        self.queue: list[tuple[int, int]] = [(0, 0)]
        self.delay = rules.ns(int(net.links[0].delay_ns))

    def nic(self, host: int) -> Port:
        """The only port of a host."""
        return self.ports[host, self.hops[host][next(t for t in self.hops[host] if t != host)]]

    def start(self, flow: Flow) -> None:
        """Adds a flow at its start."""
        flow.start(self.rules.line)
        flow.next_send = self.events.now
        self.nic(flow.source).flows.append(flow)
        self.send(flow.source, self.nic(flow.source))

    def send(self, node: int, port: Port) -> None:
        """Starts the next transmission of a port, if there is one."""
        if port.busy:
            return
        packet = self.of_queue(node, port)
        if packet is None and port.flows:
            packet = self.of_flows(node, port)
        if packet is None:
            return
        port.busy = True
        lasts = self.rules.link(packet.size)
        self.events.after(lasts, self.complete, node, port)
        self.events.after(lasts + self.delay, self.receive, port.to, packet)

    def of_queue(self, node: int, port: Port) -> Packet | None:
        """The next packet of a port's queues."""
        for queue in port.queues:
            if queue:
                packet = queue.popleft()
                self.note(node, port, -packet.size)
                if node >= self.net.hosts and isinstance(packet.flow, Hpcc):
                    self.record(packet, port, packet.flow.factor)
                return packet
        return None

    def record(self, packet: Packet, port: Port, factor: int) -> None:
        """Writes a switch's telemetry into data, and counts the bytes that the port has sent."""
        if not packet.is_ack:
            queued = sum(waiting.size for queue in port.queues for waiting in queue)
            at_ns = self.events.now * self.rules.unit_ps // 1000
            record = (
                at_ns % (1 << TIME_BITS),
                port.sent // (BYTES_UNIT * factor) % (1 << BYTES_BITS),
                queued // (QUEUE_UNIT * factor) % (1 << QUEUE_BITS),
            )
            packet.records.append(record)
        port.sent += packet.size

    def of_flows(self, host: int, port: Port) -> Packet | None:
        """The next packet of a host's flows in turn; sets the alarm if none may send."""
        now, count = self.events.now, len(port.flows)
        for step in range(1, count + 1):
            at = (port.last + step) % count
            flow = port.flows[at]
            if flow.sent < flow.size and not flow.is_bound and flow.next_send <= now:
                port.last = at
                payload = min(self.rules.payload_bytes, flow.size - flow.sent)
                flow.sent += payload
                size = payload + self.rules.wire_bytes - self.rules.payload_bytes
                flow.last_size = size
                flow.next_send = now + self.rules.time(size, flow.rate)
                return Packet(flow, size, flow.sent, now)
        due = [flow.next_send for flow in port.flows if flow.sent < flow.size]
        if due and port.alarm is None and now < min(due):
            self.set_alarm(host, port, min(due))
        return None

    def set_alarm(self, host: int, port: Port, at: int) -> None:
        """Sets the alarm of a NIC, in place of one that is set."""
        port.alarm = max(at, self.events.now)
        port.alarms += 1
        self.events.after(port.alarm - self.events.now, self.ring, host, port, port.alarms)

    def ring(self, host: int, port: Port, number: int) -> None:
        """The alarm of a NIC, unless another one has taken its place."""
        if number == port.alarms:
            port.alarm = None
            self.send(host, port)

    def complete(self, node: int, port: Port) -> None:
        """A transmission has ended."""
        port.busy = False
        self.send(node, port)

    def receive(self, node: int, packet: Packet) -> None:
        """A packet has arrived at a node."""
        flow = packet.flow
        end = flow.source if packet.is_ack else flow.target
        if node >= self.net.hosts:
            port = self.ports[node, self.hops[node][end]]
            port.queues[not (packet.is_ack and self.rules.acks_first)].append(packet)
            self.note(node, port, packet.size)
            self.send(node, port)
        elif packet.is_ack:
            self.on_ack(node, packet)
        else:
            flow.arrived = packet.end
            size, records = self.rules.ack_bytes, packet.records
            ack = Packet(flow, size, packet.end, packet.sent_at, records, is_ack=True)
            port = self.nic(node)
            port.queues[0].append(ack)
            self.send(node, port)

    def on_ack(self, host: int, packet: Packet) -> None:
        """An ACK has arrived at its sender."""
        flow, port = packet.flow, self.nic(host)
        flow.acked = max(flow.acked, packet.end)
        if flow.acked >= flow.size and flow.done_ns is None:
            flow.done_ns = self.events.now * self.rules.unit_ps / 1000 - flow.start_ns
            port.flows.remove(flow)
        rtt_ns = (self.events.now - packet.sent_at) * self.rules.unit_ps / 1000
        rate = flow.on_ack(packet.end, rtt_ns, packet.records)
        if rate is not None:
            gap = self.rules.time(flow.last_size, rate)
            flow.next_send += gap - self.rules.time(flow.last_size, flow.rate)
            flow.rate = rate
            if port.alarm is not None and flow.next_send < port.alarm:
                self.set_alarm(host, port, flow.next_send)
        self.send(host, port)

    def note(self, node: int, port: Port, change: int) -> None:
        """Records the watched queue."""
        if (node, port.to) == self.watched:
            self.queue.append((self.events.now, self.queue[-1][1] + change))

    def mean_queue(self, begin: int, end: int) -> float:
        """Mean over time of the watched queue."""
        total = 0
        changes = [*self.queue, (end, 0)]
        for (at, size), (until, _) in pairwise(changes):
            total += size * max(0, min(until, end) - max(at, begin))
        return total / (end - begin)


PARTS = {
    "gbps_2_to_4ms": ("queue_2_to_4ms", 2, 4),
    "gbps_1_to_3ms": ("queue_1_to_3ms", 1, 3),
    "long_gbps_after_0_5ms": ("queue_after_0_5ms", 0.5, math.inf),
}
"""Recorded rates: the queue of the same time, and the time in ms."""


def applies(run: dict[str, Any]) -> bool:
    """Whether the model has what decides a recorded run: TIMELY or HPCC, one path, no pauses."""
    quiet = not run["pfc_total"]["pause"] and not any(run["drops"].values())
    has_times = "fct_ns" in run or any(key in run for key in PARTS)
    return run["cc"] in ("timely", "hpcc") and quiet and has_times and "path_spine" not in run


def flow_of(run: dict[str, Any], values: dict[str, Any], of: list[int]) -> Flow:
    """A flow of a recorded run."""
    if run["cc"] == "timely":
        return Timely(*of[:4])
    return Hpcc(
        *of[:4],
        base_ns=run["resolved"]["base_rtt_ns"],
        window=run["resolved"]["window_bytes"],
        eta=float(values["u_target"]),
        stages=int(values["mi_thresh"]),
        reacts_fast=bool(int(values["fast_react"])),
        factor=int(values["int_multi"]),
    )


def of_run(table: dict[str, Any], run: dict[str, Any], unit_ps: int) -> dict[str, float]:
    """Quantities of a recorded run in the model, by the names that the comparison gives them."""
    scenario, resolved = table["scenario"][run["scenario"]], run["resolved"]
    values = table["base"] | table["cc"][run["cc"]] | run.get("differs", {})
    rules = Rules(
        unit_ps=unit_ps,
        cuts_more=run["simulator"] != "P",
        acks_first=run["simulator"] == "C" or str(values["ack_prio"]) == "2",
        wire_bytes=resolved["wire_bytes"],
        payload_bytes=resolved["payload_bytes"],
        full_ns=resolved["nic_tx_ns"],
        ack_bytes=resolved["ack_bytes"],
    )
    model = Model(network(run["scenario"], table["scenario"], Path()), rules)
    watched = run["queue"]
    a, _, b = model.net.port(watched["switch"], watched["port"]).partition("->")
    model.watched = int(a[1:]), int(b[1:])
    flows = [flow_of(run, values, of) for of in scenario["flows"]]
    for flow in flows:
        model.events.after(rules.ns(flow.start_ns), model.start, flow)
    found = {}
    stop, window = scenario["stop_ns"], scenario["window_ns"]
    for key in [key for key in PARTS if key in run]:
        queue, begin_ms, end_ms = PARTS[key]
        begin, end = int(begin_ms * 1e6), int(min(end_ms * 1e6, stop // window * window))
        model.events.run(rules.ns(begin))
        before = [flow.arrived for flow in flows]
        model.events.run(rules.ns(end))
        for i, flow in enumerate(flows[: len(run[key])]):
            found[f"{key}[{i}]"] = (flow.arrived - before[i]) * 8 / (end - begin)
        found[f"{queue}.mean"] = model.mean_queue(rules.ns(begin), rules.ns(end))
        part = [size for at, size in model.queue if rules.ns(begin) <= at <= rules.ns(end)]
        found[f"{queue}.max"] = max(part, default=0)
    model.events.run(rules.ns(stop))
    done = [flow.done_ns for flow in flows if flow.done_ns is not None]
    if "fct_ns" in run and len(done) == len(flows):
        found |= {"fct min": min(done), "fct mean": sum(done) / len(done), "fct max": max(done)}
        stop = round(max(flow.start_ns + (flow.done_ns or 0) for flow in flows))
    found["queue.mean"] = model.mean_queue(0, rules.ns(stop))
    found["queue.max"] = max(size for _, size in model.queue)
    small = [flow.done_ns for flow in flows if flow.size <= 10_000 and flow.done_ns is not None]
    if small:
        found["small fct mean"] = sum(small) / len(small)
    return found


def main() -> None:
    """Prints the quantities of recorded runs with both clocks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path, help="TOML file of recorded runs")
    parser.add_argument("runs", nargs="+", help="names of runs with TIMELY or HPCC")
    options = parser.parse_args()
    table = tomllib.loads(options.table.read_text(encoding="utf-8"))
    told = {
        name: {f"unit {unit} ps": of_run(table, table["run"][name], unit) for unit in (1000, 1)}
        for name in options.runs
    }
    print(json.dumps(told, indent=2))


if __name__ == "__main__":
    main()

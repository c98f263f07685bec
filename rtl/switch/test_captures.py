"""Frames that left the simulator's ports, replayed into the hardware.

Short runs of two of the paper's scenarios: the testbed of table 4 (1 Gbps, drained in ticks of
800 ns) at 125 MHz, and the tree of 192 servers of section 6.3 (10 Gbps) at 156.25 MHz. A packet's
clock is the start of its transmission in the simulator, rounded down. The hardware marks the same
packets as the simulator, except where that rounding changes the threshold comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import test_hull_switch_port as whole_port
import test_phantom_queue
from hull_reference import HardwarePhantomQueue, PhantomQueue
from test_ecn_marker import rule
from test_phantom_queue import SETTLED, Setting, Tape, check

from bench import captures, frames
from bench.captures import Capture
from bench.frames import Frames
from bench.simulation import build, library
from bench.tape import playback

COUNTER_BITS = 52
# Port test: the stream is wide enough for a long frame to arrive while a short one is sent.
PORT_BYTES = 64
# Clocks from a frame's last beat until the phantom queue counts it.
PORT_LATENCY = 6
# The clock in which the port's phantom queue is enabled, and the clocks from the write to it.
PORT_ON, WRITE_CLOCKS = 400, 7


@dataclass(frozen=True)
class Scenario:
    """Ports of a shipped scenario, and the clocks of the hardware that replaces one."""

    name: str
    scheme: str
    ports: str
    overrides: tuple[str, ...]
    drain_bps: int
    tick_ps: int
    clock_ps: int
    port_clock_ps: int
    packets: int
    port_frames: int


SCENARIOS = (
    Scenario(
        "table4",
        "dctcp_pq950_pacer",
        "switch->h0",
        ("run.warmup=0s", "run.duration=200ms", "workload.requests.load=60%"),
        drain_bps=950_000_000,
        tick_ps=800_000,
        clock_ps=8_000,
        port_clock_ps=8_000,
        packets=5_000,
        port_frames=1_500,
    ),
    # The uplinks of the ToRs: no earlier switch has marked. A short packet takes 32 ns there; with
    # a clock of 1.28 ns all 24 beats of a long frame arrive in that time.
    Scenario(
        "tree192",
        "hull",
        "tor-agg",
        ("workload.flows.count=4000", "workload.flows.load=45%"),
        drain_bps=9_500_000_000,
        tick_ps=0,
        clock_ps=6_400,
        port_clock_ps=1_280,
        packets=20_000,
        port_frames=1_500,
    ),
)


@dataclass(frozen=True)
class Replay:
    """Captures by port, and the phantom-queue settings of these ports."""

    scenario: Scenario
    ports: dict[str, Capture]
    threshold_bytes: int
    count_arriving: bool

    def setting(self, clock_ps: int) -> Setting:
        """The registers of the hardware, with its clock."""
        units = HardwarePhantomQueue.registers(
            self.scenario.drain_bps, self.scenario.tick_ps, clock_ps, False
        )
        return Setting(*units, self.threshold_bytes, self.count_arriving)

    def reference(self, setting: Setting) -> HardwarePhantomQueue:
        """hull-core's form of the hardware."""
        return HardwarePhantomQueue(
            setting.drain,
            setting.byte,
            setting.threshold,
            setting.count_arriving,
            setting.tick,
            COUNTER_BITS,
        )

    def busiest(self) -> Capture:
        """The port with the most marks."""
        return max(self.ports.values(), key=lambda capture: int(capture.marked.sum()))

    def window(self, count: int, clock_ps: int) -> tuple[Capture, np.ndarray]:
        """`count` consecutive packets of the busiest port, with their clocks. The first finds the
        counter empty, as after a reset; of such starts, the earliest with the most marks is used.
        The clocks begin within the first tick.
        """
        capture = self.busiest()
        setting = self.setting(clock_ps)
        clocks = capture.starts_ns * 1000 // clock_ps
        queue = self.reference(setting)
        empty = []
        for clock, size in zip(clocks.tolist(), capture.counted_bytes.tolist(), strict=True):
            empty.append(queue.backlog_units(clock) == 0)
            queue.on_packets([clock], [size])
        marks = np.concatenate([[0], np.cumsum(capture.marked)])
        ends = np.minimum(np.arange(len(capture)) + count, len(capture))
        first = int(np.argmax(np.where(empty, marks[ends] - marks[:-1], -1)))
        clocks = clocks[first : first + count]
        return capture.part(first, count), clocks - clocks[0] + clocks[0] % max(setting.tick, 1)

    def explain(self, capture: Capture, marks: np.ndarray, clock_ps: int) -> str:
        """Compare the hardware's marks with the simulator's; returns the numbers as text.

        Where they differ, the rounding of time is the cause: in the simulator the counter was
        within what one clock drains of the threshold. The capture's rounding to nanoseconds can
        change a mark as well.
        """
        simulated = capture.marked
        queue = PhantomQueue(
            self.scenario.drain_bps,
            self.threshold_bytes,
            self.count_arriving,
            self.scenario.tick_ps,
        )
        setting = self.setting(clock_ps)
        # The drain of one clock plus the rounding to nanoseconds and whole bytes.
        quantum = setting.drain / setting.byte + 2
        changed = np.zeros((2, len(capture)), bool)
        steps = zip(capture.starts_ns * 1000, capture.counted_bytes, strict=True)
        for number, (at, size) in enumerate(steps):
            counter = queue.backlog_bytes(at) + self.count_arriving * size
            [again] = queue.on_packets([at], [size])
            changed[0, number] = marks[number] != simulated[number]
            changed[1, number] = (again and capture.capable[number]) != simulated[number]
            if changed[:, number].any():
                assert abs(counter - self.threshold_bytes) <= quantum
        differ, by_the_file = changed.sum(axis=1)
        return (
            f"{self.scenario.name} at {clock_ps} ps: {len(marks)} packets, "
            f"{int(capture.capable.sum())} ECN-capable, {int(simulated.sum())} marked by the "
            f"simulator, {int(marks.sum())} by the hardware, {differ} differ; the "
            f"nanoseconds of the file alone change {by_the_file}"
        )


@pytest.fixture(scope="module", params=SCENARIOS, ids=lambda scenario: scenario.name)
def replay(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Replay:
    scenario: Scenario = request.param
    table = captures.scheme_of(scenario.name, scenario.scheme)
    folder = tmp_path_factory.mktemp(scenario.name)
    ports = captures.captured(table, scenario.ports, list(scenario.overrides), folder)
    queue = dict(table["switch"]["phantom_queue"])
    drain, tick = queue.pop("drain"), queue.pop("tick", "0ns")
    rate = captures.bits_per_second(table["switch"]["rate"])
    if drain.endswith("%"):
        assert int(drain.removesuffix("%")) * rate == 100 * scenario.drain_bps
    else:
        assert captures.bits_per_second(drain) == scenario.drain_bps
    assert int(tick.removesuffix("ns")) * 1000 == scenario.tick_ps
    # Only the threshold remains: the scenario sets nothing else and has no other marker.
    assert queue == {"threshold": "1KB"}
    assert "marking" not in table["switch"]
    return Replay(scenario, ports, 1_000, False)


def test_hardware_model_on_all_ports(replay: Replay) -> None:
    """Runs every captured packet through hull-core's hardware form: how many marks the rounding to
    clocks changes, and why.
    """
    clock_ps = replay.scenario.clock_ps
    setting = replay.setting(clock_ps)
    packets = differ = marked = 0
    for capture in replay.ports.values():
        clocks = (capture.starts_ns * 1000 // clock_ps).tolist()
        above, _ = replay.reference(setting).on_packets(clocks, capture.counted_bytes.tolist())
        marks = np.array(above) & capture.capable
        replay.explain(capture, marks, clock_ps)
        packets += len(capture)
        marked += int(capture.marked.sum())
        differ += int((marks != capture.marked).sum())
    print(
        f"{replay.scenario.name}: {len(replay.ports)} ports, {packets} packets, {marked} marked, "
        f"{differ} differ at {clock_ps} ps"
    )
    # A tick is a whole number of clocks: rounded down, a packet stays in its tick.
    assert differ == 0 if replay.scenario.tick_ps else differ < packets / 1_000


def test_phantom_queue_marks_as_in_the_simulator(replay: Replay) -> None:
    """The phantom queue matches hull-core's hardware form bit-exactly for thousands of packets."""
    folder = build("phantom_queue_bench", test_phantom_queue.SOURCES)
    clock_ps = replay.scenario.clock_ps
    capture, clocks = replay.window(replay.scenario.packets, clock_ps)
    assert capture.marked.sum() > 100
    assert (capture.capable & ~capture.marked).sum() > 100
    setting = replay.setting(clock_ps)
    # The drain's first tick starts in the clock after the setting.
    clocks += SETTLED + 1
    assert setting.tick == 0 or SETTLED % setting.tick == 0
    assert (np.diff(clocks) > 0).all()
    tape = Tape()
    tape.set(0, setting)
    tape.packets(clocks, capture.counted_bytes, capture.capable)
    got = tape.play(folder, f"captured_{replay.scenario.name}")
    above = check(got, setting, 0, clocks, capture.counted_bytes)
    assert (got.mark == above & capture.capable).all()
    print(replay.explain(capture, got.mark, clock_ps))


def test_port_sends_the_simulators_frames(replay: Replay) -> None:
    """Each frame leaves the port's datapath at the simulator's clock, equal to the simulator's
    output, checksum included.

    The simulator counts packets without Ethernet's 14 bytes, the port counts whole frames. Each
    frame is therefore played without its last 14 bytes, which are payload or TCP options.
    """
    params = {"DATA_BITS": 8 * PORT_BYTES, "MAX_BYTES": 1518}
    folder = build("hull_switch_port_bench", library("hull_switch_port"), params)
    clock_ps = replay.scenario.port_clock_ps
    capture, departs_at = replay.window(replay.scenario.port_frames, clock_ps)
    assert capture.marked.sum() > 50
    departs_at += PORT_ON
    setting = replay.setting(clock_ps)
    given = Frames(capture.came().octets, capture.counted_bytes)
    beats = given.beats(PORT_BYTES)
    to_come = np.flatnonzero(beats.last)[beats.frame] - np.arange(len(beats))
    clocks = departs_at[beats.frame] - PORT_LATENCY - to_come
    assert (np.diff(clocks) > 0).all()
    settings = whole_port.Settings(
        drain=setting.drain,
        byte=setting.byte,
        tick=setting.tick,
        threshold=setting.threshold,
        overhead=0,
        phantom_arriving=setting.count_arriving,
        phantom=False,
        marker=False,
        limit=whole_port.BEATS * PORT_BYTES,
    )
    tape = whole_port.new_tape(PORT_BYTES)
    whole_port.put(tape, 0, settings)
    on = replace(settings, phantom=True).registers()["phantom_queue_control"]
    tape.write(PORT_ON - WRITE_CLOCKS, "phantom_queue_control", on)
    got = playback(
        folder,
        f"captured_{replay.scenario.name}",
        {
            "stimulus": frames.tape(clocks, beats, beats.last),
            "accesses": tape.stimulus(),
            "stalls": bytes(9),
        },
        {**whole_port.ANSWERS, "out": (9 * PORT_BYTES + 1 + 63) // 64},
    )
    assert got["settings"][0][-1] == PORT_ON
    at, counted = got["departures"]
    assert (at == departs_at).all()
    assert (counted[:, 0] == capture.counted_bytes).all()

    # Whole frames equal the output of hull-core's hardware form and, where its mark agrees with the
    # simulator's, the simulator's output byte for byte.
    above, _ = replay.reference(setting).on_packets(
        (departs_at - PORT_ON).tolist(), capture.counted_bytes.tolist()
    )
    marks = np.array(above) & capture.capable
    _, sent = whole_port.leaving(got["out"], PORT_BYTES)
    assert (sent["keep"] == beats.keep).all()
    assert (sent["last"] == beats.last).all()
    unused = ~np.unpackbits(beats.keep, axis=1, bitorder="little").astype(bool)
    of_hardware = rule(given, np.array(above)).frames.beats(PORT_BYTES)
    assert ((sent["data"] == of_hardware.data) | unused).all()
    of_simulator = Frames(capture.left().octets, capture.counted_bytes).beats(PORT_BYTES)
    same = (marks == capture.marked)[beats.frame]
    assert ((sent["data"] == of_simulator.data) | unused)[same].all()
    print(replay.explain(capture, marks, clock_ps))

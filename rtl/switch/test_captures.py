"""Real traffic: what left a port of the simulator, replayed into the hardware; the marks are the same.

Two scenarios of the paper at short length: the testbed of table 4 (1 Gbps, drained in ticks of
800 ns) at 125 MHz, and the tree of 192 servers of section 6.3 (10 Gbps) at 156.25 MHz. A packet's
clock is the start of its transmission in the simulator, rounded down to a clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import test_phantom_queue
import test_port_datapath
from hull_reference import HardwarePhantomQueue, PhantomQueue
from test_ecn_marker import rule
from test_phantom_queue import SETTLED, Setting, Tape, check

from bench import captures, frames
from bench.captures import Capture
from bench.frames import Frames
from bench.simulation import build
from bench.tape import playback

COUNTER_BITS = 52
# The port's test: a stream wide enough for a long frame to come while a short one is sent.
PORT_BYTES = 64
# From the clock of a frame's last beat to the one in which the phantom queue counts it.
PORT_LATENCY = 5


@dataclass(frozen=True)
class Scenario:
    """A port of a shipped scenario, and the clocks of the hardware that takes its place."""

    name: str
    scheme: str
    port: str
    overrides: tuple[str, ...]
    drain_bps: int
    tick_ps: int
    clock_ps: int
    port_clock_ps: int
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
        port_frames=4_000,
    ),
    # An uplink of a ToR: no switch before it has marked. A short packet takes 32 ns there, and 1.28 ns
    # are a clock of which as many as a long frame has beats fit into that.
    Scenario(
        "tree192",
        "hull",
        "tor0_0->agg0_0",
        ("workload.flows.count=10000", "workload.flows.load=45%"),
        drain_bps=9_500_000_000,
        tick_ps=0,
        clock_ps=6_400,
        port_clock_ps=1_280,
        port_frames=4_000,
    ),
)


@dataclass(frozen=True)
class Replay:
    """A capture, and what the phantom queue of its port was set to."""

    scenario: Scenario
    capture: Capture
    threshold_bytes: int
    count_arriving: bool

    def setting(self, clock_ps: int) -> Setting:
        """The registers of the hardware, with its clock."""
        units = HardwarePhantomQueue.registers(
            self.scenario.drain_bps, self.scenario.tick_ps, clock_ps, False
        )
        return Setting(*units, self.threshold_bytes, self.count_arriving)

    def explain(self, marks: np.ndarray, setting: Setting, clock_ps: int) -> str:
        """The hardware's marks beside the simulator's. Where they differ, the rounding of time is
        the cause: in the simulator the counter was within what one clock drains of the threshold.
        """
        capture, sim = self.capture.first(len(marks)), self.scenario
        starts_ps = (capture.starts_ns * 1000).tolist()
        queue = PhantomQueue(
            sim.drain_bps, self.threshold_bytes, self.count_arriving, sim.tick_ps
        )
        sizes = capture.counted_bytes.tolist()
        found = []
        differ = 0
        for at, size, capable, simulated, hardware in zip(
            starts_ps, sizes, capture.capable, capture.marked, marks, strict=True
        ):
            before = queue.backlog_bytes(at) + (size if self.count_arriving else 0)
            again = queue.on_packets([at], [size])[0] and capable
            # The file has whole nanoseconds; what that changes is within one of them.
            found.append(again == simulated)
            if hardware != simulated:
                differ += 1
                assert abs(before - self.threshold_bytes) <= setting.drain / setting.byte + 1
        return (
            f"{sim.name} at {clock_ps} ps: {len(marks)} packets, {int(capture.capable.sum())} "
            f"ECN-capable, {int(capture.marked.sum())} marked by the simulator, "
            f"{int(marks.sum())} by the hardware, {differ} differ, "
            f"{found.count(False)} by the nanoseconds of the file"
        )


@pytest.fixture(scope="module", params=SCENARIOS, ids=lambda scenario: scenario.name)
def replay(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Replay:
    scenario: Scenario = request.param
    folder = tmp_path_factory.mktemp(scenario.name)
    capture, table = captures.capture(
        scenario.name, scenario.scheme, scenario.port, list(scenario.overrides), folder
    )
    queue = table["switch"]["phantom_queue"]
    drain, tick = queue.pop("drain"), queue.pop("tick", "0ns")
    rate = captures.bits_per_second(table["switch"]["rate"])
    if drain.endswith("%"):
        assert int(drain.removesuffix("%")) * rate == 100 * scenario.drain_bps
    else:
        assert captures.bits_per_second(drain) == scenario.drain_bps
    assert int(tick.removesuffix("ns")) * 1000 == scenario.tick_ps
    # The threshold alone is left: the scenario has no other settings of the queue, and no marker.
    assert queue == {"threshold": "1KB"}
    assert "marking" not in table["switch"]
    assert capture.marked.sum() > 300
    assert (capture.capable & ~capture.marked).sum() > 300
    return Replay(scenario, capture, 1_000, False)


def test_phantom_queue_marks_as_in_the_simulator(replay: Replay) -> None:
    """The whole capture on the phantom queue: to the bit the hardware form of hull-core."""
    folder = build("phantom_queue_bench", test_phantom_queue.SOURCES)
    clock_ps, capture = replay.scenario.clock_ps, replay.capture
    setting = replay.setting(clock_ps)
    # The first clock of the drain's ticks is the one behind the setting.
    clocks = capture.starts_ns * 1000 // clock_ps + SETTLED + 1
    assert setting.tick == 0 or SETTLED % setting.tick == 0
    assert (np.diff(clocks) > 0).all()
    tape = Tape()
    tape.set(0, setting)
    tape.packets(clocks, capture.counted_bytes, capture.capable)
    got = tape.play(folder, f"captured_{replay.scenario.name}")
    above = check(got, setting, 0, clocks, capture.counted_bytes)
    assert (got.mark == above & capture.capable).all()
    print(replay.explain(got.mark, setting, clock_ps))


def test_port_sends_the_frames_of_the_simulator(replay: Replay) -> None:
    """The beginning of the capture through the datapath of a port, frame by frame: each leaves at
    the simulator's clock, and is what the simulator wrote, checksum included.

    The simulator counts packets without Ethernet's 14 bytes, the port whole frames: each
    frame is played without its last 14 bytes, which are payload or options of TCP.
    """
    params = {"DATA_BITS": 8 * PORT_BYTES, "MAX_BYTES": 1518}
    folder = build("port_datapath_bench", test_port_datapath.SOURCES, params)
    capture = replay.capture.first(replay.scenario.port_frames)
    clock_ps = replay.scenario.port_clock_ps
    setting = replay.setting(clock_ps)
    departs_at = capture.starts_ns * 1000 // clock_ps + SETTLED
    given = Frames(capture.came.octets, capture.counted_bytes)
    beats = given.beats(PORT_BYTES)
    to_come = np.flatnonzero(beats.last)[beats.frame] - np.arange(len(beats))
    clocks = departs_at[beats.frame] - PORT_LATENCY - to_come
    assert (np.diff(clocks) > 0).all()
    registers = test_port_datapath.Settings(
        drain=setting.drain,
        byte=setting.byte,
        tick=setting.tick,
        threshold=setting.threshold,
        overhead=0,
        phantom_arriving=setting.count_arriving,
        marker=False,
        limit=(1 << 20) - 1,
    )
    got = playback(
        folder,
        f"captured_{replay.scenario.name}",
        {
            "stimulus": frames.tape(clocks, beats, beats.last),
            "settings": registers.record(),
            "stalls": bytes(9),
        },
        {**test_port_datapath.ANSWERS, "out": (9 * PORT_BYTES + 1 + 63) // 64},
    )
    at, counted = got["departures"]
    assert (at == departs_at).all()
    assert (counted[:, 0] == capture.counted_bytes).all()

    queue = HardwarePhantomQueue(
        setting.drain,
        setting.byte,
        setting.threshold,
        setting.count_arriving,
        setting.tick,
        COUNTER_BITS,
    )
    above, _ = queue.on_packets(departs_at.tolist(), capture.counted_bytes.tolist())
    marks = np.array(above) & capture.capable
    _, sent = test_port_datapath.leaving(got["out"], PORT_BYTES)
    same = (marks == capture.marked)[beats.frame]
    keep = np.unpackbits(beats.keep, axis=1, bitorder="little").astype(bool)
    assert (sent["keep"] == beats.keep).all()
    assert (sent["last"] == beats.last).all()
    of_simulator = Frames(capture.left.octets, capture.counted_bytes).beats(PORT_BYTES)
    right = (sent["data"] == of_simulator.data) | ~keep
    assert right[same].all()
    of_hardware = rule(given, np.array(above)).frames.beats(PORT_BYTES)
    assert ((sent["data"] == of_hardware.data) | ~keep).all()
    print(replay.explain(marks, setting, clock_ps))

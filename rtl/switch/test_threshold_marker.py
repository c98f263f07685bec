"""The threshold marker against the recorded vectors; the port test covers random input."""

from __future__ import annotations

import json
from pathlib import Path

import cocotb
from cocotb.triggers import Timer

from bench.simulation import build, run

VECTORS = Path(__file__).parents[2] / "tests" / "vectors" / "marking.json"


def test_recorded_vectors() -> None:
    folder = build("threshold_marker", ["switch/threshold_marker.sv"])
    run(folder, "test_threshold_marker:every_step", "vectors")


@cocotb.test()
async def every_step(dut: cocotb.handle.HierarchyObject) -> None:
    """Each step of each vector, then the same with the marker off. Excluded: `large_queue`, whose
    threshold and queues of 4 GB and more do not fit in 20 bits.
    """
    steps = 0
    for vector in json.loads(VECTORS.read_text())["vectors"]:
        config = vector["config"]
        if vector["name"] == "large_queue":
            assert config["threshold_bytes"] >= 1 << 20
            continue
        for step in vector["steps"]:
            dut.count_arriving.value = int(config["count_arriving"])
            dut.threshold_bytes.value = config["threshold_bytes"]
            dut.queue_bytes.value = step["in"]["queue_bytes_before"]
            dut.packet_bytes.value = step["in"]["packet_bytes"]
            for enable in (1, 0):
                dut.enable.value = enable
                await Timer(1, "ns")
                assert int(dut.mark.value) == (enable and step["out"]["mark"]), (
                    vector["name"],
                    step,
                )
            steps += 1
    assert steps > 0

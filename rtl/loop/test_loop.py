"""Hardware in the loop: the simulator's switches mark by the verilated modules.

Figure 8 and table 1 at short length, with the simulator's own marking and with the hardware's. Each
switch port has its threshold marker and its phantom queue from rtl/switch, with a clock of 8 ns.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.simulation import BUILDS, RTL
from hull.experiments import fig8, table1
from hull.experiments.common.experiment import Experiment
from hull.experiments.common.measured import Results, throughput_mbps
from hull.plan import part_folder
from hull.runner import perform

SHORT = ("run.warmup=50ms", "run.duration=150ms")
SOURCES = (
    "switch/phantom_queue.sv",
    "switch/threshold_marker.sv",
    "loop/marking_port.sv",
    "loop/marking_port.cpp",
)
# What depends on the machine.
MACHINE = {"cpu_seconds", "wall_seconds", "peak_rss_bytes"}
TABLES = ("flows.parquet", "latency.parquet", "links.parquet")
HULL = "dctcp_pq950_pacer"


def checked(command: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"[-4000:]
    return done


@pytest.fixture(scope="module")
def program() -> Path:
    """crates/hull-sim/examples/hardware_in_the_loop.rs with the verilated modules. hull-sim is
    compiled with less optimization than usual: the modules take the time.
    """
    library = BUILDS / "loop"
    library.mkdir(parents=True, exist_ok=True)
    verilate = ["verilator", "--cc", "--build", "-O3", "--no-timing", "-Wall"]
    flags = ["-CFLAGS", "-O2 -fPIC", "--Mdir", str(library), "--top", "marking_port"]
    checked([*verilate, *flags, *(RTL / source for source in SOURCES)], RTL)
    of_simulator = "profile.release.package.hull-sim"
    cargo = [
        *("cargo", "rustc", "--release", "--locked", "--package", "hull-sim"),
        *("--features", "verilated", "--example", "hardware_in_the_loop"),
        *("--config", f"{of_simulator}.codegen-units=16"),
        *("--config", f"{of_simulator}.opt-level=1"),
        *("--message-format", "json-render-diagnostics"),
        *("--", "-L", f"native={library}"),
        *("-l", "static=Vmarking_port", "-l", "static=verilated", "-l", "dylib=stdc++"),
    ]
    messages = map(json.loads, checked(cargo, RTL.parent).stdout.splitlines())
    [built] = [message["executable"] for message in messages if message.get("executable")]
    return Path(built)


def both_ways(
    program: Path, experiment: Experiment, overrides: Sequence[str], folder: Path
) -> tuple[Results, Results, list[str]]:
    """Run an experiment with the simulator's own marking and with the hardware's. Returns both
    results, and the names of the cells that differ in any number or any table.
    """
    plan = experiment.plan("quick", 1, overrides)
    summary = perform(plan, folder / "simulated", jobs=1).summary
    own = summary["parts"]
    parts = [
        folder / "simulated" / part_folder(part["condition"], part["scheme"], part["seed"])
        for part in own
    ]
    command = [program, folder / "hardware", *(part / "scenario.toml" for part in parts)]
    done = checked(command, folder)
    print(f"{experiment.id}: {len(own)} cells; the hardware: {done.stderr.strip()}")
    hardware: list[dict[str, Any]] = json.loads(done.stdout)
    differ = []
    for number, (part, mine, other) in enumerate(zip(parts, own, hardware, strict=True)):
        other["condition"], other["scheme"] = mine["condition"], mine["scheme"]
        same = all(
            (part / table).read_bytes() == (folder / "hardware" / str(number) / table).read_bytes()
            for table in TABLES
        )
        if not same or numbers(mine) != numbers(other):
            differ.append(f"{mine['condition']}/{mine['scheme']}")
    return (
        Results(folder / "simulated", summary),
        Results(folder / "hardware", {**summary, "parts": hardware}),
        differ,
    )


def numbers(part: dict[str, Any]) -> dict[str, Any]:
    """A summary without what depends on the machine."""
    return {key: value for key, value in part.items() if key not in MACHINE}


def show(experiment: Experiment, simulated: Results, hardware: Results) -> None:
    """Print the experiment's table both ways."""
    rows = zip(experiment.rows(simulated), experiment.rows(hardware), strict=True)
    for mine, other in rows:
        name = f"{mine['condition']}, {mine['scheme']}, {mine['metric']}, {mine['statistic']}"
        print(f"  {name}: {mine['measured']:.4f} simulator, {other['measured']:.4f} hardware")


@pytest.mark.parametrize("experiment", [table1.EXPERIMENT, fig8.EXPERIMENT], ids=lambda e: e.id)
def test_tables_are_those_of_the_simulator(
    program: Path, experiment: Experiment, tmp_path: Path
) -> None:
    """Every cell: all numbers of its summary, and its tables to the byte. Times are rounded down to
    8 ns, and the drain's ticks are 100 clocks, so that no packet moves to another tick.
    """
    simulated, hardware, differ = both_ways(program, experiment, SHORT, tmp_path)
    show(experiment, simulated, hardware)
    assert differ == []
    assert experiment.rows(simulated) == experiment.rows(hardware)


def test_what_the_clock_changes(program: Path, tmp_path: Path) -> None:
    """Figure 8 with a continuous drain, of which a clock of 8 ns is almost a byte. Marks that this
    decides change what senders do, and all that follows; the numbers stay close.
    """
    continuous = f"schemes.{HULL}.switch.phantom_queue.tick=0ns"
    simulated, hardware, differ = both_ways(
        program, fig8.EXPERIMENT, (*SHORT, continuous), tmp_path
    )
    print("differ:", ", ".join(differ) or "none")
    assert all(cell.endswith(HULL) for cell in differ)
    show(fig8.EXPERIMENT, simulated, hardware)
    for condition in fig8.ALL:
        for read in (throughput_mbps, fig8.MEAN):
            mine, other = (r.mean(condition, HULL, read) for r in (simulated, hardware))
            assert other == pytest.approx(mine, rel=0.1)

"""Hardware in the loop: the verilated modules mark packets in the simulator's switches.

Short runs of figure 8 and table 1, with the simulator's own marking and with the hardware's. Each
switch port has a threshold marker and a phantom queue from rtl/switch; the clock period is 8 ns.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hull
from bench import captures
from bench.simulation import BUILDS, RTL
from hull.experiments import fig8, table1
from hull.experiments.common.experiment import Experiment
from hull.experiments.common.measured import Results
from hull.runner import perform
from hull.runs.plan import part_folder

# Builds a separate simulator binary.
pytestmark = pytest.mark.slow

SHORT = ("run.warmup=50ms", "run.duration=150ms")
SOURCES = (
    "switch/phantom_queue.sv",
    "switch/threshold_marker.sv",
    "loop/marking_port.sv",
    "loop/marking_port.cpp",
)
# Machine-dependent results.
MACHINE = {"cpu_seconds", "wall_seconds", "peak_rss_bytes"}
TABLES = ("flows.parquet", "latency.parquet", "links.parquet")


def checked(command: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"[-4000:]
    return done


@pytest.fixture(scope="module")
def program() -> Path:
    """crates/hull-sim/verilated/main.rs built with the verilated modules. hull-sim is
    compiled with less optimization than usual, because the modules dominate the run time.
    """
    sources = [RTL / source for source in SOURCES]
    content = b"".join(source.read_bytes() for source in sources)
    mark = hashlib.sha256(content + os.environ["VERILATOR_ROOT"].encode()).hexdigest()[:8]
    # One folder per library: cargo detects a changed path, not changed contents.
    library = BUILDS / f"marking_port-{mark}"
    if not (library / "built").exists():
        shutil.rmtree(library, ignore_errors=True)
        library.mkdir(parents=True)
        verilate = ["verilator", "--cc", "--build", "-O3", "--no-timing", "-Wall"]
        flags = ["-CFLAGS", "-O2 -fPIC", "--Mdir", library, "--top", "marking_port"]
        checked([*verilate, *flags, *sources], RTL)
        (library / "built").touch()
    of_simulator = "profile.release.package.hull-sim"
    cargo = [
        *("cargo", "rustc", "--release", "--locked", "--package", "hull-sim"),
        *("--features", "verilated", "--bin", "hardware_in_the_loop"),
        *("--config", f"{of_simulator}.codegen-units=16"),
        *("--config", f"{of_simulator}.opt-level=1"),
        *("--message-format", "json-render-diagnostics"),
        *("--", "-L", f"native={library}"),
        *("-l", "static=Vmarking_port", "-l", "static=verilated", "-l", "dylib=stdc++"),
    ]
    messages = map(json.loads, checked(cargo, RTL.parent).stdout.splitlines())
    [built] = [message["executable"] for message in messages if message.get("executable")]
    return Path(built)


def with_hardware(
    program: Path, parts: list[dict[str, Any]], folder: Path
) -> tuple[list[dict[str, Any]], list[str]]:
    """Reruns the parts in `folder`/simulated with the hardware's marking. Returns their summaries,
    and the names of the parts that differ in any number or table.

    Mark counts are excluded: the simulator counts a mark at the packet's arrival, the hardware at
    its departure, so only the simulator counts packets still queued at the end of the run. Their
    number must not exceed the number of packets in flight.
    """
    simulated = [
        folder / "simulated" / part_folder(part["condition"], part["scheme"], part["seed"])
        for part in parts
    ]
    command = [program, folder / "hardware", *(part / "scenario.toml" for part in simulated)]
    done = checked(command, folder)
    hardware: list[dict[str, Any]] = json.loads(done.stdout)
    differ = []
    waiting = 0
    for number, (own, mine, other) in enumerate(zip(simulated, parts, hardware, strict=True)):
        other["condition"], other["scheme"] = mine["condition"], mine["scheme"]
        tables = ((own / name, folder / "hardware" / str(number) / name) for name in TABLES)
        late = mine["marks"] - other["marks"]
        if (
            numbers(mine) == numbers(other)
            and all(table(mine_) == table(other_) for mine_, other_ in tables)
            and 0 <= late <= mine["packets"]["in_flight"]
        ):
            waiting += late
        else:
            differ.append(f"{mine['condition']}/{mine['scheme']}")
    print(f"{len(parts)} parts, {len(differ)} differ; the hardware: {done.stderr.strip()}")
    print(f"{sum(part['marks'] for part in parts)} marks, {waiting} of them wait at the end")
    return hardware, differ


def numbers(part: Any) -> Any:
    """A summary without machine-dependent results and mark counts."""
    if isinstance(part, dict):
        return {
            key: numbers(value)
            for key, value in part.items()
            if key not in MACHINE and key != "marks"
        }
    return part


def table(file: Path) -> str:
    """The contents of a table without mark counts."""
    return pl.read_parquet(file).drop("marks", strict=False).write_json()


def show(experiment: Experiment, simulated: Results, hardware: Results) -> None:
    """Prints the experiment's table for both kinds of marking."""
    rows = zip(experiment.rows(simulated), experiment.rows(hardware), strict=True)
    for mine, other in rows:
        name = f"{mine['condition']}, {mine['scheme']}, {mine['metric']}, {mine['statistic']}"
        print(f"  {name}: {mine['measured']:.4f} simulator, {other['measured']:.4f} hardware")


@pytest.mark.parametrize("experiment", [table1.EXPERIMENT, fig8.EXPERIMENT], ids=lambda e: e.id)
def test_tables_match_the_simulator(program: Path, experiment: Experiment, tmp_path: Path) -> None:
    """In every cell all summary numbers and tables agree. Times are rounded down to 8 ns and a
    drain tick is 100 clocks, so no packet moves to another tick.
    """
    plan = experiment.plan("quick", 1, SHORT)
    summary = perform(plan, tmp_path / "simulated", jobs=1).summary
    parts, differ = with_hardware(program, summary["parts"], tmp_path)
    simulated = Results(tmp_path / "simulated", summary)
    hardware = Results(tmp_path / "hardware", {**summary, "parts": parts})
    show(experiment, simulated, hardware)
    assert differ == []
    assert experiment.rows(simulated) == experiment.rows(hardware)


def test_clock_rounding_stays_small(program: Path, tmp_path: Path) -> None:
    """In the tree of 192 servers the phantom queues drain without ticks: at 10 Gbps a 6.4 ns clock
    drains 7.6 bytes. A mark changed by this rounding changes its sender's behaviour and all later
    events; the numbers stay close.
    """
    scenario = captures.scheme_of("tree192", "hull")
    overrides = ["workload.flows.count=2000", "workload.flows.load=45%"]
    simulated = hull.run(scenario, tmp_path / "simulated", seeds=1, jobs=1, set=overrides)
    [mine] = simulated.summary["parts"]
    [other], _ = with_hardware(program, [mine], tmp_path)
    print("marks:", mine["marks"], "simulator,", other["marks"], "hardware")
    assert other["marks"] == pytest.approx(mine["marks"], rel=0.05)
    for own, of_hardware in zip(mine["fct"], other["fct"], strict=True):
        if own["count"] > 0:
            for statistic in ("mean_us", "p99_us"):
                print(own["class"], statistic, own[statistic], of_hardware[statistic])
            assert of_hardware["mean_us"] == pytest.approx(own["mean_us"], rel=0.05)

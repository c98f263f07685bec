"""Builds benches, which run by themselves, and modules for cocotb tests, with Verilator."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import cocotb_tools.config
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

RTL = Path(__file__).parents[1]
# tools/rtl_coverage.py sets a folder of its own; its benches count how often each branch is taken.
COVERAGE = os.environ.get("HULL_RTL_COVERAGE")
PROGRAM = RTL / "bench" / "bench.cpp"
BUILDS = Path(COVERAGE) if COVERAGE else RTL.parent / "target" / "rtl"


def library(*modules: str) -> list[str]:
    """The sources of the benches of `modules` and of everything they instantiate, for `build`.
    Packages come before the modules that use them.
    """
    folders = ["switch", "nic", "meter", "stream", "registers", "registers/generated", "bench"]
    known = {path.stem: path for folder in folders for path in (RTL / folder).glob("*.sv")}
    packages = [path for name, path in known.items() if name.endswith("_pkg")]
    needed: dict[str, Path] = {}
    waiting = [f"{module}_bench" for module in modules]
    while waiting:
        name = waiting.pop()
        if name in needed:
            continue
        needed[name] = known[name]
        used_names = set(re.findall(r"[a-z]\w+", needed[name].read_text()))
        waiting += [other for other in known if other != name and other in used_names]
    used = [path for path in packages if path.stem in needed]
    others = [path for name, path in needed.items() if path not in used]
    return [str(path.relative_to(RTL)) for path in (*used, *others)]


def build(top: str, sources: Sequence[str], parameters: Mapping[str, int] | None = None) -> Path:
    """Build `top` of `sources` (paths below rtl/) once; return the folder of the build.
    If `top` is a bench, the result is a program for `run_bench`; otherwise `run` needs it.

    Raises:
        AssertionError: Verilator or the compiler failed.

    """
    parameters = dict(parameters or {})
    paths = [RTL / source for source in sources]
    settings = json.dumps([top, sorted(parameters.items())]).encode()
    content = b"".join(path.read_bytes() for path in (*paths, PROGRAM)) + settings
    folder = BUILDS / f"{top}-{hashlib.sha256(settings).hexdigest()[:8]}"
    folder.mkdir(parents=True, exist_ok=True)
    # Tests in multiple processes may need the same bench.
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = folder / "built"
        mark = hashlib.sha256(content).hexdigest()
        if not stamp.exists() or stamp.read_text() != mark:
            stamp.unlink(missing_ok=True)
            _compile(folder / "model", top, paths, parameters)
            stamp.write_text(mark)
    return folder


def _compile(folder: Path, top: str, paths: Sequence[Path], parameters: Mapping[str, int]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    # A single file: each further file would include Verilator's headers again.
    command = [
        *("verilator", "--cc", "--exe", "--quiet", "-O3", "-CFLAGS", "-O1"),
        *("--output-split", "0", "-Wno-fatal", "-Wno-lint", "--prefix", "Vtop", "-o", f"../{top}"),
        *("-Mdir", str(folder), "--top-module", top),
        *(f"-G{name}={value}" for name, value in parameters.items()),
        *(["--coverage-line"] if COVERAGE else []),
        *(["--no-timing", str(PROGRAM)] if top.endswith("_bench") else _for_cocotb(folder, top)),
        *map(str, paths),
    ]
    for step in (command, ["make", "--silent", "-C", str(folder), "-f", "Vtop.mk"]):
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def _for_cocotb(folder: Path, top: str) -> list[str]:
    """Arguments of Verilator for a module whose ports a cocotb test accesses."""
    (folder / "visible.vlt").write_text(
        f'`verilator_config\npublic_flat_rw -module "{top}" -var "*"\n'
    )
    libraries = cocotb_tools.config.libs_dir
    return [
        *("--vpi", "--timing"),
        *("-LDFLAGS", f"-Wl,-rpath,{libraries} -L{libraries} -lcocotbvpi_verilator"),
        str(cocotb_tools.config.share_dir / "lib" / "verilator" / "verilator.cpp"),
        str(folder / "visible.vlt"),
    ]


def run_bench(folder: Path, name: str, plusargs: Sequence[str]) -> Path:
    """Run the bench in `folder`. Return the folder of the run, which is `name` in `folder`.

    Raises:
        AssertionError: the bench stopped with an error.

    """
    where = folder / name
    where.mkdir(parents=True, exist_ok=True)
    command = [folder / folder.name.rsplit("-", 1)[0], *plusargs]
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return where


def run(folder: Path, test: str, name: str, plusargs: Sequence[str] = ()) -> Path:
    """Run the cocotb test `test` (MODULE:FUNCTION) on the module in `folder`. Return the folder of
    the run, which is `name` in `folder`.

    Raises:
        AssertionError: the test failed.

    """
    module, function = test.split(":")
    where = folder / name
    where.mkdir(exist_ok=True)
    runner = get_runner("verilator")
    results = runner.test(
        hdl_toplevel=folder.name.rsplit("-", 1)[0],
        hdl_toplevel_lang="verilog",
        test_module=module,
        test_filter=f"{function}$",
        build_dir=folder,
        test_dir=where,
        plusargs=list(plusargs),
        extra_env={"COCOTB_LOG_LEVEL": "WARNING"},
        results_xml=str(where / "results.xml"),
        log_file=where / "run.log",
    )
    tests, failed = get_results(results)
    said = (where / "run.log").read_text()[-4000:]
    assert tests > 0, said
    assert failed == 0, said
    return where

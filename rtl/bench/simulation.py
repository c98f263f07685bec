"""Building a bench with Verilator and running a cocotb test on it."""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

RTL = Path(__file__).parents[1]
BUILDS = RTL.parent / "target" / "rtl"
# Benches are not synthesised: they use time, files and strings. The modules are linted apart.
ARGUMENTS = ["--timing", "-O3", "-CFLAGS", "-O2", "-Wno-fatal"]


def build(top: str, sources: Sequence[str], parameters: Mapping[str, int] | None = None) -> Path:
    """Build the module `top` of `sources` (paths below rtl/) once; returns the build's folder.

    Raises:
        SystemExit: Verilator or the compiler failed; build.log in the folder says why.

    """
    parameters = dict(parameters or {})
    settings = json.dumps([top, sorted(parameters.items())])
    folder = BUILDS / f"{top}-{hashlib.sha256(settings.encode()).hexdigest()[:8]}"
    folder.mkdir(parents=True, exist_ok=True)
    # Tests in several processes may want the same bench.
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        get_runner("verilator").build(
            sources=[RTL / source for source in sources],
            hdl_toplevel=top,
            parameters=parameters,
            build_dir=folder,
            build_args=ARGUMENTS,
            log_file=folder / "build.log",
        )
    return folder


def run(folder: Path, test: str, name: str, plusargs: Sequence[str] = ()) -> Path:
    """Run the cocotb test `test` (MODULE:FUNCTION) on what `build` left in `folder`. Returns the
    folder of the run, `name` in that of the build.

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

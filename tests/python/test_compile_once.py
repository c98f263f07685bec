"""Verilator's library is compiled once for all models; a fake compiler counts its calls."""

import os
import subprocess
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "compile-once"
COMPILER = """#!/bin/sh
test "$1" = --version && { echo "version 1"; exit; }
echo "$*" >> calls
while [ $# -gt 2 ]; do shift; done
echo "object of $2" > "$1"
"""


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """Creates a compiler and its sources; returns the folder of the models."""
    (tmp_path / "include").mkdir()
    for source in ("include/verilated.cpp", "include/verilated_config.h", "bench.cpp"):
        (tmp_path / source).write_text(source)
    (tmp_path / "cc").write_text(COMPILER)
    (tmp_path / "cc").chmod(0o755)
    return tmp_path


def compiled(models: Path, source: str, *options: str) -> int:
    """Compiles `source`; returns how often the compiler has run so far."""
    command = [str(TOOL), "./cc", *options, "-c", "-o", "made.o", f"{models}/{source}"]
    environment = {**os.environ, "OBJECTS": str(models / "objects")}
    subprocess.run(command, check=True, cwd=models, env=environment)
    assert (models / "made.o").read_text() == f"object of {models}/{source}\n"
    (models / "made.o").unlink()
    return len((models / "calls").read_text().splitlines())


def test_the_library_is_compiled_once(models: Path) -> None:
    assert compiled(models, "include/verilated.cpp") == 1
    assert compiled(models, "include/verilated.cpp") == 1


@pytest.mark.parametrize("changed", ["include/verilated.cpp", "include/verilated_config.h", "cc"])
def test_change_triggers_recompilation(models: Path, changed: str) -> None:
    assert compiled(models, "include/verilated.cpp") == 1
    path = models / changed
    path.write_text(path.read_text().replace("version 1", "version 2") + " ")
    assert compiled(models, "include/verilated.cpp") == 2
    assert compiled(models, "include/verilated.cpp", "-O2") == 3


def test_other_sources_are_compiled_each_time(models: Path) -> None:
    assert compiled(models, "bench.cpp") == 1
    assert compiled(models, "bench.cpp") == 2

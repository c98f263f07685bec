"""Every module passes Verilator's lint with all warnings at each supported width, and slang."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pyslang
import pytest

RTL = Path(__file__).parent
FOLDERS = [
    RTL / name for name in ("switch", "nic", "meter", "stream", "registers", "registers/generated")
]
# The generated register packages are linted with the modules that use them.
PACKAGES = sorted((RTL / "registers" / "generated").glob("*_pkg.sv"))
MODULES = sorted(path for folder in FOLDERS for path in folder.glob("*.sv") if path not in PACKAGES)


def widths(path: Path) -> list[list[str]]:
    """Parameters for linting a module: each width if it has a width parameter."""
    if re.search(r"parameter int DATA_BITS", path.read_text()):
        return [[f"DATA_BITS={bits}"] for bits in (64, 128, 256, 512)]
    return [[]]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_lint(path: Path) -> None:
    for parameters in widths(path):
        lint = subprocess.run(
            [
                "verilator",
                "--quiet",
                "--lint-only",
                "-Wall",
                *(word for folder in FOLDERS for word in ("-y", str(folder))),
                *(f"-G{parameter}" for parameter in parameters),
                "--top",
                path.stem,
                *map(str, PACKAGES),
                str(path),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert lint.returncode == 0, lint.stderr
        assert not lint.stderr, lint.stderr


def test_slang() -> None:
    """Useless casts are allowed: a cast redundant at one parameter width may matter at another."""
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    files = " ".join(str(path) for path in (*PACKAGES, *MODULES))
    assert driver.parseCommandLine(f"slang -Wextra -Wno-useless-cast -Werror {files}")
    assert driver.processOptions()
    assert driver.parseAllSources()
    assert driver.runFullCompilation(True)

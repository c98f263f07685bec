"""Writes all that follows from hull.rdl: Verilog, the C header, Rust and Python constants, and the
page of the documentation. Only the page is in the repository.
"""

from __future__ import annotations

import sys
from pathlib import Path

from . import page, software, verilog
from .model import blocks

ROOT = Path(__file__).parents[2]
GENERATED = Path("rtl/registers/generated")
PAGE = Path("docs/hardware/registers.md")


def outputs() -> dict[Path, str]:
    """Each generated file's text, by its path in the repository."""
    made = blocks()
    files = {GENERATED / name: text for name, text in software.files(made).items()}
    for block in made:
        files |= {GENERATED / name: text for name, text in verilog.files(block).items()}
    return files | {PAGE: page.page(made)}


def main() -> int:
    """The command `make registers`: files that are right keep their times."""
    for name, text in outputs().items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

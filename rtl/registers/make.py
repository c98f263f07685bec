"""Writes all that is generated from hull.rdl, or checks that it is what is there (--check)."""

from __future__ import annotations

import argparse
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


def stale() -> list[Path]:
    """Files that are not what hull.rdl gives now, and files that it no longer gives."""
    wanted = outputs()
    there = {path.relative_to(ROOT) for path in (ROOT / GENERATED).iterdir() if path.is_file()}
    return [
        path
        for path in sorted(there | set(wanted))
        if path not in wanted
        or not (ROOT / path).exists()
        or (ROOT / path).read_text(encoding="utf-8") != wanted[path]
    ]


def main() -> int:
    """The command `make registers`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; status 1: a file differs"
    )
    if parser.parse_args().check:
        for path in (found := stale()):
            print(f"{path} differs from hull.rdl; run `make registers`", file=sys.stderr)
        return 1 if found else 0
    for path, text in outputs().items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

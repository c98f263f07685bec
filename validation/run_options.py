"""Options that the comparisons with recorded runs share, and how each of them ends."""

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hull.errors import UsageError


def parser(summary: str, formats: str, only: str, out: Path) -> argparse.ArgumentParser:
    """A parser of the options that all of them have."""
    made = argparse.ArgumentParser(description=summary)
    made.add_argument("table", type=Path, help="TOML file of recorded runs")
    made.add_argument(
        "--formats", type=Path, help=f"{formats} (default: formats beside its folder)"
    )
    made.add_argument("--format", choices=("text", "json"), default="text", help="of the output")
    made.add_argument("--only", help=only)
    made.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    made.add_argument("--hull", default="hull", help="the hull command")
    made.add_argument("--out", type=Path, default=out, help="folder of the runs")
    made.add_argument("--write", type=Path, help="write the text to this file as well")
    return made


def parse(made: argparse.ArgumentParser) -> argparse.Namespace:
    """The options, checked; the folder of the runs exists then."""
    options = made.parse_args()
    if options.jobs < 1:
        raise UsageError(f"--jobs: {options.jobs} is invalid; expected at least 1")
    if options.formats is None:
        options.formats = options.table.resolve().parent.parent / "formats"
    elif not options.formats.is_dir():
        raise UsageError(f"--formats: {options.formats} is invalid; expected a folder")
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    return options


def tell(options: argparse.Namespace, document: dict[str, Any], text: str) -> None:
    """Prints the comparison and writes its text where it is wanted."""
    print(json.dumps(document, indent=2) if options.format == "json" else text)
    if options.write is not None:
        options.write.write_text(text + "\n", encoding="utf-8")


def end(main: Callable[[], int]) -> None:
    """Ends the process with the status of a comparison, 2 for bad input."""
    try:
        sys.exit(main())
    except UsageError as problem:
        print(f"compare.py: error: {problem}", file=sys.stderr)
        sys.exit(2)

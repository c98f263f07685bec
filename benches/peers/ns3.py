"""ns-3: the program of validation/ns3 for the tree, told what hull resolved; its own window rules.

Debian's libns3-dev (3.37); `make -C validation/ns3` builds the program.
"""

import json
import tomllib
from pathlib import Path
from typing import Any

import paths
import translate
from lists import Row, write
from processes import Usage, run
from sides import ROOT

PROGRAM = ROOT / "validation" / "ns3" / "build" / "tree"


class Ns3:
    """The program, and what it is told of a case."""

    name = "ns-3"

    def __init__(self, resolved: Path, rows: list[Row], folder: Path):
        scenario = tomllib.loads(resolved.read_text(encoding="utf-8"))
        flows = folder / "ns3.csv"
        write(rows, flows)
        ends = [(src, dst) for _, src, dst, _ in rows]
        chosen = paths.of_tree(scenario["topology"]["tree"], ends, scenario["run"]["seed"])
        paths.write(chosen, flows.with_suffix(".paths.csv"))
        # It runs to the end of time that it is told, and hull to the last flow's.
        scenario["run"]["duration"] = f"{rows[-1][0] + 2 * 10**11}ps"
        _, *options = translate.arguments(scenario)
        files = [f"--flows={flows}", f"--paths={flows.with_suffix('.paths.csv')}"]
        self.command = [str(PROGRAM), *files, "--window=own", *options]

    def measure(self) -> tuple[Usage, dict[str, Any]]:
        """One run: what it took, and what it printed."""
        usage = run(self.command)
        return usage, json.loads(usage.output)

"""Run the proofs of rtl/formal with SymbiYosys: all of them, or those named on the command line.

A proof is a file NAME.sby; each of its tasks is run apart and named NAME:TASK. Traces of a failed
proof stay in target/rtl-proofs/NAME-TASK.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

FORMAL = Path(__file__).parent
WORK = FORMAL.parents[1] / "target" / "rtl-proofs"
# SymbiYosys calls its tools by these names; the wheels install them with a prefix.
TOOLS = ("yosys", "yosys-smtbmc", "yosys-witness", "boolector")


def find_proofs() -> list[str]:
    """All proofs as NAME:TASK, or NAME if the file has no tasks."""
    proofs = []
    for path in sorted(FORMAL.glob("*.sby")):
        section = re.search(r"^\[tasks\]\n(.*?)^\[", path.read_text(), re.M | re.S)
        tasks = section.group(1).split() if section else []
        proofs += [f"{path.stem}:{task}" for task in tasks] or [path.stem]
    return proofs


def environment() -> dict[str, str]:
    """The environment of SymbiYosys, with a folder on its path that has the tools by name."""
    folder = WORK / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    installed = Path(sys.executable).parent
    for tool in TOOLS:
        link = folder / tool
        link.unlink(missing_ok=True)
        link.symlink_to(installed / f"yowasp-{tool}")
    path = os.pathsep.join([str(folder), str(installed), os.environ["PATH"]])
    return {**os.environ, "PATH": path}


def prove(proof: str) -> str:
    """Run one proof; returns what SymbiYosys says, from its summary on.

    Raises:
        AssertionError: it failed, or was not decided.

    """
    name, _, task = proof.partition(":")
    where = WORK / proof.replace(":", "-")
    done = subprocess.run(
        ["yowasp-sby", "-f", "-d", str(where), f"{name}.sby", *([task] if task else [])],
        cwd=FORMAL,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    said = "\n".join(line for line in done.stdout.splitlines() if "summary:" in line)
    assert done.returncode == 0, said or done.stdout + done.stderr
    return said


def main() -> None:
    """Run proofs one after the other; exit status 1 if one does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("proofs", nargs="*", metavar="NAME[:TASK]", default=find_proofs())
    failed = False
    for proof in parser.parse_args().proofs:
        began = time.monotonic()
        try:
            prove(proof)
            said = "holds"
        except AssertionError as error:
            said, failed = f"FAILS\n{error}", True
        print(f"{proof}: {said} ({time.monotonic() - began:.0f} s)", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()

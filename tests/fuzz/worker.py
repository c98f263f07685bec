"""The process that runs cases: `python -m fuzz.worker GENERATOR SEED` reads one number per line and
writes one outcome per line. Its memory is limited here; its parent limits the time.
"""

import importlib
import json
import os
import resource
import shutil
import signal
import sys
import traceback
from pathlib import Path

from fuzz.case import Outcome

MEMORY = 2_000_000_000
"""Bytes that a case may use beyond what the modules take."""
MODULES = 500_000_000
LONGEST_S = 900
ROOT = Path(__file__).parents[2]


def outcome_of(generator: str, seed: int, index: int) -> Outcome:
    """Run one case; any exception other than hull's own errors is a failure."""
    module = importlib.import_module(f"fuzz.{generator}")
    try:
        outcome: Outcome = module.check(seed, index)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # A Rust panic is not an Exception.
        raised = "".join(traceback.format_exception(error))[-3000:]
        text = module.make(seed, index).text
        return Outcome("raised", text, raised, f"{type(error).__name__}: {str(error)[:200]}")
    return outcome


def copy_files() -> None:
    """Copy the files that scenarios name into the working directory."""
    shutil.copy(ROOT / "tests/graphs/two_leaves.graphml", "network.graphml")
    rows = "start_ps,src,dst,bytes\n0,1,0,20000\n5000000,2,3,1460\n"
    Path("listed.csv").write_text(rows, encoding="utf-8")
    job = "num_ranks 2\nrank 0 {\ncalc 100\nsend 5000b to 1\n}\nrank 1 {\nrecv 5000b from 0\n}\n"
    Path("job.goal").write_text(job, encoding="utf-8")


def limit_memory() -> None:
    """Limit this process's memory; disable core dumps of a panic."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY + MODULES, MEMORY + MODULES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Run cases until the input ends, in the current folder."""
    generator, seed = sys.argv[1], int(sys.argv[2])
    # Output of hull or of a panic goes to standard error, which the parent keeps.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    copy_files()
    limit_memory()
    for line in sys.stdin:
        signal.alarm(LONGEST_S)  # Ends a hung case after its parent exits.
        outcome = outcome_of(generator, seed, int(line))
        print(json.dumps(outcome.as_json()), file=answers, flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)

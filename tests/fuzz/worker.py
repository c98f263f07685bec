"""The process that carries out cases: `python -m fuzz.worker GENERATOR SEED` reads a number a line
and writes an outcome a line. Its memory is limited; whoever starts it limits its time.
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
"""Bytes that a case may use, besides what the modules take."""
MODULES = 500_000_000
LONGEST_S = 900
ROOT = Path(__file__).parents[2]


def outcome_of(generator: str, seed: int, index: int) -> Outcome:
    """Carry out one case; what hull raises besides its own errors is a failure."""
    module = importlib.import_module(f"fuzz.{generator}")
    try:
        outcome: Outcome = module.check(seed, index)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # A panic of Rust is no Exception.
        raised = "".join(traceback.format_exception(error))[-3000:]
        text = module.make(seed, index).text
        return Outcome("raised", text, raised, f"{type(error).__name__}: {str(error)[:200]}")
    return outcome


def copy_files() -> None:
    """Put the files that scenarios name into the working directory."""
    shutil.copy(ROOT / "tests/graphs/two_leaves.graphml", "network.graphml")


def limit_memory() -> None:
    """Limit what this process may use; a panic leaves no core."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY + MODULES, MEMORY + MODULES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Until there are no more numbers; works in the folder in which it is started."""
    generator, seed = sys.argv[1], int(sys.argv[2])
    # What hull or a panic prints goes to standard error, which whoever started this keeps.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    copy_files()
    limit_memory()
    for line in sys.stdin:
        signal.alarm(LONGEST_S)  # Ends a case that hangs when its parent is gone.
        outcome = outcome_of(generator, seed, int(line))
        print(json.dumps(outcome.as_json()), file=answers, flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)

"""`hull convert JOB FILE`: any form of a job's schedule as GOAL, text or binary."""

import json
from pathlib import Path

from hull import _core
from hull.errors import RunError, UsageError
from hull.terminal.messages import say


def to_goal(source: Path, target: Path, *, binary: bool) -> None:
    """Write a job as GOAL to a new file; say what the reader left out or decided by itself."""
    if target.exists():
        raise UsageError(f"{target}: it exists; expected a new file")
    if not target.parent.is_dir():
        raise RunError(f"{target}: no such folder as {target.parent}")
    try:
        found = json.loads(_core.write_goal(source, target, binary))
    except OSError as error:
        raise UsageError(f"{source}: {error.strerror}; expected a schedule") from None
    except ValueError as error:
        raise UsageError(f"{source}: {error}") from None
    for remark, count in found["remarks"]:
        say(f"{remark}: {count}")
    print(target)

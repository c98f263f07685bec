"""Scenarios in this process: read and checked as in `hull.run`, and run briefly."""

import json
import tempfile
import threading
from pathlib import Path
from typing import Any

from hull import ScenarioError, UsageError, _core
from hull.runs.plan import Plan, make_plan

MOMENT = ("run.duration=1ms", "run.warmup=0s", "run.drain=1ms")
STOP_AFTER_S = 0.3
"""Longer runs are stopped; a run that does not stop has hung."""


class Refused(Exception):  # noqa: N818 - it is how hull is to answer
    """hull rejected an input; the message is the one that the user sees."""


def plan_of(text: str, file: str, overrides: list[str]) -> Plan:
    """Read and check a scenario with one seed."""
    try:
        return make_plan(text, file, overrides)
    except (ScenarioError, UsageError) as error:
        raise Refused(str(error)) from None


def run_for_a_moment(scenario: dict[str, Any], seed: int) -> dict[str, Any] | None:
    """Return the summary of a run with all its tables; None if the run stopped or had to be."""
    try:
        run = _core.Run(_core.Resolved(json.dumps(scenario)), "", "", seed)
        stop = threading.Timer(STOP_AFTER_S, run.cancel)
        stop.start()
        try:
            with tempfile.TemporaryDirectory(dir=Path()) as folder:
                summary: dict[str, Any] = json.loads(run.execute(folder))
                return summary
        finally:
            stop.cancel()
    except _core.Cancelled:
        return None
    except RuntimeError as error:
        if "workload.job: nothing moves" in str(error):
            return None  # ranks that wait for each other
        raise
    except ScenarioError as error:
        raise Refused(str(error)) from None

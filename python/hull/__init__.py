"""hull: phantom queues, pacing and DCTCP, simulated packet by packet.

`result = hull.run("scenario.toml")`, and then `result.summary`, `result.flows`,
`result.plot_fct()` and the other members of `Result`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hull._core import Ack, ScenarioError, Window, version
from hull.congestion import CongestionControl
from hull.errors import Interrupted, RunError, UsageError
from hull.graphs import topology_from_networkx
from hull.result import Result, load
from hull.scenario_types import Scenario

__all__ = [
    "Ack",
    "CongestionControl",
    "Interrupted",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "UsageError",
    "Window",
    "load",
    "run",
    "topology_from_networkx",
]
__version__ = version()


def run(
    scenario: str | Path | Scenario | dict[str, Any],
    out: str | Path | None = None,
    *,
    set: list[str] | tuple[str, ...] = (),
    seeds: int | None = None,
    jobs: int | None = None,
    force: bool = False,
    congestion_control: Mapping[str, type[CongestionControl]] | None = None,
) -> Result:
    """Run a scenario (a file, or the same as a dict: see `Scenario`) and return its results.

    In a dict the topology may be a graph of NetworkX.

    out: folder to make, "results/<name>" by default; a run that was stopped is taken up there,
    a finished one is reused. set: overrides as "key=value". seeds: number of seeds, instead of
    the scenario's. jobs: simulations at a time, by default one per processor. force: replace
    another run's results in `out`. congestion_control: classes of your own by the name that the
    scenario gives them, as transport.congestion_control or in its schemes.

    Raises ScenarioError or UsageError (both ValueError) for input that cannot be used, and
    RunError for a run that failed.
    """
    from hull.plan import make_plan, read_scenario
    from hull.runner import perform

    text, file = read_scenario(scenario)
    plan = make_plan(text, file, list(set), seeds, congestion_control)
    return perform(plan, Path(out or Path("results", plan.name)), jobs=jobs, force=force)

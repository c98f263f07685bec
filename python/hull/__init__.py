"""hull: phantom queues, pacing and DCTCP, simulated packet by packet.

`result = hull.run("scenario.toml")`, and then `result.summary`, `result.flows`,
`result.plot_fct()` and the other members of `Result`. `hull.sweep("scenario.toml", over={...})`
runs it over values of its keys and returns one frame.

What a user needs most is imported here; `hull.theory` and `hull.results` (fairness, slowdown,
statistics over seeds) have more. Each folder is a room, and a table in tests/python/test_house.py
says which room may import which. From the bottom: `files`, `inputs`, `terminal` and `process`;
`runs` (plan, parts, folder), `warnings`, `results`; `report`, `figures`, `perfetto`, `theory`;
`experiments`, one file each; `sweeps`, `lab`, `ask` and `reproduction`; `cli`, the commands.
"""

# First: it is for what is loaded next.
from hull.process import interrupts as interrupts  # isort: skip

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hull._core import Ack, Hop, ScenarioError, Window, version
from hull.errors import Interrupted, RunError, UsageError
from hull.inputs.congestion import CongestionControl
from hull.inputs.graphs import topology_from_networkx
from hull.result import Result, load

if TYPE_CHECKING:
    import polars as pl

    from hull.inputs.scenario_types import Scenario as Scenario

__all__ = [
    "Ack",
    "CongestionControl",
    "Hop",
    "Interrupted",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "UsageError",
    "Window",
    "load",
    "run",
    "sweep",
    "topology_from_networkx",
]
__version__ = version()


def __getattr__(name: str) -> Any:
    """`Scenario`, for type checkers, is loaded when it is asked for."""
    if name != "Scenario":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hull.inputs.scenario_types import Scenario

    return Scenario


def run(
    scenario: "str | Path | Scenario | dict[str, Any]",
    out: str | Path | None = None,
    *,
    set: list[str] | tuple[str, ...] = (),
    schemes: Sequence[str] = (),
    seeds: int | None = None,
    jobs: int | None = None,
    force: bool = False,
    congestion_control: Mapping[str, type[CongestionControl]] | None = None,
) -> Result:
    """Run a scenario (a file, or the same as a dict: see `Scenario`) and return its results.

    In a dict the topology may be a graph of NetworkX.

    out: result folder, "results/<name>" by default; an interrupted run resumes there, a finished
    one is reused. set: overrides as "key=value". schemes: names of the schemes to run, by default
    all of the scenario. seeds: number of seeds, instead of the scenario's. jobs: concurrent
    simulations, by default one per processor. force: replace another run in `out`, finished or
    not; an interrupted one without a whole part is replaced in any case. congestion_control: your
    own classes by the name that the scenario uses in transport.congestion_control or in its
    schemes.

    Raises ScenarioError or UsageError (both ValueError) for invalid input, and RunError for a
    failed run.
    """
    from hull.runner import perform
    from hull.runs.plan import make_plan, read_scenario

    text, file = read_scenario(scenario)
    plan = make_plan(text, file, set, seeds, congestion_control, schemes)
    return perform(plan, Path(out or Path("results", plan.name)), jobs=jobs, force=force)


def sweep(
    scenario: "str | Path | Scenario | dict[str, Any]",
    over: Mapping[str, object] | None = None,
    *,
    schemes: Sequence[str] = (),
    seeds: int | None = None,
    until: Mapping[str, object] | None = None,
    max_seeds: int | None = None,
    set: Sequence[str] = (),
    executor: object = None,
    jobs: int | None = None,
    slurm: Mapping[str, str] | None = None,
    store: str | Path = Path("results", "store"),
    tables: bool = False,
    congestion_control: Mapping[str, type[CongestionControl]] | None = None,
) -> "pl.DataFrame":
    """Run a scenario over values of its keys and over seeds; a row for each statistic of each run.

    over: for each key the values, as a list or a text such as "0.2:0.6:0.1"; the file's own
    `[sweep]` is swept as well. schemes: names of the schemes to run, by default all. seeds: seeds
    per point, instead of the scenario's. until: adds seeds to a point, from 5 on, until half the
    95% interval of a statistic is within a share of its mean, as in {"fct.10MB.mean": "5%"} (that
    interval holds the true mean in 92 to 95% of sweeps); max_seeds: maximum per point (100).
    executor: "threads", "dask://host:port", "slurm", a Dask client, or any
    concurrent.futures.Executor. jobs: concurrent tasks. store: the folder that keeps single runs;
    no run is repeated. tables: also keep their tables.
    congestion_control: as in `run`; workers elsewhere need the modules of such classes.

    Raises ScenarioError or UsageError for invalid input, and RunError for failed runs, with the
    rows of the others in its `frame`.
    """
    from hull.process.extras import require
    from hull.process.forked import check_not_forked
    from hull.sweeps.command import Request, carry_out, prepare

    require("tables", "hull.sweep")
    check_not_forked("hull.sweep")
    request = Request(
        scenario,
        over or {},
        set,
        schemes,
        seeds,
        until,
        max_seeds,
        executor,
        jobs,
        slurm,
        store,
        tables,
        congestion_control,
    )
    return carry_out(request, prepare(request), lines=False)

"""Simulation of a design: its predictions beside the simulator's measurements."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hull._core import ScenarioError
from hull.errors import UsageError
from hull.result import Result
from hull.results.fairness import convergence_time
from hull.runner import perform
from hull.runs.plan import Plan, make_plan, read_scenario
from hull.theory.design import Design
from hull.theory.scenario import loaded_scenario, scenario

_HEADERS_BYTES = 40
_ROUND_TRIPS = 50
"""Round trips over which throughput is averaged: two periods or more (figure 3.7)."""


def read_plans(design: Design) -> dict[str, Plan]:
    """The runs that measure a design; UsageError for a load that no run can hold."""
    plans = {"static": make_plan(*read_scenario(scenario(design)), [])}
    if design.setting.load > 0:
        try:
            plans["loaded"] = make_plan(*read_scenario(loaded_scenario(design)), [])
        except ScenarioError as error:
            why = str(error).splitlines()[0]
            raise UsageError(
                f"--load: {design.setting.load:g} is invalid with --check at this rate and round "
                f"trip: {why}; expected flows that a run can hold, such as --rate 10Gbps "
                "--rtt 300us --load 40%"
            ) from None
    return plans


def measure(design: Design, plans: dict[str, Plan]) -> dict[str, float | None]:
    """The measurement of each prediction, by the same names; None if there is none. `plans` come
    from `read_plans`.

    The stability margin is not measured. Without load there is no slowdown.
    """
    with TemporaryDirectory(prefix="hull-design-") as folder:
        static = perform(plans["static"], Path(folder, "static"))
        found: dict[str, float | None] = dict.fromkeys(design.predicted)
        dctcp, hull = _cell(static, "dctcp"), _cell(static, "hull")
        found["dctcp_throughput"] = _mean(dctcp, "throughput", "utilization")
        found["hull_throughput"] = _mean(hull, "throughput", "utilization")
        queue = ("switch_latency", "occupancy")
        found["dctcp_queueing_delay_mean_s"] = _mean(dctcp, *queue, "mean_us") / 1e6
        found["dctcp_queueing_delay_max_s"] = _mean(dctcp, *queue, "max_us") / 1e6
        found["hull_queueing_delay_p99_s"] = _mean(hull, *queue, "p99_us") / 1e6
        if design.setting.flows > 1:
            for scheme in ("dctcp", "hull"):
                used = found[f"{scheme}_throughput"] or 0.0
                found[f"{scheme}_convergence_s"] = _convergence(design, static, scheme, used)
        if design.setting.load > 0:
            loaded = perform(plans["loaded"], Path(folder, "loaded"))
            times = [_completion_time(loaded, scheme) for scheme in ("hull", "dctcp")]
            found["hull_slowdown"] = times[0] / times[1]
        return found


def _cell(result: Result, scheme: str) -> dict[str, Any]:
    cell: dict[str, Any] = next(c for c in result.summary["cells"] if c["scheme"] == scheme)
    return cell


def _mean(cell: dict[str, Any], *path: str) -> float:
    found: Any = cell
    for key in path:
        found = found[key]
    return float(found["mean"])


def _convergence(design: Design, result: Result, scheme: str, used: float) -> float | None:
    """Time until the joining flow is within 10% of its share, by throughput over some periods.

    The thesis compares windows, but a small window leaves the 10% range in every period.
    """
    import polars as pl

    here = design.setting
    joins = (pl.col("scheme") == scheme) & (pl.col("flow") == here.flows - 1)
    series = result.series.filter(joins)
    goodput = used * here.rate_bps * (1 - _HEADERS_BYTES / here.mtu_bytes)
    interval = _ROUND_TRIPS * here.rtt_s
    return convergence_time(series, share=goodput / here.flows, interval=interval)


def _completion_time(result: Result, scheme: str) -> float:
    import polars as pl

    flows = result.flows.filter(pl.col("scheme") == scheme)
    return float(flows["fct_ps"].mean())  # type: ignore[arg-type]

"""The production benchmark of the thesis (2.3.3): its variants, and the completion times of short
messages (100 KB to 1 MB) and queries. Times in ms.
"""

from typing import TYPE_CHECKING, Any, Literal

from hull.experiments.common.experiment import Variant
from hull.experiments.common.measured import (
    Estimate,
    Results,
    Summary,
    over_seeds,
    query,
)
from hull.report.schemes import ORANGE, PURPLE, Scheme

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

LOOKS = (
    Scheme("tcp_deep", "TCP, deep buffers", ORANGE, (10, 3), "^"),
    Scheme("tcp_red", "TCP-ECN, RED", PURPLE, (9, 4), "P"),
)

TCP, DEEP, RED, DCTCP = "tcp", "tcp_deep", "tcp_red", "dctcp"
BASE, BOTH, BACKGROUND, QUERIES = "baseline", "10x both", "10x background", "10x query"
RESPONSES_KB = (90, 200, 400, 600, 800, 1000)
"""Of all servers together; 90 are the baseline's."""
FACTORS = (1, 2, 4, 6, 8, 10)
"""On updates."""
PRODUCTION = (
    "topology.star.hosts=45",
    'topology.links=[{link="h44--switch",rate="10Gbps"}]',
    "workload.production.outside=44",
    "transport.min_rto=300ms",
    "transport.initial_rto=300ms",
)
"""Overrides of a rack of the production clusters (2.1.2): 44 servers, minimum RTO of 300 ms."""
DEDICATED = " ".join(
    f"--set switch.memory.{setting}"
    for setting in ("cell=208B", "reserved=6KB", "queues=8", "alpha=65.3%")
)
"""Options of a memory with dedicated cells (docs/experiments/switch-memory.md)."""
# Simulated time, s.
_BASE_S: dict[str, float] = {"quick": 20, "full": 600}
_SCALED_S: dict[str, float] = {"quick": 3, "full": 30}


def response_name(kilobytes: int) -> str:
    """The condition in which all responses to a query add up to this many KB."""
    return {90: BASE, 1000: QUERIES}.get(kilobytes, f"response {kilobytes} KB")


def factor_name(factor: int) -> str:
    """The condition in which updates are larger by this factor."""
    return {1: BASE, 10: BACKGROUND}.get(factor, f"updates {factor}x")


def variants(condition: str, schemes: tuple[str, ...]) -> tuple[Variant, ...]:
    """A condition in quick and full size; its cells are the same in every experiment."""
    found = []
    size: Literal["quick", "full"]
    for size in ("quick", "full"):
        seconds = (_BASE_S if condition == BASE else _SCALED_S)[size]
        overrides = (f"run.duration={seconds}s", *_overrides(condition))
        found.append(Variant({"": condition}, overrides, schemes, sizes=(size,)))
    return tuple(found)


def _overrides(condition: str) -> tuple[str, ...]:
    responses = {response_name(kb): kb for kb in RESPONSES_KB[1:]} | {BOTH: 1000}
    factors = {factor_name(factor): factor for factor in FACTORS[1:]} | {BOTH: 10}
    found = []
    if condition in responses:
        found.append(f"workload.production.response_total={responses[condition]}KB")
    if condition in factors:
        found.append(f"workload.production.update_factor={factors[condition]}")
    return tuple(found)


def short_ms(results: Results, condition: str, scheme: str, statistic: str) -> Estimate | None:
    """Completion time of flows of 100 KB to 1 MB: "mean" or a percentile."""
    import polars as pl

    def read(flows: "pl.DataFrame") -> float:
        short = flows.filter(pl.col("bytes").is_between(100_000, 1_000_000))
        return _statistic(short["fct_ps"], statistic)

    return _of_parts(results, "flows", condition, scheme, read)


def query_ms(results: Results, condition: str, scheme: str, statistic: str) -> Estimate | None:
    """Completion time of the queries."""

    def read(queries: "pl.DataFrame") -> float:
        return _statistic(queries["completion_ps"].drop_nulls(), statistic)

    return _of_parts(results, "queries", condition, scheme, read)


def flow_timeouts(results: Results, condition: str, scheme: str) -> float:
    """Share of the background flows with a timeout."""
    found = _of_parts(
        results,
        "flows",
        condition,
        scheme,
        lambda flows: int((flows["timeouts"] > 0).sum()) / flows.height,
    )
    return value(found)


def timeout_pct(results: Results, condition: str, scheme: str) -> float:
    """Queries with a timeout, %."""
    return results.mean(condition, scheme, _share)


def value(estimate: Estimate | None) -> float:
    """The mean; NaN if absent."""
    return float("nan") if estimate is None else estimate.mean


mean_ms = query("mean", unit_us=1e3)


def _share(part: Summary) -> float:
    return 100 * float(part["queries"]["timeout_share"])


def _statistic(times_ps: "pl.Series", statistic: str) -> float:
    if statistic == "mean":
        found: Any = times_ps.mean()
    else:
        found = times_ps.quantile(float(statistic.removeprefix("p")) / 100, "linear")
    return float("nan") if found is None else float(found) / 1e9


def _of_parts(
    results: Results,
    table: str,
    condition: str,
    scheme: str,
    read: "Callable[[pl.DataFrame], float]",
) -> Estimate | None:
    parts = results.parts(condition, scheme)
    return over_seeds(read(results.table(table, condition, scheme, part["seed"])) for part in parts)

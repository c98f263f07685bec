"""Incast in the thesis (2.3.2): the number of servers, and the completion times of the queries."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hull.experiments.common.experiment import Variant
from hull.experiments.common.measured import Results, Summary, query
from hull.report.schemes import BLUE, ORANGE, SKY, VERMILION, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = (
    Scheme("tcp_300ms", "TCP, RTO 300 ms", ORANGE, (10, 3), "^"),
    Scheme("tcp_10ms", "TCP, RTO 10 ms", VERMILION, (2, 2), "o"),
    Scheme("dctcp_300ms", "DCTCP, RTO 300 ms", SKY, (6, 2, 1, 2), "v"),
    Scheme("dctcp_10ms", "DCTCP, RTO 10 ms", BLUE, (5, 2), "s"),
)

FAN_INS = (1, 5, 7, 8, 9, 10, 11, 12, 13, 15, 20, 25, 30, 33, 35, 37, 40)
MANY = FAN_INS[-1]
ALL_TO_ALL = ("workload.incast.all_to_all=true",)
"""Every host is a client of all others (figures 2.20 and 2.21)."""
BEGIN = 0.05
"""Share of the queries from which on timeouts count as begun: what a plot from 0 to 1 shows."""


def fan_ins(
    counts: Sequence[int] = FAN_INS, schemes: tuple[str, ...] | None = None
) -> tuple[Variant, ...]:
    """A variant for each number of servers, named by the number."""
    return tuple(
        Variant({"": str(n)}, overrides=(f"workload.incast.fan_in={n}",), schemes=schemes)
        for n in counts
    )


def mean_ms(results: Results, condition: object, scheme: str) -> float:
    """Mean completion time of the queries."""
    return results.mean(str(condition), scheme, query("mean", unit_us=1e3))


def timeout_share(results: Results, condition: object, scheme: str) -> float:
    """Share of the queries with at least one timeout."""
    return results.mean(str(condition), scheme, _share)


def first_timeouts(results: Results, scheme: str) -> int:
    """Fewest servers from which on a visible share of the queries has timeouts; more than any
    number tried if there is none."""
    found = 10 * MANY
    for n in reversed(FAN_INS):
        if timeout_share(results, n, scheme) <= BEGIN:
            break
        found = n
    return found


def completion_cdf(results: Results, condition: str, scheme: str) -> tuple[Any, Any]:
    """Completion times (ms, ascending) of all seeds' queries, and the shares up to them."""
    import numpy as np
    import polars as pl

    tables: list[pl.DataFrame] = [
        results.table("queries", condition, scheme, part["seed"])
        for part in results.parts(condition, scheme)
    ]
    times = np.sort(pl.concat(tables)["completion_ps"].drop_nulls().to_numpy()) * 1e-9
    return times, np.arange(1, len(times) + 1) / len(times)


def draw_fan_in(
    results: Results, drawn: Sequence[str], *, log_y: bool, counts: Sequence[int] = FAN_INS
) -> "Figure":
    """Mean time, and share of queries with a timeout, by number of servers."""
    from hull.figures import Line, Panel, plot_sweep

    def lines(read: Any) -> list[Line]:
        return [Line(s, counts, [read(results, n, s) for n in counts]) for s in drawn]

    return plot_sweep(
        [
            Panel(
                "Query completion",
                "Servers",
                "Mean completion time (ms)",
                lines(mean_ms),
                log_y=log_y,
            ),
            Panel(
                "Timeouts",
                "Servers",
                "Share of queries with a timeout",
                lines(timeout_share),
                y_limits=(-0.02, 1.05),
            ),
        ],
        looks=LOOKS,
    )


def _share(part: Summary) -> float:
    return float(part["queries"]["timeout_share"])

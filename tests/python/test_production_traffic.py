"""The production benchmark's traffic against the numbers that thesis 2.1.2 measured in production.

The text gives counts, shares and percentiles; distributions appear only as plots. Times are in ps.
"""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from hull.experiments.common.benchmark import BASE, TCP
from hull.experiments.common.concurrency import UPDATE_BYTES, concurrent_flows
from hull.experiments.common.measured import Results

SERVERS = 45
OUTSIDE = 45


def tables(everything: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Background flows and queries of figure 2.23's run."""
    folder = everything / "thesis-fig2-23-quick"
    results = Results(folder, json.loads((folder / "summary.json").read_text(encoding="utf-8")))
    seed = results.parts(BASE, TCP)[0]["seed"]
    flows, queries = (results.table(name, BASE, TCP, seed) for name in ("flows", "queries"))
    return flows, queries.drop_nulls("completion_ps")


@pytest.fixture(scope="module")
def traffic(everything: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    return tables(everything)


def concurrent(
    traffic: tuple[pl.DataFrame, pl.DataFrame],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Concurrent flows of each server in each window: all, and those above 1 MB."""
    return concurrent_flows(*traffic, SERVERS)


def test_concurrent_flows_by_hand() -> None:
    """Two servers and windows of 50 ms: a flow above 1 MB over two windows, and queries."""
    ms = 1_000_000_000
    flows = pl.DataFrame(
        {"start_ps": [60 * ms, 110 * ms], "fct_ps": [50 * ms, ms], "bytes": [2_000_000, 1000]}
        | {"src": [0, 2], "dst": [1, 0]}
    )
    queries = pl.DataFrame(
        {"start_ps": [0, 70 * ms, 200 * ms], "completion_ps": [ms, ms, ms], "client": [0, 1, 0]}
    )
    everything, large = concurrent_flows(flows, queries, 2)
    # Windows from 50, 100 and 150 ms of server 0, then of server 1; a query is two flows.
    assert everything.tolist() == [3, 2, 0, 3, 1, 0]
    connections, _ = concurrent_flows(flows, queries, 2, per_answer=1)
    assert connections.tolist() == [2, 2, 0, 2, 1, 0]
    assert large.tolist() == [1, 1, 0, 1, 1, 0]


def test_most_flows_are_small_and_most_bytes_in_updates(
    traffic: tuple[pl.DataFrame, pl.DataFrame],
) -> None:
    sizes = traffic[0]["bytes"].to_numpy()
    assert (sizes < 50_000).mean() > 0.5
    assert sizes[sizes > UPDATE_BYTES].sum() > 0.5 * sizes.sum()
    assert sizes.max() <= 50_000_000


def test_half_of_the_times_between_flows_are_zero(
    traffic: tuple[pl.DataFrame, pl.DataFrame],
) -> None:
    server = pl.when(pl.col("src") == OUTSIDE).then("dst").otherwise("src")
    between = (
        traffic[0]
        .with_columns(server=server)
        .sort("server", "start_ps")
        .select(pl.col("start_ps").diff().over("server"))
        .drop_nulls()["start_ps"]
        .to_numpy()
    )
    assert (between == 0).mean() == pytest.approx(0.5, abs=0.03)
    assert between.std() > 2 * between.mean()


def test_concurrent_flows(traffic: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    everything, _ = concurrent(traffic)
    assert np.median(everything) == pytest.approx(36, rel=0.25)


def test_few_large_flows_are_concurrent(traffic: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    """Counts only windows with a large flow. The thesis has 2 at the 75th percentile, hull at the
    90th (docs/experiments/thesis-fig2-23.md)."""
    _, large = concurrent(traffic)
    assert np.percentile(large[large > 0], [50, 90]).tolist() == [1, 2]

"""Distribution of a queue's length over the measured time, from the samples of latency.parquet."""

from typing import TYPE_CHECKING, Any

from hull.experiments.common.measured import Results

if TYPE_CHECKING:
    import polars as pl

PACKET_BYTES = 1500


def samples(results: Results, condition: str, scheme: str) -> "pl.DataFrame":
    """The queue at each sample of all seeds: `time_ps`, `queue_bytes`."""
    import polars as pl

    tables: list[pl.DataFrame] = [
        results.table("latency", condition, scheme, part["seed"])
        .drop_nulls("queue_bytes")
        .select("time_ps", "queue_bytes")
        for part in results.parts(condition, scheme)
    ]
    return pl.concat(tables)


def queue_packets(results: Results, condition: str, scheme: str) -> Any:
    """The samples in packets of 1500 bytes, ascending."""
    import numpy as np

    return np.sort(samples(results, condition, scheme)["queue_bytes"].to_numpy()) / PACKET_BYTES


def queue_cdf(results: Results, condition: str, scheme: str) -> tuple[Any, Any]:
    """The samples, ascending, and the share of samples up to each."""
    import numpy as np

    queue = queue_packets(results, condition, scheme)
    return queue, np.arange(1, len(queue) + 1) / len(queue)


def percentile(results: Results, condition: str, scheme: str, percent: float) -> float:
    """A percentile of the samples, packets."""
    import numpy as np

    return float(np.percentile(queue_packets(results, condition, scheme), percent))

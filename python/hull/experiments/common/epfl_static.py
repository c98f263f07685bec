"""Static flows of the EPFL report (III-A, figures 2b and 2c): runs, measures and the figure.

Latency is the time-weighted queue of the client's port (us), throughput what its link carries
(Mbps).
"""

from statistics import fmean
from typing import TYPE_CHECKING

from hull.experiments.common.long_lived import series
from hull.experiments.common.measured import Results, occupancy, throughput_mbps
from hull.experiments.common.phantom_queues import LOOKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TCP, DCTCP, SIX = "tcp_droptail", "dctcp_30k", "dctcp_6k_pacer"
HULL = "dctcp_pq900_pacer"
SCHEMES = (TCP, DCTCP, SIX, HULL)
PAYLOAD_BYTES = 600
FLOWS = range(2, 9)
ALL = tuple(str(count) for count in FLOWS)
FOLLOWED = ("measure.flows={}",)
MEAN, P99 = occupancy("mean"), occupancy("p99")


def window(results: Results, count: str, scheme: str) -> float:
    """Mean congestion window, packets, over the flows, the measured time and the seeds."""
    import polars as pl

    tables = [
        results.table("series", count, scheme, part["seed"]).filter(pl.col("time_ps") >= 10**12)
        for part in results.parts(count, scheme)
    ]
    return fmean(float(table["cwnd_bytes"].mean()) for table in tables) / PAYLOAD_BYTES


def lines(results: Results) -> "Figure":
    """Latency with bars to the 99th percentile, and throughput, by number of flows."""
    from hull.figures import Line, Panel, plot_sweep

    flows = [int(count) for count in results.conditions]
    names = results.conditions
    latency = [
        Line(
            scheme, flows, series(results, names, scheme, MEAN), series(results, names, scheme, P99)
        )
        for scheme in results.schemes
    ]
    speed = [
        Line(scheme, flows, series(results, names, scheme, throughput_mbps))
        for scheme in results.schemes
    ]
    label = "Number of servers"
    return plot_sweep(
        [
            Panel(
                "Queueing latency",
                label,
                "Latency (µs)",
                latency,
                log_y=True,
                x_ticks=flows,
                y_limits=(1, 6000),
            ),
            Panel(
                "Throughput", label, "Throughput (Mbps)", speed, x_ticks=flows, y_limits=(0, 1050)
            ),
        ],
        looks=LOOKS,
        width=4.4,
    )

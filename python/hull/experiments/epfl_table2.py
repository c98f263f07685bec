"""Table II of the EPFL ns-2 report, and its text on a phantom queue threshold of 1500 bytes.

Simulation against simulation; switch latency is the time-weighted queue of the client's port.
"""

from typing import TYPE_CHECKING

from hull.experiment import Experiment, Size, Variant, table_points
from hull.measured import Results, fct, occupancy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(results: Results) -> "Figure":
    """Latency gained and bandwidth paid, by load."""
    from hull.figures import plot_overview

    return plot_overview(EXPERIMENT.rows(results))


EXPERIMENT = Experiment(
    id="epfl-table2",
    title="EPFL ns-2 report, table II: 900 B and 10 MB responses from nine servers, on ns-2",
    source="report III-A, table II",
    scenario="epfl-table2",
    variants=(
        Variant({"load=20%": "load20", "load=40%": "load40", "load=60%": "load60"}),
        Variant(
            {"load=20%": "load20_threshold_1500"},
            overrides=("switch.phantom_queue.threshold=1500B",),
            schemes=("dctcp_pq950_pacer",),
        ),
    ),
    points=table_points(
        "epfl-ns2",
        "table2",
        ("mean", "p99"),
        {
            "switch_latency_us": occupancy,
            "fct_900b_us": lambda statistic: fct("900B", statistic),
            "fct_10mb_ms": lambda statistic: fct("10MB", statistic, unit_us=1e3),
        },
    ),
    draw=draw,
    quick=Size(overrides=("run.duration=50s",), seeds=3),
    full=Size(overrides=("run.duration=200s",), seeds=10),
)

"""Table 4 of the paper (table 4.4 of the thesis): the testbed of 6.2, four schemes, 20-60% load.

Switch latency is what the testbed's latency meter saw: probe packets, the unloaded latency
subtracted.
"""

from typing import TYPE_CHECKING

from hull.experiment import Experiment, Size, Variant, table_points
from hull.measured import Results, fct, probe

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(results: Results) -> "Figure":
    """Latency gained and bandwidth paid, by load."""
    from hull.figures import plot_overview

    return plot_overview(EXPERIMENT.rows(results))


EXPERIMENT = Experiment(
    id="table4",
    title="Paper table 4: 1 KB and 10 MB responses from nine servers, on the testbed",
    source="paper 6.2.1, table 4",
    scenario="table4",
    variants=(Variant({"load=20%": "load20", "load=40%": "load40", "load=60%": "load60"}),),
    points=table_points(
        "hull-paper",
        "table4",
        ("mean", "p90", "p99"),
        {
            "switch_latency_us": probe,
            "fct_1kb_us": lambda statistic: fct("1KB", statistic),
            "fct_10mb_ms": lambda statistic: fct("10MB", statistic, unit_us=1e3),
        },
        published_conditions=("load20", "load40", "load60"),
    ),
    draw=draw,
    quick=Size(overrides=("run.duration=50s",), seeds=3),
    full=Size(overrides=("run.warmup=60s", "run.duration=200s"), seeds=10),
)

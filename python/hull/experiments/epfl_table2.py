"""Table II of the EPFL ns-2 report, and its text on a phantom queue threshold of 1500 bytes.

Simulation against simulation; switch latency is the time-weighted queue of the client's port.
"""

from hull.experiment import Experiment, Measure, Size, Variant, fct, occupancy

EXPERIMENT = Experiment(
    id="epfl-table2",
    title="EPFL ns-2 report, table II: 900 B and 10 MB responses from nine servers, on ns-2",
    scenario="epfl-table2",
    published=("epfl-ns2", "table2"),
    statistics=("mean", "p99"),
    variants=(
        Variant(conditions={"load=20%": "load20", "load=40%": "load40", "load=60%": "load60"}),
        Variant(
            conditions={"load=20%": "load20_threshold_1500"},
            overrides=("switch.phantom_queue.threshold=1500B",),
            schemes=("dctcp_pq950_pacer",),
        ),
    ),
    measures=(
        Measure("switch_latency_us", "us", occupancy),
        Measure("fct_900b_us", "us", fct("900B")),
        Measure("fct_10mb_ms", "ms", fct("10MB"), units_per_us=1e-3),
    ),
    quick=Size(overrides=("run.duration=50s",), seeds=3),
    full=Size(overrides=("run.duration=200s",), seeds=10),
)

"""Table 4 of the paper (table 4.4 of the thesis): the testbed of 6.2, four schemes, 20-60% load.

Switch latency is what the testbed's latency meter saw: probe packets, the unloaded latency
subtracted.
"""

from hull.experiment import Experiment, Measure, Size, Variant, fct, probe

EXPERIMENT = Experiment(
    id="table4",
    title="Paper table 4: 1 KB and 10 MB responses from nine servers, on the testbed",
    scenario="table4",
    published=("hull-paper", "table4"),
    statistics=("mean", "p90", "p99"),
    variants=(
        Variant(conditions={"load=20%": "load20", "load=40%": "load40", "load=60%": "load60"}),
    ),
    measures=(
        Measure("switch_latency_us", "us", probe),
        Measure("fct_1kb_us", "us", fct("1KB")),
        Measure("fct_10mb_ms", "ms", fct("10MB"), units_per_us=1e-3),
    ),
    quick=Size(overrides=("run.duration=50s",), seeds=3),
    full=Size(overrides=("run.warmup=60s", "run.duration=200s"), seeds=10),
)

"""The runs whose branches tools/guided counts: short ones of what most simulations use.

Run with the instrumented build in the module path; the counts are written when the process ends.
"""

import tempfile
from pathlib import Path

import hull
from hull import scenarios

RUNS = (
    # Networks with TCP, DCTCP and HULL: the hops, persistent and new connections.
    ("tree192", ["workload.flows.count=4000"]),
    ("fat-tree1024", ["workload.flows.count=400"]),
    ("fat-tree1024", ["workload.flows.count=1500", "topology.fat_tree.k=4"]),
    # Requests over one switch, pacer and probes.
    ("epfl-table2", ["run.warmup=0s", "run.duration=2s", "workload.requests.load=60%"]),
    ("table4", ["run.warmup=0s", "run.duration=200ms"]),
)


def main() -> None:
    """Runs them one after the other, one seed each."""
    with tempfile.TemporaryDirectory() as name:
        for number, (scenario, settings) in enumerate(RUNS):
            file = Path(name, f"{scenario}.toml")
            file.write_text(scenarios.text(scenario), encoding="utf-8")
            hull.run(file, set=settings, seeds=1, jobs=1, out=Path(name, str(number)))


if __name__ == "__main__":
    main()

"""Helpers for sweep tests: short settings, and the contents of a store."""

from pathlib import Path

SHORT = ["--set", "run.duration=30ms", "--set", "run.warmup=5ms"]
"""Makes a run of the shipped testbed scenarios take milliseconds."""
GRID = ["--over", "scheme.drain=900Mbps,950Mbps", "--over", "workload.load=0.2:0.6:0.2"]
RUNS = (3 + 2) * 3
"""Runs of GRID on table4 with one seed: three schemes have no phantom queue."""


def runs(store: Path) -> dict[str, bytes]:
    """The contents of a store's run files, by file name."""
    return {path.name: path.read_bytes() for path in sorted(store.glob("runs/*/*.parquet"))}

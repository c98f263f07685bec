"""Files that a scenario names: results depend on what is in them as on the scenario itself."""

import hashlib
from pathlib import Path
from typing import Any

_FILES = (
    "topology.file.path",
    "workload.flows",
    "workload.flows.sizes.csv",
    "workload.production.query_intervals",
    "workload.production.background_intervals",
    "workload.production.background_sizes",
)
"""Keys that may name a file, which is then part of what a run depends on."""


def digest_of_files(scenario: dict[str, Any]) -> str:
    """Key and SHA-256 (hexadecimal) of each file that a scenario names; empty for none."""
    digests = []
    for key in _FILES:
        value: Any = scenario
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, str) and Path(value).is_file():
            digests.append(f"{key} {hashlib.sha256(Path(value).read_bytes()).hexdigest()}")
    return " ".join(digests)

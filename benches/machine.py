"""The machine that measured, for the tables of docs/speed.md."""

import re
import subprocess


def text() -> str:
    """Processor, cores, second-level cache of each core."""
    listed = subprocess.run(["lscpu"], capture_output=True, text=True, check=False).stdout
    found = dict(re.findall(r"(?m)^ *([^:\n]+): +(.+)$", listed))
    cores = found.get("CPU(s)", "?")
    cache = found.get("L2 cache", "unknown")
    kind = f"family {found.get('CPU family', '?')} model {found.get('Model', '?')}"
    virtual = "virtual, " if "Hypervisor vendor" in found else ""
    name = found.get("Model name", "unknown processor")
    return f"{name} ({kind}, {virtual}{cores} cores, L2 {cache})"

"""`hull run JOB --network loggp:...`: a job without packets, in milliseconds."""

import json
from pathlib import Path
from typing import Any

from hull.errors import RunError, UsageError
from hull.jobs.loggp import LogGP
from hull.terminal.messages import say

_MOST = 8
"""Waiting receives that a message names."""


def without_packets(schedule: Path, network: str, *, on: Path | None, as_json: bool) -> int:
    """Run a schedule on LogGP and print what it takes; the exit status."""
    if on is not None:
        raise UsageError(f"--network: found {network!r} beside --on {on}; expected one of the two")
    params = LogGP.parse(network)
    found = params.run(schedule)
    if found["waiting"]:
        raise RunError(_stuck(found))
    if as_json:
        print(json.dumps(found, indent=1))
        return 0
    for text in _notes(found):
        say(text)
    ends = found["end_ns"]
    counts = found["counts"]
    slowest = max(range(len(ends)), key=ends.__getitem__)
    rows = {
        "ranks": f"{len(ends)}",
        "operations": f"{counts['sends']} sends, {counts['receives']} receives, "
        f"{counts['computations']} computations",
        "bytes sent": f"{int(counts['send_bytes']):,}",
        "network": ", ".join(f"{key}={value}" for key, value in params.values.items())
        + f", bytes charged to the {params.charge}",
        "step": f"{ends[slowest] / 1000:,.3f} us (rank {slowest} ends last)",
    }
    width = max(map(len, rows))
    for label, text in rows.items():
        print(f"{label:<{width}}  {text}")
    return 0


def _notes(found: dict[str, Any]) -> list[str]:
    """What a reader decided without being told."""
    texts = [f"{remark}: {count}" for remark, count in found["remarks"]]
    if found["unreceived"]:
        texts.append(f"{found['unreceived']} messages have no receive")
    return texts


def _stuck(found: dict[str, Any]) -> str:
    """Who waits for whom."""
    shown = [
        f"rank {rank} in operation {operation} for a message of "
        f"{'any rank' if peer is None else f'rank {peer}'} with "
        f"{'any tag' if tag is None else f'tag {tag}'}"
        for rank, operation, peer, tag in found["waiting"][:_MOST]
    ]
    more = len(found["waiting"]) - len(shown)
    end = f"; and {more} more" if more > 0 else ""
    left = sum(found["left"])
    return f"the job cannot end: {left} operations are left; there wait {'; '.join(shown)}{end}"

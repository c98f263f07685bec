"""Memory of the runs of this process: what they are estimated to need, and how many fit at once."""

import heapq
from collections.abc import Iterable

from hull import _core
from hull.terminal.messages import say


def fitting_jobs(jobs: int, needs: Iterable[int]) -> int:
    """The number of runs at once, at most `jobs`, whose estimates in bytes fit into memory.

    One run at least, because each was checked by itself. Says so if these are fewer than `jobs`.
    """
    largest = heapq.nlargest(jobs, needs)
    available = _core.available_memory() if len(largest) > 1 else None
    if available is None:
        return jobs
    fitting, left = 0, available
    while fitting < len(largest) and largest[fitting] <= left:
        left -= largest[fitting]
        fitting += 1
    if fitting == len(largest):
        return jobs
    fitting = max(fitting, 1)
    say(
        f"{fitting} of {jobs} jobs at once: a run needs about {human(largest[0])} of memory, and "
        f"{human(available)} are available"
    )
    return fitting


def human(size: int) -> str:
    """A number of bytes with two digits or more."""
    if size < 1_000_000_000:
        return f"{size / 1e6:.0f} MB"
    return f"{size / 1e9:.1f} GB" if size < 10_000_000_000 else f"{size / 1e9:.0f} GB"

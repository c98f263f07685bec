"""Warnings about flow lists of other programs: flows that a list has beyond the announced count.

HPCC's simulator and its forks read the announced flows and no more, and so does hull.
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from hull.warnings.marking import Scenario

_LINE_BYTES = 65_536
_COLUMNS = (5, 6)
"""Of a flow, without and with a port."""


def flow_list_warnings(scenario: Scenario) -> Iterator[str]:
    """The sentence for a list with more flows than it announces."""
    for key in ("flows", "list"):
        value = scenario["workload"].get(key)
        if not isinstance(value, str):
            continue
        try:
            status = Path(value).stat()
            announced, beyond = _counts(value, status.st_mtime_ns, status.st_size)
        except OSError:  # the core reports it
            continue
        if beyond:
            yield (
                f"workload.{key}: {value} announces {announced:,} flows; {beyond:,} more behind "
                "them are skipped, as by HPCC's simulator; raise the number in its first line to "
                "run them"
            )


@lru_cache(maxsize=16)
def _counts(path: str, _changed_ns: int, _size: int) -> tuple[int, int]:
    """Numbers of announced flows and of flows behind them; 0 for a list of another form."""
    with open(path, "rb") as file:
        lines = filter(bytes.strip, iter(lambda: file.readline(_LINE_BYTES), b""))
        first = next(lines, b"").removeprefix(b"\xef\xbb\xbf").strip()
        if not first.isdigit():
            return 0, 0
        announced = int(first)
        beyond = sum(number >= announced and _is_flow(line) for number, line in enumerate(lines))
        return announced, beyond


def _is_flow(line: bytes) -> bool:
    words = line.split()
    return len(words) in _COLUMNS and all(word.isdigit() for word in words[:3])

"""Warnings about flow lists of other programs: flows that a list has beyond the announced count.

HPCC's simulator and its forks read the announced flows and no more, and so does hull.
"""

from collections.abc import Callable, Iterator

from hull import _core
from hull.warnings.marking import Scenario


def flow_list_warnings(
    scenario: Scenario, flows_beyond: Callable[[], tuple[int, int, int] | None]
) -> Iterator[str]:
    """The sentence for a list with more flows than it announces; `flows_beyond` reads the list."""
    named = {key: scenario["workload"].get(key) for key in ("flows", "list")}
    found = {key: value for key, value in named.items() if isinstance(value, str)}
    for key, path in found.items():
        try:
            beyond = flows_beyond()
        except _core.ScenarioError:  # the file changed since the scenario was checked
            return
        if beyond:
            announced, line, flows = beyond
            yield (
                f"workload.{key}: {path} announces {announced:,} flows, up to line {line:,}; "
                f"{flows:,} more behind them are skipped, as by HPCC's simulator; raise the number "
                "in its first line to run them"
            )
